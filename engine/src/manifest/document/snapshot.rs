//! `source.options.native_transfer.snapshot` as it is written.

#![expect(dead_code, reason = "the rules judge these keys in the text; the fields are their shape")]

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::ranges::ScanMode;
use super::super::size::ByteSize;
use super::super::text_enum::text_enum;

text_enum! {
    /// Whether an optional step is taken.
    pub(crate) StepMode {
        /// Never.
        Off = "off",
        /// Where it helps; never, in this build.
        Auto = "auto",
        /// Diagnosed only. Not available in this build.
        BenchmarkOnly = "benchmark_only",
        /// Or the run is refused. Not available in this build.
        Required = "required",
    }
}

text_enum! {
    /// What is done with a source that has no index on the range column.
    pub(crate) HeapPolicy {
        /// One scan cut into chunks.
        SingleScanChunks = "single_scan_chunks",
    }
}

text_enum! {
    /// Whether a scan is cut into chunks.
    pub(crate) ChunkingMode {
        /// Yes.
        Auto = "auto",
    }
}

text_enum! {
    /// Where a chunk grows.
    pub(crate) SpoolMode {
        /// In a file, or in the object of the transfer store.
        File = "file",
    }
}

text_enum! {
    /// Whether chunks end at rows.
    pub(crate) RowBoundary {
        /// Always.
        Required = "required",
    }
}

/// The scan of the source.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Snapshot {
    /// The shape of the scan.
    pub(crate) scan: Scan,
    /// How a scan is cut into chunks.
    pub(crate) physical_chunking: PhysicalChunking,
    /// SQL Server's pipe route. Not available in this build.
    pub(crate) streaming: Option<SnapshotStreaming>,
    /// Choice of the export tool by probes.
    pub(crate) export_optimizer: ExportOptimizer,
    /// A work table in the source.
    pub(crate) materialization: Materialization,
    /// Parallel exports and loads.
    pub(crate) execution: SnapshotExecution,
    /// Limits on the load that the source carries. Not available in this build.
    pub(crate) source_governor: SourceGovernor,
    /// Limits on the load that the target carries. Not available in this build.
    pub(crate) target_governor: TargetGovernor,
    /// Sizes and compression; only `auto` in this build.
    pub(crate) tuning: Tuning,
}

/// The shape of the scan.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Scan {
    /// Default `auto`.
    pub(crate) mode: ScanMode,
    /// What is done without an index. Default `single_scan_chunks`.
    pub(crate) heap_policy: Option<HeapPolicy>,
    /// Refuse range scans without an index on the column. Default true.
    pub(crate) require_index_for_range: Option<bool>,
}

/// How a scan is cut into chunks.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PhysicalChunking {
    /// Default `auto`.
    pub(crate) mode: Option<ChunkingMode>,
    /// Size at which a chunk is sealed after a complete row. Default 64MiB.
    pub(crate) target_chunk_bytes: Option<ByteSize>,
    /// Size that no chunk exceeds. Default: twice the target.
    pub(crate) max_chunk_bytes: Option<ByteSize>,
    /// Where a chunk grows.
    pub(crate) spool_mode: Option<SpoolMode>,
    /// Chunks end at rows.
    pub(crate) row_boundary: Option<RowBoundary>,
    /// When chunks are removed; objects go by `runtime.storage.transfer_store.cleanup`.
    pub(crate) cleanup_policy: Option<super::native_transfer::SliceCleanup>,
}

/// SQL Server's pipe route.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SnapshotStreaming {
    /// Bytes of one read.
    pub(crate) read_buffer_bytes: Option<ByteSize>,
}

/// Choice of the export tool by probes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ExportOptimizer {
    /// Default `auto`.
    pub(crate) mode: Option<StepMode>,
    /// Tools to try: `auto` or a list.
    pub(crate) candidates: Option<WordOrWords>,
    /// Rows of one probe.
    #[schemars(range(min = 1))]
    pub(crate) probe_rows: Option<u64>,
    /// Greatest seconds of one probe.
    #[schemars(range(min = 1))]
    pub(crate) max_probe_seconds: Option<u64>,
    /// Least gain in percent.
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) min_speedup_pct: Option<u32>,
    /// BCP packet sizes to try.
    #[schemars(length(max = 64))]
    pub(crate) bcp_probe_packets: Option<Vec<u32>>,
    /// ODBC rows per fetch.
    #[schemars(range(min = 1))]
    pub(crate) odbc_fetch_size: Option<u64>,
    /// How decisions are cached.
    #[schemars(length(min = 1))]
    pub(crate) cache_policy: Option<String>,
    /// When probes run again.
    #[schemars(length(min = 1))]
    pub(crate) rebenchmark_policy: Option<String>,
    /// How much load probes may cause.
    #[schemars(length(min = 1))]
    pub(crate) source_impact_policy: Option<String>,
}

/// One word or a list of words.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WordOrWords {
    /// One word.
    Word(String),
    /// A list.
    Words(Vec<String>),
}

/// A work table in the source.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Materialization {
    /// Default `auto`: never, in this build.
    pub(crate) mode: Option<StepMode>,
    /// Which implementation.
    #[schemars(length(min = 1))]
    pub(crate) provider: Option<String>,
    /// Whether the source may be written. Default false.
    pub(crate) allow_source_writes: Option<bool>,
    /// Schema of the work table.
    #[schemars(length(min = 1))]
    pub(crate) work_schema: Option<String>,
    /// First part of the work table's name.
    #[schemars(length(min = 1))]
    pub(crate) table_prefix: Option<String>,
    /// Hours after which a left-over work table is removed.
    #[schemars(range(min = 1))]
    pub(crate) ttl_hours: Option<u64>,
    /// When the work table is removed.
    #[schemars(length(min = 1))]
    pub(crate) cleanup_policy: Option<String>,
    /// How it is removed.
    pub(crate) cleanup: MaterializationCleanup,
    /// Whether it is used again.
    #[schemars(length(min = 1))]
    pub(crate) reuse_policy: Option<String>,
    /// Least gain in percent.
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) min_speedup_pct: Option<u32>,
    /// Greatest seconds of building it.
    #[schemars(range(min = 1))]
    pub(crate) max_materialization_seconds: Option<u64>,
    /// Isolation of building it.
    #[schemars(length(min = 1))]
    pub(crate) isolation: Option<String>,
    /// Its index.
    pub(crate) index: MaterializationIndex,
    /// Whether its statistics are updated.
    #[schemars(length(min = 1))]
    pub(crate) update_statistics: Option<String>,
}

/// How a work table is removed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MaterializationCleanup {
    /// Greatest wait for a lock.
    pub(crate) lock_timeout_ms: Option<u64>,
    /// Tries after the first.
    #[schemars(range(min = 0, max = 100))]
    pub(crate) retry_attempts: Option<u32>,
    /// Pause between tries.
    pub(crate) retry_backoff_ms: Option<u64>,
    /// Leave it to a later run when the lock cannot be had.
    pub(crate) defer_on_lock_timeout: Option<bool>,
}

/// Index of a work table.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MaterializationIndex {
    /// Whether there is one.
    pub(crate) mode: Option<StepMode>,
    /// Its columns: `auto` or a list.
    pub(crate) boundary_columns: Option<WordOrWords>,
}

/// Parallel exports and loads.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SnapshotExecution {
    /// Default `auto`.
    pub(crate) mode: Option<super::native_transfer::ExecutionMode>,
    /// Named set of limits. Default `balanced`.
    pub(crate) profile: Option<super::native_transfer::Profile>,
    /// Upper limit of `reader_workers`; a larger `reader_workers` is refused.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) max_parallel_exports: Option<u32>,
    /// Upper limit of `load_workers`; a larger `load_workers` is refused.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) max_parallel_loads: Option<u32>,
    /// Change the number of workers while running.
    pub(crate) adaptive_parallelism: Option<bool>,
}

/// Limits on the load that the source carries.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SourceGovernor {
    /// Whether they hold. Default false.
    pub(crate) enabled: Option<bool>,
    /// Greatest share of the source's CPU in percent.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) max_source_cpu_pct: Option<u32>,
    /// Greatest seconds of one query.
    #[schemars(range(min = 1))]
    pub(crate) max_query_seconds: Option<u64>,
    /// How readers slow down.
    #[schemars(length(min = 1))]
    pub(crate) backoff_policy: Option<String>,
}

/// Limits on the load that the target carries.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TargetGovernor {
    /// Whether they hold. Default false.
    pub(crate) enabled: Option<bool>,
    /// Greatest number of blocks in flight.
    #[schemars(range(min = 1))]
    pub(crate) max_inflight_blocks: Option<u32>,
    /// Greatest number of parts of one partition.
    #[schemars(range(min = 1))]
    pub(crate) max_parts_per_partition: Option<u32>,
    /// What is done when merges fall behind.
    #[schemars(length(min = 1))]
    pub(crate) merge_pressure_policy: Option<String>,
}

/// Sizes and compression; only `auto` in this build.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tuning {
    /// Network packet size.
    pub(crate) packet_size: Option<AutoOrNumber>,
    /// Rows of one block.
    pub(crate) block_rows: Option<AutoOrNumber>,
    /// Bytes of one block.
    pub(crate) block_bytes: Option<AutoOrNumber>,
    /// Compression.
    #[schemars(length(min = 1))]
    pub(crate) compression: Option<String>,
    /// Sorting before ingest.
    #[schemars(length(min = 1))]
    pub(crate) presort: Option<String>,
}

/// `auto`, a number or a size.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum AutoOrNumber {
    /// A number.
    Number(u64),
    /// `auto` or a size.
    Word(String),
}
