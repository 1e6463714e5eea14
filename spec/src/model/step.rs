//! Which steps there are from a state, and what each does.

use std::sync::Arc;

use dpone_engine::codes::Code;
use dpone_engine::run::{Effect, Event, Key, OwnedKind, Run, Seen, Why, ending, recover};

use super::config::Config;
use super::runner::{self, Runner};
use super::{State, Step, invariants, world};

impl State {
    /// Every step from here.
    pub(super) fn steps(&self, steps: &mut Vec<Step>) {
        if self.broken.is_some() {
            return;
        }
        let faults = self.faults.effective();
        if faults.crashes > 0 && !self.run.settled() {
            steps.push(Step::TakeOver);
        }
        if !self.next.facts.is_empty() {
            steps.push(Step::Append);
            // A read that fails before its first object is written.
            for (key, _) in self.live().filter(|(key, e)| self.is_bare_read(*key, e)) {
                self.refusals(key, steps);
            }
            return;
        }
        for (key, effect) in self.live() {
            if matches!(effect, Effect::Read { .. }) {
                continue;
            }
            steps.push(Step::Complete(key));
            self.refusals(key, steps);
            if faults.lost > 0 {
                steps.push(Step::Lose(key));
            }
            if faults.fatal > 0 && matches!(effect, Effect::Check) {
                steps.push(Step::FailGate(key));
            }
        }
        for key in &self.next.probes {
            steps.push(Step::Probe(*key));
            if faults.blind > 0 {
                steps.push(Step::Blind(*key));
            }
        }
        for (index, request) in self.late.iter().enumerate() {
            // Requests that are the same but for their names are one.
            if self.late[..index].iter().all(|earlier| earlier != request) {
                steps.push(Step::Land(index));
            }
        }
        if faults.vanished > 0 && self.run.published.is_none() {
            let objects = self.run.units.iter().filter_map(|u| u.read.as_ref()).flat_map(|r| &r.objects);
            let there = objects.filter(|o| self.world.objects.contains_key(&o.object));
            steps.extend(there.map(|o| Step::Vanish(o.object.clone())));
        }
        if self.has_ended() && faults.resumes > 0 && !self.is_delivered_and_clean() {
            steps.push(Step::Resume);
        }
    }

    fn refusals(&self, key: Key, steps: &mut Vec<Step>) {
        let faults = self.faults.effective();
        if faults.refused > 0 {
            steps.push(Step::Refuse(key));
        }
        if faults.fatal > 0 {
            steps.push(Step::Fail(key));
            if matches!(self.effect(key), Some(Effect::Read { .. } | Effect::Count)) {
                steps.push(Step::LoseState(key));
            }
        }
    }

    /// What is being worked on.
    fn live(&self) -> impl Iterator<Item = (Key, &Effect)> {
        self.run.open.iter().filter(|(_, open)| !open.doubted).map(|(key, open)| (*key, &open.effect))
    }

    fn is_bare_read(&self, key: Key, effect: &Effect) -> bool {
        let Effect::Read { unit, .. } = effect else { return false };
        self.run.units[*unit as usize].chunks.is_empty() && !runner::has_puts(&self.run, key)
    }

    /// Whether the runner has nothing in flight and nothing left to decide.
    pub fn has_ended(&self) -> bool {
        self.next.facts.is_empty() && self.next.probes.is_empty() && self.live().next().is_none()
    }

    /// Whether the run is delivered and nothing is left of it.
    pub fn is_delivered_and_clean(&self) -> bool {
        self.run.state == dpone_engine::run::State::CleanupComplete
    }

    /// Takes a step.
    pub(super) fn take(&mut self, step: &Step, config: &Config) {
        match step {
            Step::Append => {
                let facts = std::mem::take(&mut self.next.facts);
                self.append(facts, config);
            }
            Step::Complete(key) => {
                let Some(effect) = self.effect(*key) else { return };
                // A state that survives its process is the same one again.
                self.opened += u32::from(matches!(effect, Effect::Open) && !config.persistent);
                let outcome = match effect {
                    Effect::Verify => runner::verify(&self.run, &self.world),
                    _ => {
                        let request = world::request(&self.run, *key, &effect, true);
                        self.check(invariants::before_landing(self, &request));
                        let outcome = self.world.execute(&request, config);
                        self.check(invariants::after_landing(self));
                        outcome
                    }
                };
                self.append(vec![runner::settle(*key, outcome)], config);
            }
            Step::Lose(key) => {
                self.faults.total -= 1;
                self.faults.lost -= 1;
                self.orphan(*key, false);
                let why = Why::transient(lost_code(self.effect(*key).as_ref()), "the reply was lost");
                self.append(vec![Event::Doubted { key: *key, why }], config);
            }
            Step::Refuse(key) => {
                self.faults.total -= 1;
                self.faults.refused -= 1;
                let why = Why::transient(lost_code(self.effect(*key).as_ref()), "refused for now");
                self.append(vec![Event::NotDone { key: *key, why, not_before: 0 }], config);
            }
            Step::Fail(key) => {
                self.faults.total -= 1;
                self.faults.fatal -= 1;
                let why = Why::fatal(lost_code(self.effect(*key).as_ref()), "refused for good");
                self.append(vec![Event::NotDone { key: *key, why, not_before: 0 }], config);
            }
            Step::LoseState(key) => {
                self.faults.total -= 1;
                self.faults.fatal -= 1;
                let why = Why::fatal(Code::ConsistencyAuthorityLost, "the state is gone");
                self.append(vec![Event::NotDone { key: *key, why, not_before: 0 }], config);
            }
            Step::FailGate(key) => {
                self.faults.total -= 1;
                self.faults.fatal -= 1;
                let receipt = world::checked(Some(Why::fatal(Code::QualityMinRows, "too few")));
                self.append(vec![Event::Confirmed { key: *key, receipt }], config);
            }
            Step::Probe(key) => {
                let Some(effect) = self.effect(*key) else { return };
                let (seen, receipt) = self.world.look(&self.run, *key, &effect, config);
                self.append(runner::settle_sighting(&self.run, *key, seen, receipt), config);
            }
            Step::Blind(key) => {
                self.faults.total -= 1;
                self.faults.blind -= 1;
                self.append(runner::settle_sighting(&self.run, *key, Seen::CannotTell, None), config);
            }
            Step::Land(index) => {
                let request = self.late.remove(*index);
                self.check(invariants::before_landing(self, &request));
                let target = self.world.target.len();
                self.world.execute(&request, config);
                self.check(invariants::after_landing(self));
                self.check(invariants::late_changes_nothing(self, &request, self.world.target.len() != target));
                if request.alive {
                    self.check(invariants::fenced_appends_nothing(self, &request));
                }
            }
            Step::TakeOver => {
                self.faults.total -= 1;
                self.faults.crashes -= 1;
                self.take_over(config);
            }
            Step::Resume => {
                self.faults.resumes -= 1;
                self.take_over(config);
            }
            Step::Vanish(object) => {
                self.faults.total -= 1;
                self.faults.vanished -= 1;
                self.world.objects.remove(object);
            }
        }
    }

    fn effect(&self, key: Key) -> Option<Effect> {
        self.run.open.get(&key).map(|open| open.effect.clone())
    }

    /// Nobody waits for that request any more.
    fn orphan(&mut self, key: Key, alive: bool) {
        let Some(effect) = self.effect(key) else { return };
        let lands = matches!(
            effect,
            Effect::Claim { .. }
                | Effect::Put { .. }
                | Effect::Stage { .. }
                | Effect::Load { .. }
                | Effect::Publish { .. }
                | Effect::Fence { .. }
                | Effect::Drop { .. }
                | Effect::Release { .. }
        );
        if lands {
            let request = world::request(&self.run, key, &effect, alive);
            self.late.push(request);
        }
    }

    /// The runner is gone, or fenced, and the next one folds the log and takes over.
    pub(super) fn take_over(&mut self, config: &Config) {
        let live: Vec<Key> = self.live().map(|(key, _)| key).collect();
        for key in live {
            self.orphan(key, config.rivals);
        }
        self.world.source = false;
        match recover(self.log.events()) {
            Ok(run) => {
                self.check(invariants::fold_is_live(&run, &self.run));
                self.run = Arc::new(run);
            }
            Err(_) => self.broken = Some(invariants::RECOVERS),
        }
        self.runner = Runner::of(&self.run, config);
        let epoch = self.run.epoch + 1;
        self.append(vec![Event::TakenOver { epoch }], config);
    }

    /// Appends facts, all or none, and asks what is next.
    fn append(&mut self, facts: Vec<Event>, config: &Config) {
        for event in facts {
            self.check(invariants::before_append(self, &event, config));
            let mut run = Run::clone(&self.run);
            if let Err(illegal) = run.absorb(&event) {
                self.check(Some(invariants::illegal(&illegal)));
                return;
            }
            if let Event::Intended { key, effect } = &event {
                self.last_key = key.0;
                if let Effect::Put { object, .. } = effect {
                    self.read_from.insert(object.clone(), self.opened);
                }
            }
            self.log = self.log.and(event);
            self.run = Arc::new(run);
            self.check(invariants::after_append(self, config));
        }
        self.next = runner::next(&self.run, &self.runner, config, &mut self.nonce);
        if self.has_ended() {
            self.check(invariants::ended_justified(self, &ending(&self.run), config));
            match recover(self.log.events()) {
                Ok(run) => self.check(invariants::fold_is_live(&run, &self.run)),
                Err(_) => self.broken = Some(invariants::RECOVERS),
            }
        }
        self.drop_harmless();
    }

    /// The first broken invariant is the one that is told.
    fn check(&mut self, found: Option<&'static str>) {
        self.broken = self.broken.or(found);
    }

    /// Forgets late requests that can change nothing any more, whatever happens.
    fn drop_harmless(&mut self) {
        let world = &self.world;
        self.late.retain(|request| match &request.effect {
            // What was removed is never made again.
            Effect::Drop { kind, name } => *kind == OwnedKind::Load || world.holds(*kind, name),
            Effect::Publish { publication } => !world.ledger.contains_key(publication),
            _ => true,
        });
    }
}

/// A code of the class that a failure of that effect has.
fn lost_code(effect: Option<&Effect>) -> Code {
    match effect {
        Some(Effect::Read { .. } | Effect::Open | Effect::Count) => Code::SourceReadFailed,
        Some(Effect::Put { .. } | Effect::Verify) => Code::ObjectUploadFailed,
        Some(Effect::Publish { .. } | Effect::Fence { .. }) => Code::PublicationFailed,
        Some(Effect::Evidence { .. }) => Code::EvidenceWriteFailed,
        Some(Effect::Drop { .. } | Effect::Release { .. }) => Code::CleanupFailed,
        _ => Code::LoadFailed,
    }
}
