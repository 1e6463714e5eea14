//! One handler per kind of effect: from what was announced to the port that does it.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{self, StreamExt};

use super::feed::ObjectFeed;
use super::{Done, Driver};
use crate::budget::Amount;
use crate::codes::Code;
use crate::ports::{
    Claimant, EvidenceStore, LoadOrder, ObjectStore, Ports, PublishOrder, Sink, Source, Staged, StagedUnit,
};
use crate::run::effect::{Document, OwnedKind};
use crate::run::run::ObjectFacts;
use crate::run::{Effect, Key, Outcome, Receipt, Seen, UnitId, Why};

/// How many objects are looked at in the store at the same time.
const LOOKS: usize = 8;

impl<'a, P: Ports> Driver<'a, P> {
    /// Starts an effect that was announced under that key.
    pub(super) fn start(&mut self, key: Key, effect: Effect) {
        let ports = self.ports;
        let claimant = self.claimant();
        let outcome: LocalBoxFuture<'a, Outcome> = match effect {
            Effect::Read { unit, try_no } => return self.start_read(key, unit, try_no),
            Effect::Put { read, chunk, object, .. } => return self.start_put(key, read, chunk, object),
            Effect::Claim { .. } => async move { ports.sink().claim(&claimant).await }.boxed_local(),
            Effect::Open => {
                self.source_open = true;
                let sessions = self.order.policy.readers;
                ports.source().open(sessions).boxed_local()
            }
            Effect::Count => ports.source().count().boxed_local(),
            Effect::Verify => self.verify(),
            Effect::Stage { staging, unit } => {
                async move { ports.sink().stage(&claimant, &staging, unit).await }.boxed_local()
            }
            Effect::Load { unit, staging, load } => self.load(unit, staging, load),
            Effect::Check => self.check(),
            Effect::Publish { publication } => {
                let order = self.publish_order(publication);
                async move { ports.sink().publish(&order).await }.boxed_local()
            }
            Effect::Fence { publish, .. } => {
                let order = self.order_of(publish);
                async move {
                    match order {
                        Some(order) => ports.sink().fence(&claimant, &order).await,
                        None => Outcome::NotDone(Why::fatal(Code::InternalError, "a fence without its publication")),
                    }
                }
                .boxed_local()
            }
            Effect::Evidence { document } => {
                let text = (self.order.render)(document, &self.run, &self.entries, self.observed());
                // Each try has a name of its own: a late write of a former one cannot replace what was sealed since.
                let name = format!("{}/a{}-{}-{}", self.run.id, self.run.attempt, document_name(document), key.0);
                async move { ports.evidence().write(&name, &text).await }.boxed_local()
            }
            Effect::Drop { kind: OwnedKind::Object, name } => {
                async move { ports.store().delete(&name).await }.boxed_local()
            }
            Effect::Drop { kind, name } => async move { ports.sink().drop_owned(kind, &name).await }.boxed_local(),
            Effect::Release { .. } => async move { ports.sink().release(&claimant).await }.boxed_local(),
        };
        self.tasks.push(async move { Done::Effect(key, outcome.await) }.boxed_local());
    }

    pub(super) fn claimant(&self) -> Claimant {
        Claimant { run: self.run.id.to_string(), epoch: self.run.epoch, journal: self.order.journal.clone() }
    }

    /// Looks at every object that this runner did not itself see written whole.
    fn verify(&self) -> LocalBoxFuture<'a, Outcome> {
        let store = self.ports.store();
        let objects: Vec<ObjectFacts> = self
            .run
            .units
            .iter()
            .filter_map(|u| u.read.as_ref())
            .flat_map(|r| r.objects.iter())
            .filter(|o| !self.fresh.contains(&o.object))
            .cloned()
            .collect();
        async move {
            let mut looks = stream::iter(objects)
                .map(|o| async move { store.head(&o.object, &o.facts).await })
                .buffer_unordered(LOOKS);
            while let Some(seen) = looks.next().await {
                match seen {
                    Seen::Ours => {}
                    Seen::Nothing | Seen::Foreign => {
                        return Outcome::NotDone(Why::fatal(Code::ObjectLost, "an object is gone or differs"));
                    }
                    Seen::CannotTell | Seen::BaseChanged | Seen::Superseded => {
                        let why = Why::transient(Code::ObjectUploadUnconfirmed, "an object could not be looked at");
                        return Outcome::NotDone(why);
                    }
                }
            }
            Outcome::Done(Receipt::Verified)
        }
        .boxed_local()
    }

    fn load(&self, unit: UnitId, staging: String, load: String) -> LocalBoxFuture<'a, Outcome> {
        let read = self.run.units.get(unit as usize).and_then(|u| u.read.clone());
        let (objects, rows) = read.map(|r| (r.objects, r.profile.rows)).unwrap_or_default();
        let order = LoadOrder { claimant: self.claimant(), unit, staging, load, rows };
        let (sink, store, budget) = (self.ports.sink(), self.ports.store(), self.budget.clone());
        let grant = self.order.grant.bytes;
        async move {
            let load = async |grant| {
                let (objects, budget) = (objects.clone().into_iter(), budget.clone());
                let mut feed = ObjectFeed::<P> { store, budget, grant, objects, held: None };
                sink.load(&order, &mut feed).await
            };
            match load(grant).await {
                Outcome::NotDone(why) if why.code == Code::BudgetTooSmall => load(budget.total().bytes).await,
                outcome => outcome,
            }
        }
        .boxed_local()
    }

    fn check(&self) -> LocalBoxFuture<'a, Outcome> {
        let staged = self.staged();
        let (sink, budget) = (self.ports.sink(), self.budget.clone());
        let bytes = self.order.check;
        async move {
            let check = async |bytes| match budget.reserve(Amount { bytes, rows: 0 }).await {
                Ok(_grant) => sink.check(&staged, bytes).await,
                Err(exceeds) => Outcome::NotDone(Why::fatal(Code::BudgetTooSmall, exceeds.to_string())),
            };
            let total = budget.total().bytes;
            match check(bytes).await {
                Outcome::NotDone(why) if why.code == Code::BudgetTooSmall && bytes < total => check(total).await,
                outcome => outcome,
            }
        }
        .boxed_local()
    }

    fn staged(&self) -> Staged {
        let units = (0..).zip(&self.run.units).filter_map(|(unit, state)| {
            let (load, rows) = state.loaded.clone()?;
            let staging = self.run.staging.get(&self.run.staging_slot(unit))?.name.clone();
            let objects = state.read.as_ref().map_or(0, |r| r.objects.len() as u32);
            Some(StagedUnit { unit, staging, load, rows, objects })
        });
        let staging = self.run.staging.values().map(|s| s.name.clone()).collect();
        Staged { claimant: self.claimant(), units: units.collect(), staging }
    }

    fn publish_order(&self, publication: String) -> PublishOrder {
        PublishOrder { staged: self.staged(), publication, base: self.run.plan.base.identity.clone() }
    }

    /// What the announced publication of that key was given.
    pub(super) fn order_of(&self, publish: Key) -> Option<PublishOrder> {
        match &self.run.open.get(&publish)?.effect {
            Effect::Publish { publication } => Some(self.publish_order(publication.clone())),
            _ => None,
        }
    }
}

/// The last part of an evidence document's name.
fn document_name(document: Document) -> &'static str {
    match document {
        Document::Sealed => "evidence",
        Document::Cleanup => "cleanup",
    }
}
