//! Policy: what should be in flight, given the facts. Level-triggered: the answer depends on the run alone, so the next
//! step of a healthy run and the first step after a crash are the same step.

use super::effect::{Document, EffectKind, OwnedKind, Seen};
use super::event::Event;
use super::facts::{Key, Why};
use super::gates;
use super::policy::{Action, Draft, Ending, Policy};
use super::run::{Fate, OpenEffect, Run, Scope};
use super::state::State;
use crate::codes::Code;
use crate::manifest::OnAuthorityLost;

/// What should be in flight. An empty answer with nothing in flight means [`ending`] has an answer.
pub fn decide(run: &Run, policy: &Policy) -> Vec<Action> {
    if run.epoch == 0 {
        return Vec::new();
    }
    if run.attempt == 0 {
        return vec![Action::Record(Event::AttemptStarted { attempt: 1, adopted: Vec::new() })];
    }
    let mut plan = Planner { run, policy, actions: Vec::new() };
    match run.state {
        State::Planned => plan.planned(),
        State::Reading => plan.reading(),
        State::RangeEof => plan.range_eof(),
        State::StageComplete => plan.stage_complete(),
        State::LoadConfirmed => plan.load_confirmed(),
        State::QualityPassed => plan.quality_passed(),
        State::OutcomeUnknown => plan.outcome_unknown(),
        State::Published => plan.published(),
        State::EvidenceComplete => plan.evidence_complete(),
        State::FailedPrepublication => plan.failed(),
        State::CleanupComplete => {}
    }
    plan.actions
}

/// How the runner's work ends, once nothing is in flight and nothing is left to decide.
pub fn ending(run: &Run) -> Ending {
    let last = |kind| run.tries.iter().filter(|(s, _)| s.kind == kind).find_map(|(_, t)| t.last.clone());
    let left = || {
        let evidence = last(EffectKind::Evidence).map(|w| Why::fatal(Code::EvidenceWriteFailed, w.detail));
        let cleanup = last(EffectKind::Drop).or_else(|| last(EffectKind::Release));
        evidence
            .or(cleanup.map(|w| Why::fatal(Code::CleanupFailed, w.detail)))
            .unwrap_or_else(|| Why::fatal(Code::CleanupFailed, "something this run owns could not be removed"))
    };
    match run.state {
        State::CleanupComplete => Ending::Delivered,
        State::Published | State::EvidenceComplete => Ending::DeliveredUncleaned(left()),
        State::FailedPrepublication => {
            let why =
                run.halted.clone().unwrap_or_else(|| Why::fatal(Code::InternalError, "a failed attempt has a cause"));
            if run.closed { Ending::Failed(why) } else { Ending::FailedUncleaned(why) }
        }
        State::OutcomeUnknown => {
            let foreign = run.open_publication().is_some_and(|(_, o)| o.last_seen == Some(Seen::Foreign));
            let (code, detail) = if foreign {
                (
                    Code::PublicationForeignOverwritten,
                    "something that is not this run's stands where its publication was announced",
                )
            } else {
                (
                    Code::PublicationOutcomeUnknown,
                    "the publication was announced and the target could not say whether it happened",
                )
            };
            Ending::Unknown(Why::fatal(code, detail))
        }
        State::Planned
        | State::Reading
        | State::RangeEof
        | State::StageComplete
        | State::LoadConfirmed
        | State::QualityPassed => Ending::Unknown(Why::fatal(Code::InternalError, "the run stopped between two steps")),
    }
}

/// What the tries so far allow.
enum Go {
    Now,
    Later(u64),
    Never(Why),
}

struct Planner<'a> {
    run: &'a Run,
    policy: &'a Policy,
    actions: Vec<Action>,
}

impl Planner<'_> {
    // The states, in order.

    fn planned(&mut self) {
        if self.settle_doubts() || self.give_up() || self.lost() || self.claim() {
            return;
        }
        if self.run.authority.is_some() {
            self.record(Event::Moved { to: State::Reading });
        } else {
            self.once(Draft::Open, EffectKind::Open);
        }
    }

    fn reading(&mut self) {
        if self.settle_doubts() || self.give_up() || self.lost() || self.claim() {
            return;
        }
        let all_read = self.run.units.iter().all(|u| u.read.is_some());
        let counted = !self.run.plan.coverage_required || self.run.counted.is_some();
        if all_read && counted {
            let read = self.run.rows_read();
            match self.run.counted {
                Some(count) if self.run.plan.coverage_required && count != read => {
                    let detail = format!("the source holds {count} rows and the ranges together {read}");
                    self.halt(Why::fatal(Code::RangeCoverageMismatch, detail));
                }
                _ => self.record(Event::Moved { to: State::RangeEof }),
            }
            return;
        }
        let mut free = self.policy.ranges as usize;
        free = free.saturating_sub(self.run.open.values().filter(|o| o.effect.kind() == EffectKind::Read).count());
        for unit in (0..self.run.plan.units).filter(|&u| self.run.units[u as usize].read.is_none()) {
            if free == 0 {
                break;
            }
            let scope = Scope { kind: EffectKind::Read, unit: Some(unit), name: None };
            if self.scoped(Draft::Read { unit }, &scope) {
                free -= 1;
            }
        }
        // After the reads: a count must not keep a reader's session from its first unit.
        if !counted {
            self.once(Draft::Count, EffectKind::Count);
        }
    }

    fn range_eof(&mut self) {
        if self.settle_doubts() || self.give_up() || self.lost() || self.claim() {
            return;
        }
        if self.run.verified {
            self.record(Event::Moved { to: State::StageComplete });
        } else {
            self.once(Draft::Verify, EffectKind::Verify);
        }
    }

    fn stage_complete(&mut self) {
        if self.settle_doubts() || self.give_up() || self.lost() || self.claim() {
            return;
        }
        if self.run.units.iter().all(|u| u.loaded.is_some()) {
            if self.run.rows_loaded() == self.run.rows_read() {
                self.record(Event::Moved { to: State::LoadConfirmed });
            } else {
                let detail =
                    format!("{} rows were sent and staging holds {}", self.run.rows_read(), self.run.rows_loaded());
                self.halt(Why::fatal(Code::LoadCountMismatch, detail));
            }
            return;
        }
        let mut free = self.policy.loaders as usize;
        free = free.saturating_sub(self.run.open.values().filter(|o| o.effect.kind() == EffectKind::Load).count());
        for unit in (0..self.run.plan.units).filter(|&u| self.run.units[u as usize].loaded.is_none()) {
            if free == 0 {
                break;
            }
            let slot = self.run.staging_slot(unit);
            let begun = match self.run.staging.get(&slot) {
                Some(staging) if staging.ready => {
                    let scope = Scope { kind: EffectKind::Load, unit: Some(unit), name: None };
                    self.scoped(Draft::Load { unit }, &scope)
                }
                _ => {
                    let scope = Scope { kind: EffectKind::Stage, unit: slot, name: None };
                    self.scoped(Draft::Stage { unit: slot }, &scope);
                    // One staging place for all: nothing else can start before it is there.
                    if slot.is_none() {
                        break;
                    }
                    true
                }
            };
            if begun {
                free -= 1;
            }
        }
    }

    fn load_confirmed(&mut self) {
        if self.settle_doubts() || self.give_up() || self.lost() || self.claim() {
            return;
        }
        match (gates::failure(self.run), &self.run.checked) {
            (Some(why), _) => self.halt(why),
            (None, Some(_)) => self.record(Event::Moved { to: State::QualityPassed }),
            (None, None) => {
                self.once(Draft::Check, EffectKind::Check);
            }
        }
    }

    fn quality_passed(&mut self) {
        if self.run.published.is_some() {
            return self.record(Event::Moved { to: State::Published });
        }
        match self.run.open_publication() {
            Some((_, open)) if open.doubted => {
                return self.record(Event::Moved { to: State::OutcomeUnknown });
            }
            Some(_) => return,
            None => {}
        }
        if self.settle_doubts() || self.give_up() || self.claim() {
            return;
        }
        self.once(Draft::Publish, EffectKind::Publish);
    }

    fn outcome_unknown(&mut self) {
        if self.run.published.is_some() {
            return self.record(Event::Moved { to: State::Published });
        }
        let Some((key, open)) = self.run.open_publication() else {
            return self.record(Event::Moved { to: State::QualityPassed });
        };
        self.find_out(key, open);
        // Nothing more can be found out here: leave the facts to an operator, sealed.
        if self.actions.is_empty() && self.at_rest_but(key) && !self.run.evidence.contains_key(&Document::Sealed) {
            self.evidence(Document::Sealed);
        }
    }

    /// What may still tell whether the announced publication happened.
    fn find_out(&mut self, key: Key, open: &OpenEffect) {
        // The claim under the present epoch comes first: it is what makes a fence hold.
        if self.settle_doubts_but(Some(key)) || self.claim() {
            return;
        }
        if self.run.fenced == Some(key) {
            self.probe(key, open.probes, open.not_before);
        } else {
            self.once(Draft::Fence { publish: key }, EffectKind::Fence);
        }
    }

    fn published(&mut self) {
        if self.settle_doubts() {
            return;
        }
        if self.run.evidence.contains_key(&Document::Sealed) {
            self.record(Event::Moved { to: State::EvidenceComplete });
        } else {
            self.evidence(Document::Sealed);
        }
    }

    fn evidence_complete(&mut self) {
        if self.settle_doubts() {
            return;
        }
        if self.clean() {
            if self.run.evidence.contains_key(&Document::Cleanup) {
                self.record(Event::Moved { to: State::CleanupComplete });
            } else {
                self.evidence(Document::Cleanup);
            }
        }
    }

    fn failed(&mut self) {
        if self.run.closed {
            if self.policy.restart_from == Some(self.run.attempt) {
                // A run that is given up makes what it kept its own again, to remove it.
                let adopted = if self.policy.abandon { Vec::new() } else { self.run.adoptable() };
                self.record(Event::AttemptStarted { attempt: self.run.attempt + 1, adopted });
            }
            return;
        }
        if self.settle_doubts() {
            return;
        }
        // Everything that was in flight when the run halted is cancelled and awaited before anything is removed.
        if self
            .run
            .open
            .values()
            .any(|o| !matches!(o.effect.kind(), EffectKind::Drop | EffectKind::Evidence | EffectKind::Release))
        {
            return;
        }
        let sealed = self.run.evidence.contains_key(&Document::Sealed);
        // What is to be removed may be what leaves no room for the document: it is removed without it, but the attempt
        // is not closed.
        if !sealed && self.evidence(Document::Sealed) {
            return;
        }
        if self.clean() && sealed {
            if self.run.evidence.contains_key(&Document::Cleanup) {
                self.record(Event::Closed);
            } else {
                self.evidence(Document::Cleanup);
            }
        }
    }

    // The steps that states share. Those that return a bool say whether the state must wait for them.

    /// Probes what is in doubt; new work waits until it is settled.
    fn settle_doubts(&mut self) -> bool {
        self.settle_doubts_but(None)
    }

    fn settle_doubts_but(&mut self, publication: Option<Key>) -> bool {
        let mut waiting = false;
        for (key, open) in self.run.open.iter().filter(|(k, o)| o.doubted && Some(**k) != publication) {
            waiting = true;
            if !self.probe(*key, open.probes, open.not_before) && self.run.halted.is_none() && self.may_halt() {
                let detail = format!("what became of {:?} could not be found out", open.effect.kind());
                let code = if open.effect.kind() == EffectKind::Load {
                    Code::LoadOutcomeUnknown
                } else {
                    Code::SourceReadFailed
                };
                self.halt(Why::fatal(code, detail));
            }
        }
        waiting
    }

    /// Whether a probe is, or will be, under way; false once their bound is reached.
    fn probe(&mut self, key: Key, probes: u32, not_before: u64) -> bool {
        if probes >= self.policy.max_probes {
            return false;
        }
        let action = if not_before > self.policy.now { Action::WaitUntil(not_before) } else { Action::Probe(key) };
        self.actions.push(action);
        true
    }

    fn may_halt(&self) -> bool {
        self.run.state.may_become(State::FailedPrepublication)
            && self.run.open_publication().is_none()
            && self.run.published.is_none()
    }

    fn give_up(&mut self) -> bool {
        let abandon = self.policy.abandon && self.may_halt();
        if abandon {
            self.halt(Why::fatal(Code::RunAbandoned, "an operator gave the run up"));
        }
        abandon || self.policy.stopping
    }

    /// The way back when the source state or an object is gone.
    fn lost(&mut self) -> bool {
        let (code, detail) = if self.run.authority_lost {
            (Code::ConsistencyAuthorityLost, "the source state that was being read is gone")
        } else if self.run.object_lost {
            (Code::ObjectLost, "an object that a range consists of is gone or differs")
        } else {
            return false;
        };
        let stop = self.run.authority_lost && self.policy.on_authority_lost == OnAuthorityLost::Stop;
        if stop || self.run.attempt >= self.policy.max_attempts {
            self.halt(Why::fatal(code, detail));
        } else if self.run.open.values().all(|o| o.doubted) {
            self.record(Event::AttemptStarted { attempt: self.run.attempt + 1, adopted: Vec::new() });
        }
        true
    }

    /// Takes the target's claim under the present epoch, once.
    fn claim(&mut self) -> bool {
        if self.run.claim == Some(self.run.epoch) {
            return false;
        }
        self.once(Draft::Claim, EffectKind::Claim);
        true
    }

    /// Writes a document; false if its tries are used up.
    fn evidence(&mut self, document: Document) -> bool {
        let scope = Scope { kind: EffectKind::Evidence, unit: None, name: Some(format!("{document:?}")) };
        self.scoped(Draft::Evidence { document }, &scope);
        self.run.open_in(&scope).is_some() || !matches!(self.go(&scope), Go::Never(_))
    }

    /// Removes every owned name that is the run's to remove, then gives the claim back; true when nothing is left.
    fn clean(&mut self) -> bool {
        let live: Vec<_> = self.run.owned.iter().filter(|(_, o)| o.fate == Fate::Live).collect();
        let mut free = self.policy.droppers as usize;
        free = free.saturating_sub(self.run.open.values().filter(|o| o.effect.kind() == EffectKind::Drop).count());
        for (name, owned) in &live {
            if owned.kind == OwnedKind::Superseded && self.policy.superseded_grace > 0 && self.run.published.is_some() {
                let not_before = self.policy.now + self.policy.superseded_grace;
                self.record(Event::Deferred { name: (*name).clone(), not_before });
                continue;
            }
            if free == 0 {
                break;
            }
            let scope = Scope { kind: EffectKind::Drop, unit: None, name: Some((*name).clone()) };
            if self.scoped(Draft::Drop { kind: owned.kind, name: (*name).clone() }, &scope) {
                free -= 1;
            }
        }
        if !live.is_empty() {
            return false;
        }
        if self.run.claim_standing {
            self.once(Draft::Release, EffectKind::Release);
            return false;
        }
        true
    }

    fn once(&mut self, draft: Draft, kind: EffectKind) -> bool {
        self.scoped(draft, &Scope::single(kind))
    }

    /// Begins an effect unless it is in flight, its time has not come, or its tries are used up; the last one halts the
    /// run where a run can still halt. True if it was begun.
    fn scoped(&mut self, draft: Draft, scope: &Scope) -> bool {
        if self.run.open_in(scope).is_some() {
            return false;
        }
        match self.go(scope) {
            Go::Now => {
                self.actions.push(Action::Begin(draft));
                true
            }
            Go::Later(time) => {
                self.actions.push(Action::WaitUntil(time));
                false
            }
            Go::Never(why) => {
                if self.run.halted.is_none() && self.may_halt() {
                    self.halt(why);
                }
                false
            }
        }
    }

    fn go(&self, scope: &Scope) -> Go {
        let Some(tries) = self.run.tries.get(scope) else {
            return Go::Now;
        };
        match &tries.last {
            Some(why)
                if why.code != super::event::ABANDONED && (!why.transient || tries.failed >= self.policy.max_tries) =>
            {
                Go::Never(why.clone())
            }
            Some(_) if tries.not_before > self.policy.now => Go::Later(tries.not_before),
            _ => Go::Now,
        }
    }

    fn halt(&mut self, why: Why) {
        // One primary error: the first in the journal's order.
        let halted = |a: &Action| matches!(a, Action::Record(Event::Halted { .. }));
        if !self.actions.iter().any(halted) {
            self.actions.clear();
            self.record(Event::Halted { why, key: None });
        }
    }

    /// Whether nothing but that effect is being worked on. What is in doubt may stay so.
    fn at_rest_but(&self, key: Key) -> bool {
        self.run.open.iter().all(|(k, open)| *k == key || open.doubted)
    }

    fn record(&mut self, event: Event) {
        self.actions.push(Action::Record(event));
    }
}
