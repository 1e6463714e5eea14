//! The `sqlite` sink: staging tables, a ledger and a claim in the target's own database, and one transaction that
//! publishes.
//!
//! Every step is local and synchronous: when it has answered, nothing of it can land later. What a killed process had
//! not committed, SQLite rolls back.

mod cell;
mod check;
mod claim;
mod database;
mod ddl;
mod load;
mod moment;
mod preflight;
mod probe;
mod publish;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Connection, Quality, Sink as SinkManifest, StrategyMode};
use dpone_engine::plan::TargetFacts;
use dpone_engine::ports::{Claimant, Feed, LoadOrder, PublishOrder, Sighting, Sink, Staged};
use dpone_engine::refusal::Refusal;
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, Outcome, Receipt, Seen, UnitId, Why};
use dpone_engine::schema::Schema;
use tokio::sync::Mutex;

use crate::body::Body;
use crate::durable;
use database::Step;

/// Where rows go: a table of a database file, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteTarget {
    path: PathBuf,
    table: String,
    mode: StrategyMode,
    key: Vec<String>,
}

/// The file that a path names, however it is written.
pub(crate) fn file(path: &Path) -> PathBuf {
    durable::resolved(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// A table of a file, as rivals must agree on it. SQLite's names have no case.
pub(crate) fn identity(file: &Path, table: &str) -> String {
    format!("sqlite:{}#{}", file.display(), table.to_ascii_lowercase())
}

impl SqliteTarget {
    /// The target of a manifest.
    ///
    /// # Errors
    /// `manifest_invalid_value` if it names no file or no table.
    pub fn of(sink: &SinkManifest) -> Result<Self, Refusal> {
        let missing = |what: &str| {
            Refusal::new(Code::ManifestInvalidValue, format!("a sqlite sink needs {what}")).at(format!("sink.{what}"))
        };
        let Connection::Path(path) = &sink.connection else { return Err(missing("path")) };
        let table = sink.table.as_ref().ok_or_else(|| missing("table"))?;
        for (key, given) in [("schema", &table.schema), ("database", &table.database)] {
            if given.is_some() {
                let text = format!("a sqlite sink has no {key}: its table is in the file of `sink.path`");
                return Err(Refusal::new(Code::OptionConflict, text)
                    .at(format!("sink.table.{key}"))
                    .fix("Leave it out; name another file with `sink.path`."));
            }
        }
        let name = &table.name;
        let reserved = |prefix: &str| name.get(..prefix.len()).is_some_and(|n| n.eq_ignore_ascii_case(prefix));
        if reserved("sqlite_") || reserved("__dpone_") || name.contains('\0') {
            let text = format!("table names like {name:?} are reserved");
            return Err(Refusal::new(Code::ManifestInvalidValue, text)
                .at("sink.table.name")
                .fix("Choose another name."));
        }
        let path = file(Path::new(path));
        let strategy = &sink.strategy;
        Ok(Self { path, table: table.name.clone(), mode: strategy.mode, key: strategy.key.clone() })
    }

    /// The runner that has claimed the table. Creates nothing.
    ///
    /// # Errors
    /// `target_not_reachable` if that cannot be read.
    pub fn claimed(&self) -> Result<Option<Claimant>, Refusal> {
        preflight::claimed(&self.path, &self.identity())
    }

    /// Gives the claim back for that run, which can then not go on.
    pub fn release(&self, claimant: &Claimant) -> Outcome {
        claim::release(&self.path, &self.identity(), claimant).map_or_else(Outcome::NotDone, Outcome::Done)
    }

    /// The target as rivals must agree on it.
    fn identity(&self) -> String {
        identity(&self.path, &self.table)
    }

    fn merge_key(&self) -> &[String] {
        if self.mode == StrategyMode::Merge { &self.key } else { &[] }
    }

    fn partition_key(&self) -> &[String] {
        if self.mode == StrategyMode::PartitionReplace { &self.key } else { &[] }
    }

    /// What the target is now. Creates nothing.
    ///
    /// # Errors
    /// Every reason why what is read cannot be published there exactly.
    pub fn describe(&self, schema: &Schema) -> Result<TargetFacts, Vec<Refusal>> {
        preflight::describe(self, schema)
    }
}

/// The sink of one run.
#[derive(Clone, Debug)]
pub struct SqliteSink {
    target: SqliteTarget,
    schema: Schema,
    quality: Quality,
    work_dir: PathBuf,
    /// SQLite has one writer: loads of one run wait for each other here instead of failing on the lock.
    loading: Arc<Mutex<()>>,
}

impl SqliteSink {
    /// A sink for rows of that schema. `work_dir` takes what a gate cannot hold in memory.
    pub fn new(target: SqliteTarget, schema: Schema, quality: Quality, work_dir: impl Into<PathBuf>) -> Self {
        Self { target, schema, quality, work_dir: work_dir.into(), loading: Arc::default() }
    }

    fn path(&self) -> &Path {
        &self.target.path
    }

    /// Runs a step on a thread that may block. What fails in it was rolled back.
    async fn step<T: Send + 'static>(&self, step: impl FnOnce(Self) -> Step<T> + Send + 'static) -> Step<T> {
        let this = self.clone();
        blocking(move || step(this)).await?
    }

    async fn effect(&self, step: impl FnOnce(Self) -> Step<Receipt> + Send + 'static) -> Outcome {
        match self.step(step).await {
            Ok(receipt) => Outcome::Done(receipt),
            Err(why) => Outcome::NotDone(why),
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Step<T> {
    let lost = |_| Why::fatal(Code::InternalError, "a step of the sqlite sink panicked");
    tokio::task::spawn_blocking(work).await.map_err(lost)
}

impl Sink for SqliteSink {
    type Body = Body;

    async fn claim(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        self.effect(move |s| claim::take(s.path(), &s.target.identity(), &claimant)).await
    }

    async fn stage(&self, claimant: &Claimant, staging: &str, _unit: Option<UnitId>) -> Outcome {
        let (claimant, staging) = (claimant.clone(), staging.to_owned());
        self.effect(move |s| {
            let mut db = database::open(s.path())?;
            let tx = database::write(&mut db)?;
            database::held(&tx, &s.target.identity(), &claimant)?;
            if database::table_exists(&tx, &staging)? {
                let detail = format!("there is a table {staging:?} already");
                return Err(Why::fatal(Code::StagingNameConflict, detail));
            }
            tx.execute_batch(&ddl::create(&staging, &s.schema, &[])).map_err(|e| database::why(&e))?;
            tx.commit().map_err(|e| database::why(&e))?;
            Ok(Receipt::Staged)
        })
        .await
    }

    async fn load(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Body>) -> Outcome {
        let _turn = self.loading.lock().await;
        // Waiting for the budget and for the store comes before the write lock, which other writers of the database wait for.
        let mut next = feed.next().await;
        let begin = order.clone();
        let mut loading =
            match self.step(move |s| load::Loading::begin(s.path(), &s.target.identity(), &s.schema, &begin)).await {
                Ok(loading) => loading,
                Err(why) => return Outcome::NotDone(why),
            };
        while let Some(object) = next {
            let body = match object {
                Ok((_, body)) => body,
                Err(why) => return Outcome::NotDone(why),
            };
            let granted = feed.granted();
            let added = blocking(move || loading.object(&body, granted).map(|()| loading)).await.and_then(|r| r);
            loading = match added {
                Ok(loading) => loading,
                Err(why) => return Outcome::NotDone(why),
            };
            next = feed.next().await;
        }
        let order = order.clone();
        match blocking(move || loading.finish(&order)).await.and_then(|r| r) {
            Ok(Ok(rows)) => Outcome::Done(Receipt::Loaded { rows }),
            // The commit was asked for and failed: whether it took effect, the ledger says.
            Ok(Err(why)) => Outcome::Unknown(Why::transient(Code::LoadOutcomeUnknown, why.detail)),
            Err(why) => Outcome::NotDone(why),
        }
    }

    async fn check(&self, staged: &Staged, grant: u64) -> Outcome {
        let staged = staged.clone();
        self.effect(move |s| {
            let merge_key = s.target.merge_key();
            let (schema, quality, work_dir) = (&s.schema, &s.quality, s.work_dir.as_path());
            let checks = check::Checks { schema, quality, merge_key, staged: &staged, work_dir, grant };
            check::check(s.path(), &checks)
        })
        .await
    }

    async fn publish(&self, order: &PublishOrder) -> Outcome {
        let (order, this) = (order.clone(), self.clone());
        let published = blocking(move || {
            let target = this.target.identity();
            let change = publish::Change {
                target: &target,
                table: &this.target.table,
                schema: &this.schema,
                mode: this.target.mode,
                key: this.target.merge_key(),
                partition_key: this.target.partition_key(),
            };
            publish::publish(this.path(), &change, &order)
        });
        match published.await {
            Ok(outcome) => outcome,
            Err(why) => Outcome::Unknown(Why::transient(Code::PublicationOutcomeUnknown, why.detail)),
        }
    }

    async fn fence(&self, claimant: &Claimant, order: &PublishOrder) -> Outcome {
        let (claimant, publication) = (claimant.clone(), order.publication.clone());
        self.effect(move |s| publish::fence(s.path(), &s.target.identity(), &claimant, &publication)).await
    }

    async fn probe(&self, claimant: &Claimant, effect: &Effect, order: Option<&PublishOrder>) -> Sighting {
        let (claimant, effect, order) = (claimant.clone(), effect.clone(), order.cloned());
        let seen = self.step(move |s| {
            probe::probe(s.path(), &s.target.identity(), &s.target.table, &claimant, &effect, order.as_ref())
        });
        seen.await.unwrap_or(Sighting::of(Seen::CannotTell))
    }

    async fn drop_owned(&self, kind: OwnedKind, name: &str) -> Outcome {
        let name = name.to_owned();
        self.effect(move |s| {
            if !s.path().exists() {
                return Ok(Receipt::Dropped);
            }
            let mut db = database::open(s.path())?;
            let tx = database::write(&mut db)?;
            match kind {
                OwnedKind::Staging => {
                    let sql = format!("DROP TABLE IF EXISTS {}", ddl::quote(&name));
                    tx.execute_batch(&sql).map_err(|e| database::why(&e))?;
                }
                OwnedKind::Load => {
                    tx.execute("DELETE FROM __dpone_load WHERE load = ?1", [&name]).map_err(|e| database::why(&e))?;
                }
                // Objects are the store's, and former content is not kept beside the new.
                OwnedKind::Object | OwnedKind::Superseded => {}
            }
            tx.commit().map_err(|e| database::why(&e))?;
            Ok(Receipt::Dropped)
        })
        .await
    }

    async fn release(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        self.effect(move |s| claim::release(s.path(), &s.target.identity(), &claimant)).await
    }
}
