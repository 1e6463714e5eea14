//! A disk under the journal's SQLite that fails, fills up and loses what was not synced, all by plan.
//!
//! SQLite works on real files in a temporary folder, through [`vfs`], so that its locks and its shared memory are the
//! real ones. What the files would hold after a cut of the power is kept beside them, in [`files`].

mod files;
mod vfs;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fault::{DiskFault, DiskPlan, Op, Trouble};
use crate::rng::Rng;
use files::Files;

/// What becomes of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Done,
    Fails,
    Half,
    Full,
}

struct State {
    plan: DiskPlan,
    faults: BTreeMap<(Op, u32), Trouble>,
    counts: BTreeMap<Op, u32>,
    files: Files,
    rng: Rng,
    met: BTreeSet<(Op, Trouble)>,
    hits: u32,
    hits_of_reads: u32,
    last_hit: Option<(Op, Trouble)>,
    full: bool,
    /// Every write fails.
    failing: bool,
    /// The power is gone, or the process that asks is dead: nothing changes any more.
    dead: bool,
    cut: bool,
    quiet: bool,
}

/// One disk: a folder of its own.
pub struct Disk {
    folder: PathBuf,
    state: Mutex<State>,
}

impl Disk {
    /// A disk in an empty folder. Every SQLite file in it goes through it from now on, until it is dropped.
    ///
    /// # Errors
    /// If the folder is not there.
    pub fn new(folder: &Path, plan: &DiskPlan, seed: u64) -> io::Result<Arc<Self>> {
        let folder = folder.canonicalize()?;
        let faults = plan.faults.iter().map(|f: &DiskFault| ((f.op, f.nth), f.trouble)).collect();
        let state = State {
            plan: plan.clone(),
            faults,
            counts: BTreeMap::new(),
            files: Files::default(),
            rng: Rng::new(seed).fork(0xF11E),
            met: BTreeSet::new(),
            hits: 0,
            hits_of_reads: 0,
            last_hit: None,
            full: false,
            failing: false,
            dead: false,
            cut: false,
            quiet: false,
        };
        let disk = Arc::new(Self { folder, state: Mutex::new(state) });
        vfs::attach(&disk.folder, &disk);
        Ok(disk)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Nothing goes wrong from here on.
    pub fn calm(&self) {
        self.state().quiet = true;
    }

    /// How many faults were met so far; of reads alone if so asked.
    pub fn hits(&self, of_reads: bool) -> u32 {
        let state = self.state();
        if of_reads { state.hits_of_reads } else { state.hits }
    }

    /// The fault that was met last.
    pub fn last_hit(&self) -> Option<(Op, Trouble)> {
        self.state().last_hit
    }

    /// The faults that were met.
    pub fn met(&self) -> BTreeSet<(Op, Trouble)> {
        self.state().met.clone()
    }

    /// The calls so far.
    pub fn counts(&self) -> BTreeMap<Op, u32> {
        self.state().counts.clone()
    }

    /// Whether the power is gone.
    pub fn is_cut(&self) -> bool {
        self.state().cut
    }

    /// Whether every write fails.
    pub fn fail_writes(&self, failing: bool) {
        self.state().failing = failing;
    }

    /// Does something as a process that is dead: it changes nothing, and gives its locks back.
    pub fn as_dead<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = std::mem::replace(&mut self.state().dead, true);
        let result = work();
        self.state().dead = before;
        result
    }

    /// The machine starts again, after its power was gone; call it when no process has a file open. What was not synced
    /// is lost as the plan says.
    ///
    /// # Errors
    /// If a real file cannot be written.
    pub fn power_cycle(&self) -> io::Result<()> {
        let state = &mut *self.state();
        for (name, content) in state.files.cached() {
            let really = std::fs::read(self.folder.join(&name)).ok();
            if really != content {
                return Err(io::Error::other(format!("{name} is not what was written to it")));
            }
        }
        let left = state.files.after_a_cut(state.plan.left, &mut state.rng);
        for (name, content) in left {
            let path = self.folder.join(name);
            match content {
                Some(bytes) => std::fs::write(path, bytes)?,
                None if path.exists() => std::fs::remove_file(path)?,
                None => {}
            }
        }
        // Shared memory does not survive.
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e.to_string_lossy().ends_with("-shm")) {
                std::fs::remove_file(path)?;
            }
        }
        (state.dead, state.cut, state.full) = (false, false, false);
        Ok(())
    }

    /// A new runner begins: somebody has made room.
    pub fn room(&self) {
        self.state().full = false;
    }

    /// Whether the machine loses its power whenever no process is alive.
    pub fn is_cut_between(&self) -> bool {
        self.state().plan.cut_between
    }

    /// What becomes of a call, which is counted.
    fn ask(&self, op: Op) -> Verdict {
        let state = &mut *self.state();
        if state.dead {
            return if op == Op::Read { Verdict::Done } else { Verdict::Fails };
        }
        let count = state.counts.entry(op).or_default();
        *count += 1;
        let nth = *count;
        if state.quiet {
            return Verdict::Done;
        }
        let trouble = state.faults.get(&(op, nth)).copied();
        if let Some(trouble) = trouble {
            state.met.insert((op, trouble));
            state.hits += 1;
            state.hits_of_reads += u32::from(op == Op::Read);
            state.last_hit = Some((op, trouble));
        }
        match trouble {
            Some(Trouble::PowerCut) => {
                (state.dead, state.cut) = (true, true);
                Verdict::Fails
            }
            Some(Trouble::Full) => {
                state.full = true;
                Verdict::Full
            }
            Some(Trouble::Half) => Verdict::Half,
            Some(Trouble::Fails) => Verdict::Fails,
            None if state.full && op == Op::Write => Verdict::Full,
            None if state.failing && op == Op::Write => Verdict::Fails,
            None => Verdict::Done,
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        vfs::detach(&self.folder);
    }
}
