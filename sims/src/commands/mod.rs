//! The commands, one per file.

pub mod coverage;
pub mod mutate;
pub mod replay;
pub mod seeds;
pub mod systematic;

use crate::fault::Plan;

/// What a command fails with when it cannot be carried out at all.
pub type Failure = Box<dyn std::error::Error>;

/// Where a scenario's journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory.
    Memory,
    /// In SQLite, on a disk that fails.
    Sqlite,
}

impl Place {
    /// A seed's scenario with its journal there.
    pub fn plan(self, seed: u64) -> Plan {
        match self {
            Self::Memory => Plan::of_seed(seed),
            Self::Sqlite => Plan::of_seed(seed).on_disk(),
        }
    }

    /// How a seed's scenario is named, as [`plan`] takes it.
    pub fn name(self, seed: u64) -> String {
        match self {
            Self::Memory => seed.to_string(),
            Self::Sqlite => format!("sqlite:{seed}"),
        }
    }
}

/// The scenario of a seed (`7`, or `sqlite:7`), or one that was written down.
///
/// # Errors
/// If it is neither a seed nor a file that holds a plan.
pub fn plan(what: &str) -> Result<Plan, Failure> {
    let (seed, place) = match what.strip_prefix("sqlite:") {
        Some(seed) => (seed, Place::Sqlite),
        None => (what, Place::Memory),
    };
    match seed.parse::<u64>() {
        Ok(seed) => Ok(place.plan(seed)),
        Err(_) => Ok(serde_json::from_str(&std::fs::read_to_string(what)?)?),
    }
}
