//! Legality: which fact may follow which, and what it changes. Rows are added here, never removed: an old journal must
//! still fold.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::effect::{Effect, EffectKind, OwnedKind, Receipt};
use super::event::Event;
use super::facts::{Key, Retention, UnitId, Why};
use super::run::{
    Authority, Checked, Fate, ObjectFacts, OpenEffect, Owned, Run, Scope, Staging, Tries, Unit, UnitRead,
};
use super::state::State;
use crate::codes::Code;

/// A fact that cannot follow the facts before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} cannot follow: {reason}")]
pub struct Illegal {
    /// The sequence number that the event would have had.
    pub seq: u64,
    /// The rule it breaks.
    pub reason: &'static str,
}

/// The first event's run.
///
/// # Errors
/// If the event is not `Planned`, or plans no unit.
pub fn begin(event: &Event) -> Result<Run, Illegal> {
    let illegal = |reason| Err(Illegal { seq: 1, reason });
    let Event::Planned { run, plan } = event else {
        return illegal("a log begins with its plan");
    };
    if plan.units == 0 {
        return illegal("a plan has at least one unit");
    }
    Ok(Run {
        id: Arc::from(run.as_str()),
        plan: Arc::new(plan.clone()),
        state: State::Planned,
        attempt: 0,
        epoch: 0,
        seq: 1,
        next_key: Key(1),
        open: BTreeMap::new(),
        tries: BTreeMap::new(),
        claim: None,
        claim_standing: false,
        authority: None,
        former: None,
        authority_lost: false,
        object_lost: false,
        counted: None,
        units: vec![Unit::default(); plan.units as usize],
        verified: false,
        staging: BTreeMap::new(),
        checked: None,
        fenced: None,
        published: None,
        owned: BTreeMap::new(),
        halted: None,
        evidence: BTreeMap::new(),
        closed: false,
    })
}

/// The run after one more fact.
///
/// # Errors
/// If the fact cannot follow.
pub fn apply(run: &Run, event: &Event) -> Result<Run, Illegal> {
    let mut next = run.clone();
    next.absorb(event)?;
    Ok(next)
}

/// Refuses with a reason unless the rule holds.
pub(super) fn ensure(rule: bool, reason: &'static str) -> Result<(), &'static str> {
    if rule { Ok(()) } else { Err(reason) }
}

impl Run {
    /// [`apply`] in place, for long logs.
    ///
    /// # Errors
    /// If the fact cannot follow. The run is then not usable any more: fold the log again.
    pub fn absorb(&mut self, event: &Event) -> Result<(), Illegal> {
        self.step(event).map_err(|reason| Illegal { seq: self.seq + 1, reason })?;
        self.seq += 1;
        Ok(())
    }

    fn step(&mut self, event: &Event) -> Result<(), &'static str> {
        if !matches!(event, Event::TakenOver { .. } | Event::AttemptStarted { .. }) {
            ensure(!self.settled(), "nothing follows a settled run but its next attempt")?;
        }
        match event {
            Event::Planned { .. } => Err("a run is planned once"),
            Event::AttemptStarted { attempt, adopted } => self.start_attempt(*attempt, adopted),
            Event::TakenOver { epoch } => self.take_over(*epoch),
            Event::Intended { key, effect } => self.intend(*key, effect),
            Event::Confirmed { key, receipt } => self.confirm(*key, receipt),
            Event::NotDone { key, why, not_before } => self.not_done(*key, why, *not_before),
            Event::Doubted { key, why } => {
                let open = self.open.get_mut(key).ok_or("only an open effect can be doubted")?;
                ensure(!open.doubted, "an effect is doubted once")?;
                open.doubted = true;
                open.why = Some(why.clone());
                Ok(())
            }
            Event::Probed { key, seen, not_before } => {
                let open = self.open.get_mut(key).ok_or("only an open effect can be probed")?;
                ensure(open.doubted, "an effect that is being worked on is not probed")?;
                open.probes += 1;
                open.not_before = *not_before;
                open.last_seen = Some(*seen);
                Ok(())
            }
            Event::Poisoned { key } => self.poison(*key),
            Event::Moved { to } => self.move_to(*to),
            Event::Halted { why, .. } => self.halt(why),
            Event::Deferred { name, .. } => {
                ensure(self.published.is_some(), "only a delivered run leaves an obligation")?;
                let owned = self.owned.get_mut(name).ok_or("an obligation names something owned")?;
                ensure(owned.fate == Fate::Live, "an obligation names something that is still there")?;
                owned.fate = Fate::Deferred;
                Ok(())
            }
            Event::Closed => {
                ensure(self.state == State::FailedPrepublication, "only a failed attempt is closed")?;
                ensure(self.open.is_empty(), "an attempt is not closed over an open effect")?;
                ensure(!self.claim_standing, "an attempt is not closed while its claim stands")?;
                self.closed = true;
                Ok(())
            }
        }
    }

    fn start_attempt(&mut self, attempt: u32, adopted: &[UnitId]) -> Result<(), &'static str> {
        ensure(attempt == self.attempt + 1, "attempts are numbered without gaps")?;
        ensure(attempt == 1 || self.state.may_restart(), "no attempt follows a publication")?;
        ensure(self.open_publication().is_none(), "no attempt starts over an open publication")?;
        ensure(self.open.values().all(|o| o.doubted), "no attempt starts over work in progress")?;
        ensure(adopted.is_empty() || self.adoptable() == adopted, "an attempt adopts what can be adopted")?;
        let mut units = vec![Unit::default(); self.plan.units as usize];
        for &unit in adopted {
            let slot = units.get_mut(unit as usize).ok_or("an adopted unit is a planned unit")?;
            slot.read = self.units[unit as usize].read.clone();
        }
        // An adopted unit holds only while its source state does: a probe must say so again.
        if let (Some(authority), false) = (self.authority.take(), adopted.is_empty()) {
            self.doubt_authority(authority);
        }
        for owned in self.owned.values_mut().filter(|o| o.kind == OwnedKind::Object && o.fate == Fate::Kept) {
            owned.fate = Fate::Live;
        }
        // Doubted reads of the former attempt are over: their objects are garbage under names of their own.
        self.open
            .retain(|_, o| !matches!(o.effect, Effect::Read { .. } | Effect::Count | Effect::Verify | Effect::Check));
        self.units = units;
        self.attempt = attempt;
        self.state = State::Planned;
        self.tries.retain(|scope, _| scope.kind == EffectKind::Drop);
        self.authority_lost = false;
        self.object_lost = false;
        self.counted = None;
        self.verified = false;
        self.staging.clear();
        self.checked = None;
        self.fenced = None;
        self.halted = None;
        self.evidence.clear();
        self.closed = false;
        Ok(())
    }

    fn take_over(&mut self, epoch: u64) -> Result<(), &'static str> {
        ensure(epoch > self.epoch, "epochs only grow")?;
        self.epoch = epoch;
        self.claim = None;
        for open in self.open.values_mut() {
            open.doubted = true;
            open.probes = 0;
            open.not_before = 0;
        }
        // A runner that was started on purpose has every try again; how many were begun still numbers them.
        for tries in self.tries.values_mut() {
            *tries = Tries { begun: tries.begun, ..Tries::default() };
        }
        // The process that held the source state is gone. Whether the state is, a probe must say, unless every unit was
        // already read from it.
        if matches!(self.state, State::Planned | State::Reading)
            && let Some(authority) = self.authority.take()
        {
            self.doubt_authority(authority);
        }
        Ok(())
    }

    fn doubt_authority(&mut self, authority: Authority) {
        let open =
            OpenEffect { effect: Effect::Open, doubted: true, why: None, probes: 0, not_before: 0, last_seen: None };
        self.open.insert(authority.key, open);
        self.former = Some(authority);
    }

    fn intend(&mut self, key: Key, effect: &Effect) -> Result<(), &'static str> {
        ensure(key == self.next_key, "a key belongs to one effect")?;
        ensure(self.epoch > 0, "a run without a runner does nothing")?;
        let scope = Scope::of(effect);
        ensure(self.open_in(&scope).is_none(), "no second effect while the first is unsettled")?;
        if let Some((_, name)) = effect.owns() {
            ensure(!self.owned.contains_key(name), "an owned name belongs to one try")?;
        }
        let unclaimed = matches!(
            effect,
            Effect::Claim { .. } | Effect::Evidence { .. } | Effect::Drop { .. } | Effect::Release { .. }
        );
        if !unclaimed {
            ensure(self.claim == Some(self.epoch), "nothing is done without the target's claim")?;
        }
        self.permits(effect)?;
        if let Some((kind, name)) = effect.owns() {
            self.owned.insert(name.clone(), Owned { kind, fate: Fate::Live });
        }
        if let Effect::Claim { .. } = effect {
            self.claim_standing = true;
        }
        if let Effect::Stage { staging, unit } = effect {
            self.staging.insert(*unit, Staging { name: staging.clone(), ready: false });
        }
        if let Effect::Read { unit, .. } = effect {
            self.units[*unit as usize].chunks.clear();
        }
        self.tries.entry(scope).or_default().begun += 1;
        self.next_key = Key(key.0 + 1);
        let open =
            OpenEffect { effect: effect.clone(), doubted: false, why: None, probes: 0, not_before: 0, last_seen: None };
        self.open.insert(key, open);
        Ok(())
    }

    fn confirm(&mut self, key: Key, receipt: &Receipt) -> Result<(), &'static str> {
        let open = self.open.remove(&key).ok_or("only an open effect is confirmed")?;
        ensure(receipt.kind() == open.effect.kind(), "a receipt is of its effect's kind")?;
        // What a try before it failed for is over, and is no cause of what fails later.
        if let Some(tries) = self.tries.get_mut(&Scope::of(&open.effect)) {
            tries.last = None;
        }
        match (&open.effect, receipt) {
            (Effect::Claim { epoch }, _) => {
                if *epoch == self.epoch {
                    self.claim = Some(*epoch);
                }
            }
            (Effect::Open, Receipt::Opened { authority, persistent }) => {
                self.authority = Some(Authority { token: authority.clone(), persistent: *persistent, key });
            }
            (Effect::Count, Receipt::Counted { rows }) => self.counted = Some(*rows),
            (Effect::Put { read, unit, chunk, object, facts }, _) => {
                // A put of a dead read is still confirmed, so that cleanup knows of it, but its unit forgets it.
                if self.open.get(read).is_some_and(|o| !o.doubted) {
                    let chunk_facts = ObjectFacts { object: object.clone(), facts: facts.clone() };
                    self.units[*unit as usize].chunks.insert(*chunk, chunk_facts);
                }
            }
            (Effect::Read { unit, .. }, Receipt::Read { chunks, source_bytes, profile }) => {
                ensure(!open.doubted, "a dead read is not confirmed")?;
                ensure(!self.puts_of(key), "a read ends after its objects are settled")?;
                let slot = &mut self.units[*unit as usize];
                let contiguous = slot.chunks.keys().copied().eq(0..*chunks);
                ensure(contiguous, "a unit's chunks are contiguous")?;
                let rows: u64 = slot.chunks.values().map(|c| c.facts.rows).sum();
                ensure(rows == profile.rows, "a unit's objects hold the rows that were read")?;
                let objects = std::mem::take(&mut slot.chunks).into_values().collect();
                slot.read = Some(UnitRead { objects, source_bytes: *source_bytes, profile: profile.clone() });
            }
            (Effect::Verify, _) => self.verified = true,
            (Effect::Stage { unit, .. }, _) => {
                if let Some(slot) = self.staging.get_mut(unit) {
                    slot.ready = true;
                }
            }
            (Effect::Load { unit, staging, load }, Receipt::Loaded { rows }) => {
                let trusted = self.staging.get(&self.staging_slot(*unit)).is_some_and(|s| s.name == *staging);
                if trusted {
                    self.units[*unit as usize].loaded = Some((load.clone(), *rows));
                }
            }
            (Effect::Check, Receipt::Checked { gates, units }) => {
                self.checked = Some(Checked { gates: gates.clone(), units: units.clone() });
            }
            (Effect::Publish { .. }, Receipt::Published { identity, rows }) => {
                ensure(*rows == self.rows_loaded(), "a publication publishes the rows that were loaded")?;
                self.publish(identity, *rows);
            }
            (Effect::Fence { publish, .. }, _) => self.fenced = Some(*publish),
            (Effect::Evidence { document }, Receipt::Written { sha256, path }) => {
                self.evidence.insert(*document, (path.clone(), sha256.clone()));
            }
            (Effect::Drop { name, .. }, _) => {
                if let Some(owned) = self.owned.get_mut(name) {
                    owned.fate = Fate::Removed;
                }
            }
            (Effect::Release { .. }, _) => {
                self.claim = None;
                self.claim_standing = false;
            }
            _ => return Err("a receipt is of its effect's kind"),
        }
        Ok(())
    }

    /// Whether a read still has unsettled objects.
    fn puts_of(&self, key: Key) -> bool {
        self.open.values().any(|o| matches!(o.effect, Effect::Put { read, .. } if read == key))
    }

    fn not_done(&mut self, key: Key, why: &Why, not_before: u64) -> Result<(), &'static str> {
        let open = self.open.get(&key).ok_or("only an open effect is settled")?.clone();
        ensure(
            !(matches!(open.effect, Effect::Read { .. }) && !open.doubted && self.puts_of(key)),
            "a read ends after its objects are settled",
        )?;
        if matches!(open.effect, Effect::Publish { .. }) && open.doubted {
            ensure(self.fenced == Some(key), "a publication in doubt is absent only once it is fenced")?;
        }
        self.open.remove(&key);
        match &open.effect {
            // A claim that was refused because someone else holds it does not stand in the run's name.
            Effect::Claim { .. } if self.claim.is_none() && why.code == Code::TargetClaimedElsewhere => {
                self.claim_standing = false
            }
            Effect::Open => {
                let progress = self.state == State::Reading || self.units.iter().any(|u| u.read.is_some());
                self.authority_lost |= progress;
            }
            Effect::Read { unit, .. } => {
                self.units[*unit as usize].chunks.clear();
                self.authority_lost |= why.code == Code::ConsistencyAuthorityLost;
            }
            Effect::Count => self.authority_lost |= why.code == Code::ConsistencyAuthorityLost,
            Effect::Stage { unit, staging } => {
                if self.staging.get(unit).is_some_and(|s| s.name == *staging) {
                    self.staging.remove(unit);
                }
                if why.code == Code::StagingNameConflict {
                    self.disown(staging);
                }
            }
            Effect::Verify | Effect::Load { .. } if why.code == Code::ObjectLost && !why.transient => {
                self.object_lost = true;
            }
            Effect::Put { object: name, .. } if why.code == Code::ObjectKeyConflict => self.disown(name),
            _ => {}
        }
        let tries = self.tries.entry(Scope::of(&open.effect)).or_default();
        // A try that ended with its runner says nothing about the world.
        if why.code != super::event::ABANDONED {
            tries.failed += 1;
        }
        tries.not_before = not_before;
        tries.last = Some(why.clone());
        Ok(())
    }

    /// The name was taken before the run got there: what stands under it is not the run's to remove.
    fn disown(&mut self, name: &str) {
        if let Some(owned) = self.owned.get_mut(name) {
            owned.fate = Fate::NotOurs;
        }
    }

    fn poison(&mut self, key: Key) -> Result<(), &'static str> {
        let open = self.open.get(&key).ok_or("only an open load poisons its staging")?;
        let Effect::Load { unit, staging, .. } = &open.effect else {
            return Err("only an open load poisons its staging");
        };
        ensure(open.doubted, "a load that is being worked on poisons nothing")?;
        let slot = self.staging_slot(*unit);
        let present = self.staging.get(&slot).is_some_and(|s| s.name == *staging);
        let scope = Scope::of(&open.effect);
        self.open.remove(&key);
        if !present {
            return Ok(());
        }
        let tries = self.tries.entry(scope).or_default();
        tries.failed += 1;
        tries.last = Some(Why::transient(Code::LoadOutcomeUnknown, "the staging place could not be trusted any more"));
        self.staging.remove(&slot);
        match slot {
            None => self.units.iter_mut().for_each(|u| u.loaded = None),
            Some(unit) => self.units[unit as usize].loaded = None,
        }
        Ok(())
    }

    fn halt(&mut self, why: &Why) -> Result<(), &'static str> {
        ensure(self.halted.is_none(), "the first error stays the primary one")?;
        ensure(self.state.may_become(State::FailedPrepublication), "a run halts before its publication")?;
        ensure(
            self.open_publication().is_none() && self.published.is_none(),
            "a run halts only if its publication is proven absent",
        )?;
        self.halted = Some(why.clone());
        self.state = State::FailedPrepublication;
        // A document sealed while the outcome was unknown is not the one of a failed attempt.
        self.evidence.clear();
        // A failed attempt's objects are kept if the next one can adopt a unit of them; a run that was given up has none.
        let keep = self.plan.objects_after_failure == Retention::Keep && why.code != Code::RunAbandoned;
        if keep && !self.adoptable().is_empty() {
            let kept = self.owned.values_mut().filter(|o| o.kind == OwnedKind::Object && o.fate == Fate::Live);
            kept.for_each(|o| o.fate = Fate::Kept);
        }
        Ok(())
    }

    /// The units that the next attempt may keep: read from a source state that is persistent, objects still there, and
    /// not under suspicion of being what the attempt failed for.
    pub fn adoptable(&self) -> Vec<UnitId> {
        let suspect = self.halted.as_ref().is_some_and(|why| {
            matches!(why.code, Code::RangeCoverageMismatch | Code::LoadCountMismatch | Code::FidelityMismatch)
        });
        if suspect || self.object_lost || self.authority_lost || !self.authority.as_ref().is_some_and(|a| a.persistent)
        {
            return Vec::new();
        }
        let whole = |unit: &Unit| {
            unit.read.as_ref().is_some_and(|r| {
                r.objects
                    .iter()
                    .all(|o| self.owned.get(&o.object).is_some_and(|o| matches!(o.fate, Fate::Live | Fate::Kept)))
            })
        };
        (0..self.plan.units).filter(|&u| whole(&self.units[u as usize])).collect()
    }
}
