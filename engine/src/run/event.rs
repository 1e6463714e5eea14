//! The facts a run consists of. A run *is* the fold of its events; nothing else is remembered.

use serde::{Deserialize, Serialize};

use super::effect::{Effect, Receipt, Seen};
use super::facts::{Key, PlanFacts, UnitId, Why};
use super::state::State;
use crate::codes::Code;

/// One fact, appended to the journal before anything is done because of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
#[expect(missing_docs, reason = "the fields are named in the sentence above them")]
pub enum Event {
    /// The run exists and this is its plan. Always the first event, never repeated.
    Planned { run: String, plan: PlanFacts },
    /// Attempt `attempt` begins. Units in `adopted` keep what an earlier attempt read of the same source state.
    AttemptStarted { attempt: u32, adopted: Vec<UnitId> },
    /// A runner took the run over under a higher epoch: no effect of an earlier runner is being worked on any more.
    TakenOver { epoch: u64 },
    /// This effect is about to be attempted under this key.
    Intended { key: Key, effect: Effect },
    /// It happened.
    Confirmed { key: Key, receipt: Receipt },
    /// It did not happen and will not. It may be tried again, under a new key, at `not_before` (Unix milliseconds).
    NotDone { key: Key, why: Why, not_before: u64 },
    /// It is not known whether it happened.
    Doubted { key: Key, why: Why },
    /// A probe looked and could not settle it. It may look again at `not_before` (Unix milliseconds).
    Probed { key: Key, seen: Seen, not_before: u64 },
    /// The staging place can no longer be trusted: a load that was sent to it may still land.
    Poisoned { key: Key },
    /// The attempt reached a state.
    Moved { to: State },
    /// The run cannot go on and the target is untouched: stop everything, keep this as the primary error.
    Halted { why: Why, key: Option<Key> },
    /// An owned name is left to be removed by the target's next run, not before this time (Unix milliseconds).
    Deferred { name: String, not_before: u64 },
    /// A failed attempt is cleaned up and at rest.
    Closed,
}

/// The kind of an [`Event`], for tables, codecs and coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is documented at the Event of the same name")]
pub enum EventKind {
    Planned,
    AttemptStarted,
    TakenOver,
    Intended,
    Confirmed,
    NotDone,
    Doubted,
    Probed,
    Poisoned,
    Moved,
    Halted,
    Deferred,
    Closed,
}

impl Event {
    /// Its kind.
    pub const fn kind(&self) -> EventKind {
        match self {
            Event::Planned { .. } => EventKind::Planned,
            Event::AttemptStarted { .. } => EventKind::AttemptStarted,
            Event::TakenOver { .. } => EventKind::TakenOver,
            Event::Intended { .. } => EventKind::Intended,
            Event::Confirmed { .. } => EventKind::Confirmed,
            Event::NotDone { .. } => EventKind::NotDone,
            Event::Doubted { .. } => EventKind::Doubted,
            Event::Probed { .. } => EventKind::Probed,
            Event::Poisoned { .. } => EventKind::Poisoned,
            Event::Moved { .. } => EventKind::Moved,
            Event::Halted { .. } => EventKind::Halted,
            Event::Deferred { .. } => EventKind::Deferred,
            Event::Closed => EventKind::Closed,
        }
    }
}

/// A code for facts that are not failures: why an effect of a dead runner counts as not done.
pub const ABANDONED: Code = Code::EffectAbandoned;
