//! `source.options.native_transfer` and `sink.options` as they are written. What this build does with each key is
//! in the rules; here are only the shapes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::size::ByteSize;
use super::super::text_enum::text_enum;
use super::snapshot::Snapshot;

text_enum! {
    /// Order of export and load.
    pub(crate) ExecutionMode {
        /// `batch`, in this build.
        Auto = "auto",
        /// Export one slice, load it, clean it, continue. Not available in this build.
        Pipelined = "pipelined",
        /// Export everything, then load.
        Batch = "batch",
    }
}

text_enum! {
    /// A named set of resource limits.
    pub(crate) Profile {
        /// The defaults.
        Balanced = "balanced",
        /// For weak workers. Not available in this build.
        SafeWorker = "safe_worker",
        /// For strong workers. Not available in this build.
        Throughput = "throughput",
    }
}

text_enum! {
    /// How the payload moves.
    pub(crate) TransportMode {
        /// `object`, in this build.
        Auto = "auto",
        /// A byte stream without files. Not available in this build.
        Stream = "stream",
        /// Objects in the transfer store.
        Object = "object",
        /// Local files. Not available in this build.
        File = "file",
    }
}

text_enum! {
    /// Checksum of a stream.
    pub(crate) StreamChecksum {
        /// None.
        None = "none",
        /// Rolling.
        Rolling = "rolling",
        /// SHA-256.
        Sha256 = "sha256",
    }
}

text_enum! {
    /// Whether routes must be certified.
    pub(crate) CertificationMode {
        /// By runner policy; `advisory` in this build.
        Auto = "auto",
        /// Uncertified routes run with a warning.
        Advisory = "advisory",
        /// Uncertified routes are refused. Not available in this build.
        CertifiedOnly = "certified_only",
    }
}

text_enum! {
    /// When slices are removed.
    pub(crate) SliceCleanup {
        /// As soon as the sink's staging has accepted them.
        Eager = "eager",
        /// After the run was delivered.
        OnSuccess = "on_success",
        /// Never.
        Retain = "retain",
    }
}

text_enum! {
    /// What a resumed run may adopt.
    pub(crate) ResumePolicy {
        /// Objects whose checksums verify.
        ObjectStoreIfVerified = "object_store_if_verified",
    }
}

text_enum! {
    /// What happens to a slice that is too large.
    pub(crate) OversizePolicy {
        /// It is split and written again.
        SplitAndRetry = "split_and_retry",
        /// The run fails.
        Fail = "fail",
    }
}

/// How rows are carried from source to staging.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NativeTransfer {
    /// Slices, transport and resources.
    pub(crate) execution: Execution,
    /// The payload's form.
    pub(crate) wire: Wire,
    /// The scan of the source.
    pub(crate) snapshot: Snapshot,
}

/// Slices, transport and resources.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Execution {
    /// Order of export and load. Default `auto`: everything is exported, then loaded.
    pub(crate) mode: Option<ExecutionMode>,
    /// Named set of limits. Default `balanced`.
    pub(crate) profile: Option<Profile>,
    /// How the payload moves.
    pub(crate) transport: Transport,
    /// Route certification.
    pub(crate) certification: Certification,
    /// When slices are removed; objects go by `runtime.storage.transfer_store.cleanup`.
    pub(crate) cleanup_policy: Option<SliceCleanup>,
    /// What a resumed run may adopt. Default `object_store_if_verified`.
    pub(crate) resume_policy: Option<ResumePolicy>,
    /// Limits on slices.
    pub(crate) resource_policy: ResourcePolicy,
}

/// How the payload moves.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Transport {
    /// Default `auto`: objects in the transfer store.
    pub(crate) mode: Option<TransportMode>,
    /// Lets `auto` choose a stream.
    pub(crate) prefer_streaming: Option<bool>,
    /// Lets `auto` fall back to files.
    pub(crate) fallback_to_file: Option<bool>,
    /// Buffer of a stream.
    pub(crate) stream_buffer_bytes: Option<ByteSize>,
    /// Checksum of a stream.
    pub(crate) checksum: Option<StreamChecksum>,
    /// Greatest seconds of one stream.
    #[schemars(range(min = 1))]
    pub(crate) max_stream_seconds: Option<u64>,
}

/// Route certification.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Certification {
    /// Whether routes must be certified. Default `auto`.
    pub(crate) mode: Option<CertificationMode>,
    /// Certification file.
    #[schemars(length(min = 1))]
    pub(crate) artifact: Option<String>,
}

/// Limits on slices.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ResourcePolicy {
    /// Greatest number of local slice files; objects are not local files.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_active_files: Option<u32>,
    /// Greatest number of bytes in local slice files.
    pub(crate) max_active_bytes: Option<ByteSize>,
    /// Same as `snapshot.physical_chunking.target_chunk_bytes`; must agree with it.
    pub(crate) target_file_bytes: Option<ByteSize>,
    /// Same as `snapshot.physical_chunking.max_chunk_bytes`; must agree with it.
    pub(crate) max_file_bytes: Option<ByteSize>,
    /// Adapt slice sizes to observed row widths.
    pub(crate) adaptive_sizing: Option<bool>,
    /// What happens to a slice that is too large; chunks are sealed before they are.
    pub(crate) oversize_policy: Option<OversizePolicy>,
    /// Least rows of a slice.
    #[schemars(range(min = 1))]
    pub(crate) min_slice_rows: Option<u64>,
    /// Greatest number of rows of a chunk.
    #[schemars(range(min = 1))]
    pub(crate) max_slice_rows: Option<u64>,
    /// Percentage of the disk that must stay free, 0 to 90. Default 0.
    #[schemars(range(min = 0, max = 90))]
    pub(crate) disk_headroom_pct: Option<u32>,
}

text_enum! {
    /// The payload's form.
    pub(crate) WireMode {
        /// Parquet, in this build.
        Auto = "auto",
        /// A binary format of the sink. Not available in this build.
        TypedBinary = "typed_binary",
        /// Raw delimited values. Not available in this build.
        TypedRaw = "typed_raw",
        /// Text escaped by the source. Not available in this build.
        SourceEncoded = "source_encoded",
        /// The driver's own ingest. Not available in this build.
        Driver = "driver",
    }
}

text_enum! {
    /// Whether the accelerated transcoder is used.
    pub(crate) AccelerationMode {
        /// Where it is available.
        Auto = "auto",
        /// Never.
        Off = "off",
        /// Or the run is refused. Not available in this build.
        Required = "required",
    }
}

/// The payload's form. Only `mode: auto` is available in this build; the other keys belong to the other modes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wire {
    /// Default `auto`: Parquet.
    pub(crate) mode: Option<WireMode>,
    /// Format that the source's tool writes.
    #[schemars(length(min = 1))]
    pub(crate) source_native_format: Option<String>,
    /// Format that the sink's tool reads.
    #[schemars(length(min = 1))]
    pub(crate) binary_format: Option<String>,
    /// Rows of one block.
    #[schemars(range(min = 1))]
    pub(crate) block_rows: Option<u64>,
    /// Bytes of one block.
    pub(crate) block_bytes: Option<ByteSize>,
    /// How unsafe text is made safe.
    #[schemars(length(min = 1))]
    pub(crate) text_safety: Option<String>,
    /// Delimiters of raw values.
    #[schemars(length(min = 1))]
    pub(crate) delimiter_profile: Option<String>,
    /// How NULL is carried.
    #[schemars(length(min = 1))]
    pub(crate) null_policy: Option<String>,
    /// Accelerated transcoding.
    pub(crate) acceleration: Acceleration,
}

/// Accelerated transcoding.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Acceleration {
    /// Whether it is used.
    pub(crate) mode: Option<AccelerationMode>,
}

/// Settings of the sink.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SinkOptions {
    /// Bulk ingest of `clickhouse`.
    pub(crate) clickhouse_bulk: Option<ClickhouseBulk>,
}

/// Bulk ingest of ClickHouse.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ClickhouseBulk {
    /// Ingest protocol.
    #[schemars(length(min = 1))]
    pub(crate) mode: Option<String>,
    /// What staging is promised.
    #[schemars(length(min = 1))]
    pub(crate) ingest_contract: Option<String>,
    /// The native protocol.
    pub(crate) native_tcp: NativeTcp,
}

/// ClickHouse's native protocol.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NativeTcp {
    /// Whether it may be used.
    pub(crate) enabled: Option<bool>,
    /// Which implementation.
    #[schemars(length(min = 1))]
    pub(crate) backend: Option<String>,
    /// Compression on the wire.
    #[schemars(length(min = 1))]
    pub(crate) compression: Option<String>,
    /// TCP port.
    #[schemars(range(min = 1, max = 65535))]
    pub(crate) port: Option<u16>,
    /// Open connections.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) connection_pool_size: Option<u32>,
    /// Greatest seconds of one query.
    #[schemars(range(min = 1))]
    pub(crate) query_timeout_seconds: Option<u64>,
}
