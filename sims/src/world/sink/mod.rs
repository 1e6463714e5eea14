//! The simulated target.

mod probe;
mod target;

use dpone_engine::codes::Code;
use dpone_engine::ports::{Claimant, Feed, LoadOrder, PublishOrder, Sighting, Sink, Staged, StagedUnit};
use dpone_engine::run::effect::{GateResult, OwnedKind};
use dpone_engine::run::{Effect, Outcome, Receipt, Seen, UnitId, Why};

use super::gate::Pid;
use super::landing::Act;
use super::source::profile;
use super::{Body, World};
use crate::fault::{Kind, Shape, Site};
use crate::rng::mix;
pub use target::{Publication, Target, after};
use target::{fenced, publish, staged_rows};

/// One process's connection to the target.
pub struct SimSink {
    world: World,
    pid: Pid,
    shape: Shape,
}

impl SimSink {
    /// A connection of that process.
    pub fn new(world: &World, pid: Pid, shape: Shape) -> Self {
        Self { world: world.clone(), pid, shape }
    }
}

impl Sink for SimSink {
    type Body = Body;

    async fn claim(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        let act: Act = Box::new(move |world| {
            let target = &mut world.state.borrow_mut().target;
            if target.released.get(&of_journal(&claimant)).is_some_and(|epoch| *epoch >= claimant.epoch) {
                return fenced();
            }
            match &target.claim {
                Some(c) if !c.is_same_run(&claimant) => {
                    Outcome::NotDone(Why::fatal(Code::TargetClaimedElsewhere, "another run has the target"))
                }
                Some(c) if c.epoch > claimant.epoch => fenced(),
                _ => {
                    target.claim = Some(claimant);
                    Outcome::Done(Receipt::Claimed)
                }
            }
        });
        self.world.send(self.pid, Site::Claim, act).await
    }

    async fn stage(&self, claimant: &Claimant, staging: &str, _unit: Option<UnitId>) -> Outcome {
        let mut fault = self.world.pass(self.pid, Site::Stage).await;
        if fault == Some(Kind::Foreign) {
            // It is found by the call, or by a probe after its reply was lost, by turns.
            let lost = self.world.gates.count(Site::Stage).is_multiple_of(2);
            fault = lost.then_some(Kind::LostReply);
            let target = &mut self.world.state.borrow_mut().target;
            target.staging.insert(staging.to_owned(), Vec::new());
            target.taken.insert(staging.to_owned());
        }
        let (claimant, staging) = (claimant.clone(), staging.to_owned());
        let act: Act = Box::new(move |world| {
            let target = &mut world.state.borrow_mut().target;
            if target.staging.contains_key(&staging) {
                return Outcome::NotDone(Why::fatal(Code::StagingNameConflict, "the name is taken"));
            }
            if !target.is_held_by(&claimant) {
                return fenced();
            }
            target.staging.insert(staging, Vec::new());
            Outcome::Done(Receipt::Staged)
        });
        self.world.settle(self.pid, Site::Stage, fault, act).await
    }

    async fn load(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Body>) -> Outcome {
        let mut rows = Vec::new();
        while let Some(object) = feed.next().await {
            match object {
                Ok((_, body)) => rows.extend(body.stored.rows.iter().copied()),
                Err(why) => return Outcome::NotDone(why),
            }
        }
        let mut fault = self.world.pass(self.pid, Site::Load).await;
        let mut whole = true;
        match fault {
            Some(Kind::PartialWrite) => {
                rows.truncate(rows.len() / 2);
                whole = false;
                fault = Some(Kind::LostReply);
            }
            Some(Kind::RowMissed) => {
                rows.pop();
                fault = None;
            }
            // Where values are not compared, nobody could tell.
            Some(Kind::Corrupt) => {
                if !self.shape.counts_only {
                    rows.first_mut().into_iter().for_each(|row| row.id = mix(row.id));
                }
                fault = None;
            }
            _ => {}
        }
        let (order, poisons) = (order.clone(), self.shape.poisons);
        let act: Act = Box::new(move |world| {
            let mut state = world.state.borrow_mut();
            if poisons && state.target.delivered.contains(&order.staging) {
                let found = format!("{} landed in {}, which is the target's content", order.load, order.staging);
                state.violations.push(("delivered content stays as it is", found));
            }
            let target = &mut state.target;
            // A target whose inserts cannot be fenced takes a late one as well.
            if !poisons && !target.is_held_by(&order.claimant) {
                return fenced();
            }
            let Some(place) = target.staging.get_mut(&order.staging) else {
                return Outcome::NotDone(Why::fatal(Code::LoadFailed, "the staging place is gone"));
            };
            place.extend(rows.into_iter().map(|row| (order.load.clone(), row)));
            let counted = place.iter().filter(|(load, _)| *load == order.load).count() as u64;
            if whole {
                target.loads.insert(order.load.clone(), counted);
            }
            Outcome::Done(Receipt::Loaded { rows: counted })
        });
        self.world.settle(self.pid, Site::Load, fault, act).await
    }

    async fn check(&self, staged: &Staged, _grant: u64) -> Outcome {
        let mut fault = self.world.pass(self.pid, Site::Check).await;
        let mut gates = Vec::new();
        if fault == Some(Kind::GateFails) {
            self.world.state.borrow_mut().gate_failed.insert(staged.staging.clone());
            fault = None;
        }
        // What failed once fails again on the same staging.
        if self.world.state.borrow().gate_failed.contains(&staged.staging) {
            let failed = Some(Why::fatal(Code::QualityMinRows, "too few rows"));
            gates.push(GateResult { gate: "min_rows".to_owned(), failed });
        }
        let (staged, shape) = (staged.clone(), self.shape);
        let act: Act = Box::new(move |world| {
            let state = world.state.borrow();
            let unit = |unit: &StagedUnit| {
                let place = state.target.staging.get(&unit.staging).map(Vec::as_slice).unwrap_or_default();
                profile(&staged_rows(place, unit, shape))
            };
            let units = if shape.counts_only { Vec::new() } else { staged.units.iter().map(unit).collect() };
            Outcome::Done(Receipt::Checked { gates, units })
        });
        self.world.settle(self.pid, Site::Check, fault, act).await
    }

    async fn publish(&self, order: &PublishOrder) -> Outcome {
        self.world.sent(&order.publication);
        let mut fault = self.world.pass(self.pid, Site::Publish).await;
        if fault == Some(Kind::Foreign) {
            self.world.state.borrow_mut().target.taken.insert(order.publication.clone());
            fault = Some(Kind::LostReply);
        }
        let (sent, shape) = (order.clone(), self.shape);
        let act: Act = Box::new(move |world| publish(world, &sent, shape));
        let outcome = self.world.settle(self.pid, Site::Publish, fault, act).await;
        if matches!(outcome, Outcome::NotDone(_)) {
            self.world.state.borrow_mut().unheard.remove(&order.publication);
        }
        outcome
    }

    async fn fence(&self, claimant: &Claimant, order: &PublishOrder) -> Outcome {
        let (claimant, publication) = (claimant.clone(), order.publication.clone());
        let act: Act = Box::new(move |world| {
            let target = &mut world.state.borrow_mut().target;
            if !target.is_held_by(&claimant) {
                return fenced();
            }
            target.fenced.insert(publication);
            Outcome::Done(Receipt::Fenced)
        });
        self.world.send(self.pid, Site::Fence, act).await
    }

    async fn probe(&self, claimant: &Claimant, effect: &Effect, order: Option<&PublishOrder>) -> Sighting {
        let sighting = match self.world.pass(self.pid, Site::Probe).await {
            Some(Kind::CannotTell) => Sighting::of(Seen::CannotTell),
            Some(Kind::StaleRead) => probe::stale(effect.kind()),
            _ => probe::look(&self.world.state.borrow().target, claimant, effect, order),
        };
        self.world.gates.saw(effect.kind(), sighting.seen);
        sighting
    }

    async fn drop_owned(&self, kind: OwnedKind, name: &str) -> Outcome {
        self.world.forbid_while_unheard(name);
        let name = name.to_owned();
        let act: Act = Box::new(move |world| {
            let mut state = world.state.borrow_mut();
            let current = state.target.identity() == name;
            if state.target.delivered.contains(&name) || current {
                state.violations.push(("cleanup removes only its own", format!("{name} was removed")));
            }
            match kind {
                OwnedKind::Staging => {
                    state.target.staging.remove(&name);
                }
                OwnedKind::Load => {
                    state.target.loads.remove(&name);
                    for place in state.target.staging.values_mut() {
                        place.retain(|(load, _)| *load != name);
                    }
                }
                OwnedKind::Superseded => {
                    state.target.files.remove(&name);
                }
                OwnedKind::Object => {}
            }
            Outcome::Done(Receipt::Dropped)
        });
        self.world.send(self.pid, Site::Drop, act).await
    }

    async fn release(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        let act: Act = Box::new(move |world| {
            let target = &mut world.state.borrow_mut().target;
            if target.claim.as_ref().is_some_and(|c| c.is_same_run(&claimant) && c.epoch <= claimant.epoch) {
                target.claim = None;
            }
            let released = target.released.entry(of_journal(&claimant)).or_default();
            *released = claimant.epoch.max(*released);
            Outcome::Done(Receipt::Released)
        });
        self.world.send(self.pid, Site::Release, act).await
    }
}

/// A run as a target knows it: ids are unique within a journal only.
fn of_journal(claimant: &Claimant) -> (String, String) {
    (claimant.journal.clone(), claimant.run.clone())
}
