//! The target's claim: one row, taken and given back under the write lock.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::ports::Claimant;
use dpone_engine::run::{Receipt, Why};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::database::{Step, create, open, why, write};
use super::ddl::BOOKS;

/// The claim as it stands.
pub(super) struct Standing {
    pub(super) claimant: Claimant,
    pub(super) held: bool,
}

impl Standing {
    /// Whether the claim is held for that run, under any epoch.
    pub(super) fn is_held_for(&self, claimant: &Claimant) -> bool {
        self.held && self.claimant.is_same_run(claimant)
    }
}

/// What stands now.
pub(super) fn standing(db: &Connection, target: &str) -> Step<Option<Standing>> {
    db.query_row("SELECT run, epoch, journal, held FROM __dpone_claim WHERE target = ?1", [target], |r| {
        Ok(Standing { claimant: Claimant { run: r.get(0)?, epoch: r.get(1)?, journal: r.get(2)? }, held: r.get(3)? })
    })
    .optional()
    .map_err(|e| why(&e))
}

/// Takes the claim, or raises it to a higher epoch of the same run.
pub(super) fn take(path: &Path, target: &str, claimant: &Claimant) -> Step<Receipt> {
    let mut db = create(path)?;
    let tx = write(&mut db)?;
    tx.execute_batch(BOOKS).map_err(|e| why(&e))?;
    match standing(&tx, target)? {
        Some(other) if other.held && !other.claimant.is_same_run(claimant) => {
            let Claimant { run, journal, .. } = other.claimant;
            let detail = format!("run {run} of journal {journal} has claimed {target}");
            return Err(Why::fatal(Code::TargetClaimedElsewhere, detail));
        }
        // A claim that was given back, or raised by a later runner, is not taken again by an earlier one.
        Some(own)
            if own.claimant.is_same_run(claimant)
                && (own.claimant.epoch > claimant.epoch || (!own.held && own.claimant.epoch == claimant.epoch)) =>
        {
            return Err(Why::fatal(Code::LeaseLost, "a later runner has claimed the target for this run"));
        }
        _ => {}
    }
    tx.execute(
        "INSERT INTO __dpone_claim (target, run, epoch, journal, held) VALUES (?1, ?2, ?3, ?4, 1)
         ON CONFLICT (target) DO UPDATE SET run = ?2, epoch = ?3, journal = ?4, held = 1",
        params![target, claimant.run, claimant.epoch, claimant.journal],
    )
    .map_err(|e| why(&e))?;
    tx.commit().map_err(|e| why(&e))?;
    Ok(Receipt::Claimed)
}

/// Raises the run's standing claim to that runner's epoch, so that nothing of an earlier runner passes its check any more.
pub(super) fn raise(tx: &Transaction<'_>, target: &str, claimant: &Claimant) -> Step<()> {
    tx.execute(
        "UPDATE __dpone_claim SET epoch = ?3 WHERE target = ?1 AND run = ?2 AND journal = ?4 AND epoch < ?3",
        params![target, claimant.run, claimant.epoch, claimant.journal],
    )
    .map(|_| ())
    .map_err(|e| why(&e))
}

/// Gives the claim back if it is the run's at an epoch up to this one.
pub(super) fn release(path: &Path, target: &str, claimant: &Claimant) -> Step<Receipt> {
    if !path.exists() {
        return Ok(Receipt::Released);
    }
    let mut db = open(path)?;
    let tx = write(&mut db)?;
    tx.execute_batch(BOOKS).map_err(|e| why(&e))?;
    tx.execute(
        "UPDATE __dpone_claim SET held = 0, epoch = ?3
         WHERE target = ?1 AND run = ?2 AND journal = ?4 AND epoch <= ?3",
        params![target, claimant.run, claimant.epoch, claimant.journal],
    )
    .map_err(|e| why(&e))?;
    tx.commit().map_err(|e| why(&e))?;
    Ok(Receipt::Released)
}
