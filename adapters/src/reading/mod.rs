//! Rows on their way from any reader into chunks: what one grant is divided into, what a row is taken into, and what is
//! said of values that are not of their column's type.

mod faults;
mod limits;
pub(crate) mod text;
mod work;

pub(crate) use faults::{Fault, Faults};
pub(crate) use limits::{LONGEST_SHORT, min_grant};
pub(crate) use work::{Reading, Work, defect, internal};
