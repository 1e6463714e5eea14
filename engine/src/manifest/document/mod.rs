//! The manifest as it is written: every key that may occur, with its type, bounds and description.
//!
//! These types are the single definition of the shape. The JSON Schema is generated from them, and the checker
//! reads that schema, so a key exists here or nowhere.

mod native_transfer;
mod partitioning;
mod snapshot;
mod storage;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::connection::{ConnectionSettings, ConnectionType, TableRef};
use super::logical::TypeName;
use super::quality::Quality;
use super::sink::{SinkType, Strategy};
use super::source::SourceType;

pub(crate) use native_transfer::NativeTransfer;
pub(crate) use partitioning::{BoundsDocument, PartitionStrategy, Partitioning, RangeDocument};
pub(crate) use snapshot::SnapshotExecution;
pub(crate) use storage::TransferStoreDocument;

/// A dpone manifest: one table from one source to one sink.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "dpone manifest")]
pub(crate) struct Document {
    /// Name of the pipeline, `[a-z0-9_-]{1,64}`; part of every name that its runs own.
    #[schemars(extend("format" = "dpone-name"), regex(pattern = "^[a-z0-9_-]{1,64}$"))]
    pub(crate) name: String,
    /// Where rows come from.
    pub(crate) source: SourceDocument,
    /// Where rows go.
    pub(crate) sink: SinkDocument,
    /// What staging must show before publication.
    #[serde(default)]
    pub(crate) quality: Quality,
    /// Where the run keeps what it needs.
    #[serde(default)]
    pub(crate) runtime: storage::RuntimeDocument,
    /// Legacy place of `runtime.storage.evidence_dir`.
    #[serde(default)]
    pub(crate) observability: Observability,
}

/// Legacy observability settings.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Observability {
    /// Artifacts.
    pub(crate) artifacts: Artifacts,
}

/// Legacy artifact settings.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Artifacts {
    /// Evidence folder; must agree with `runtime.storage.evidence_dir`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) path: Option<String>,
}

/// Where rows come from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceDocument {
    /// Kind of source.
    #[serde(rename = "type")]
    pub(crate) kind: SourceType,
    /// Database file, for `sqlite`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) path: Option<String>,
    /// Name under which settings and credentials are found.
    #[schemars(extend("format" = "dpone-connection-id"), regex(pattern = "^[A-Za-z0-9_]{1,64}$"))]
    pub(crate) connection_id: Option<String>,
    /// Where `connection_id` is looked up. Default `env`.
    pub(crate) connection_type: Option<ConnectionType>,
    /// Settings without credentials, instead of `connection_id`.
    pub(crate) connection: Option<ConnectionSettings>,
    /// The table or view to read. Exactly one of `table` and `query`.
    pub(crate) table: Option<TableRef>,
    /// One SELECT in the source's dialect. Exactly one of `table` and `query`.
    #[schemars(length(min = 1), extend("format" = "dpone-sql"))]
    pub(crate) query: Option<String>,
    /// How it is read.
    #[serde(default)]
    pub(crate) options: SourceOptions,
}

/// How the source is read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SourceOptions {
    /// Columns to deliver, in this order. Default: all, in catalog order.
    #[schemars(inner(length(min = 1)), length(min = 1, max = 10000))]
    pub(crate) columns: Option<Vec<String>>,
    /// Logical types of columns that the source leaves open, by column name.
    pub(crate) types: BTreeMap<String, TypeName>,
    /// SQL Server extraction tool. Not available in this build.
    #[schemars(length(min = 1))]
    pub(crate) extract_mode: Option<String>,
    /// Legacy place of `runtime.storage.work_dir`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) partition_tmp_dir: Option<String>,
    /// How the source is cut into ranges.
    pub(crate) partitioning: Option<Partitioning>,
    /// How rows are carried from source to staging.
    pub(crate) native_transfer: native_transfer::NativeTransfer,
}

/// Where rows go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SinkDocument {
    /// Kind of sink.
    #[serde(rename = "type")]
    pub(crate) kind: SinkType,
    /// Name under which settings and credentials are found.
    #[schemars(extend("format" = "dpone-connection-id"), regex(pattern = "^[A-Za-z0-9_]{1,64}$"))]
    pub(crate) connection_id: Option<String>,
    /// Where `connection_id` is looked up. Default `env`.
    pub(crate) connection_type: Option<ConnectionType>,
    /// Settings without credentials, instead of `connection_id`.
    pub(crate) connection: Option<ConnectionSettings>,
    /// The target table; not for `parquet`.
    pub(crate) table: Option<TableRef>,
    /// Database file, for `sqlite`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) path: Option<String>,
    /// Dataset address, for `parquet`: `file:///…` or `s3://…`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) uri: Option<String>,
    /// How the one publication changes the target.
    pub(crate) strategy: Strategy,
    /// Settings of that kind of sink.
    #[serde(default)]
    #[expect(dead_code, reason = "its keys are judged by the rules, none has an effect in this build")]
    pub(crate) options: native_transfer::SinkOptions,
}
