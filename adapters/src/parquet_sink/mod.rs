//! The `parquet` sink: a folder of Parquet files whose content is what its newest pointer manifest lists.
//!
//! ```text
//! <root>/<staging>/part-r00000-c00000-<nonce>.parquet    data files; a staging folder becomes a part of the dataset
//! <root>/_dpone/manifest-00000000000000000001.json       one per version, created once and never changed
//! <root>/_dpone/loads/<load>/                            what a load has not finished
//! <root>/_dpone/claim.json, .lock                        who may publish, and the lock that makes checking it safe
//! ```
//!
//! Every step is local. It is checked against the claim under the dataset's lock, so that a runner that lost its claim
//! can change nothing that is read.

mod address;
mod cells;
mod check;
mod claim;
mod describe;
mod empty;
mod failure;
mod footer;
mod load;
mod pointer;
mod publish;
mod remove;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Connection, Quality, Sink as SinkManifest, StrategyMode};
use dpone_engine::plan::TargetFacts;
use dpone_engine::ports::{Claimant, Feed, LoadOrder, PublishOrder, Sighting, Sink, Staged};
use dpone_engine::refusal::Refusal;
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, Outcome, Receipt, Seen, UnitId, Why};
use dpone_engine::schema::Schema;

use crate::body::Body;
use crate::durable;
pub use address::dataset_root;
use claim::lock;
use failure::why;

/// Where rows go: a dataset's folder, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParquetTarget {
    root: PathBuf,
    mode: StrategyMode,
}

impl ParquetTarget {
    /// The target of a manifest.
    ///
    /// # Errors
    /// `route_unsupported` for an address of another store, `manifest_invalid_value` for one that is no path.
    pub fn of(sink: &SinkManifest) -> Result<Self, Refusal> {
        let Connection::Uri(uri) = &sink.connection else {
            return Err(Refusal::new(Code::ManifestInvalidValue, "a parquet sink needs an address").at("sink.uri"));
        };
        Ok(Self { root: dataset_root(uri)?, mode: sink.strategy.mode })
    }

    /// The dataset's folder.
    pub fn root(&self) -> &std::path::Path {
        &self.root
    }

    /// The runner that has claimed the dataset. Creates nothing, and takes no lock.
    ///
    /// # Errors
    /// `target_not_reachable` if that cannot be read.
    pub fn claimed(&self) -> Result<Option<Claimant>, Refusal> {
        claim::claimed(&self.root).map_err(|e| {
            let why = failure::why(Code::TargetNotReachable, "the dataset's claim", &e);
            Refusal::new(why.code, why.detail).at(self.root.display().to_string())
        })
    }

    /// Gives the claim back for that run, which can then not go on.
    pub fn release(&self, claimant: &Claimant) -> Outcome {
        lock(&self.root).map_or_else(Outcome::NotDone, |lock| lock.release(claimant))
    }

    /// What the target is now. Creates nothing.
    ///
    /// # Errors
    /// Every reason why what is read cannot be published there exactly.
    pub fn describe(&self, schema: &Schema) -> Result<TargetFacts, Vec<Refusal>> {
        describe::describe(self, schema)
    }
}

/// The sink of one run.
#[derive(Clone, Debug)]
pub struct ParquetSink(Arc<Inner>);

/// What a sink knows.
#[derive(Debug)]
pub struct Inner {
    root: PathBuf,
    mode: StrategyMode,
    schema: Schema,
    quality: Quality,
    work_dir: PathBuf,
    fingerprint: String,
}

impl std::ops::Deref for ParquetSink {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl ParquetSink {
    /// A sink for rows of that schema. `work_dir` takes what a gate cannot hold in memory; `fingerprint` is the plan's,
    /// for the manifest of what it publishes.
    pub fn new(
        target: ParquetTarget,
        schema: Schema,
        quality: Quality,
        work_dir: impl Into<PathBuf>,
        fingerprint: impl Into<String>,
    ) -> Self {
        let ParquetTarget { root, mode } = target;
        let (work_dir, fingerprint) = (work_dir.into(), fingerprint.into());
        Self(Arc::new(Inner { root, mode, schema, quality, work_dir, fingerprint }))
    }

    /// Runs a step on a thread that may block; a step that ends early is `NotDone` with `code`, unless it may have had an
    /// effect that nobody else looks for.
    async fn step(&self, code: Code, step: impl FnOnce(&Self) -> Outcome + Send + 'static) -> Outcome {
        let this = self.clone();
        blocking(move || step(&this)).await.unwrap_or_else(|| Outcome::Unknown(Why::fatal(code, "a step ended early")))
    }

    fn make_claim(&self, claimant: &Claimant) -> Outcome {
        let failed = |e: io::Error| why(Code::TargetNotReachable, "the dataset's folder", &e);
        let books = pointer::books(&self.root);
        match durable::create_dirs(&books.join("loads")).map_err(failed).and_then(|()| lock(&self.root)) {
            Ok(lock) => lock.claim(claimant),
            Err(why) => Outcome::NotDone(why),
        }
    }

    fn make_staging(&self, claimant: &Claimant, staging: &str) -> Outcome {
        let held = lock(&self.root).and_then(|l| l.held(claimant).map(|()| l));
        let _lock = match held {
            Ok(lock) => lock,
            Err(why) => return Outcome::NotDone(why),
        };
        let folder = self.root.join(staging);
        match std::fs::create_dir(&folder) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                let detail = format!("the name of staging {staging} is taken");
                return Outcome::NotDone(Why::fatal(Code::StagingNameConflict, detail));
            }
            Err(e) => return Outcome::NotDone(why(Code::TargetNotReachable, "the staging folder", &e)),
        }
        match durable::sync_dir(&self.root) {
            Ok(()) => Outcome::Done(Receipt::Staged),
            Err(e) => Outcome::Unknown(why(Code::TargetNotReachable, "the dataset's folder", &e)),
        }
    }

    /// After this, a publication that was sent under an earlier epoch finds the claim raised, and one that was sent under
    /// this epoch can only create the one name that the run's next try would create: neither can publish twice.
    fn make_fence(&self, claimant: &Claimant) -> Outcome {
        // The lock waits for a publication that is being written; the claim turns away any that comes later.
        match lock(&self.root).and_then(|l| l.held(claimant)) {
            Ok(()) => Outcome::Done(Receipt::Fenced),
            Err(why) => Outcome::NotDone(why),
        }
    }

    fn sight(&self, claimant: &Claimant, effect: &Effect, order: Option<&PublishOrder>) -> Sighting {
        if !pointer::books(&self.root).is_dir() {
            return Sighting::of(Seen::Nothing);
        }
        // What another process is in the middle of is over when the lock is given.
        let Ok(lock) = lock(&self.root) else { return Sighting::of(Seen::CannotTell) };
        let there = |path: PathBuf| match path.try_exists() {
            Ok(true) => Seen::Ours,
            Ok(false) => Seen::Nothing,
            Err(_) => Seen::CannotTell,
        };
        match effect {
            Effect::Claim { epoch } => Sighting::of(lock.sight(claimant, *epoch)),
            Effect::Release { .. } => Sighting::of(lock.standing_for(claimant)),
            Effect::Stage { staging, .. } => Sighting::of(match there(self.root.join(staging)) {
                // Its maker may have been killed before its name was durable.
                Seen::Ours if durable::sync_dir(&self.root).is_err() => Seen::CannotTell,
                seen => seen,
            }),
            Effect::Load { load, staging, .. } => self.sight_load(load, staging),
            Effect::Publish { .. } => order.map_or(Sighting::of(Seen::CannotTell), |o| self.sight_publication(o)),
            Effect::Drop { kind: OwnedKind::Staging, name } => Sighting::of(there(self.root.join(name))),
            Effect::Drop { kind: OwnedKind::Load, name } => Sighting::of(there(load::load_folder(&self.root, name))),
            // Removing a former version's files again is its own probe: what is gone counts as removed.
            Effect::Drop { kind: OwnedKind::Superseded, .. } => Sighting::of(Seen::Ours),
            Effect::Drop { kind: OwnedKind::Object, .. }
            | Effect::Fence { .. }
            | Effect::Open
            | Effect::Count
            | Effect::Read { .. }
            | Effect::Put { .. }
            | Effect::Verify
            | Effect::Check
            | Effect::Evidence { .. } => Sighting::of(Seen::Nothing),
        }
    }

    /// A load happened if its receipt is there and every file that it names has its final name and its rows.
    fn sight_load(&self, load: &str, staging: &str) -> Sighting {
        let receipt = match load::read_receipt(&self.root, load) {
            Ok(Some(receipt)) if receipt.staging == staging && receipt.is_sound() => receipt,
            Ok(_) => return Sighting::of(Seen::Nothing),
            Err(e) if e.kind() == io::ErrorKind::InvalidData => return Sighting::of(Seen::Nothing),
            Err(_) => return Sighting::of(Seen::CannotTell),
        };
        let whole = receipt.files.iter().all(|f| footer::rows(&self.root.join(&f.path), &self.schema) == Ok(f.rows));
        if !whole {
            return Sighting::of(Seen::Nothing);
        }
        // The names may have been given just before a power failure: only synced folders keep them.
        let folders = [load::load_folder(&self.root, load), self.root.join(staging)];
        match folders.iter().try_for_each(|folder| durable::sync_dir(folder)) {
            Ok(()) => Sighting::ours(Receipt::Loaded { rows: receipt.rows }),
            Err(_) => Sighting::of(Seen::CannotTell),
        }
    }
}

/// `None` if the work ended without an answer.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

/// Ends a check's threads when nobody waits for it any more.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Sink for ParquetSink {
    type Body = Body;

    async fn claim(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        self.step(Code::TargetNotReachable, move |s| s.make_claim(&claimant)).await
    }

    async fn stage(&self, claimant: &Claimant, staging: &str, _unit: Option<UnitId>) -> Outcome {
        let (claimant, staging) = (claimant.clone(), staging.to_owned());
        self.step(Code::TargetNotReachable, move |s| s.make_staging(&claimant, &staging)).await
    }

    async fn load(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Body>) -> Outcome {
        self.load_unit(order, feed).await
    }

    async fn check(&self, staged: &Staged, grant: u64) -> Outcome {
        let stop = Arc::new(AtomicBool::new(false));
        let _guard = StopOnDrop(Arc::clone(&stop));
        let (this, staged) = (self.clone(), staged.clone());
        let checked = blocking(move || this.check_files(&staged, grant, &stop)).await;
        // A check leaves nothing behind.
        checked.unwrap_or_else(|| Outcome::NotDone(Why::fatal(Code::LoadFailed, "the check was cut short")))
    }

    async fn publish(&self, order: &PublishOrder) -> Outcome {
        let order = order.clone();
        self.step(Code::PublicationOutcomeUnknown, move |s| s.publish_version(&order)).await
    }

    async fn fence(&self, claimant: &Claimant, _order: &PublishOrder) -> Outcome {
        let claimant = claimant.clone();
        self.step(Code::PublicationOutcomeUnknown, move |s| s.make_fence(&claimant)).await
    }

    async fn probe(&self, claimant: &Claimant, effect: &Effect, order: Option<&PublishOrder>) -> Sighting {
        let (this, claimant, effect, order) = (self.clone(), claimant.clone(), effect.clone(), order.cloned());
        let sight = blocking(move || this.sight(&claimant, &effect, order.as_ref())).await;
        sight.unwrap_or(Sighting::of(Seen::CannotTell))
    }

    async fn drop_owned(&self, kind: OwnedKind, name: &str) -> Outcome {
        let name = name.to_owned();
        self.step(Code::CleanupFailed, move |s| s.remove(kind, &name)).await
    }

    async fn release(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        let release = move |s: &Self| {
            if !pointer::books(&s.root).is_dir() {
                return Outcome::Done(Receipt::Released);
            }
            lock(&s.root).map_or_else(Outcome::NotDone, |lock| lock.release(&claimant))
        };
        self.step(Code::CleanupFailed, release).await
    }
}
