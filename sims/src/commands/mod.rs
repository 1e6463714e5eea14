//! The commands, one per file.

pub mod coverage;
pub mod mutate;

pub mod replay;
pub mod seeds;
pub mod systematic;

use crate::fault::Plan;

/// What a command fails with when it cannot be carried out at all.
pub type Failure = Box<dyn std::error::Error>;

/// The scenario of a seed, or one that was written down.
///
/// # Errors
/// If it is neither a number nor a file that holds a plan.
pub fn plan(what: &str) -> Result<Plan, Failure> {
    match what.parse::<u64>() {
        Ok(seed) => Ok(Plan::of_seed(seed)),
        Err(_) => Ok(serde_json::from_str(&std::fs::read_to_string(what)?)?),
    }
}
