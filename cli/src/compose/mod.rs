//! The composition root: from a manifest's text to the ports of a run. Nothing here decides anything.

pub(crate) mod load;
pub(crate) mod ports;
pub(crate) mod preflight;
pub(crate) mod storage;

pub(crate) use load::{Loaded, load};
pub(crate) use ports::{RunPorts, Sides};
pub(crate) use preflight::{preflight, published_here};
