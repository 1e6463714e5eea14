//! What a runner works under, and what the machine answers it: limits, actions, drafts of effects, ends.

use super::effect::{Document, OwnedKind};
use super::event::Event;
use super::facts::{Key, UnitId, Why};
use crate::manifest::OnAuthorityLost;

/// The limits a run works under. They may change between releases and resumes; old journals still fold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Unix milliseconds.
    pub now: u64,
    /// Sessions that read the source at the same time.
    pub readers: u32,
    /// Units begun and not yet at their end; at least `readers`. One that is begun with no session free waits for one and
    /// holds nothing, so that a session reads on while the last objects of its former unit are written.
    pub ranges: u32,
    /// Units loaded at the same time; 1 in shared staging.
    pub loaders: u32,
    /// Names removed at the same time.
    pub droppers: u32,
    /// Tries of one effect before its failure is final.
    pub max_tries: u32,
    /// Probes of one effect in doubt before it is left to an operator.
    pub max_probes: u32,
    /// Attempts that a runner starts by itself, counted over the whole run.
    pub max_attempts: u32,
    /// What to do when the source state is gone.
    pub on_authority_lost: OnAuthorityLost,
    /// The failed attempt that this runner was started to follow with the next one.
    pub restart_from: Option<u32>,
    /// How long the target's former content is left for its readers, milliseconds.
    pub superseded_grace: u64,
    /// Set to begin nothing new: the runner is being stopped.
    pub stopping: bool,
    /// Set to give the run up before its publication.
    pub abandon: bool,
}

/// What the driver is to do next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Announce this effect under the next key, then attempt it.
    Begin(Draft),
    /// Ask the world what became of this effect.
    Probe(Key),
    /// Append this fact, which follows from the facts.
    Record(Event),
    /// Nothing before this time (Unix milliseconds).
    WaitUntil(u64),
}

/// An effect before its names are drawn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is documented at the Effect of the same name")]
pub enum Draft {
    Claim,
    Open,
    Count,
    Read { unit: UnitId },
    Verify,
    Stage { unit: Option<UnitId> },
    Load { unit: UnitId },
    Check,
    Publish,
    Fence { publish: Key },
    Evidence { document: Document },
    Drop { kind: OwnedKind, name: String },
    Release,
}

/// How a runner's work on a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The target holds the rows and nothing owned is left.
    Delivered,
    /// The target holds the rows; something owned could not be removed, or the evidence not be written.
    DeliveredUncleaned(Why),
    /// The attempt failed, the target is untouched, everything is cleaned up.
    Failed(Why),
    /// The attempt failed, the target is untouched; something owned could not be removed.
    FailedUncleaned(Why),
    /// It is not known whether the publication happened.
    Unknown(Why),
}
