//! What the target answers when it is asked what became of an effect.

use dpone_engine::ports::{Claimant, PublishOrder, Sighting};
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, EffectKind, Receipt, Seen};

use super::target::Target;

/// The answer of a target that shows everything.
pub(super) fn look(target: &Target, claimant: &Claimant, effect: &Effect, order: Option<&PublishOrder>) -> Sighting {
    match effect {
        Effect::Claim { .. } => match &target.claim {
            Some(c) if *c == *claimant => Sighting::ours(Receipt::Claimed),
            Some(c) if !c.is_same_run(claimant) => Sighting::of(Seen::Foreign),
            _ => Sighting::of(Seen::Nothing),
        },
        Effect::Stage { staging, .. } => Sighting::of(match target.staging.contains_key(staging) {
            true if target.taken.contains(staging) => Seen::Foreign,
            true => Seen::Ours,
            false => Seen::Nothing,
        }),
        Effect::Load { load, staging, .. } => match (target.loads.get(load), target.staging.get(staging)) {
            (Some(rows), Some(_)) => Sighting::ours(Receipt::Loaded { rows: *rows }),
            (None, Some(place)) if place.iter().any(|(l, _)| l == load) => Sighting::of(Seen::Foreign),
            _ => Sighting::of(Seen::Nothing),
        },
        Effect::Publish { publication } => published(target, claimant, publication, order),
        Effect::Fence { .. } => match order {
            Some(order) if target.fenced.contains(&order.publication) => Sighting::ours(Receipt::Fenced),
            _ => Sighting::of(Seen::Nothing),
        },
        Effect::Drop { name, kind } => Sighting::of(match kind {
            OwnedKind::Staging if target.staging.contains_key(name) => Seen::Ours,
            OwnedKind::Load if target.loads.contains_key(name) => Seen::Ours,
            OwnedKind::Superseded if target.files.contains(name) => Seen::Ours,
            _ => Seen::Nothing,
        }),
        Effect::Release { .. } => Sighting::of(match &target.claim {
            Some(c) if c.is_same_run(claimant) => Seen::Ours,
            Some(_) => Seen::Foreign,
            None => Seen::Nothing,
        }),
        Effect::Open
        | Effect::Count
        | Effect::Read { .. }
        | Effect::Put { .. }
        | Effect::Verify
        | Effect::Check
        | Effect::Evidence { .. } => Sighting::of(Seen::CannotTell),
    }
}

fn published(target: &Target, claimant: &Claimant, publication: &str, order: Option<&PublishOrder>) -> Sighting {
    let last = target.publications.len();
    match target.publications.iter().position(|p| p.is_of(claimant)) {
        Some(at) => {
            let done = &target.publications[at];
            let receipt = Receipt::Published { identity: done.identity.clone(), rows: done.rows };
            let seen = if at + 1 == last { Seen::Ours } else { Seen::Superseded };
            Sighting { seen, receipt: Some(receipt) }
        }
        None if target.taken.contains(publication) => Sighting::of(Seen::Foreign),
        None if order.is_some_and(|o| o.base != target.identity()) => Sighting::of(Seen::BaseChanged),
        None => Sighting::of(Seen::Nothing),
    }
}

/// The answer of a target that shows what was there a moment ago: before the effect.
pub(super) fn stale(kind: EffectKind) -> Sighting {
    Sighting::of(match kind {
        EffectKind::Drop | EffectKind::Release => Seen::Ours,
        // It does not show the fence either, so it says nothing about what the fence decided.
        EffectKind::Publish => Seen::CannotTell,
        _ => Seen::Nothing,
    })
}
