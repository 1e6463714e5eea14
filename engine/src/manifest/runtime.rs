//! Where a run keeps what it needs: journal, work folders, transfer store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::connection::ConnectionType;
use super::text_enum::text_enum;

/// The journal, where neither the manifest nor the command line names one.
pub const DEFAULT_JOURNAL: &str = ".dpone/journal.db";

text_enum! {
    /// Human-readable kind of storage; changes nothing by itself.
    #[derive(Default)]
    pub StorageProfile {
        /// The worker's own disk.
        #[default]
        WorkerLocal = "worker_local",
        /// A mounted volume.
        MountedVolume = "mounted_volume",
        /// An object store holds the payload.
        ObjectBacked = "object_backed",
        /// Something else.
        Custom = "custom",
    }
}

text_enum! {
    /// Kind of transfer store.
    #[derive(Default)]
    pub StoreType {
        /// A folder that stands in for an object store.
        #[default]
        Local = "local",
        /// Amazon S3 or compatible.
        S3 = "s3",
        /// MinIO.
        Minio = "minio",
        /// Google Cloud Storage.
        Gcs = "gcs",
        /// Azure Blob Storage.
        Azure = "azure",
    }
}

text_enum! {
    /// When temporary things of a delivered run are removed.
    pub TempPolicy {
        /// As soon as the sink's staging has accepted them.
        Eager = "eager",
        /// After the run was delivered.
        OnSuccess = "on_success",
        /// Never; the operator removes them.
        Retain = "retain",
    }
}

text_enum! {
    /// What happens to temporary things of a failed run.
    #[derive(Default)]
    pub FailedPolicy {
        /// They stay, if the next attempt can adopt them.
        #[default]
        Keep = "keep",
        /// They are removed.
        Delete = "delete",
    }
}

text_enum! {
    /// Encryption that the store's provider applies.
    #[derive(Default)]
    pub EncryptionMode {
        /// Whatever the provider does by default.
        #[default]
        ProviderDefault = "provider_default",
        /// A key of the provider's key service.
        Kms = "kms",
        /// None.
        None = "none",
    }
}

/// When objects are removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ObjectCleanup {
    /// After a delivered run: `on_success` (default) or `retain`.
    pub temp_objects: TempPolicy,
    /// After a failed run: `keep` (default) those that its next attempt can adopt, or `delete`.
    pub failed_objects: FailedPolicy,
}

impl Default for ObjectCleanup {
    fn default() -> Self {
        Self { temp_objects: TempPolicy::OnSuccess, failed_objects: FailedPolicy::Keep }
    }
}

/// When local temporary files are removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FileCleanup {
    /// `eager` (default), `on_success` or `retain`.
    pub temp_files: TempPolicy,
    /// After a failed run: `keep` (default) or `delete`.
    pub failed_files: FailedPolicy,
}

impl Default for FileCleanup {
    fn default() -> Self {
        Self { temp_files: TempPolicy::Eager, failed_files: FailedPolicy::Keep }
    }
}

/// Provider-side encryption.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Encryption {
    /// Which one. Default `provider_default`.
    pub mode: EncryptionMode,
}

/// Multipart upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Multipart {
    /// Whether large objects are sent in parts.
    pub enabled: bool,
    /// Bytes of one part.
    pub part_size: u64,
}

/// The store that holds the payload between source and sink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferStore {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: StoreType,
    /// Object prefix, as shown in evidence; no trailing slash.
    pub uri: String,
    /// Name under which its settings and credentials are found.
    pub connection_id: Option<String>,
    /// Where that name is looked up.
    pub connection_type: ConnectionType,
    /// Endpoint of an S3-compatible store.
    pub endpoint_url: Option<String>,
    /// Folder of a `local` store; always set for it.
    pub local_root_dir: Option<String>,
    /// When objects are removed.
    pub cleanup: ObjectCleanup,
    /// Provider-side encryption.
    pub encryption: Encryption,
    /// Multipart upload.
    pub multipart: Multipart,
}

/// Folders and the transfer store. Paths are as written; relative ones are resolved by the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    /// Human-readable kind of storage.
    pub profile: StorageProfile,
    /// Root of temporary files.
    pub work_dir: String,
    /// Where evidence documents are written.
    pub evidence_dir: String,
    /// Root of checkpoints.
    pub checkpoint_dir: String,
    /// Where samples of failed runs are kept.
    pub debug_dir: String,
    /// Path of a run below `work_dir`; holds `{run_id}` and `{stage}`.
    pub path_template: String,
    /// Whether missing folders are created.
    pub create_dirs: bool,
    /// Whether preflight proves that the folders can be written.
    pub require_writable: bool,
    /// Free bytes that `work_dir` must have before execution; 0 asks for nothing.
    pub min_free_bytes: u64,
    /// Percentage of the disk that must stay free, 0 to 90; 0 asks for nothing.
    pub disk_headroom_pct: u32,
    /// The payload store.
    pub transfer_store: TransferStore,
    /// When local temporary files are removed.
    pub cleanup: FileCleanup,
}

/// Where a run keeps what it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// The journal file, as written.
    pub journal: String,
    /// Folders and the transfer store.
    pub storage: Storage,
}
