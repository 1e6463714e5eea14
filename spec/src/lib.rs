//! What must hold of a run, checked over the engine's own machine.

pub mod check;
pub mod model;
