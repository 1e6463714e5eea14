//! One scenario: runners come and die under a fault plan, then faults stop and the run must come to its end.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;

use dpone_engine::budget::Amount;
use dpone_engine::codes::Code;
use dpone_engine::driver::{Entry, Finish, Finished, Order, drive};
use dpone_engine::manifest::{Fidelity, OnAuthorityLost, StagingTopology};
use dpone_engine::run::facts::{Base, LoadIsolation, PublicationKind, Retention, StagingFate};
use dpone_engine::run::{EffectKind, Ending, Event, PlanFacts, Policy, Seen, recover};
use dpone_journal::memory::MemoryJournal;
use futures_util::future::{FutureExt, LocalBoxFuture};

use crate::disk::Disk;
use crate::exec::{self, Stuck};
use crate::fault::{Kind, Op, Plan, Shape, Site, Trouble};
use crate::invariants::{self, Broken};
use crate::rng::Rng;
use crate::world::foreign::EARLIER;
use crate::world::gate::Pid;
use crate::world::journal::{NotTaken, SimJournal, Taken};
use crate::world::ports::SimPorts;
use crate::world::source::ROW_BYTES;
use crate::world::{Meter, Row, World};

/// The run's id in every scenario.
pub const RUN: &str = "sim-run";

/// Runners in the safety phase, and then until the run must be at its end.
const LIVES: u32 = 12;
const CALM_LIVES: u32 = 8;
/// Timers of one life before it counts as a livelock.
const STEPS: u64 = 200_000;

/// What came of a scenario.
#[derive(Debug)]
pub struct Outcome {
    /// The invariants that were broken.
    pub broken: Vec<Broken>,
    /// The faults that were met.
    pub met: BTreeSet<(Site, Kind)>,
    /// The faults of the journal's disk that were met.
    pub disk: BTreeSet<(Op, Trouble)>,
    /// What probes answered.
    pub rows: BTreeSet<(EffectKind, Seen)>,
    /// How many faults were met.
    pub hits: u32,
    /// Every call of a port, in order, until faults stopped.
    pub calls: Vec<(Site, u32)>,
    /// How runners ended, by name.
    pub endings: BTreeSet<&'static str>,
    /// The log.
    pub entries: Vec<Entry>,
    /// What happened, line by line. Same plan, same trace.
    pub trace: Vec<String>,
}

/// Plays a scenario, without a trace.
pub fn play(plan: &Plan) -> Outcome {
    play_with(plan, false)
}

/// Plays a scenario and writes down what happens.
pub fn play_traced(plan: &Plan) -> Outcome {
    play_with(plan, true)
}

fn play_with(plan: &Plan, traced: bool) -> Outcome {
    let mut rng = Rng::new(plan.seed).fork(1);
    let shape = plan.shape;
    let rows: Vec<Row> = (0..shape.rows)
        .map(|id| Row { unit: rng.below(u64::from(shape.units)) as u32, id: u64::from(id) + 1 })
        .collect();
    let base = vec![Row { unit: 0, id: u64::MAX }, Row { unit: 0, id: u64::MAX - 1 }];
    let world = World::new(plan, rows, base.clone(), traced);
    let mut broken = Vec::new();
    let journal = SimJournal::new(plan.disk.as_ref(), plan.seed).unwrap_or_else(|e| {
        broken.push(Broken::new("the simulator's own disk", e.to_string()));
        SimJournal::Memory(MemoryJournal::default())
    });
    let planned = Event::Planned { run: RUN.to_owned(), plan: facts(shape) };
    let mut endings = BTreeSet::new();
    broken.extend(journal.create_run(&planned, world.gates.wall()).err());
    let mut next_pid: Pid = 1;
    let mut over = false;
    for life in 0..LIVES + CALM_LIVES {
        if life == LIVES {
            world.gates.calm();
            journal.calm();
        }
        let lives = match live(&world, &journal, shape, &mut next_pid) {
            Ok(lives) => lives,
            Err(what) => {
                broken.push(what);
                break;
            }
        };
        for ended in &lives {
            world.gates.note(|| format!("life {life} ended: {:?}", ended.finished.finish));
            endings.insert(ending_name(&ended.finished.finish));
            invariants::after_life(&world, &journal, ended, &mut broken);
            over |= invariants::is_over(&world, &ended.finished);
        }
        invariants::exactly_once(&world, &base, shape, &mut broken);
        if over || !broken.is_empty() {
            break;
        }
        world.time.pass(rng.below(5000));
        world.land_due();
    }
    if !over && broken.is_empty() {
        broken.push(Broken::new("liveness", "the run did not come to its end once faults had stopped".to_owned()));
    }
    world.land_all();
    invariants::exactly_once(&world, &base, shape, &mut broken);
    invariants::at_the_end(&world, &journal, &mut broken);
    broken.extend(journal.at_the_end().err());
    let entries = journal.entries().unwrap_or_default();
    let disk = journal.disk().map(Disk::met).unwrap_or_default();
    let (met, rows, calls) = (world.gates.met(), world.gates.rows(), world.gates.calls());
    let hits = world.gates.hits();
    Outcome { broken, met, disk, rows, hits, calls, endings, entries, trace: world.gates.trace() }
}

/// The end of one runner that was not killed.
pub struct Ended {
    /// What it came to.
    pub finished: Finished,
    /// The most bytes that it held in memory.
    pub peak: u64,
}

/// A runner that could not begin has no end.
type Runner<'a> = (Pid, LocalBoxFuture<'a, Result<Option<Ended>, Broken>>);

/// One life: a runner until it ends or dies, with others beside it if the plan says so. Those that died have no end.
fn live(world: &World, journal: &SimJournal, shape: Shape, next_pid: &mut Pid) -> Result<Vec<Ended>, Broken> {
    let mut runners: Vec<Runner<'_>> = Vec::new();
    runners.push(start(world, journal, shape, next_pid));
    let mut ended = Vec::new();
    let together = poll_fn(|cx| {
        loop {
            let mut i = 0;
            while i < runners.len() {
                if world.gates.is_dead(runners[i].0) {
                    drop(runners.remove(i));
                    continue;
                }
                match runners[i].1.poll_unpin(cx) {
                    Poll::Ready(end) => {
                        ended.push(end);
                        drop(runners.remove(i));
                    }
                    Poll::Pending if world.gates.is_dead(runners[i].0) => {
                        drop(runners.remove(i));
                    }
                    Poll::Pending => i += 1,
                }
            }
            if !world.gates.take_rival() {
                break;
            }
            runners.push(start(world, journal, shape, next_pid));
        }
        if runners.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    });
    match exec::run(&world.time, STEPS, together) {
        Ok(()) => ended.into_iter().filter_map(Result::transpose).collect(),
        Err(Stuck::Deadlock) => Err(Broken::new("deadlock", "every task waits and nothing can wake one".to_owned())),
        Err(Stuck::TooLong) => Err(Broken::new("livelock", format!("{STEPS} steps and no end"))),
    }
}

const fn ending_name(finish: &Finish) -> &'static str {
    match finish {
        Finish::Ended(Ending::Delivered) => "delivered",
        Finish::Ended(Ending::DeliveredUncleaned(_)) => "delivered, uncleaned",
        Finish::Ended(Ending::Failed(why)) if matches!(why.code, Code::RunAbandoned) => "abandoned",
        Finish::Ended(Ending::Failed(_)) => "failed",
        Finish::Ended(Ending::FailedUncleaned(_)) => "failed, uncleaned",
        Finish::Ended(Ending::Unknown(_)) => "unknown",
        Finish::Suspended => "suspended",
        Finish::Lost { .. } => "lost",
        Finish::Illegal(_) => "illegal",
    }
}

/// Every name that a runner's end has.
pub const ENDINGS: [&str; 8] =
    ["delivered", "delivered, uncleaned", "failed", "failed, uncleaned", "abandoned", "unknown", "suspended", "lost"];

fn start<'a>(world: &'a World, journal: &'a SimJournal, shape: Shape, next_pid: &mut Pid) -> Runner<'a> {
    let pid = *next_pid;
    *next_pid += 1;
    let future = async move {
        let Taken { epoch, log, entries } = match journal.take(world, pid) {
            Ok(taken) => taken,
            Err(NotTaken::Disk) => {
                world.gates.note(|| format!("p{pid} could not begin: the disk failed"));
                return Ok(None);
            }
            Err(NotTaken::Broken(broken)) => return Err(broken),
        };
        let run = recover(entries.iter().map(|e| &e.event)).map_err(|e| Broken::new("recover", e.to_string()))?;
        let meter = Meter::default();
        let ports = SimPorts::new(world, pid, shape, log, &meter);
        let finished = drive(&ports, run, entries, epoch, &order(shape, world.gates.is_abandoned())).await;
        Ok(Some(Ended { finished, peak: meter.peak() }))
    };
    (pid, future.boxed_local())
}

fn order(shape: Shape, abandon: bool) -> Order<'static> {
    let grant = Amount { bytes: u64::from(shape.chunk_rows) * ROW_BYTES, rows: u64::from(shape.chunk_rows) };
    let times = u64::from(shape.readers) + 1;
    Order {
        policy: Policy {
            now: 0,
            readers: shape.readers,
            ranges: shape.readers + shape.readers % 2,
            loaders: if shape.per_partition { shape.readers } else { 1 },
            droppers: 2,
            max_tries: shape.tries,
            max_probes: 5,
            max_attempts: 3,
            on_authority_lost: if shape.stop_on_loss { OnAuthorityLost::Stop } else { OnAuthorityLost::Reread },
            restart_from: None,
            superseded_grace: if shape.grace { 1000 } else { 0 },
            stopping: false,
            abandon,
        },
        budget: Amount { bytes: grant.bytes * times + ROW_BYTES, rows: grant.rows * times },
        grant,
        check: grant.bytes,
        uploads: shape.uploads,
        journal: "sim".to_owned(),
        backoff: 50,
        max_backoff: 1000,
        stop_grace: 1000,
        render: &|document, run, entries, _| format!("{document:?} {:?} {}", run.state, entries.len()),
    }
}

fn facts(shape: Shape) -> PlanFacts {
    PlanFacts {
        manifest: "sim".to_owned(),
        fingerprint: String::new(),
        units: shape.units,
        topology: if shape.per_partition { StagingTopology::PerPartition } else { StagingTopology::SharedPerRun },
        load_isolation: if shape.poisons { LoadIsolation::PoisonsStaging } else { LoadIsolation::Fenced },
        publication: if shape.pointer { PublicationKind::PointerManifest } else { PublicationKind::LedgerTransaction },
        staging_fate: if shape.pointer { StagingFate::Delivered } else { StagingFate::Removed },
        coverage_required: true,
        fidelity: Fidelity::Rows,
        base: base(shape),
        superseded: (shape.owned_base && !shape.append).then(|| EARLIER.to_owned()),
        target: "sim".to_owned(),
        objects_after_success: if shape.keep_delivered { Retention::Keep } else { Retention::Remove },
        objects_after_failure: if shape.keep_failed { Retention::Keep } else { Retention::Remove },
        document: String::new(),
    }
}

/// What the target holds before the run. Where rows are added to it, it is no one's to remove.
fn base(shape: Shape) -> Base {
    if !shape.owned_base {
        return Base { identity: String::new(), owner: None };
    }
    Base { identity: EARLIER.to_owned(), owner: (!shape.append).then(|| "earlier-run".to_owned()) }
}
