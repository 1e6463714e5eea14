//! Where faults are decided: every call of every port passes here, and is counted.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use dpone_engine::codes::Code;
use dpone_engine::run::{Outcome, Why};

use super::World;
use crate::exec::Time;
use crate::fault::{Fault, Kind, Plan, Site};
use crate::rng::Rng;

/// A process of the simulation: one runner's life.
pub type Pid = u32;

type Landing = Box<dyn FnOnce(&World)>;

/// The gates of one world.
pub struct Gates {
    time: Time,
    faults: BTreeMap<(Site, u32), Kind>,
    counts: RefCell<BTreeMap<Site, u32>>,
    delays: RefCell<Rng>,
    /// Set once faults have stopped.
    quiet: Cell<bool>,
    /// Processes that died.
    dead: RefCell<BTreeSet<Pid>>,
    /// Set when a second runner is to take over.
    rival: Cell<bool>,
    /// How far the wall clock has jumped back, milliseconds.
    behind: Cell<u64>,
    late: RefCell<Vec<(u64, Landing)>>,
    /// What was met.
    met: RefCell<BTreeSet<(Site, Kind)>>,
    trace: RefCell<Vec<String>>,
}

/// A request that is on its way to the world, and what its reply is if it arrives.
pub type Act = Box<dyn FnOnce(&World) -> Outcome>;

impl Gates {
    /// Gates that follow a plan.
    pub fn new(plan: &Plan, time: Time) -> Self {
        Self {
            time,
            faults: plan.faults.iter().map(|f: &Fault| ((f.site, f.nth), f.kind)).collect(),
            counts: RefCell::default(),
            delays: RefCell::new(Rng::new(plan.seed).fork(7)),
            quiet: Cell::new(false),
            dead: RefCell::default(),
            rival: Cell::new(false),
            behind: Cell::new(0),
            late: RefCell::default(),
            met: RefCell::default(),
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

    /// Adds a line to the trace.
    pub fn note(&self, line: String) {
        self.trace.borrow_mut().push(format!("{:>6} {line}", self.time.now()));
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
        let kind = self.faults.get(&(site, nth)).copied();
        if let Some(kind) = kind {
            self.met.borrow_mut().insert((site, kind));
            self.note(format!("fault {kind:?} at {site:?} {nth}"));
        }
        kind
    }

    /// Lets a little time pass.
    pub async fn travel(&self) {
        let delay = self.delays.borrow_mut().below(5);
        self.time.sleep(delay).await;
    }

    fn later(&self) -> u64 {
        self.time.now() + 10 + self.delays.borrow_mut().below(3000)
    }
}

impl World {
    /// The process dies here: nothing after this happens.
    pub async fn die(&self, pid: Pid) -> Outcome {
        self.gates.kill(pid);
        std::future::pending().await
    }

    /// Lands what was on its way and is due.
    pub fn land_due(&self) {
        loop {
            let due = {
                let mut late = self.gates.late.borrow_mut();
                let now = self.time.now();
                let first = late
                    .iter()
                    .enumerate()
                    .filter(|(_, (at, _))| *at <= now)
                    .min_by_key(|(i, (at, _))| (*at, *i))
                    .map(|(i, _)| i);
                first.map(|i| late.remove(i))
            };
            let Some((_, landing)) = due else { return };
            self.gates.note("a late request lands".to_owned());
            landing(self);
        }
    }

    /// Lands everything that is still on its way.
    pub fn land_all(&self) {
        let last = self.gates.late.borrow().iter().map(|(at, _)| *at).max().unwrap_or(0);
        self.time.pass(last.saturating_sub(self.time.now()));
        self.land_due();
    }

    /// Sends a request through a gate.
    pub async fn send(&self, pid: Pid, site: Site, act: Act) -> Outcome {
        self.gates.travel().await;
        self.land_due();
        let lost = || Why::transient(unknown_code(site), "no reply came");
        match self.gates.look(site) {
            None => self.reply(act(self)).await,
            Some(Kind::CrashBefore) => self.die(pid).await,
            Some(Kind::CrashAfter) => {
                let _ = act(self);
                self.die(pid).await
            }
            Some(Kind::LostReply) => {
                let _ = act(self);
                Outcome::Unknown(lost())
            }
            Some(Kind::NotSent) => Outcome::Unknown(lost()),
            Some(Kind::LateLanding) => {
                self.send_later(act);
                Outcome::Unknown(lost())
            }
            Some(_) => Outcome::NotDone(Why::transient(refused_code(site), "refused for now")),
        }
    }

    /// Sends a request that lands later, whoever is alive then.
    pub fn send_later(&self, act: Act) {
        let at = self.gates.later();
        let landing: Landing = Box::new(move |world| {
            let _ = act(world);
        });
        self.gates.late.borrow_mut().push((at, landing));
    }

    async fn reply(&self, outcome: Outcome) -> Outcome {
        self.gates.travel().await;
        outcome
    }
}

fn unknown_code(site: Site) -> Code {
    match site {
        Site::Put => Code::ObjectUploadUnconfirmed,
        Site::Load => Code::LoadOutcomeUnknown,
        Site::Publish => Code::PublicationOutcomeUnknown,
        _ => Code::TargetNotReachable,
    }
}

fn refused_code(site: Site) -> Code {
    match site {
        Site::Open | Site::Count | Site::Read => Code::SourceReadFailed,
        Site::Put | Site::Get | Site::Head | Site::Delete => Code::ObjectUploadFailed,
        Site::Evidence => Code::EvidenceWriteFailed,
        _ => Code::TargetLocked,
    }
}
