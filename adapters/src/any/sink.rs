//! The sinks.

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Sink as SinkManifest, SinkType};
use dpone_engine::plan::{Plan, TargetFacts};
use dpone_engine::ports::{Claimant, Feed, LoadOrder, PublishOrder, Sighting, Sink, Staged};
use dpone_engine::refusal::Refusal;
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, Outcome, UnitId};
use dpone_engine::schema::Schema;

use crate::body::Body;
use crate::parquet_sink::{ParquetSink, ParquetTarget};
use crate::postgres_sink::{PostgresSink, PostgresTarget};
use crate::sqlite_sink::{SqliteSink, SqliteTarget};

/// The target that a manifest names.
#[derive(Clone, Debug)]
pub enum AnyTarget {
    /// A dataset of Parquet files.
    Parquet(ParquetTarget),
    /// A table of a SQLite database.
    Sqlite(SqliteTarget),
    /// A table of a PostgreSQL database.
    Postgres(PostgresTarget),
}

impl AnyTarget {
    /// The target of a manifest's sink.
    ///
    /// # Errors
    /// If the manifest does not say enough, or this build has no such sink.
    pub fn of(sink: &SinkManifest) -> Result<Self, Refusal> {
        match sink.kind {
            SinkType::Parquet => ParquetTarget::of(sink).map(Self::Parquet),
            SinkType::Sqlite => SqliteTarget::of(sink).map(Self::Sqlite),
            SinkType::Postgres => PostgresTarget::of(sink, |name| std::env::var(name).ok()).map(Self::Postgres),
            SinkType::Clickhouse => {
                let text = format!("this build has no sink of type `{}`", sink.kind);
                Err(Refusal::new(Code::RouteUnsupported, text).at("sink.type"))
            }
        }
    }

    /// The runner that has claimed the target. Creates nothing, and takes no lock.
    ///
    /// # Errors
    /// `target_not_reachable` if that cannot be read.
    pub fn claimed(&self) -> Result<Option<Claimant>, Refusal> {
        match self {
            Self::Parquet(target) => target.claimed(),
            Self::Sqlite(target) => target.claimed(),
            Self::Postgres(target) => target.claimed(),
        }
    }

    /// Gives the claim back for that run, which can then not go on.
    pub fn release(&self, claimant: &Claimant) -> Outcome {
        match self {
            Self::Parquet(target) => target.release(claimant),
            Self::Sqlite(target) => target.release(claimant),
            Self::Postgres(target) => target.release(claimant),
        }
    }

    /// What the target is now. Creates nothing.
    ///
    /// # Errors
    /// Every reason why what is read cannot be published there exactly.
    pub fn describe(&self, schema: &Schema) -> Result<TargetFacts, Vec<Refusal>> {
        match self {
            Self::Parquet(target) => target.describe(schema),
            Self::Sqlite(target) => target.describe(schema),
            Self::Postgres(target) => target.describe(schema),
        }
    }
}

/// The sink of a run.
#[derive(Debug)]
pub enum AnySink {
    /// A dataset of Parquet files.
    Parquet(ParquetSink),
    /// A table of a SQLite database.
    Sqlite(SqliteSink),
    /// A table of a PostgreSQL database.
    Postgres(PostgresSink),
}

impl AnySink {
    /// The sink that a plan names.
    ///
    /// # Errors
    /// As [`AnyTarget::of`].
    pub fn of(plan: &Plan) -> Result<Self, Refusal> {
        let (schema, quality) = (plan.schema.clone(), plan.manifest.quality.clone());
        let work_dir = &plan.manifest.runtime.storage.work_dir;
        Ok(match AnyTarget::of(&plan.manifest.sink)? {
            AnyTarget::Parquet(target) => {
                Self::Parquet(ParquetSink::new(target, schema, quality, work_dir, &plan.fingerprint))
            }
            AnyTarget::Sqlite(target) => Self::Sqlite(SqliteSink::new(target, schema, quality, work_dir)),
            AnyTarget::Postgres(target) => Self::Postgres(PostgresSink::new(target, schema, quality)),
        })
    }
}

macro_rules! each {
    ($self:ident, $sink:ident => $call:expr) => {
        match $self {
            AnySink::Parquet($sink) => $call,
            AnySink::Sqlite($sink) => $call,
            AnySink::Postgres($sink) => $call,
        }
    };
}

impl Sink for AnySink {
    type Body = Body;

    async fn claim(&self, claimant: &Claimant) -> Outcome {
        each!(self, s => s.claim(claimant).await)
    }

    async fn stage(&self, claimant: &Claimant, staging: &str, unit: Option<UnitId>) -> Outcome {
        each!(self, s => s.stage(claimant, staging, unit).await)
    }

    async fn load(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Body>) -> Outcome {
        each!(self, s => s.load(order, feed).await)
    }

    async fn check(&self, staged: &Staged, grant: u64) -> Outcome {
        each!(self, s => s.check(staged, grant).await)
    }

    async fn publish(&self, order: &PublishOrder) -> Outcome {
        each!(self, s => s.publish(order).await)
    }

    async fn fence(&self, claimant: &Claimant, order: &PublishOrder) -> Outcome {
        each!(self, s => s.fence(claimant, order).await)
    }

    async fn probe(&self, claimant: &Claimant, effect: &Effect, order: Option<&PublishOrder>) -> Sighting {
        each!(self, s => s.probe(claimant, effect, order).await)
    }

    async fn drop_owned(&self, kind: OwnedKind, name: &str) -> Outcome {
        each!(self, s => s.drop_owned(kind, name).await)
    }

    async fn release(&self, claimant: &Claimant) -> Outcome {
        each!(self, s => s.release(claimant).await)
    }
}
