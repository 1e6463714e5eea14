//! The simulated target: a claim, staging places, content, and either a ledger or a chain of pointer manifests.

use std::collections::{BTreeMap, BTreeSet};

use dpone_engine::codes::Code;
use dpone_engine::ports::{Claimant, Feed, LoadOrder, PublishOrder, Sighting, Sink, Staged, StagedUnit};
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, Outcome, Receipt, Seen, UnitId, Why};

use super::gate::{Act, Pid};
use super::source::profile;
use super::{Body, Row, World};
use crate::fault::{Kind, Shape, Site};

/// One publication that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The run.
    pub run: String,
    /// Its identity.
    pub identity: String,
    /// Its rows.
    pub rows: u64,
}

/// The target and everything beside it.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Who holds the claim.
    pub claim: Option<Claimant>,
    /// The epoch up to which a run's claims have been given back.
    pub released: BTreeMap<String, u64>,
    /// Staging places: what each load put there.
    pub staging: BTreeMap<String, Vec<(String, Row)>>,
    /// Loads that were finished: the rows counted.
    pub loads: BTreeMap<String, u64>,
    /// What readers see.
    pub content: Vec<Row>,
    /// Every publication, oldest first: the ledger, or the chain of manifests.
    pub publications: Vec<Publication>,
    /// Announced publications that can no longer happen.
    pub fenced: BTreeSet<String>,
    /// Staging places that became content.
    pub delivered: Vec<String>,
}

impl Target {
    /// The identity of the present content.
    pub fn identity(&self) -> String {
        self.publications.last().map(|p| p.identity.clone()).unwrap_or_default()
    }

    /// Whether the claim is that runner's.
    fn is_held_by(&self, claimant: &Claimant) -> bool {
        self.claim.as_ref().is_some_and(|c| c.run == claimant.run && c.epoch == claimant.epoch)
    }
}

/// One process's connection to the target.
pub struct SimSink {
    world: World,
    pid: Pid,
    shape: Shape,
}

fn fenced() -> Outcome {
    Outcome::NotDone(Why::fatal(Code::LeaseLost, "the claim is not this runner's any more"))
}

impl SimSink {
    /// A connection of that process.
    pub fn new(world: &World, pid: Pid, shape: Shape) -> Self {
        Self { world: world.clone(), pid, shape }
    }
}

/// Makes staging the content, in one atomic step that checks everything it depends on.
fn publish(world: &World, order: &PublishOrder, shape: Shape) -> Outcome {
    let mut state = world.state.borrow_mut();
    let target = &mut state.target;
    let run = &order.staged.claimant.run;
    // One publication per run, whatever name it comes under.
    if let Some(done) = target.publications.iter().find(|p| p.run == *run) {
        return Outcome::Done(Receipt::Published { identity: done.identity.clone(), rows: done.rows });
    }
    if !target.is_held_by(&order.staged.claimant) || target.fenced.contains(&order.publication) {
        return fenced();
    }
    if target.identity() != order.base {
        return Outcome::NotDone(Why::fatal(Code::PublicationBaseChanged, "the target is not what it was"));
    }
    let mut rows = Vec::new();
    for unit in &order.staged.units {
        let Some(place) = target.staging.get(&unit.staging) else {
            return Outcome::NotDone(Why::fatal(Code::PublicationFailed, "a staging place is gone"));
        };
        rows.extend(staged_rows(place, unit, shape));
    }
    let count = rows.len() as u64;
    if shape.append {
        target.content.extend(rows);
    } else {
        target.content = rows;
    }
    if shape.pointer {
        target.delivered.extend(order.staged.staging.iter().cloned());
    }
    target.publications.push(Publication { run: run.clone(), identity: order.publication.clone(), rows: count });
    drop(state);
    world.gates.note(format!("published {} rows as {}", count, order.publication));
    Outcome::Done(Receipt::Published { identity: order.publication.clone(), rows: count })
}

/// A unit's rows in a staging place. Where loads are fenced, only the confirmed load's rows are ever read; where they are
/// not, whatever landed there counts.
fn staged_rows(place: &[(String, Row)], unit: &StagedUnit, shape: Shape) -> Vec<Row> {
    let theirs = |(load, row): &&(String, Row)| row.unit == unit.unit && (shape.poisons || *load == unit.load);
    place.iter().filter(theirs).map(|(_, row)| *row).collect()
}

impl Sink for SimSink {
    type Body = Body;

    async fn claim(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        let act: Act = Box::new(move |world| {
            let target = &mut world.state.borrow_mut().target;
            if target.released.get(&claimant.run).is_some_and(|epoch| *epoch >= claimant.epoch) {
                return fenced();
            }
            match &target.claim {
                Some(c) if c.run != claimant.run => {
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
        self.world.send(self.pid, Site::Stage, act).await
    }

    async fn load(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Body>) -> Outcome {
        let mut rows = Vec::new();
        while let Some(object) = feed.next().await {
            match object {
                Ok((_, body)) => rows.extend(body.rows),
                Err(why) => return Outcome::NotDone(why),
            }
        }
        let (order, poisons) = (order.clone(), self.shape.poisons);
        let act: Act = Box::new(move |world| {
            let target = &mut world.state.borrow_mut().target;
            // A target whose inserts cannot be fenced takes a late one as well.
            if !poisons && !target.is_held_by(&order.claimant) {
                return fenced();
            }
            let Some(place) = target.staging.get_mut(&order.staging) else {
                return Outcome::NotDone(Why::fatal(Code::LoadFailed, "the staging place is gone"));
            };
            place.extend(rows.into_iter().map(|row| (order.load.clone(), row)));
            let counted = place.iter().filter(|(load, _)| *load == order.load).count() as u64;
            target.loads.insert(order.load.clone(), counted);
            Outcome::Done(Receipt::Loaded { rows: counted })
        });
        self.world.send(self.pid, Site::Load, act).await
    }

    async fn check(&self, staged: &Staged, _grant: u64) -> Outcome {
        let (staged, shape) = (staged.clone(), self.shape);
        let act: Act = Box::new(move |world| {
            let state = world.state.borrow();
            let unit = |unit: &StagedUnit| {
                let place = state.target.staging.get(&unit.staging).map(Vec::as_slice).unwrap_or_default();
                profile(&staged_rows(place, unit, shape))
            };
            Outcome::Done(Receipt::Checked { gates: Vec::new(), units: staged.units.iter().map(unit).collect() })
        });
        self.world.send(self.pid, Site::Check, act).await
    }

    async fn publish(&self, order: &PublishOrder) -> Outcome {
        let (order, shape) = (order.clone(), self.shape);
        let act: Act = Box::new(move |world| publish(world, &order, shape));
        self.world.send(self.pid, Site::Publish, act).await
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
        self.world.gates.travel().await;
        self.world.land_due();
        match self.world.gates.look(Site::Probe) {
            Some(Kind::CrashBefore) => {
                self.world.die(self.pid).await;
            }
            Some(Kind::CannotTell) => return Sighting::of(Seen::CannotTell),
            _ => {}
        }
        let state = self.world.state.borrow();
        let target = &state.target;
        match effect {
            Effect::Claim { .. } => match &target.claim {
                Some(c) if *c == *claimant => Sighting::ours(Receipt::Claimed),
                Some(c) if c.run != claimant.run => Sighting::of(Seen::Foreign),
                _ => Sighting::of(Seen::Nothing),
            },
            Effect::Stage { staging, .. } => {
                Sighting::of(if target.staging.contains_key(staging) { Seen::Ours } else { Seen::Nothing })
            }
            Effect::Load { load, staging, .. } => match target.loads.get(load) {
                Some(rows) if target.staging.contains_key(staging) => Sighting::ours(Receipt::Loaded { rows: *rows }),
                _ => Sighting::of(Seen::Nothing),
            },
            Effect::Publish { .. } => {
                let last = target.publications.len();
                match target.publications.iter().position(|p| p.run == claimant.run) {
                    Some(at) => {
                        let done = &target.publications[at];
                        let receipt = Receipt::Published { identity: done.identity.clone(), rows: done.rows };
                        let seen = if at + 1 == last { Seen::Ours } else { Seen::Superseded };
                        Sighting { seen, receipt: Some(receipt) }
                    }
                    None if order.is_some_and(|o| o.base != target.identity()) => Sighting::of(Seen::BaseChanged),
                    None => Sighting::of(Seen::Nothing),
                }
            }
            Effect::Drop { name, kind, .. } => Sighting::of(match kind {
                OwnedKind::Staging if target.staging.contains_key(name) => Seen::Ours,
                _ => Seen::Nothing,
            }),
            Effect::Release { .. } => match &target.claim {
                Some(c) if c.run == claimant.run => Sighting::of(Seen::Ours),
                _ => Sighting::of(Seen::Nothing),
            },
            _ => Sighting::of(Seen::Nothing),
        }
    }

    async fn drop_owned(&self, kind: OwnedKind, name: &str) -> Outcome {
        let name = name.to_owned();
        let act: Act = Box::new(move |world| {
            let mut state = world.state.borrow_mut();
            if state.target.delivered.contains(&name) {
                state.violations.push(format!("delivered staging was removed: {name}"));
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
                OwnedKind::Object | OwnedKind::Superseded => {}
            }
            Outcome::Done(Receipt::Dropped)
        });
        self.world.send(self.pid, Site::Drop, act).await
    }

    async fn release(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        let act: Act = Box::new(move |world| {
            let target = &mut world.state.borrow_mut().target;
            if target.claim.as_ref().is_some_and(|c| c.run == claimant.run && c.epoch <= claimant.epoch) {
                target.claim = None;
            }
            let released = target.released.entry(claimant.run).or_default();
            *released = claimant.epoch.max(*released);
            Outcome::Done(Receipt::Released)
        });
        self.world.send(self.pid, Site::Release, act).await
    }
}
