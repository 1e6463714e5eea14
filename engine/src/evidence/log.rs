//! What a log tells beyond the run that it folds to: tries, intervals, incidents, and when each state was reached.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::codes::Code;
use crate::driver::Entry;
use crate::plan::Concurrency;
use crate::report::units::time;
use crate::run::{Effect, EffectKind, Event, Key, Receipt, State, UnitId, Why};

/// A place in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mark {
    /// The fact's sequence number.
    pub seq: u64,
    /// Its wall time, UTC.
    pub at: String,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttemptView {
    /// Its number, from 1.
    pub number: u32,
    /// Where it begins.
    pub started: Mark,
    /// How many ranges it kept from the attempt before.
    pub adopted_ranges: usize,
    /// The state it came to.
    pub reached: &'static str,
}

/// Something that did not go as intended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Incident {
    /// Where it was recorded.
    #[serde(flatten)]
    pub mark: Mark,
    /// The attempt it belongs to.
    pub attempt: u32,
    /// `not_done`, `doubted`, `poisoned`.
    pub event: &'static str,
    /// What was attempted.
    #[schemars(with = "String")]
    pub effect: EffectKind,
    /// The range it was attempted for.
    pub range: Option<UnitId>,
    /// The stable code.
    pub code: String,
    /// One sentence.
    pub detail: String,
    /// The effect's key.
    #[serde(skip)]
    pub(crate) key: Key,
    #[serde(skip)]
    pub(crate) why: Why,
}

/// How an announced publication stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Not settled.
    Open,
    /// It happened.
    Confirmed,
    /// It did not happen and no longer can.
    Absent,
}

/// An announced publication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Announced {
    /// Its name.
    pub publication: String,
    /// Where it was announced.
    pub announced: Mark,
    /// What became of it.
    pub standing: Standing,
    /// Where that was recorded.
    pub settled: Option<Mark>,
    /// The target's identity of what was published.
    pub identity: Option<String>,
    /// The rows that were published.
    pub rows: Option<u64>,
}

/// A log, read once from its beginning.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The effects by key.
    pub effects: BTreeMap<Key, Effect>,
    /// The most of each kind of work that was in flight at one time; `readers` counts ranges, those that wait for a
    /// session included.
    observed: Concurrency,
    /// The most bytes of objects that were announced and unsettled at one time.
    pub inflight_bytes: u64,
    /// The most rows in them.
    pub inflight_rows: u64,
    /// Reads begun, by range.
    pub reads: BTreeMap<UnitId, u32>,
    /// Loads begun, by range.
    pub loads: BTreeMap<UnitId, u32>,
    /// Every attempt.
    pub attempts: Vec<AttemptView>,
    /// What did not go as intended, in the log's order. What only ended with its runner is not in it.
    pub incidents: Vec<Incident>,
    /// What was given up because a runner stopped or a run halted, in the log's order.
    pub abandoned: Vec<Incident>,
    /// Where the present attempt was halted.
    pub halted: Option<Mark>,
    /// The effect that halted it, if one was named.
    pub halted_by: Option<Key>,
    /// Where the present attempt reached each state.
    pub reached: BTreeMap<State, Mark>,
    /// How each object is known to be whole.
    pub checked_by: BTreeMap<String, String>,
    /// Every announced publication.
    pub publications: Vec<Announced>,
    /// How many runners worked on the run.
    pub runners: u32,
    /// The last fact that is not about evidence.
    pub last: Option<Mark>,
    active: BTreeSet<Key>,
}

impl Log {
    /// Reads a log.
    pub fn read(entries: &[Entry]) -> Self {
        let mut log = Self::default();
        for entry in entries {
            log.take(entry);
        }
        log
    }

    /// The most of each kind of work that was done at one time by so many sessions.
    pub fn observed(&self, sessions: u32) -> Concurrency {
        Concurrency { readers: self.observed.readers.min(sessions), ..self.observed }
    }

    /// The most ranges that were begun and not at their end at one time.
    pub fn inflight_ranges(&self) -> u32 {
        self.observed.readers
    }

    fn take(&mut self, entry: &Entry) {
        let mark = Mark { seq: entry.seq, at: time(entry.at) };
        if !self.is_about_evidence(&entry.event) {
            self.last = Some(mark.clone());
        }
        match &entry.event {
            Event::Planned { .. } | Event::Probed { .. } | Event::Deferred { .. } | Event::Closed => {}
            Event::AttemptStarted { attempt, adopted } => {
                self.active.clear();
                self.reached.clear();
                self.halted = None;
                self.halted_by = None;
                self.attempts.push(AttemptView {
                    number: *attempt,
                    started: mark,
                    adopted_ranges: adopted.len(),
                    reached: State::Planned.name(),
                });
            }
            Event::TakenOver { .. } => {
                self.active.clear();
                self.runners += 1;
            }
            Event::Intended { key, effect } => self.intend(*key, effect, mark),
            Event::Confirmed { key, receipt } => self.confirm(*key, receipt, mark),
            Event::NotDone { key, why, .. } => {
                self.settle_publication(*key, Standing::Absent, &mark);
                self.incident("not_done", *key, why.clone(), mark);
            }
            Event::Doubted { key, why } => self.incident("doubted", *key, why.clone(), mark),
            Event::Poisoned { key } => {
                let why = Why::transient(Code::LoadOutcomeUnknown, "its staging place is given up");
                self.incident("poisoned", *key, why, mark);
            }
            Event::Moved { to } => {
                if let Some(attempt) = self.attempts.last_mut() {
                    attempt.reached = to.name();
                }
                self.reached.insert(*to, mark);
            }
            Event::Halted { key, .. } => {
                if let Some(attempt) = self.attempts.last_mut() {
                    attempt.reached = State::FailedPrepublication.name();
                }
                self.halted = Some(mark);
                self.halted_by = *key;
            }
        }
    }

    fn intend(&mut self, key: Key, effect: &Effect, mark: Mark) {
        match effect {
            Effect::Read { unit, .. } => *self.reads.entry(*unit).or_default() += 1,
            Effect::Load { unit, .. } => *self.loads.entry(*unit).or_default() += 1,
            Effect::Publish { publication } => self.publications.push(Announced {
                publication: publication.clone(),
                announced: mark,
                standing: Standing::Open,
                settled: None,
                identity: None,
                rows: None,
            }),
            _ => {}
        }
        self.effects.insert(key, effect.clone());
        self.active.insert(key);
        self.observe();
    }

    fn confirm(&mut self, key: Key, receipt: &Receipt, mark: Mark) {
        self.active.remove(&key);
        match (self.effects.get(&key), receipt) {
            (Some(Effect::Put { object, .. }), Receipt::Put { checked_by }) => {
                self.checked_by.insert(object.clone(), checked_by.clone());
            }
            (_, Receipt::Published { identity, rows }) => {
                self.settle_publication(key, Standing::Confirmed, &mark);
                let last = self.publications.iter_mut().rev().find(|p| p.standing == Standing::Confirmed);
                if let Some(publication) = last {
                    publication.identity = Some(identity.clone());
                    publication.rows = Some(*rows);
                }
            }
            _ => {}
        }
    }

    fn settle_publication(&mut self, key: Key, standing: Standing, mark: &Mark) {
        let Some(Effect::Publish { publication: name }) = self.effects.get(&key) else { return };
        if let Some(publication) = self.publications.iter_mut().find(|p| p.publication == *name) {
            publication.standing = standing;
            publication.settled = Some(mark.clone());
        }
    }

    fn incident(&mut self, event: &'static str, key: Key, why: Why, mark: Mark) {
        self.active.remove(&key);
        let Some(effect) = self.effects.get(&key) else { return };
        let incident = Incident {
            mark,
            attempt: self.attempts.last().map_or(0, |a| a.number),
            event,
            effect: effect.kind(),
            range: unit_of(effect),
            code: why.code.to_string(),
            detail: why.detail.clone(),
            key,
            why,
        };
        let abandoned = incident.why.code == crate::run::event::ABANDONED;
        if abandoned { &mut self.abandoned } else { &mut self.incidents }.push(incident);
    }

    fn observe(&mut self) {
        let count = |kind| {
            let active = self.active.iter().filter_map(|key| self.effects.get(key));
            u32::try_from(active.filter(|effect| effect.kind() == kind).count()).unwrap_or(u32::MAX)
        };
        let (readers, uploads, loads) = (count(EffectKind::Read), count(EffectKind::Put), count(EffectKind::Load));
        let (mut bytes, mut rows) = (0u64, 0u64);
        for key in &self.active {
            if let Some(Effect::Put { facts, .. }) = self.effects.get(key) {
                bytes = bytes.saturating_add(facts.bytes);
                rows = rows.saturating_add(facts.rows);
            }
        }
        let o = &mut self.observed;
        *o =
            Concurrency { readers: o.readers.max(readers), uploads: o.uploads.max(uploads), loads: o.loads.max(loads) };
        self.inflight_bytes = self.inflight_bytes.max(bytes);
        self.inflight_rows = self.inflight_rows.max(rows);
    }

    fn is_about_evidence(&self, event: &Event) -> bool {
        let about = |key: &Key| matches!(self.effects.get(key), Some(Effect::Evidence { .. }));
        match event {
            Event::Intended { effect, .. } => matches!(effect, Effect::Evidence { .. }),
            Event::Confirmed { key, .. }
            | Event::NotDone { key, .. }
            | Event::Doubted { key, .. }
            | Event::Probed { key, .. } => about(key),
            _ => false,
        }
    }
}

/// The range that an effect is for.
pub fn unit_of(effect: &Effect) -> Option<UnitId> {
    match effect {
        Effect::Read { unit, .. } | Effect::Put { unit, .. } | Effect::Load { unit, .. } => Some(*unit),
        Effect::Stage { unit, .. } => *unit,
        Effect::Claim { .. }
        | Effect::Open
        | Effect::Count
        | Effect::Verify
        | Effect::Check
        | Effect::Publish { .. }
        | Effect::Fence { .. }
        | Effect::Evidence { .. }
        | Effect::Drop { .. }
        | Effect::Release { .. } => None,
    }
}
