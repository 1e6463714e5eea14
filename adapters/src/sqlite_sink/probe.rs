//! What became of a step whose outcome is not known: every question has its answer in the database.

use std::path::Path;

use dpone_engine::ports::{Claimant, PublishOrder, Sighting};
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, Receipt, Seen};
use rusqlite::OptionalExtension;

use super::claim::{raise, standing};
use super::database::{Step, open, sync, table_exists, why, write};
use super::publish::{base, published, superseded};

/// Looks.
pub(super) fn probe(
    path: &Path,
    target: &str,
    table: &str,
    claimant: &Claimant,
    effect: &Effect,
    order: Option<&PublishOrder>,
) -> Step<Sighting> {
    if !path.exists() {
        return Ok(Sighting::of(Seen::Nothing));
    }
    // With the write lock, what another process was in the middle of is over. A runner that looks for what an earlier
    // one of its run did takes the claim from it in the same transaction, so that what is not there cannot come later.
    let mut db = open(path)?;
    let db = write(&mut db)?;
    if !table_exists(&db, "__dpone_claim")? {
        return Ok(Sighting::of(Seen::Nothing));
    }
    let sighting = match effect {
        Effect::Claim { epoch } => match standing(&db, target)? {
            Some(s) if s.is_held_for(claimant) && s.claimant.epoch == *epoch => Sighting::ours(Receipt::Claimed),
            Some(s) if s.held && !s.is_held_for(claimant) => Sighting::of(Seen::Foreign),
            _ => Sighting::of(Seen::Nothing),
        },
        Effect::Stage { staging, .. } if table_exists(&db, staging)? => Sighting::ours(Receipt::Staged),
        Effect::Load { load, .. } => {
            raise(&db, target, claimant)?;
            let rows: Option<u64> = db
                .query_row("SELECT rows FROM __dpone_load WHERE load = ?1", [load], |r| r.get(0))
                .optional()
                .map_err(|e| why(&e))?;
            rows.map_or(Sighting::of(Seen::Nothing), |rows| Sighting::ours(Receipt::Loaded { rows }))
        }
        Effect::Publish { .. } => match published(&db, target, claimant)? {
            Some(receipt) if superseded(&db, target, claimant)? => {
                Sighting { seen: Seen::Superseded, receipt: Some(receipt) }
            }
            Some(receipt) => Sighting::ours(receipt),
            None => match order {
                Some(order) if base(&db, target, table)? != order.base => Sighting::of(Seen::BaseChanged),
                _ => Sighting::of(Seen::Nothing),
            },
        },
        Effect::Drop { kind: OwnedKind::Load, name } => {
            let there =
                db.query_row("SELECT EXISTS (SELECT 1 FROM __dpone_load WHERE load = ?1)", [name], |r| r.get(0));
            Sighting::of(if there.map_err(|e| why(&e))? { Seen::Ours } else { Seen::Nothing })
        }
        Effect::Drop { kind: OwnedKind::Staging, name } if table_exists(&db, name)? => Sighting::of(Seen::Ours),
        Effect::Release { .. } => match standing(&db, target)? {
            Some(s) if s.is_held_for(claimant) => Sighting::of(Seen::Ours),
            _ => Sighting::of(Seen::Nothing),
        },
        _ => Sighting::of(Seen::Nothing),
    };
    db.commit().map_err(|e| why(&e))?;
    if matches!(sighting.seen, Seen::Ours | Seen::Superseded) && sync(path).is_err() {
        return Ok(Sighting::of(Seen::CannotTell));
    }
    Ok(sighting)
}
