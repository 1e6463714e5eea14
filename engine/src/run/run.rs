//! A run as its log tells it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::effect::{ChunkFacts, Document, Effect, EffectKind, GateResult, Name, OwnedKind, Seen};
use super::facts::{Key, PlanFacts, Topology, UnitId, Why};
use super::state::State;
use crate::profile::UnitProfile;

/// An effect that was announced and is not settled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpenEffect {
    /// What was announced.
    pub effect: Effect,
    /// Set when nobody is working on it any more: it must be probed, and may never be started again under this key.
    pub doubted: bool,
    /// Why it is in doubt; `None` when its runner did not live to see.
    pub why: Option<Why>,
    /// Probes since it was doubted that could not settle it.
    pub probes: u32,
    /// The next probe's earliest time, Unix milliseconds.
    pub not_before: u64,
    /// What the last probe saw.
    pub last_seen: Option<Seen>,
}

/// What is counted together when tries are bounded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The kind of effect.
    pub kind: EffectKind,
    /// The unit, where each unit has its own bound.
    pub unit: Option<UnitId>,
    /// The name, where each name has its own bound.
    pub name: Option<Name>,
}

/// Tries of one [`Scope`] in the present attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tries {
    /// How many were announced, abandoned ones included.
    pub begun: u32,
    /// How many failed. A try that its runner did not live to see the end of is not a failure.
    pub failed: u32,
    /// The next try's earliest time, Unix milliseconds.
    pub not_before: u64,
    /// The last failure.
    pub last: Option<Why>,
}

/// One confirmed object of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectFacts {
    /// Its key in the store.
    pub object: Name,
    /// What it holds.
    pub facts: ChunkFacts,
}

/// What a confirmed read of a unit established.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnitRead {
    /// The unit's objects, by chunk.
    pub objects: Vec<ObjectFacts>,
    /// Bytes of the values as the source gave them.
    pub source_bytes: u64,
    /// The profile computed from the source's values.
    pub profile: UnitProfile,
}

/// One unit in the present attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Confirmed objects of the read in progress, by chunk.
    pub chunks: BTreeMap<u32, ObjectFacts>,
    /// Set once the unit was read to its end.
    pub read: Option<UnitRead>,
    /// The confirmed load: its name and the rows counted on the target's side.
    pub loaded: Option<(Name, u64)>,
}

/// A staging place of the present attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Staging {
    /// Its name.
    pub name: Name,
    /// Whether its creation is confirmed.
    pub ready: bool,
}

/// What became of an owned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It may exist, and is the run's to remove.
    Live,
    /// The target consists of it now.
    Delivered,
    /// It is removed.
    Removed,
    /// The manifest says to keep it.
    Kept,
    /// Its removal is left to the target's next run.
    Deferred,
    /// Something that is not the run's stood there first; the run never brought it into the world.
    NotOurs,
}

/// A name that this run brought into the world, or took over from the publication it superseded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owned {
    /// What it denotes.
    pub kind: OwnedKind,
    /// What became of it.
    pub fate: Fate,
}

/// What the gates and the profile of staging said.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checked {
    /// Every gate.
    pub gates: Vec<GateResult>,
    /// One profile per unit, or empty where the sink cannot compute it.
    pub units: Vec<UnitProfile>,
}

/// The source state that units are read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    /// Its identity.
    pub token: String,
    /// Whether it survives the process that opened it.
    pub persistent: bool,
    /// The effect that opened it.
    pub key: Key,
}

/// A run: the fold of its log. Build it with [`recover`](super::recover::recover) and
/// [`apply`](super::apply::apply) only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// The run's id.
    pub id: Arc<str>,
    /// What is fixed for the whole run.
    pub plan: Arc<PlanFacts>,
    /// Where the present attempt stands.
    pub state: State,
    /// The present attempt, from 1.
    pub attempt: u32,
    /// The epoch of the present runner.
    pub epoch: u64,
    /// How many events the log has.
    pub seq: u64,
    /// The next effect's key.
    pub next_key: Key,
    /// Announced and unsettled effects.
    pub open: BTreeMap<Key, OpenEffect>,
    /// Tries of the present attempt.
    pub tries: BTreeMap<Scope, Tries>,
    /// The epoch under which the target's claim is held, if it is.
    pub claim: Option<u64>,
    /// Whether a claim may stand in the target in the run's name, under any epoch.
    pub claim_standing: bool,
    /// The open source state.
    pub authority: Option<Authority>,
    /// The source state that was open before a take-over, until a probe says whether it still is.
    pub former: Option<Authority>,
    /// Set when the source state is gone before every unit was read from it.
    pub authority_lost: bool,
    /// Set when an object that a unit consists of is gone.
    pub object_lost: bool,
    /// The source's count, where it is required.
    pub counted: Option<u64>,
    /// Every unit, by id.
    pub units: Vec<Unit>,
    /// Whether every object was verified.
    pub verified: bool,
    /// Staging places by unit, or under `None` the shared one.
    pub staging: BTreeMap<Option<UnitId>, Staging>,
    /// The gates' result.
    pub checked: Option<Checked>,
    /// The publication in doubt that has been fenced.
    pub fenced: Option<Key>,
    /// The confirmed publication: its identity and rows.
    pub published: Option<(String, u64)>,
    /// Everything the run owns or owned.
    pub owned: BTreeMap<Name, Owned>,
    /// The primary error of the present attempt.
    pub halted: Option<Why>,
    /// Written evidence documents of the present attempt: path and SHA-256.
    pub evidence: BTreeMap<Document, (String, String)>,
    /// Whether a failed attempt is cleaned up.
    pub closed: bool,
}

impl Run {
    /// The rows that every unit read, so far.
    pub fn rows_read(&self) -> u64 {
        self.units.iter().filter_map(|u| u.read.as_ref()).map(|r| r.profile.rows).sum()
    }

    /// The rows confirmed in staging, so far.
    pub fn rows_loaded(&self) -> u64 {
        self.units.iter().filter_map(|u| u.loaded.as_ref()).map(|(_, rows)| rows).sum()
    }

    /// The staging slot of a unit under the plan's topology.
    pub fn staging_slot(&self, unit: UnitId) -> Option<UnitId> {
        match self.plan.topology {
            Topology::SharedPerRun => None,
            Topology::PerPartition => Some(unit),
        }
    }

    /// Every staging slot that the plan needs.
    pub fn staging_slots(&self) -> Vec<Option<UnitId>> {
        match self.plan.topology {
            Topology::SharedPerRun => vec![None],
            Topology::PerPartition => (0..self.plan.units).map(Some).collect(),
        }
    }

    /// The tries of a scope; zero if there were none.
    pub fn tries(&self, scope: &Scope) -> Tries {
        self.tries.get(scope).cloned().unwrap_or_default()
    }

    /// The open effect of that scope, if one is announced and unsettled.
    pub fn open_in(&self, scope: &Scope) -> Option<(Key, &OpenEffect)> {
        self.open.iter().find(|(_, o)| Scope::of(&o.effect) == *scope).map(|(k, o)| (*k, o))
    }

    /// The announced publication that is not settled.
    pub fn open_publication(&self) -> Option<(Key, &OpenEffect)> {
        self.open.iter().find(|(_, o)| o.effect.kind() == EffectKind::Publish).map(|(k, o)| (*k, o))
    }

    /// Whether the run delivered: its rows are the target's, once.
    pub fn delivered(&self) -> bool {
        self.published.is_some()
    }

    /// Whether what is being read is still of use to this attempt.
    pub fn is_reading(&self) -> bool {
        matches!(self.state, State::Planned | State::Reading) && self.halted.is_none() && !self.authority_lost
    }

    /// Whether a publication was announced or has happened: nothing is read for the run any more, and it is too late to give
    /// it up.
    pub fn is_beyond_reading(&self) -> bool {
        self.delivered() || self.open_publication().is_some() || self.state.is_past_publication()
    }

    /// Whether nothing is left to do: a delivered run cleaned up, or a failed attempt closed.
    pub fn settled(&self) -> bool {
        self.state == State::CleanupComplete || (self.state == State::FailedPrepublication && self.closed)
    }
}

impl Scope {
    /// The scope that an effect's tries are counted in.
    pub fn of(effect: &Effect) -> Scope {
        let kind = effect.kind();
        let (unit, name) = match effect {
            Effect::Read { unit, .. } | Effect::Load { unit, .. } => (Some(*unit), None),
            Effect::Stage { unit, .. } => (*unit, None),
            Effect::Put { read, unit, chunk, .. } => (Some(*unit), Some(format!("{}.{chunk}", read.0))),
            Effect::Drop { name, .. } => (None, Some(name.clone())),
            Effect::Evidence { document } => (None, Some(format!("{document:?}"))),
            Effect::Claim { .. }
            | Effect::Open
            | Effect::Count
            | Effect::Verify
            | Effect::Check
            | Effect::Publish { .. }
            | Effect::Fence { .. }
            | Effect::Release { .. } => (None, None),
        };
        Scope { kind, unit, name }
    }

    /// The scope of a kind that has only one.
    pub fn single(kind: EffectKind) -> Scope {
        Scope { kind, unit: None, name: None }
    }
}
