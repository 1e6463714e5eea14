//! From a task's end to the facts that follow from it.

use futures_util::FutureExt;

use super::{Done, Driver, PutDone};
use crate::ports::{ObjectStore, Ports, Sighting, Sink, Source};
use crate::run::effect::{EffectKind, OwnedKind};
use crate::run::event::ABANDONED;
use crate::run::{Effect, Event, Key, Outcome, Receipt, Seen, State, Verdict, Why, reconcile};

impl<'a, P: Ports> Driver<'a, P> {
    /// Takes one task's end in and adds the facts that follow.
    pub(super) fn settle(&mut self, done: Done<P>, facts: &mut Vec<Event>) {
        match done {
            Done::Effect(key, outcome) | Done::Put(PutDone { key, outcome }) => {
                self.settle_outcome(key, outcome, facts)
            }
            Done::Reader(key, reader) => self.reader_opened(key, reader),
            Done::Pulled(pulled) => self.pulled(pulled),
            Done::ReaderClosed(key) => self.reader_closed(key),
            Done::Probed(key, sighting) => self.settle_sighting(key, sighting, facts),
            Done::Timer(time) => {
                self.timers.remove(&time);
            }
        }
    }

    fn settle_outcome(&mut self, key: Key, outcome: Outcome, facts: &mut Vec<Event>) {
        let Some(effect) = self.run.open.get(&key).map(|o| o.effect.clone()) else { return };
        let event = match outcome {
            Outcome::Done(receipt) => Event::Confirmed { key, receipt },
            Outcome::NotDone(why) => Event::NotDone { key, why, not_before: self.retry_at(&effect) },
            Outcome::Unknown(why) => Event::Doubted { key, why },
        };
        self.put_settled(key, &effect, &event);
        facts.push(event);
    }

    /// Asks the world what became of an effect in doubt; false if that is already being asked.
    pub(super) fn probe(&mut self, key: Key) -> bool {
        let Some(open) = self.run.open.get(&key).filter(|_| !self.probing.contains(&key)) else { return false };
        self.probing.insert(key);
        let ports = self.ports;
        let claimant = self.claimant();
        let effect = open.effect.clone();
        let former = self.run.former.clone().filter(|a| a.key == key);
        let order = self.order_of(key);
        let sessions = self.order.policy.readers;
        if effect.kind() == EffectKind::Open {
            self.source_open = true;
        }
        self.tasks.push(
            async move {
                let sighting = match &effect {
                    // Reads leave nothing behind that could be looked for.
                    Effect::Read { .. } | Effect::Count | Effect::Verify | Effect::Check => Sighting::of(Seen::Nothing),
                    Effect::Open => match former {
                        None => Sighting::of(Seen::Nothing),
                        Some(a) => match ports.source().reopen(&a.token, a.persistent, sessions).await {
                            Seen::Ours => {
                                Sighting::ours(Receipt::Opened { authority: a.token, persistent: a.persistent })
                            }
                            seen => Sighting::of(seen),
                        },
                    },
                    Effect::Put { object, facts, .. } => match ports.store().head(object, facts).await {
                        Seen::Ours => Sighting::ours(Receipt::Put { checked_by: "read_back".to_owned() }),
                        seen => Sighting::of(seen),
                    },
                    // Deleting an object again is the probe: it answers whether it is gone.
                    Effect::Drop { kind: OwnedKind::Object, name } => match ports.store().delete(name).await {
                        Outcome::Done(_) => Sighting::of(Seen::Nothing),
                        Outcome::NotDone(_) | Outcome::Unknown(_) => Sighting::of(Seen::CannotTell),
                    },
                    // The document is written again under its own name.
                    Effect::Evidence { .. } => Sighting::of(Seen::Nothing),
                    Effect::Claim { .. }
                    | Effect::Stage { .. }
                    | Effect::Load { .. }
                    | Effect::Publish { .. }
                    | Effect::Fence { .. }
                    | Effect::Drop { .. }
                    | Effect::Release { .. } => ports.sink().probe(&claimant, &effect, order.as_ref()).await,
                };
                Done::Probed(key, sighting)
            }
            .boxed_local(),
        );
        true
    }

    fn settle_sighting(&mut self, key: Key, sighting: Sighting, facts: &mut Vec<Event>) {
        self.probing.remove(&key);
        let Some(open) = self.run.open.get(&key) else { return };
        let effect = open.effect.clone();
        let why = open.why.clone().unwrap_or_else(|| Why::transient(ABANDONED, "its runner ended before it did"));
        let probe_again = Event::Probed { key, seen: sighting.seen, not_before: self.later(open.probes) };
        let not_before = if open.why.is_some() { self.retry_at(&effect) } else { 0 };
        let verdict = reconcile(effect.kind(), &self.run.plan, sighting.seen);
        let event = match (verdict, receipt_of(&effect, sighting)) {
            (Verdict::Confirm, Some(receipt)) => Event::Confirmed { key, receipt },
            // A probe that says it happened and cannot say what came of it has not settled it.
            (Verdict::Confirm, None) | (Verdict::Stay, _) => probe_again,
            (Verdict::Retry, _) => Event::NotDone { key, why, not_before },
            (Verdict::Poison, _) => Event::Poisoned { key },
            (Verdict::Halt(code), _) => {
                let why =
                    Why::fatal(code, format!("something else stands where this run's {:?} belongs", effect.kind()));
                facts.push(Event::NotDone { key, why: why.clone(), not_before });
                self.put_settled(key, &effect, &Event::NotDone { key, why: why.clone(), not_before });
                // Facts taken in together are applied together: the first of them that halts is the primary error.
                let halting = facts.iter().any(|fact| matches!(fact, Event::Halted { .. }));
                let may_halt = !halting
                    && self.run.halted.is_none()
                    && self.run.state.may_become(State::FailedPrepublication)
                    && self.run.open_publication().is_none();
                if !may_halt {
                    return;
                }
                Event::Halted { why, key: Some(key) }
            }
        };
        self.put_settled(key, &effect, &event);
        facts.push(event);
    }
}

/// The receipt that confirms an effect after a probe: the probe's own, or the one that says no more than that it is so.
fn receipt_of(effect: &Effect, sighting: Sighting) -> Option<Receipt> {
    sighting.receipt.or(match effect.kind() {
        EffectKind::Claim => Some(Receipt::Claimed),
        EffectKind::Verify => Some(Receipt::Verified),
        EffectKind::Stage => Some(Receipt::Staged),
        EffectKind::Fence => Some(Receipt::Fenced),
        EffectKind::Drop => Some(Receipt::Dropped),
        EffectKind::Release => Some(Receipt::Released),
        EffectKind::Open
        | EffectKind::Count
        | EffectKind::Read
        | EffectKind::Put
        | EffectKind::Load
        | EffectKind::Check
        | EffectKind::Publish
        | EffectKind::Evidence => None,
    })
}
