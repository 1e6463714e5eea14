//! What must hold of a run, checked over the engine's own machine: there is no second copy of it here.

pub mod check;
pub mod generate;
pub mod model;
pub mod mutate;
