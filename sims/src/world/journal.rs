//! The journal of a scenario: in memory, or in SQLite on a disk that fails.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::driver::Entry;
use dpone_engine::ports::{AppendError, RunLog};
use dpone_engine::refusal::Refusal;
use dpone_engine::run::Event;
use dpone_journal::lock;
use dpone_journal::log::SqliteLog;
use dpone_journal::memory::{Fate, MemoryJournal, MemoryLog};
use dpone_journal::sqlite::{Journal, Opening};
use tempfile::TempDir;

use super::World;
use super::gate::Pid;
use crate::disk::Disk;
use crate::exec;
use crate::fault::{DiskPlan, Left};
use crate::invariants::Broken;
use crate::scenario::RUN;

/// The journal of a scenario. Clones share it.
#[derive(Clone)]
pub enum SimJournal {
    /// In memory.
    Memory(MemoryJournal),
    /// In SQLite.
    Sqlite(Rc<SqliteJournal>),
}

/// The log of one runner.
pub enum Log {
    /// In memory.
    Memory(MemoryJournal, MemoryLog),
    /// In SQLite.
    Sqlite(OpenLog),
}

/// What a runner takes over with.
pub struct Taken {
    /// Its epoch.
    pub epoch: u64,
    /// Its log.
    pub log: Log,
    /// The facts so far.
    pub entries: Vec<Entry>,
}

/// Why a runner does not begin.
pub enum NotTaken {
    /// The disk did not let it.
    Disk,
    /// Something is broken.
    Broken(Broken),
}

/// How often the first facts of a run are tried: more often than a disk fails.
const TRIES: u32 = 16;

impl SimJournal {
    /// A journal for a plan.
    ///
    /// # Errors
    /// If there is no folder for temporary files.
    pub fn new(disk: Option<&DiskPlan>, seed: u64) -> std::io::Result<Self> {
        Ok(match disk {
            None => Self::Memory(MemoryJournal::default()),
            Some(plan) => Self::Sqlite(Rc::new(SqliteJournal::new(plan, seed)?)),
        })
    }

    /// Writes the run's plan down.
    ///
    /// # Errors
    /// If that breaks something.
    pub fn create_run(&self, planned: &Event, at: u64) -> Result<(), Broken> {
        match self {
            Self::Memory(journal) => journal.create_run(planned, at).map_err(|e| Broken::new("journal", e.to_string())),
            Self::Sqlite(journal) => journal.create_run(planned, at),
        }
    }

    /// Takes the run over for a process.
    ///
    /// # Errors
    /// If the disk does not let it, or something is broken.
    pub fn take(&self, world: &World, pid: Pid) -> Result<Taken, NotTaken> {
        match self {
            Self::Memory(journal) => {
                let broken = |found: String| NotTaken::Broken(Broken::new("journal", found));
                let taken = journal.take(RUN).ok_or_else(|| broken("the run is not in the journal".to_owned()))?;
                let entries = journal.entries(RUN).map_err(|e| broken(e.to_string()))?;
                Ok(Taken { epoch: taken.0, log: Log::Memory(journal.clone(), taken.1), entries })
            }
            Self::Sqlite(journal) => journal.take(world, pid),
        }
    }

    /// The run's facts, whoever is at work.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn entries(&self) -> Result<Vec<Entry>, Broken> {
        match self {
            Self::Memory(journal) => journal.entries(RUN).map_err(|e| Broken::new("journal", e.to_string())),
            Self::Sqlite(journal) => journal.look(),
        }
    }

    /// Nothing goes wrong with it from here on.
    pub fn calm(&self) {
        if let Self::Sqlite(journal) = self {
            journal.disk.calm();
        }
    }

    /// The disk, if it is on one.
    pub fn disk(&self) -> Option<&Disk> {
        match self {
            Self::Memory(_) => None,
            Self::Sqlite(journal) => Some(&journal.disk),
        }
    }

    /// At the very end the power is cut once more: all that was acknowledged is still there.
    ///
    /// # Errors
    /// If it is not.
    pub fn at_the_end(&self) -> Result<(), Broken> {
        let Self::Sqlite(journal) = self else { return Ok(()) };
        journal.disk.calm();
        journal.power_cycle()?;
        let reopened = journal.open().and_then(|j| Ok((j.verify()?.whole(), j.entries(RUN)?)));
        let (whole, entries) = reopened.map_err(|r| survives(&r))?;
        journal.complete(whole, &entries)
    }
}

/// A journal in SQLite.
pub struct SqliteJournal {
    disk: Arc<Disk>,
    /// Where copies are looked at: a disk without faults.
    copies: Arc<Disk>,
    /// What was acknowledged, in order.
    acknowledged: RefCell<Vec<(u64, Event)>>,
    /// The highest epoch that was given.
    epoch: Cell<u64>,
    /// The processes that have it open.
    open: RefCell<BTreeSet<Pid>>,
    _folders: [TempDir; 2],
}

fn survives(refusal: &Refusal) -> Broken {
    // Without the place: a temporary folder is another each time.
    Broken::new("the journal survives its disk", format!("{}: {}", refusal.code, refusal.message))
}

impl SqliteJournal {
    fn new(plan: &DiskPlan, seed: u64) -> std::io::Result<Self> {
        let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
        let calm = DiskPlan { left: Left::Everything, cut_between: false, faults: Vec::new() };
        Ok(Self {
            disk: Disk::new(folders[0].path(), plan, seed)?,
            copies: Disk::new(folders[1].path(), &calm, seed)?,
            acknowledged: RefCell::default(),
            epoch: Cell::new(0),
            open: RefCell::default(),
            _folders: folders,
        })
    }

    fn path(&self) -> std::path::PathBuf {
        self.disk.folder().join("journal.db")
    }

    fn open(&self) -> Result<Journal, Refusal> {
        Opening::at(&self.path()).wait(Duration::ZERO).existing()
    }

    fn power_cycle(&self) -> Result<(), Broken> {
        self.disk.power_cycle().map_err(|e| Broken::new("the simulator's own disk", e.to_string()))
    }

    /// Does something with the journal. A refusal is allowed where the disk failed meanwhile, and where it did not read
    /// wrongly the journal must not be called damaged.
    fn attempt<T>(&self, work: impl FnOnce() -> Result<T, Refusal>) -> Result<T, NotTaken> {
        let hits = |of_reads: bool| self.disk.hits(of_reads);
        let (all, reads) = (hits(false), hits(true));
        work().map_err(|refusal| {
            let damaged = matches!(refusal.code, Code::JournalCorrupt | Code::JournalNewer | Code::JournalNotFound);
            let allowed = self.disk.is_cut() || (hits(false) > all && !damaged) || hits(true) > reads;
            if allowed { NotTaken::Disk } else { NotTaken::Broken(survives(&refusal)) }
        })
    }

    fn create_run(&self, planned: &Event, at: u64) -> Result<(), Broken> {
        for _ in 0..TRIES {
            self.disk.room();
            let made = self.attempt(|| {
                let mut journal = Opening::at(&self.path()).wait(Duration::ZERO).create()?;
                // A try that failed may have written it after all.
                if journal.run(RUN).is_ok() { Ok(()) } else { journal.create_run(planned, at) }
            });
            if self.disk.is_cut() {
                self.power_cycle()?;
            }
            match made {
                Ok(()) => {
                    self.acknowledged.borrow_mut().push((at, planned.clone()));
                    return Ok(());
                }
                Err(NotTaken::Disk) => {}
                Err(NotTaken::Broken(broken)) => return Err(broken),
            }
        }
        Err(Broken::new("the journal survives its disk", "it cannot be created".to_owned()))
    }

    fn take(self: &Rc<Self>, world: &World, pid: Pid) -> Result<Taken, NotTaken> {
        if self.open.borrow().is_empty() && (self.disk.is_cut() || self.disk.is_cut_between()) {
            world.gates.note(|| "the machine starts again".to_owned());
            self.power_cycle().map_err(NotTaken::Broken)?;
        }
        self.disk.room();
        let taken = self.attempt(|| {
            let mut journal = self.open()?;
            let epoch = journal.raise_epoch(RUN)?;
            let again = self.epoch.replace(epoch) >= epoch;
            let whole = journal.verify()?.whole();
            let entries = journal.entries(RUN)?;
            let name = format!("process {pid}");
            let locks = lock::take(&self.path(), &name, &name)?;
            Ok((epoch, again, whole, entries, journal, locks))
        });
        if self.disk.is_cut() {
            self.black_out(world);
        }
        let (epoch, again, whole, entries, journal, locks) = taken?;
        if again {
            return Err(NotTaken::Broken(Broken::new("an epoch is given once", format!("{epoch} is given again"))));
        }
        self.complete(whole, &entries).map_err(NotTaken::Broken)?;
        let log = SqliteLog::start(journal, RUN.to_owned(), epoch, locks)
            .map_err(|e| NotTaken::Broken(Broken::new("journal", e.to_string())))?;
        self.open.borrow_mut().insert(pid);
        let log = OpenLog { journal: Rc::clone(self), world: world.clone(), pid, log: RefCell::new(Some(log)) };
        Ok(Taken { epoch, log: Log::Sqlite(log), entries })
    }

    /// The power is gone: every process dies.
    fn black_out(&self, world: &World) {
        world.gates.note(|| "the power is cut".to_owned());
        self.open.borrow().iter().for_each(|pid| world.gates.kill(*pid));
    }

    /// Whether the journal is whole and has everything that was acknowledged, in order.
    fn complete(&self, whole: bool, entries: &[Entry]) -> Result<(), Broken> {
        if !whole {
            return Err(Broken::new("the journal survives its disk", "it is not whole".to_owned()));
        }
        let acknowledged = self.acknowledged.borrow();
        let mut there = entries.iter();
        let missing = acknowledged.iter().find(|(at, event)| !there.any(|e| e.at == *at && e.event == *event));
        match missing {
            None => Ok(()),
            Some((_, event)) => {
                let found = format!("{:?} is not in the journal any more", event.kind());
                Err(Broken::new("no acknowledged append is lost", found))
            }
        }
    }

    /// The facts, as a copy of the files has them: looking changes nothing.
    fn look(&self) -> Result<Vec<Entry>, Broken> {
        let failed = |e: std::io::Error| Broken::new("the simulator's own disk", e.to_string());
        let copy = self.copies.folder().join("journal.db");
        for end in ["", "-wal", "-shm", "-journal"] {
            let name = format!("journal.db{end}");
            let (from, to) = (self.disk.folder().join(&name), self.copies.folder().join(&name));
            if from.exists() && end != "-shm" {
                std::fs::copy(from, to).map_err(failed)?;
            } else if to.exists() {
                std::fs::remove_file(to).map_err(failed)?;
            }
        }
        let opened = Opening::at(&copy).wait(Duration::ZERO).existing();
        opened.and_then(|journal| journal.entries(RUN)).map_err(|r| survives(&r))
    }
}

/// A log that one process has open.
pub struct OpenLog {
    journal: Rc<SqliteJournal>,
    world: World,
    pid: Pid,
    log: RefCell<Option<SqliteLog>>,
}

impl OpenLog {
    async fn append(&self, fate: Fate, at: u64, events: &[Event]) -> Result<(), AppendError> {
        let failed = || AppendError { code: Code::JournalWriteFailed, detail: "the disk failed".to_owned() };
        let disk = &self.journal.disk;
        let before = disk.hits(false);
        disk.fail_writes(fate == Fate::Lost);
        // The writer is a thread of its own; nothing else happens in this world until it has answered.
        let result = match self.log.borrow().as_ref() {
            Some(log) => exec::wait(log.append(at, events)),
            None => Err(failed()),
        };
        if result.is_err() {
            // It closes its journal after a failure, and nothing else happens until it has.
            drop(self.log.take());
        }
        disk.fail_writes(false);
        if disk.hits(false) > before {
            self.world.gates.note(|| format!("the disk failed: {:?}", disk.last_hit()));
        }
        if disk.is_cut() {
            self.journal.black_out(&self.world);
            return std::future::pending().await;
        }
        if result.is_ok() && fate != Fate::DurableUntold {
            let facts = events.iter().map(|event| (at, event.clone()));
            self.journal.acknowledged.borrow_mut().extend(facts);
        }
        if fate == Fate::DurableUntold { result.and(Err(failed())) } else { result }
    }
}

impl Drop for OpenLog {
    fn drop(&mut self) {
        self.journal.open.borrow_mut().remove(&self.pid);
        let log = self.log.take();
        if self.world.gates.is_dead(self.pid) {
            // A process that is dead closes nothing in order; its locks are free all the same.
            self.journal.disk.as_dead(|| drop(log));
        }
    }
}

impl Log {
    /// Appends, with that fate.
    ///
    /// # Errors
    /// As [`RunLog::append`].
    pub async fn append(&self, fate: Fate, at: u64, events: &[Event]) -> Result<(), AppendError> {
        match self {
            Self::Memory(journal, log) => {
                journal.on_append(Rc::new(move |_| fate));
                log.append(at, events).await
            }
            Self::Sqlite(log) => log.append(fate, at, events).await,
        }
    }
}
