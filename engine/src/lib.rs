//! The engine: every decision dpone takes, and none of its effects.
//!
//! Invariant: nothing here does IO, reads a clock, draws randomness, spawns a thread or depends on an async
//! runtime; no map here has a random iteration order. The same log gives the same run, everywhere.

pub mod budget;
pub mod canonical;
pub mod codes;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod driver;
pub mod evidence;
pub mod hex;
pub mod manifest;
pub mod plan;
pub mod ports;
pub mod profile;
pub mod ranges;
pub mod refusal;
pub mod report;
pub mod run;
pub mod schema;
pub mod value;
