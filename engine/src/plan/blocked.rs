//! Why there is no plan, and what is noteworthy about one.

use serde::{Deserialize, Serialize};

use crate::manifest::RangePolicy;
use crate::refusal::Refusal;

/// Something noteworthy: a fallback's reason or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// A stable snake_case name.
    pub code: String,
    /// One sentence: no secret and no source value.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Finding {
    /// A finding and what to do about it.
    pub fn new(code: &str, message: impl Into<String>, fix: Option<&str>) -> Self {
        Self { code: code.to_owned(), message: message.into(), fix: fix.map(str::to_owned) }
    }
}

impl From<&Refusal> for Finding {
    fn from(refusal: &Refusal) -> Self {
        Self { code: refusal.code.to_string(), message: refusal.message.clone(), fix: refusal.fix.clone() }
    }
}

/// Every reason why a manifest has no plan.
///
/// Invariant: there is at least one blocker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The manifest's name, if it could be read.
    pub manifest: Option<String>,
    /// The range policy, if it could be read.
    pub policy: Option<RangePolicy>,
    /// Every blocker, in the order they were found.
    pub blockers: Vec<Refusal>,
    /// What else was found.
    pub warnings: Vec<Finding>,
}

impl Blocked {
    /// Blocked before there was anything to plan from: by the manifest itself, or by an adapter's preflight.
    pub fn by(blockers: Vec<Refusal>) -> Self {
        Self { manifest: None, policy: None, blockers, warnings: Vec::new() }
    }
}
