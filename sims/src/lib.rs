//! The simulator: the real driver, machine and journal code in a world where everything that can go wrong does, by
//! number, so that it can be replayed.

pub mod commands;
pub mod coverage;
pub mod disk;
pub mod exec;
pub mod fault;
pub mod invariants;
pub mod mutation;
pub mod parallel;
pub mod rng;
pub mod scenario;
pub mod shrink;
pub mod systematic;
pub mod world;
