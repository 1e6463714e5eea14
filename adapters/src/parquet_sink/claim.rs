//! The target's claim, and the lock under which it is checked and acted upon.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dpone_engine::codes::Code;
use dpone_engine::ports::Claimant;
use dpone_engine::run::{Outcome, Receipt, Seen, Why};
use serde::{Deserialize, Serialize};

use super::failure::why;
use super::pointer::{books, read_json};
use crate::durable;

/// How long another process's lock is waited for; what it covers takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The dataset's lock. The kernel gives it back when the holder ends, however it ends.
#[derive(Debug)]
pub(super) struct Locked {
    _file: File,
    root: PathBuf,
}

/// Takes the lock of a dataset whose bookkeeping folder exists.
///
/// # Errors
/// `target_locked` (transient) if another process does not give it back, `target_not_reachable` if the dataset is gone.
pub(super) fn lock(root: &Path) -> Result<Locked, Why> {
    let path = books(root).join(".lock");
    let failed = |e: io::Error| why(Code::TargetNotReachable, "the dataset's lock", &e);
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Locked { _file: file, root: root.to_path_buf() }),
            Err(TryLockError::Error(e)) => return Err(failed(e)),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                return Err(Why::transient(Code::TargetLocked, "another process holds the dataset's lock"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// A claim as its file has it. One that was given back stays, so that a former runner of that run cannot take it again.
#[derive(Serialize, Deserialize)]
struct Claim {
    #[serde(flatten)]
    claimant: Claimant,
    held: bool,
}

/// Who has claimed a dataset, read without its lock: the file is only ever replaced whole.
pub(super) fn claimed(root: &Path) -> io::Result<Option<Claimant>> {
    let claim = read_json::<Claim>(&books(root).join("claim.json"))?;
    Ok(claim.filter(|claim| claim.held).map(|claim| claim.claimant))
}

/// Who has claimed a dataset.
enum Standing {
    Nobody,
    GivenBack(Claimant),
    Somebody(Claimant),
    /// There is a claim and it cannot be read.
    Unreadable,
}

impl Locked {
    fn path(&self) -> PathBuf {
        books(&self.root).join("claim.json")
    }

    fn standing(&self) -> io::Result<Standing> {
        match read_json::<Claim>(&self.path()) {
            Ok(None) => Ok(Standing::Nobody),
            Ok(Some(Claim { claimant, held: false })) => Ok(Standing::GivenBack(claimant)),
            Ok(Some(Claim { claimant, held: true })) => Ok(Standing::Somebody(claimant)),
            Err(e) if e.kind() == ErrorKind::InvalidData => Ok(Standing::Unreadable),
            Err(e) => Err(e),
        }
    }

    /// Refuses unless the claim is exactly that runner's.
    ///
    /// # Errors
    /// `lease_lost` if it is not, `target_not_reachable` if it cannot be read now.
    pub(super) fn held(&self, claimant: &Claimant) -> Result<(), Why> {
        match self.standing() {
            Ok(Standing::Somebody(c)) if c == *claimant => Ok(()),
            Ok(_) => Err(Why::fatal(Code::LeaseLost, "the dataset's claim is not this runner's any more")),
            Err(e) => Err(why(Code::TargetNotReachable, "the dataset's claim", &e)),
        }
    }

    /// Takes the claim, or raises it to a higher epoch of the same run.
    pub(super) fn claim(&self, claimant: &Claimant) -> Outcome {
        let elsewhere = |who: String| Outcome::NotDone(Why::fatal(Code::TargetClaimedElsewhere, who));
        match self.standing() {
            Ok(Standing::GivenBack(c)) if c.is_same_run(claimant) && c.epoch >= claimant.epoch => {
                return Outcome::NotDone(Why::fatal(Code::LeaseLost, "a later runner of this run gave the claim back"));
            }
            Ok(Standing::Nobody | Standing::GivenBack(_)) => {}
            Ok(Standing::Unreadable) => return elsewhere("the dataset has a claim that cannot be read".to_owned()),
            Ok(Standing::Somebody(c)) if c == *claimant => {
                return match self.sync() {
                    Ok(()) => Outcome::Done(Receipt::Claimed),
                    Err(e) => Outcome::Unknown(why(Code::TargetNotReachable, "the dataset's claim", &e)),
                };
            }
            Ok(Standing::Somebody(c)) if c.is_same_run(claimant) && c.epoch < claimant.epoch => {}
            Ok(Standing::Somebody(c)) if c.is_same_run(claimant) && c.epoch > claimant.epoch => {
                return Outcome::NotDone(Why::fatal(Code::LeaseLost, "a later runner of this run holds the claim"));
            }
            Ok(Standing::Somebody(c)) => {
                return elsewhere(format!("run {} of journal {} has claimed the dataset", c.run, c.journal));
            }
            Err(e) => return Outcome::NotDone(why(Code::TargetNotReachable, "the dataset's claim", &e)),
        }
        match self.write(Claim { claimant: claimant.clone(), held: true }) {
            Ok(()) => Outcome::Done(Receipt::Claimed),
            // Whether the new name was given before the failure, a probe must say.
            Err(e) => Outcome::Unknown(why(Code::TargetNotReachable, "the dataset's claim", &e)),
        }
    }

    /// Makes what stands in the bookkeeping folder outlive a power failure: who wrote it may have been killed before that.
    pub(super) fn sync(&self) -> io::Result<()> {
        durable::sync_dir(&books(&self.root))
    }

    fn write(&self, claim: Claim) -> io::Result<()> {
        durable::replace(&self.path(), &serde_json::to_vec(&claim)?)
    }

    /// Gives the claim back if it is that run's, at any epoch up to this one.
    pub(super) fn release(&self, claimant: &Claimant) -> Outcome {
        let ours = |c: &Claimant| c.is_same_run(claimant) && c.epoch <= claimant.epoch;
        let released = match self.standing() {
            Ok(Standing::Somebody(c)) if ours(&c) => self.write(Claim { claimant: claimant.clone(), held: false }),
            Ok(_) => Ok(()),
            Err(e) => Err(e),
        };
        match released {
            Ok(()) => Outcome::Done(Receipt::Released),
            Err(e) => Outcome::NotDone(why(Code::CleanupFailed, "the dataset's claim", &e)),
        }
    }

    /// Whether the claim is that run's to give back.
    pub(super) fn standing_for(&self, claimant: &Claimant) -> Seen {
        match self.standing() {
            Ok(Standing::Nobody | Standing::GivenBack(_)) => Seen::Nothing,
            Ok(Standing::Somebody(c)) if c.is_same_run(claimant) => Seen::Ours,
            Ok(Standing::Somebody(_) | Standing::Unreadable) => Seen::Foreign,
            Err(_) => Seen::CannotTell,
        }
    }

    /// How the claim stands to a run and epoch.
    pub(super) fn sight(&self, claimant: &Claimant, epoch: u64) -> Seen {
        match self.standing() {
            Ok(Standing::Nobody | Standing::GivenBack(_)) => Seen::Nothing,
            Ok(Standing::Somebody(c)) if c.is_same_run(claimant) && c.epoch == epoch => {
                if self.sync().is_ok() {
                    Seen::Ours
                } else {
                    Seen::CannotTell
                }
            }
            Ok(Standing::Somebody(c)) if c.is_same_run(claimant) && c.epoch < epoch => Seen::Nothing,
            Ok(_) => Seen::Foreign,
            Err(_) => Seen::CannotTell,
        }
    }
}
