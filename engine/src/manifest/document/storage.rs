//! `runtime` as it is written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::connection::ConnectionType;
use super::super::runtime::{Encryption, FileCleanup, ObjectCleanup, StorageProfile, StoreType};
use super::super::size::ByteSize;

/// Where the run keeps what it needs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RuntimeDocument {
    /// Journal file. Default `.dpone/journal.db`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) journal: Option<String>,
    /// Folders and the transfer store.
    pub(crate) storage: StorageDocument,
}

/// Folders and the transfer store.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StorageDocument {
    /// Human-readable kind of storage. Default `worker_local`.
    pub(crate) profile: StorageProfile,
    /// Root of temporary files. Default `.dpone/work`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) work_dir: Option<String>,
    /// Evidence folder. Default `.dpone/runs`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) evidence_dir: Option<String>,
    /// Checkpoint folder. Default `.dpone/state`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) checkpoint_dir: Option<String>,
    /// Folder for samples of failed runs. Default `.dpone/debug`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) debug_dir: Option<String>,
    /// Path of a run below `work_dir`. Default `{pipeline}/{run_id}/{stage}`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) path_template: Option<String>,
    /// Create missing folders. Default true.
    pub(crate) create_dirs: Option<bool>,
    /// Prove in preflight that folders can be written. Default true.
    pub(crate) require_writable: Option<bool>,
    /// Free bytes that `work_dir` must have before execution. Default: none asked for.
    pub(crate) min_free_bytes: Option<ByteSize>,
    /// The store that holds the payload. Default: a local folder.
    pub(crate) transfer_store: Option<TransferStoreDocument>,
    /// When local temporary files are removed.
    pub(crate) cleanup: FileCleanup,
}

/// The store that holds the payload between source and sink.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransferStoreDocument {
    /// Kind of store.
    #[serde(rename = "type")]
    pub(crate) kind: StoreType,
    /// Object prefix; required unless `local`, whose default is `local://objects`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) uri: Option<String>,
    /// Name under which settings and credentials are found.
    #[schemars(extend("format" = "dpone-connection-id"), regex(pattern = "^[A-Za-z0-9_]{1,64}$"))]
    pub(crate) connection_id: Option<String>,
    /// Where `connection_id` is looked up. Default `env`.
    pub(crate) connection_type: Option<ConnectionType>,
    /// Endpoint of an S3-compatible store, without credentials.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) endpoint_url: Option<String>,
    /// Folder of a `local` store. Default `.dpone/objects`.
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub(crate) local_root_dir: Option<String>,
    /// When objects are removed.
    #[serde(default)]
    pub(crate) cleanup: ObjectCleanup,
    /// Provider-side encryption.
    #[serde(default)]
    pub(crate) encryption: Encryption,
    /// Multipart upload.
    #[serde(default)]
    pub(crate) multipart: MultipartDocument,
}

/// Multipart upload.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MultipartDocument {
    /// Send large objects in parts. Default true.
    pub(crate) enabled: Option<bool>,
    /// Bytes of one part. Default 64MiB.
    pub(crate) part_size: Option<ByteSize>,
}
