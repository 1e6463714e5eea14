//! The sink.

use std::future::Future;

use super::{Objects, done, refused};
use crate::codes::Code;
use crate::ports::{Body, Claimant, LoadOrder, PublishOrder, Sink, Staged, StagedUnit};
use crate::run::effect::{ChunkFacts, OwnedKind};
use crate::run::{Effect, Receipt, Seen, UnitId, Why};

/// A target that does not exist yet, to be published to by full refresh.
pub trait SinkWorld {
    /// The sink.
    type Sink: Sink<Body = Self::Body>;
    /// The bytes that it loads.
    type Body: Body;

    /// The sink as a new process has it. All of them are of one target.
    fn sink(&self) -> Self::Sink;

    /// An object of `rows` rows that differ from each other and from those of another `first`.
    fn chunk(&self, first: u64, rows: u64) -> (ChunkFacts, Self::Body);

    /// The identity of the target's present content, as preflight finds it.
    fn base(&self) -> String;

    /// How many rows a reader of the target sees.
    fn rows(&self) -> impl Future<Output = u64>;

    /// Whether a load of a runner that has lost the claim is refused. Where it is not, it may poison its staging place.
    fn fences_loads(&self) -> bool {
        true
    }
}

/// Checks a sink, each rule on a world of its own.
pub async fn sink<W: SinkWorld>(world: impl Fn() -> W) {
    claims(&world()).await;
    staging(&world()).await;
    loads(&world()).await;
    one_run_publishes_once(&world()).await;
    a_lost_claim_changes_nothing(&world()).await;
    another_run_first(&world()).await;
    a_run_of_that_id_in_another_journal(&world()).await;
}

/// One run at work on a target.
struct At<'a, W: SinkWorld> {
    world: &'a W,
    sink: W::Sink,
    claimant: Claimant,
    base: String,
}

impl<'a, W: SinkWorld> At<'a, W> {
    fn new(world: &'a W, run: &str, epoch: u64) -> Self {
        Self::of(world, Claimant { run: run.to_owned(), epoch, journal: format!("journal of {run}") })
    }

    fn of(world: &'a W, claimant: Claimant) -> Self {
        Self { world, sink: world.sink(), claimant, base: world.base() }
    }

    /// The run's next runner, which has taken the claim.
    async fn next_runner(&self) -> At<'a, W> {
        let claimant = Claimant { epoch: self.claimant.epoch + 1, ..self.claimant.clone() };
        let next = At { world: self.world, sink: self.world.sink(), claimant, base: self.base.clone() };
        done(next.sink.claim(&next.claimant).await, "a claim of the run's next runner");
        next
    }

    fn name(&self, kind: &str) -> String {
        format!("{kind}_{}_a1_{:016x}", self.claimant.run, 7)
    }

    fn order(&self, unit: UnitId, rows: u64) -> LoadOrder {
        let load = format!("ld_{}_a1_r{unit}_{:016x}", self.claimant.run, self.claimant.epoch);
        LoadOrder { claimant: self.claimant.clone(), unit, staging: self.name("stg"), load, rows }
    }

    fn load_effect(order: &LoadOrder) -> Effect {
        Effect::Load { unit: order.unit, staging: order.staging.clone(), load: order.load.clone() }
    }

    async fn seen(&self, effect: &Effect) -> Seen {
        self.sink.probe(&self.claimant, effect, None).await.seen
    }

    /// Claims, stages and loads two units: one of two objects with three rows, one of none.
    async fn staged(&self) -> Staged {
        done(self.sink.claim(&self.claimant).await, "a claim");
        let staging = self.name("stg");
        assert_eq!(done(self.sink.stage(&self.claimant, &staging, None).await, "a staging place"), Receipt::Staged);
        let mut units = Vec::new();
        for (unit, chunks) in [(0, &[2u64, 1][..]), (1, &[])] {
            let order = self.order(unit, chunks.iter().sum());
            let objects = (0..).zip(chunks).map(|(at, rows)| Ok(self.world.chunk(at * 100, *rows))).collect();
            let loaded = self.sink.load(&order, &mut Objects::new(objects)).await;
            assert_eq!(done(loaded, "a load"), Receipt::Loaded { rows: order.rows });
            let (load, rows, objects) = (order.load, order.rows, chunks.len() as u32);
            units.push(StagedUnit { unit, staging: staging.clone(), load, rows, objects });
        }
        Staged { claimant: self.claimant.clone(), units, staging: vec![staging] }
    }

    fn publication(&self, staged: &Staged, name: &str) -> PublishOrder {
        let staged = Staged { claimant: self.claimant.clone(), ..staged.clone() };
        let publication = format!("pub_{}_a1_{name}", self.claimant.run);
        PublishOrder { staged, publication, base: self.base.clone() }
    }

    async fn sighting(&self, order: &PublishOrder) -> (Seen, Option<Receipt>) {
        let effect = Effect::Publish { publication: order.publication.clone() };
        let sighting = self.sink.probe(&self.claimant, &effect, Some(order)).await;
        (sighting.seen, sighting.receipt)
    }

    /// A whole run up to its publication.
    async fn delivered(&self) -> (PublishOrder, Receipt) {
        let staged = self.staged().await;
        let order = self.publication(&staged, "1");
        let receipt = done(self.sink.publish(&order).await, "a publication");
        (order, receipt)
    }
}

async fn claims<W: SinkWorld>(world: &W) {
    let one = At::new(world, "run1", 3);
    let two = At::new(world, "run2", 1);
    let claim = |epoch| Effect::Claim { epoch };
    assert_eq!(one.seen(&claim(3)).await, Seen::Nothing);
    for _ in 0..2 {
        assert_eq!(done(one.sink.claim(&one.claimant).await, "a claim, and the same again"), Receipt::Claimed);
    }
    assert_eq!(one.seen(&claim(3)).await, Seen::Ours);
    let other = refused(two.sink.claim(&two.claimant).await, "a claim of another run");
    assert_eq!(other, Code::TargetClaimedElsewhere);
    assert_eq!(two.seen(&claim(1)).await, Seen::Foreign);
    done(two.sink.release(&two.claimant).await, "giving back what is not one's own");
    assert_eq!(one.seen(&claim(3)).await, Seen::Ours, "another run cannot give the claim back");

    // The same id, and a later epoch, in another journal: another run.
    let copy = At::of(world, Claimant { journal: "another journal".to_owned(), epoch: 9, ..one.claimant.clone() });
    let other = refused(copy.sink.claim(&copy.claimant).await, "a claim of that id in another journal");
    assert_eq!(other, Code::TargetClaimedElsewhere);
    assert_eq!(copy.seen(&claim(9)).await, Seen::Foreign);
    let staged = copy.sink.stage(&Claimant { epoch: 3, ..copy.claimant.clone() }, "stg_copy", None).await;
    assert_eq!(refused(staged, "work under another journal's claim"), Code::LeaseLost);
    done(copy.sink.release(&copy.claimant).await, "giving back what is not one's own");
    assert_eq!(one.seen(&claim(3)).await, Seen::Ours, "a run of another journal cannot give the claim back");

    let next = one.next_runner().await;
    assert_ne!(one.seen(&claim(3)).await, Seen::Ours, "a raised claim is not the former runner's");
    refused(one.sink.claim(&one.claimant).await, "a claim of a lower epoch");
    done(one.sink.release(&one.claimant).await, "giving back under a lower epoch");
    assert_eq!(next.seen(&claim(4)).await, Seen::Ours, "a former runner cannot give the claim back");
    for _ in 0..2 {
        assert_eq!(done(next.sink.release(&next.claimant).await, "giving back, and again"), Receipt::Released);
    }
    assert_eq!(next.seen(&Effect::Release { epoch: 4 }).await, Seen::Nothing);
    for given_back in [&one, &next] {
        let late = refused(given_back.sink.claim(&given_back.claimant).await, "a claim that was given back, late");
        assert_eq!(late, Code::LeaseLost);
    }
    // Under a higher epoch, since this one was given back as well.
    let two = At { claimant: Claimant { epoch: 2, ..two.claimant.clone() }, ..two };
    done(two.sink.claim(&two.claimant).await, "a claim of a free target");
}

async fn staging<W: SinkWorld>(world: &W) {
    let at = At::new(world, "run1", 1);
    let stage = |name: &str| Effect::Stage { staging: name.to_owned(), unit: None };
    let name = at.name("stg");
    done(at.sink.claim(&at.claimant).await, "a claim");
    assert_eq!(at.seen(&stage(&name)).await, Seen::Nothing);
    done(at.sink.stage(&at.claimant, &name, None).await, "a staging place");
    assert_eq!(at.seen(&stage(&name)).await, Seen::Ours);
    let again = refused(at.sink.stage(&at.claimant, &name, None).await, "a name that is taken");
    assert_eq!(again, Code::StagingNameConflict);
    let next = at.next_runner().await;
    let late = refused(at.sink.stage(&at.claimant, "stg_late", None).await, "staging without the claim");
    assert_eq!(late, Code::LeaseLost);
    assert_eq!(next.seen(&stage("stg_late")).await, Seen::Nothing);
    for _ in 0..2 {
        let dropped = next.sink.drop_owned(OwnedKind::Staging, &name).await;
        assert_eq!(done(dropped, "a removal, and the same again"), Receipt::Dropped);
    }
    let drop = Effect::Drop { kind: OwnedKind::Staging, name: name.clone() };
    assert_eq!(next.seen(&drop).await, Seen::Nothing);
    assert_eq!(world.rows().await, 0);
}

async fn loads<W: SinkWorld>(world: &W) {
    let at = At::new(world, "run1", 1);
    done(at.sink.claim(&at.claimant).await, "a claim");
    done(at.sink.stage(&at.claimant, &at.name("stg"), None).await, "a staging place");

    let broken = LoadOrder { load: "ld_run1_a1_r0_broken".to_owned(), ..at.order(0, 2) };
    let why = Why::transient(Code::ObjectLost, "the store said so");
    let mut feed = Objects::new(vec![Ok(world.chunk(0, 2)), Err(why.clone())]);
    assert_eq!(
        at.sink.load(&broken, &mut feed).await,
        crate::run::Outcome::NotDone(why),
        "the store's word is passed on"
    );
    assert_eq!(at.seen(&At::<W>::load_effect(&broken)).await, Seen::Nothing, "half a load is no load");

    let order = at.order(0, 2);
    assert_eq!(at.seen(&At::<W>::load_effect(&order)).await, Seen::Nothing);
    let loaded = at.sink.load(&order, &mut Objects::new(vec![Ok(world.chunk(0, 2))])).await;
    assert_eq!(done(loaded, "a load"), Receipt::Loaded { rows: 2 });
    let sighting = at.sink.probe(&at.claimant, &At::<W>::load_effect(&order), None).await;
    assert_eq!((sighting.seen, sighting.receipt), (Seen::Ours, Some(Receipt::Loaded { rows: 2 })));

    let next = at.next_runner().await;
    let late = at.order(1, 1);
    if world.fences_loads() {
        let refusal = refused(at.sink.load(&late, &mut Objects::new(vec![Ok(world.chunk(5, 1))])).await, "a late load");
        assert_eq!(refusal, Code::LeaseLost);
        assert_eq!(next.seen(&At::<W>::load_effect(&late)).await, Seen::Nothing);
    }

    let units =
        vec![StagedUnit { unit: 0, staging: order.staging.clone(), load: order.load.clone(), rows: 2, objects: 1 }];
    let staged = Staged { claimant: next.claimant.clone(), units, staging: vec![order.staging.clone()] };
    match done(next.sink.check(&staged, 64 << 20).await, "a check") {
        Receipt::Checked { gates, units } => {
            assert!(gates.iter().all(|g| g.failed.is_none()), "{gates:?}");
            let rows: Vec<u64> = units.iter().map(|u| u.rows).collect();
            assert!(rows == [2] || rows.is_empty(), "a profile per unit, or none: {rows:?}");
        }
        other => panic!("a check earned {other:?}"),
    }
    for name in [&broken.load, &order.load, &late.load] {
        done(next.sink.drop_owned(OwnedKind::Load, name).await, "a removal of what a load wrote");
        done(next.sink.drop_owned(OwnedKind::Load, name).await, "the same again");
    }
    done(next.sink.drop_owned(OwnedKind::Staging, &order.staging).await, "a removal");
    assert_eq!(world.rows().await, 0, "nothing was published");
}

async fn one_run_publishes_once<W: SinkWorld>(world: &W) {
    let at = At::new(world, "run1", 1);
    let staged = at.staged().await;
    let order = at.publication(&staged, "1");
    assert_eq!(at.sighting(&order).await, (Seen::Nothing, None));
    assert_eq!(world.rows().await, 0, "staged rows are not the target's");
    let receipt = done(at.sink.publish(&order).await, "a publication");
    let Receipt::Published { identity, rows: 3 } = &receipt else { panic!("{receipt:?}") };
    assert_eq!(world.rows().await, 3);
    assert_eq!(world.base(), *identity, "the receipt's identity is the one that the next run finds");

    assert_eq!(done(at.sink.publish(&order).await, "the same publication again"), receipt);
    let other = at.publication(&staged, "2");
    assert_eq!(done(at.sink.publish(&other).await, "another publication of the run"), receipt);
    assert_eq!(at.sighting(&order).await, (Seen::Ours, Some(receipt.clone())));
    let next = at.next_runner().await;
    assert_eq!(done(next.sink.fence(&next.claimant, &order).await, "a fence"), Receipt::Fenced);
    assert_eq!(next.sighting(&order).await, (Seen::Ours, Some(receipt)), "a fence undoes nothing");
    assert_eq!(world.rows().await, 3, "once");
    done(next.sink.release(&next.claimant).await, "giving the claim back");
}

async fn a_lost_claim_changes_nothing<W: SinkWorld>(world: &W) {
    let at = At::new(world, "run1", 1);
    let staged = at.staged().await;
    let order = at.publication(&staged, "1");
    let next = at.next_runner().await;
    done(next.sink.fence(&next.claimant, &order).await, "a fence");
    for _ in 0..2 {
        done(next.sink.fence(&next.claimant, &order).await, "a fence, and the same again");
        refused(at.sink.publish(&order).await, "a late publication under a lost claim");
        assert_eq!(next.sighting(&order).await, (Seen::Nothing, None));
    }
    assert_eq!(world.rows().await, 0);
    let again = next.publication(&staged, "2");
    let receipt = done(next.sink.publish(&again).await, "the next runner's publication");
    assert!(matches!(receipt, Receipt::Published { rows: 3, .. }), "{receipt:?}");
    assert_eq!(world.rows().await, 3);
}

async fn a_run_of_that_id_in_another_journal<W: SinkWorld>(world: &W) {
    let one = At::new(world, "run1", 1);
    let (first, receipt) = one.delivered().await;
    done(one.sink.release(&one.claimant).await, "giving the claim back");
    let two = At::new(world, "run2", 1);
    two.delivered().await;
    done(two.sink.release(&two.claimant).await, "giving the claim back");

    let copy = At::of(world, Claimant { journal: "another journal".to_owned(), ..one.claimant.clone() });
    done(copy.sink.claim(&copy.claimant).await, "a claim of a free target");
    let staging = format!("{}_copy", copy.name("stg"));
    done(copy.sink.stage(&copy.claimant, &staging, None).await, "a staging place");
    let order = LoadOrder { staging: staging.clone(), load: "ld_copy".to_owned(), ..copy.order(0, 5) };
    let loaded = copy.sink.load(&order, &mut Objects::new(vec![Ok(world.chunk(50, 5))])).await;
    done(loaded, "a load");
    let unit = StagedUnit { unit: 0, staging: staging.clone(), load: order.load, rows: 5, objects: 1 };
    let staged = Staged { claimant: copy.claimant.clone(), units: vec![unit], staging: vec![staging] };
    let order = copy.publication(&staged, "copy");
    assert_eq!(
        copy.sighting(&order).await,
        (Seen::Nothing, None),
        "what another journal's run published is not its own"
    );
    let own = done(copy.sink.publish(&order).await, "a publication");
    assert!(matches!(own, Receipt::Published { rows: 5, .. }), "{own:?}");
    assert_eq!(world.rows().await, 5);
    assert_eq!(copy.sighting(&order).await, (Seen::Ours, Some(own)));
    assert_eq!(one.sighting(&first).await, (Seen::Superseded, Some(receipt)));
    done(copy.sink.release(&copy.claimant).await, "giving the claim back");
}

async fn another_run_first<W: SinkWorld>(world: &W) {
    let one = At::new(world, "run1", 1);
    let staged = one.staged().await;
    done(one.sink.release(&one.claimant).await, "giving the claim back");
    let two = At::new(world, "run2", 1);
    let (second, receipt) = two.delivered().await;
    done(two.sink.release(&two.claimant).await, "giving the claim back");

    let one = At { claimant: Claimant { epoch: 2, ..one.claimant.clone() }, ..one };
    done(one.sink.claim(&one.claimant).await, "a claim of a free target");
    let late = one.publication(&staged, "1");
    let refusal = refused(one.sink.publish(&late).await, "a publication on a base that is gone");
    assert_eq!(refusal, Code::PublicationBaseChanged);
    assert_eq!(one.sighting(&late).await, (Seen::BaseChanged, None));
    for unit in &staged.units {
        done(one.sink.drop_owned(OwnedKind::Load, &unit.load).await, "a removal of what a load wrote");
    }
    done(one.sink.drop_owned(OwnedKind::Staging, &one.name("stg")).await, "a removal");
    done(one.sink.release(&one.claimant).await, "giving the claim back");
    assert_eq!(world.rows().await, 3, "the other run's rows stay");

    let three = At::new(world, "run3", 1);
    let former = three.base.clone();
    let (_, third) = three.delivered().await;
    assert_eq!(two.sighting(&second).await, (Seen::Superseded, Some(receipt)));
    for _ in 0..2 {
        done(three.sink.drop_owned(OwnedKind::Superseded, &former).await, "a removal of former content");
    }
    assert_eq!(world.rows().await, 3, "the present content stays: {third:?}");
    done(three.sink.release(&three.claimant).await, "giving the claim back");
}
