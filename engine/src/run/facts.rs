//! What is fixed before a run starts, and the small vocabulary its facts are written in.

use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::manifest::Fidelity;
pub use crate::manifest::StagingTopology as Topology;

/// A unit of work: one planned range, by its ordinal.
pub type UnitId = u32;

/// Identifies one effect of a run. Keys are handed out in the order of intents and never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key(pub u32);

/// What a doubtful load leaves behind, as the sink promises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadIsolation {
    /// A load that a probe does not find can never appear in the staging that is read: it is fenced by the claim's
    /// epoch, or goes to a name that only its own try reads.
    Fenced,
    /// A load that a probe does not find may still land. The staging it was sent to is never trusted again.
    PoisonsStaging,
}

/// How the sink publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PublicationKind {
    /// Rows and a unique ledger row in one transaction that also checks the claim's epoch.
    LedgerTransaction,
    /// One create-only object, whose content names every file.
    PointerManifest,
}

/// What happens to staging when the publication succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StagingFate {
    /// It becomes the target's content and is no longer the run's to remove.
    Delivered,
    /// It is a copy and must be removed.
    Removed,
}

/// What stands in the target before the run, which a publication must find unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Base {
    /// The sink's identity of the target's present content; empty if there is no target yet.
    pub identity: String,
    /// The run of this journal that published it, if one did.
    pub owner: Option<String>,
}

/// What to do with temporary names of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retention {
    /// Remove them in cleanup.
    Remove,
    /// Leave them, and say so in evidence.
    Keep,
}

/// The part of the plan that the machine's decisions depend on.
///
/// Invariant: fixed for the whole run, attempts included. `document` is the whole plan, manifest and boundaries
/// included, as canonical JSON; the machine never looks into it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlanFacts {
    /// The manifest's name.
    pub manifest: String,
    /// SHA-256 over everything that determines what is delivered, in hex.
    pub fingerprint: String,
    /// How many units there are; at least one.
    pub units: u32,
    /// Where units are loaded.
    pub topology: Topology,
    /// What a doubtful load leaves behind.
    pub load_isolation: LoadIsolation,
    /// How the sink publishes.
    pub publication: PublicationKind,
    /// What becomes of staging then.
    pub staging_fate: StagingFate,
    /// Whether the units' rows must add up to the source's count in the same state. A waiver is recorded.
    pub coverage_required: bool,
    /// The comparison made between what was read and what staging holds.
    pub fidelity: Fidelity,
    /// The target's content before the run.
    pub base: Base,
    /// An earlier content, published by a run of this journal, that this run removes once it has published.
    pub superseded: Option<String>,
    /// The target, as the operator knows it and as rivals must agree on it.
    pub target: String,
    /// What becomes of objects after a delivered run.
    pub objects_after_success: Retention,
    /// What becomes of objects after a failed attempt.
    pub objects_after_failure: Retention,
    /// The whole plan as canonical JSON.
    pub document: String,
}

/// Why an effect did not happen, or why it is not known whether it did.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Why {
    /// The code an operator is told.
    pub code: Code,
    /// One sentence: no secret and no source value.
    pub detail: String,
    /// Whether trying again, under a bound, can help. Only a closed list of classes may say so.
    pub transient: bool,
}

impl Why {
    /// A cause that trying again does not change.
    pub fn fatal(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), transient: false }
    }

    /// A cause that may pass.
    pub fn transient(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), transient: true }
    }
}
