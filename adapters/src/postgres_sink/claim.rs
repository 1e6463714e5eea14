//! The target's claim: one row per run, of which one is held; taken and given back under the target's lock.

use dpone_engine::codes::Code;
use dpone_engine::ports::Claimant;
use dpone_engine::run::{Receipt, Why};

use super::ddl::Place;
use super::session::{Step, is_true, rows, run};
use crate::postgres::{Session, quote_literal};

/// A run's own row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) epoch: u64,
    pub(super) held: bool,
}

/// How a run's row is locked until the transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// Beside others of the run.
    Shared,
    /// Alone: whatever else of the run was about to commit has ended.
    Alone,
}

/// Waits until no claim of the target is under way, and keeps others from beginning.
pub(super) fn lock_target(session: &mut Session, place: &Place) -> Step<()> {
    lock(session, &format!("dpone target {}", place.target()))
}

fn lock(session: &mut Session, name: &str) -> Step<()> {
    let sql = format!("SELECT pg_advisory_xact_lock(hashtextextended({}, 0))", quote_literal(name));
    run(session, &sql).map(|_| ())
}

/// Whether the target's schema has dpone's books.
pub(super) fn has_books(session: &mut Session, place: &Place) -> Step<bool> {
    let sql = format!("SELECT to_regclass({}) IS NOT NULL", quote_literal(&place.ledger()));
    is_true(session, &sql)
}

fn make_books(session: &mut Session, place: &Place) -> Step<()> {
    if has_books(session, place)? {
        return Ok(());
    }
    lock(session, &format!("dpone books {}", place.schema))?;
    if !has_books(session, place)? {
        run(session, &place.books())?;
    }
    Ok(())
}

/// The condition on a run's own row.
pub(super) fn own(place: &Place, claimant: &Claimant) -> String {
    let [target, journal, name] = [&place.table, &claimant.journal, &claimant.run].map(|text| quote_literal(text));
    format!("target = {target} AND journal = {journal} AND run = {name}")
}

/// The run's own row, under a lock.
pub(super) fn standing(
    session: &mut Session,
    place: &Place,
    claimant: &Claimant,
    lock: Lock,
) -> Step<Option<Standing>> {
    let lock = match lock {
        Lock::Shared => "FOR SHARE",
        Lock::Alone => "FOR UPDATE",
    };
    let sql = format!("SELECT epoch, held FROM {} WHERE {} {lock}", place.claims(), own(place, claimant));
    Ok(rows(session, &sql)?.first().and_then(|row| match row.as_slice() {
        [Some(epoch), Some(held)] => Some(Standing { epoch: epoch.parse().ok()?, held: held == "t" }),
        _ => None,
    }))
}

/// Who holds the claim.
pub(super) fn holder(session: &mut Session, place: &Place) -> Step<Option<Claimant>> {
    let target = quote_literal(&place.table);
    let sql = format!("SELECT journal, run, epoch FROM {} WHERE target = {target} AND held", place.claims());
    Ok(rows(session, &sql)?.into_iter().next().and_then(|row| match <[Option<String>; 3]>::try_from(row) {
        Ok([Some(journal), Some(run), Some(epoch)]) => Some(Claimant { run, epoch: epoch.parse().ok()?, journal }),
        _ => None,
    }))
}

/// Refuses unless the target's claim is that runner's.
pub(super) fn held(session: &mut Session, place: &Place, claimant: &Claimant, lock: Lock) -> Step<()> {
    let found = if has_books(session, place)? { standing(session, place, claimant, lock)? } else { None };
    is_held(found, claimant)
}

/// Refuses unless that row is that runner's claim.
pub(super) fn is_held(found: Option<Standing>, claimant: &Claimant) -> Step<()> {
    if found == Some(Standing { epoch: claimant.epoch, held: true }) {
        return Ok(());
    }
    Err(lost())
}

/// The claim is another's, or nobody's.
pub(super) fn lost() -> Why {
    Why::fatal(Code::LeaseLost, "the target's claim is not this runner's any more")
}

/// Takes the claim, or raises it to a higher epoch of the same run.
pub(super) fn take(session: &mut Session, place: &Place, claimant: &Claimant) -> Step<Receipt> {
    lock_target(session, place)?;
    make_books(session, place)?;
    if let Some(other) = holder(session, place)?
        && !other.is_same_run(claimant)
    {
        let detail = format!("run {} of journal {} has claimed {}", other.run, other.journal, place.target());
        return Err(Why::fatal(Code::TargetClaimedElsewhere, detail));
    }
    // A claim that was given back, or raised by a later runner, is not taken again by an earlier one.
    if let Some(own) = standing(session, place, claimant, Lock::Alone)?
        && (own.epoch > claimant.epoch || (!own.held && own.epoch == claimant.epoch))
    {
        return Err(Why::fatal(Code::LeaseLost, "a later runner has claimed the target for this run"));
    }
    let [target, journal, name] = [&place.table, &claimant.journal, &claimant.run].map(|text| quote_literal(text));
    let (claims, epoch) = (place.claims(), claimant.epoch);
    let sql = format!(
        "INSERT INTO {claims} (target, journal, run, epoch, held) VALUES ({target}, {journal}, {name}, {epoch}, true)
         ON CONFLICT (target, journal, run) DO UPDATE SET epoch = EXCLUDED.epoch, held = true"
    );
    run(session, &sql)?;
    Ok(Receipt::Claimed)
}

/// Raises the run's claim to that runner's epoch, so that nothing of an earlier runner passes its check any more.
pub(super) fn raise(session: &mut Session, place: &Place, claimant: &Claimant) -> Step<()> {
    let (claims, own, epoch) = (place.claims(), own(place, claimant), claimant.epoch);
    run(session, &format!("UPDATE {claims} SET epoch = {epoch} WHERE {own} AND epoch < {epoch}")).map(|_| ())
}

/// Gives the claim back if it is the run's at an epoch up to this one. A claim under way is waited for: it holds the target's
/// lock from its first statement, and a session that ended before its commit commits nothing.
pub(super) fn release(session: &mut Session, place: &Place, claimant: &Claimant) -> Step<Receipt> {
    lock_target(session, place)?;
    if has_books(session, place)? {
        let (claims, own, epoch) = (place.claims(), own(place, claimant), claimant.epoch);
        let sql = format!("UPDATE {claims} SET held = false, epoch = {epoch} WHERE {own} AND epoch <= {epoch}");
        run(session, &sql)?;
    }
    Ok(Receipt::Released)
}
