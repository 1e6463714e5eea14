//! What became of a step whose outcome is not known: every question has its answer in the database.

use dpone_engine::ports::{Claimant, PublishOrder, Sighting};
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, Receipt, Seen};

use super::catalog::{base, relation};
use super::claim::{Lock, has_books, holder, lock_target, raise, standing};
use super::ddl::Place;
use super::publish::{published, superseded};
use super::session::{Step, begin, cell, connect, is_true, run};
use crate::postgres::{Config, Session, quote_literal};

/// Looks.
pub(super) fn probe(
    config: &Config,
    place: &Place,
    claimant: &Claimant,
    effect: &Effect,
    order: Option<&PublishOrder>,
) -> Step<Sighting> {
    let mut session = connect(config)?;
    // A standby shows what was.
    if is_true(&mut session, "SELECT pg_is_in_recovery()")? {
        return Ok(Sighting::of(Seen::CannotTell));
    }
    begin(&mut session)?;
    // What is about to commit holds one of these locks, and is waited for. A runner that looks for what an earlier one of its
    // run did takes the claim from it in the same transaction, so that what is not there cannot come later.
    lock_target(&mut session, place)?;
    if !has_books(&mut session, place)? {
        return Ok(Sighting::of(Seen::Nothing));
    }
    let own = standing(&mut session, place, claimant, Lock::Alone)?;
    if !matches!(effect, Effect::Claim { .. } | Effect::Release { .. }) {
        raise(&mut session, place, claimant)?;
    }
    let held = own.is_some_and(|own| own.held);
    let sighting = match effect {
        Effect::Claim { epoch } if held && own.is_some_and(|own| own.epoch == *epoch) => {
            Sighting::ours(Receipt::Claimed)
        }
        Effect::Claim { .. } if !held && holder(&mut session, place)?.is_some() => Sighting::of(Seen::Foreign),
        Effect::Release { .. } if held => Sighting::of(Seen::Ours),
        Effect::Claim { .. } | Effect::Release { .. } => Sighting::of(Seen::Nothing),
        _ => look(&mut session, place, claimant, effect, order)?,
    };
    run(&mut session, "COMMIT")?;
    Ok(sighting)
}

fn look(
    session: &mut Session,
    place: &Place,
    claimant: &Claimant,
    effect: &Effect,
    order: Option<&PublishOrder>,
) -> Step<Sighting> {
    Ok(match effect {
        Effect::Stage { staging, .. } if relation(session, place, staging)?.is_some() => {
            Sighting::ours(Receipt::Staged)
        }
        Effect::Load { load, .. } => match loaded(session, place, load)? {
            Some(rows) => Sighting::ours(Receipt::Loaded { rows }),
            None => Sighting::of(Seen::Nothing),
        },
        Effect::Publish { .. } => match published(session, place, claimant)? {
            Some(receipt) if superseded(session, place, claimant)? => {
                Sighting { seen: Seen::Superseded, receipt: Some(receipt) }
            }
            Some(receipt) => Sighting::ours(receipt),
            None => match order {
                Some(order) if base(session, place)? != order.base => Sighting::of(Seen::BaseChanged),
                _ => Sighting::of(Seen::Nothing),
            },
        },
        Effect::Drop { kind: OwnedKind::Load, name } if loaded(session, place, name)?.is_some() => {
            Sighting::of(Seen::Ours)
        }
        Effect::Drop { kind: OwnedKind::Staging, name } if relation(session, place, name)?.is_some() => {
            Sighting::of(Seen::Ours)
        }
        _ => Sighting::of(Seen::Nothing),
    })
}

/// The rows of a load, if it happened.
fn loaded(session: &mut Session, place: &Place, load: &str) -> Step<Option<u64>> {
    let sql = format!("SELECT rows FROM {} WHERE load = {}", place.loads(), quote_literal(load));
    Ok(cell(session, &sql)?.and_then(|rows| rows.parse().ok()))
}
