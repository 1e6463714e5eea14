//! Where faults are decided: every call of every port passes here, and is counted.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use dpone_engine::run::Seen;
use dpone_engine::run::effect::EffectKind;

use super::World;
use crate::exec::Time;
use crate::fault::{Fault, Kind, Plan, Site};
use crate::rng::Rng;

/// A process of the simulation: one runner's life.
pub type Pid = u32;

/// Something that happens to the world when its time has come.
pub type Landing = Box<dyn FnOnce(&World)>;

/// How long a frozen process stays so: longer than any run needs, milliseconds.
const FREEZE: u64 = 120_000;

/// The gates of one world.
pub struct Gates {
    time: Time,
    traced: bool,
    hits: Cell<u32>,
    faults: BTreeMap<(Site, u32), Kind>,
    counts: RefCell<BTreeMap<Site, u32>>,
    calls: RefCell<Vec<(Site, u32)>>,
    delays: RefCell<Rng>,
    /// Set once faults have stopped.
    quiet: Cell<bool>,
    /// Processes that died.
    dead: RefCell<BTreeSet<Pid>>,
    /// Processes that were frozen for a time.
    frozen: RefCell<BTreeSet<Pid>>,
    /// Processes that were asked to stop.
    stopping: RefCell<BTreeSet<Pid>>,
    /// Processes that are looking at every object.
    verifying: RefCell<BTreeSet<Pid>>,
    /// Set once an operator gives the run up.
    abandoned: Cell<bool>,
    /// Set when a second runner is to take over.
    rival: Cell<bool>,
    /// How far the wall clock has jumped back, milliseconds.
    behind: Cell<u64>,
    late: RefCell<Vec<(u64, Landing)>>,
    met: RefCell<BTreeSet<(Site, Kind)>>,
    rows: RefCell<BTreeSet<(EffectKind, Seen)>>,
    trace: RefCell<Vec<String>>,
}

impl Gates {
    /// Gates that follow a plan, and write a trace if they are to.
    pub fn new(plan: &Plan, time: Time, traced: bool) -> Self {
        Self {
            time,
            traced,
            hits: Cell::new(0),
            faults: plan.faults.iter().map(|f: &Fault| ((f.site, f.nth), f.kind)).collect(),
            counts: RefCell::default(),
            calls: RefCell::default(),
            delays: RefCell::new(Rng::new(plan.seed).fork(7)),
            quiet: Cell::new(false),
            dead: RefCell::default(),
            frozen: RefCell::default(),
            stopping: RefCell::default(),
            verifying: RefCell::default(),
            abandoned: Cell::new(false),
            rival: Cell::new(false),
            behind: Cell::new(0),
            late: RefCell::default(),
            met: RefCell::default(),
            rows: RefCell::default(),
            trace: RefCell::default(),
        }
    }

    /// No fault happens from here on.
    pub fn calm(&self) {
        self.quiet.set(true);
    }

    /// Whether that process died.
    pub fn is_dead(&self, pid: Pid) -> bool {
        self.dead.borrow().contains(&pid)
    }

    /// Kills a process.
    pub fn kill(&self, pid: Pid) {
        self.dead.borrow_mut().insert(pid);
    }

    /// Whether that process was frozen at some time.
    pub fn was_frozen(&self, pid: Pid) -> bool {
        self.frozen.borrow().contains(&pid)
    }

    /// Freezes a process, while another takes its run over.
    pub async fn freeze(&self, pid: Pid) {
        self.frozen.borrow_mut().insert(pid);
        self.call_rival();
        self.time.sleep(FREEZE).await;
    }

    /// Asks a process to stop.
    pub fn stop(&self, pid: Pid) {
        self.stopping.borrow_mut().insert(pid);
    }

    /// Whether a process was asked to stop.
    pub fn is_stopping(&self, pid: Pid) -> bool {
        self.stopping.borrow().contains(&pid)
    }

    /// Stops a process, and has the run given up by whoever takes it over.
    pub fn abandon(&self, pid: Pid) {
        self.abandoned.set(true);
        self.stop(pid);
    }

    /// Whether runners give the run up.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.get()
    }

    /// Says whether a process is looking at every object, so that its looks are no probes.
    pub fn set_verifying(&self, pid: Pid, verifying: bool) {
        let mut all = self.verifying.borrow_mut();
        if verifying {
            all.insert(pid)
        } else {
            all.remove(&pid)
        };
    }

    /// Whether a process is looking at every object.
    pub fn is_verifying(&self, pid: Pid) -> bool {
        self.verifying.borrow().contains(&pid)
    }

    /// Whether a second runner was asked for; asks once.
    pub fn take_rival(&self) -> bool {
        self.rival.take()
    }

    /// Asks for a second runner.
    pub fn call_rival(&self) {
        self.rival.set(true);
    }

    /// Wall time, Unix milliseconds.
    pub fn wall(&self) -> u64 {
        1_700_000_000_000 + self.time.now() - self.behind.get().min(1_000_000_000)
    }

    /// The wall clock jumps back an hour.
    pub fn jump_back(&self) {
        self.behind.set(self.behind.get() + 3_600_000);
    }

    /// Everything that was met.
    pub fn met(&self) -> BTreeSet<(Site, Kind)> {
        self.met.borrow().clone()
    }

    /// Notes what a probe of an effect answered.
    pub fn saw(&self, kind: EffectKind, seen: Seen) -> Seen {
        self.rows.borrow_mut().insert((kind, seen));
        seen
    }

    /// Every answer that a probe gave.
    pub fn rows(&self) -> BTreeSet<(EffectKind, Seen)> {
        self.rows.borrow().clone()
    }

    /// How many faults were met.
    pub fn hits(&self) -> u32 {
        self.hits.get()
    }

    /// Every call that passed, in order, while faults could happen.
    pub fn calls(&self) -> Vec<(Site, u32)> {
        self.calls.borrow().clone()
    }

    /// Adds a line to the trace.
    pub fn note(&self, line: impl FnOnce() -> String) {
        if self.traced {
            self.trace.borrow_mut().push(format!("{:>6} {}", self.time.now(), line()));
        }
    }

    /// The trace so far.
    pub fn trace(&self) -> Vec<String> {
        self.trace.borrow().clone()
    }

    /// How often a site was passed.
    pub fn count(&self, site: Site) -> u32 {
        self.counts.borrow().get(&site).copied().unwrap_or(0)
    }

    /// Counts a call and says what is to go wrong with it.
    pub fn look(&self, site: Site) -> Option<Kind> {
        let nth = {
            let mut counts = self.counts.borrow_mut();
            let count = counts.entry(site).or_default();
            *count += 1;
            *count
        };
        if self.quiet.get() {
            return None;
        }
        self.calls.borrow_mut().push((site, nth));
        let kind = self.faults.get(&(site, nth)).copied();
        if let Some(kind) = kind {
            self.met.borrow_mut().insert((site, kind));
            self.hits.set(self.hits.get() + 1);
            self.note(|| format!("fault {kind:?} at {site:?} {nth}"));
        }
        kind
    }

    /// Lets a little time pass.
    pub async fn travel(&self) {
        let delay = self.delays.borrow_mut().below(5);
        self.time.sleep(delay).await;
    }

    /// Has something happen later.
    pub fn send_later(&self, landing: Landing) {
        let at = self.time.now() + 10 + self.delays.borrow_mut().below(3000);
        self.late.borrow_mut().push((at, landing));
    }

    /// The next thing that was to happen by now.
    pub fn due(&self) -> Option<Landing> {
        let mut late = self.late.borrow_mut();
        let now = self.time.now();
        let due = late.iter().enumerate().filter(|(_, (at, _))| *at <= now);
        let first = due.min_by_key(|(i, (at, _))| (*at, *i)).map(|(i, _)| i)?;
        Some(late.remove(first).1)
    }

    /// When the last thing is to happen that is still to happen.
    pub fn last_landing(&self) -> u64 {
        self.late.borrow().iter().map(|(at, _)| *at).max().unwrap_or(0)
    }
}
