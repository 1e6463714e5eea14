//! The sources.

use std::env;
use std::path::PathBuf;

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Connection, Manifest, RangeMode, SourceType};
use dpone_engine::plan::{Plan, SourceFacts};
use dpone_engine::ports::{Pull, Source, UnitReader};
use dpone_engine::refusal::Refusal;
use dpone_engine::run::{Outcome, Seen, UnitId, Why};

use crate::body::Body;
use crate::odbc;
use crate::odbc_source::{self, OdbcPlan, OdbcReader, OdbcRequest, OdbcSource};
use crate::postgres::Config;
use crate::postgres_source::{self, PostgresPlan, PostgresReader, PostgresRequest, PostgresSource};
use crate::sqlite_source::{self, SqlitePlan, SqliteReader, SqliteRequest, SqliteSource};

/// The source that a manifest names, before a run exists.
#[derive(Clone, Debug)]
pub enum AnyRequest {
    /// A SQLite database.
    Sqlite(SqliteRequest),
    /// A PostgreSQL database.
    Postgres(Box<Config>, PostgresRequest),
    /// SQL Server, or anything else that has an ODBC driver.
    Odbc(Box<odbc::Config>, Box<OdbcRequest>),
}

impl AnyRequest {
    /// What a manifest asks of its source. Connections are looked up in the process's environment.
    ///
    /// # Errors
    /// If the manifest or the environment does not say enough, or this build has no such source.
    pub fn of(manifest: &Manifest) -> Result<Self, Refusal> {
        let source = &manifest.source;
        match source.kind {
            SourceType::Sqlite => {
                let Connection::Path(path) = &source.connection else {
                    return Err(
                        Refusal::new(Code::ManifestInvalidValue, "a sqlite source needs path").at("source.path")
                    );
                };
                Ok(Self::Sqlite(SqliteRequest {
                    path: PathBuf::from(path),
                    relation: source.relation.clone(),
                    columns: source.columns.clone(),
                    types: source.types.clone(),
                    // With one range nothing is asked of the column.
                    key: manifest.ranges.column.clone().filter(|_| manifest.ranges.mode != RangeMode::Off),
                }))
            }
            SourceType::Postgres => {
                let get = |name: &str| env::var(name).ok();
                let config = match &source.connection {
                    Connection::Reference { connection_id, .. } => Config::from_env(connection_id, get)?,
                    Connection::Settings(settings) => Config::from_manifest(settings, get)?,
                    Connection::Path(_) | Connection::Uri(_) => {
                        return Err(Refusal::new(Code::ManifestInvalidValue, "a postgres source needs connection_id")
                            .at("source.connection_id"));
                    }
                };
                Ok(Self::Postgres(Box::new(config), PostgresRequest::of(manifest)))
            }
            SourceType::Mssql | SourceType::Odbc => {
                let get = |name: &str| env::var(name).ok();
                let sql_server = source.kind == SourceType::Mssql;
                let config = match &source.connection {
                    Connection::Reference { connection_id, .. } => {
                        odbc::Config::from_env(connection_id, sql_server, get)?
                    }
                    Connection::Settings(settings) => odbc::Config::from_manifest(settings, sql_server, get)?,
                    Connection::Path(_) | Connection::Uri(_) => {
                        let text = format!("a source of type {} needs connection_id", source.kind);
                        return Err(Refusal::new(Code::ManifestInvalidValue, text).at("source.connection_id"));
                    }
                };
                Ok(Self::Odbc(Box::new(config), Box::new(OdbcRequest::of(manifest))))
            }
            SourceType::Mysql | SourceType::Files | SourceType::Mongodb => {
                let text = format!("this build has no source of type `{}`", source.kind);
                Err(Refusal::new(Code::RouteUnsupported, text).at("source.type"))
            }
        }
    }

    /// What the source is now. Reads catalogs and the keys of the range column, never rows.
    ///
    /// # Errors
    /// Everything that stands against reading it exactly.
    pub fn describe(&self) -> Result<SourceFacts, Vec<Refusal>> {
        match self {
            Self::Sqlite(request) => sqlite_source::describe(request),
            Self::Postgres(config, request) => postgres_source::describe(config, request),
            Self::Odbc(config, request) => odbc_source::describe(config, request),
        }
    }
}

/// The source of a run.
pub enum AnySource {
    /// A SQLite database.
    Sqlite(SqliteSource),
    /// A PostgreSQL database.
    Postgres(Box<PostgresSource>),
    /// Anything that has an ODBC driver.
    Odbc(Box<OdbcSource>),
}

impl AnySource {
    /// The source that a plan reads, for the run of that id. `nonce` is a number never used before.
    ///
    /// # Errors
    /// As [`AnyRequest::of`]; `unsupported_type` if the schema has a type that no file can hold.
    pub fn of(plan: &Plan, run: &str, nonce: u64) -> Result<Self, Refusal> {
        let manifest = &plan.manifest;
        let (schema, units) = (plan.schema.clone(), plan.ranges.clone());
        let (consistency, fidelity) = (manifest.ranges.consistency, manifest.quality.fidelity);
        let (target_chunk_bytes, max_chunk_bytes) = (manifest.chunks.target_bytes, manifest.chunks.max_bytes);
        let source = match AnyRequest::of(manifest)? {
            AnyRequest::Sqlite(request) => {
                let plan = SqlitePlan {
                    request,
                    schema,
                    units,
                    consistency,
                    fidelity,
                    target_chunk_bytes,
                    max_chunk_bytes,
                    nonce,
                };
                SqliteSource::new(plan).map(Self::Sqlite)
            }
            AnyRequest::Postgres(config, request) => {
                let plan = PostgresPlan {
                    request,
                    schema,
                    units,
                    consistency,
                    fidelity,
                    target_chunk_bytes,
                    max_chunk_bytes,
                    nonce,
                };
                PostgresSource::new(plan, *config).map(Box::new).map(Self::Postgres)
            }
            AnyRequest::Odbc(config, request) => {
                let plan = OdbcPlan {
                    request: *request,
                    schema,
                    units,
                    consistency,
                    fidelity,
                    target_chunk_bytes,
                    max_chunk_bytes,
                    nonce,
                    application: format!("dpone/{run}"),
                };
                OdbcSource::new(plan, *config).map(Box::new).map(Self::Odbc)
            }
        };
        source.map_err(|e| Refusal::new(Code::UnsupportedType, e.to_string()))
    }
}

/// A reader of any source.
pub enum AnyReader {
    /// Of a SQLite database.
    Sqlite(SqliteReader),
    /// Of a PostgreSQL database.
    Postgres(PostgresReader),
    /// Of an ODBC source.
    Odbc(OdbcReader),
}

impl UnitReader for AnyReader {
    type Body = Body;

    async fn next(&mut self, grant: u64, max_rows: u64) -> Result<Pull<Body>, Why> {
        match self {
            Self::Sqlite(reader) => reader.next(grant, max_rows).await,
            Self::Postgres(reader) => reader.next(grant, max_rows).await,
            Self::Odbc(reader) => reader.next(grant, max_rows).await,
        }
    }

    async fn close(self) {
        match self {
            Self::Sqlite(reader) => reader.close().await,
            Self::Postgres(reader) => reader.close().await,
            Self::Odbc(reader) => reader.close().await,
        }
    }
}

impl Source for AnySource {
    type Body = Body;
    type Reader = AnyReader;

    async fn open(&self, sessions: u32) -> Outcome {
        match self {
            Self::Sqlite(source) => source.open(sessions).await,
            Self::Postgres(source) => source.open(sessions).await,
            Self::Odbc(source) => source.open(sessions).await,
        }
    }

    async fn reopen(&self, authority: &str, persistent: bool, sessions: u32) -> Seen {
        match self {
            Self::Sqlite(source) => source.reopen(authority, persistent, sessions).await,
            Self::Postgres(source) => source.reopen(authority, persistent, sessions).await,
            Self::Odbc(source) => source.reopen(authority, persistent, sessions).await,
        }
    }

    async fn count(&self) -> Outcome {
        match self {
            Self::Sqlite(source) => source.count().await,
            Self::Postgres(source) => source.count().await,
            Self::Odbc(source) => source.count().await,
        }
    }

    async fn reader(&self, unit: UnitId) -> Result<AnyReader, Why> {
        match self {
            Self::Sqlite(source) => source.reader(unit).await.map(AnyReader::Sqlite),
            Self::Postgres(source) => source.reader(unit).await.map(AnyReader::Postgres),
            Self::Odbc(source) => source.reader(unit).await.map(AnyReader::Odbc),
        }
    }

    async fn close(&self) {
        match self {
            Self::Sqlite(source) => source.close().await,
            Self::Postgres(source) => source.close().await,
            Self::Odbc(source) => source.close().await,
        }
    }
}
