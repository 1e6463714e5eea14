//! The cleanup document: what became of every name that the run owned.

use schemars::JsonSchema;
use serde::Serialize;

use super::log::{Incident, Log, Mark};
use crate::driver::Entry;
use crate::run::effect::{Document, OwnedKind};
use crate::run::run::Fate;
use crate::run::{EffectKind, Event, Run};

/// The schema id of the cleanup document.
const SCHEMA: &str = "dpone.native_transfer.columnar_range_parallelism.cleanup.v1";

/// What became of everything that a run owned, bound to its sealed evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CleanupDocument {
    /// `dpone.native_transfer.columnar_range_parallelism.cleanup.v1`.
    pub schema: &'static str,
    /// The run.
    pub run_id: String,
    /// The attempt.
    pub attempt: u32,
    /// The sealed document that this one completes; null if none could be written.
    pub sealed: Option<SealedRef>,
    /// `complete`, or `deferred` if something is left to the target's next run.
    pub status: &'static str,
    /// The last fact that the document rests on.
    pub recorded: Option<Mark>,
    /// Every name that the run owned.
    pub owned: Vec<OwnedView>,
    /// Removals that did not succeed at once.
    pub incidents: Vec<Incident>,
    /// Whether the target's claim is given back.
    pub claim_released: bool,
}

/// A written document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SealedRef {
    /// Where it is.
    pub path: String,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
}

/// One owned name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnedView {
    /// What it denotes.
    #[schemars(with = "String")]
    pub kind: OwnedKind,
    /// The name.
    pub name: String,
    /// `removed`, `kept`, `delivered`, `deferred`, `not_ours` or `live`.
    pub fate: &'static str,
    /// The earliest time of its removal, where that is left to the target's next run.
    pub not_before: Option<String>,
}

/// What became of everything that the run owned.
pub fn cleanup(run: &Run, entries: &[Entry]) -> CleanupDocument {
    let log = Log::read(entries);
    let deferred = |wanted: &str| {
        entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Deferred { name, not_before } if name == wanted => Some(crate::report::units::time(*not_before)),
            _ => None,
        })
    };
    let owned: Vec<OwnedView> = run
        .owned
        .iter()
        .map(|(name, owned)| OwnedView {
            kind: owned.kind,
            name: name.clone(),
            fate: fate(owned.fate),
            not_before: (owned.fate == Fate::Deferred).then(|| deferred(name)).flatten(),
        })
        .collect();
    let left = owned.iter().any(|o| o.fate == "live" || o.fate == "deferred");
    let removals =
        |i: &Incident| i.attempt == run.attempt && matches!(i.effect, EffectKind::Drop | EffectKind::Release);
    let sealed = run.evidence.get(&Document::Sealed);
    CleanupDocument {
        schema: SCHEMA,
        run_id: run.id.to_string(),
        attempt: run.attempt,
        sealed: sealed.map(|(path, sha256)| SealedRef { path: path.clone(), sha256: sha256.clone() }),
        status: if left { "deferred" } else { "complete" },
        recorded: log.last,
        owned,
        incidents: log.incidents.into_iter().filter(removals).collect(),
        claim_released: !run.claim_standing,
    }
}

const fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Live => "live",
        Fate::Delivered => "delivered",
        Fate::Removed => "removed",
        Fate::Kept => "kept",
        Fate::Deferred => "deferred",
        Fate::NotOurs => "not_ours",
    }
}
