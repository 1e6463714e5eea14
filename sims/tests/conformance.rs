//! The simulated source, store and sink pass the suites of the real ones.

use std::cell::Cell;

use dpone_engine::conformance::{self, SinkWorld, SourceWorld};
use dpone_engine::run::UnitId;
use dpone_engine::run::effect::ChunkFacts;
use dpone_sims::exec;
use dpone_sims::fault::{Plan, Shape};
use dpone_sims::systematic::shapes;
use dpone_sims::world::sink::SimSink;
use dpone_sims::world::source::{ROW_BYTES, SimSource, facts};
use dpone_sims::world::store::SimStore;
use dpone_sims::world::{Body, Meter, Row, Stored, World};

/// A world in which nothing goes wrong.
fn calm(time: &exec::Time, shape: Shape, rows: Vec<Row>) -> World {
    World::in_time(time.clone(), &Plan { seed: 1, shape, faults: Vec::new(), disk: None }, rows, Vec::new(), false)
}

fn object(rows: Vec<Row>) -> (ChunkFacts, Body) {
    let facts = facts(&rows);
    let size = facts.bytes;
    (facts, Body::new(Stored { rows, size }, &Meter::default()))
}

/// Plays a suite in virtual time; every world of it goes by the same clock.
fn play(suite: impl Future<Output = ()>, time: &exec::Time) {
    assert_eq!(exec::run(time, 100_000, suite), Ok(()));
}

#[test]
fn the_store_conforms() {
    for (_, shape) in shapes() {
        let world = calm(&exec::Time::default(), shape, Vec::new());
        let store = SimStore::new(&world, 1, &Meter::default());
        let content = |bytes: &[u8]| object(bytes.iter().map(|b| Row { unit: 0, id: u64::from(*b) }).collect());
        let bytes = |body: &Body| body.stored.rows.iter().map(|r| r.id as u8).collect();
        play(conformance::object_store(&store, content, bytes), &world.time);
    }
}

struct Target {
    world: World,
    shape: Shape,
    pids: Cell<u32>,
}

impl SinkWorld for Target {
    type Sink = SimSink;
    type Body = Body;

    fn sink(&self) -> SimSink {
        self.pids.set(self.pids.get() + 1);
        SimSink::new(&self.world, self.pids.get(), self.shape)
    }

    fn chunk(&self, first: u64, rows: u64) -> (ChunkFacts, Body) {
        object((first..first + rows).map(|id| Row { unit: 0, id }).collect())
    }

    fn base(&self) -> String {
        self.world.state.borrow().target.identity()
    }

    async fn rows(&self) -> u64 {
        self.world.state.borrow().target.content.len() as u64
    }

    fn fences_loads(&self) -> bool {
        !self.shape.poisons
    }
}

#[test]
fn the_sink_conforms() {
    // The suite publishes by full refresh, to a target that no earlier run published to.
    for (_, shape) in shapes() {
        let shape = Shape { append: false, partitions: false, owned_base: false, ..shape };
        let time = exec::Time::default();
        let world = || Target { world: calm(&time, shape, Vec::new()), shape, pids: Cell::new(0) };
        play(conformance::sink(world), &time);
    }
}

struct Origin {
    world: World,
    shape: Shape,
    pids: Cell<u32>,
}

impl SourceWorld for Origin {
    type Source = SimSource;

    fn source(&self) -> SimSource {
        self.pids.set(self.pids.get() + 1);
        SimSource::new(&self.world, self.pids.get(), self.shape, &Meter::default())
    }

    fn rows(&self) -> u64 {
        self.world.state.borrow().rows.len() as u64
    }

    fn empty(&self) -> UnitId {
        2
    }

    fn row_grant(&self) -> u64 {
        ROW_BYTES
    }

    fn change(&self) -> bool {
        // Every third change adds a row as well.
        (0..3).for_each(|draw| self.world.change_source(draw));
        true
    }
}

#[test]
fn the_source_conforms() {
    for (_, shape) in shapes() {
        let shape = Shape { chunk_rows: 4, ..shape };
        let rows: Vec<Row> = (0..9).map(|id| Row { unit: u32::from(id % 3 == 0), id }).collect();
        let time = exec::Time::default();
        let world = || Origin { world: calm(&time, shape, rows.clone()), shape, pids: Cell::new(0) };
        play(conformance::source(world), &time);
    }
}
