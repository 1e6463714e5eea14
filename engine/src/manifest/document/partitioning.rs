//! `source.options.partitioning` as it is written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::super::ranges::{
    BoundaryText, BoundaryType, BoundsRole, Consistency, ConsistencyAuthority, GapPolicy, NullBucket, OnAuthorityLost,
    PlannerMode, RangeMode, SkewPolicy, StagingTopology,
};
use super::super::size::ByteSize;
use super::super::text_enum::text_enum;

text_enum! {
    /// How partitions are found.
    pub(crate) PartitionStrategy {
        /// By the planner's choice.
        Auto = "auto",
        /// By ranges of a column.
        Range = "range",
        /// From source statistics, as `planner.mode: statistics`.
        Stats = "stats",
    }
}

text_enum! {
    /// A setting that only takes its automatic value.
    pub(crate) Auto {
        /// Chosen by dpone.
        Auto = "auto",
    }
}

text_enum! {
    /// What is done when statistics cannot be trusted.
    pub(crate) LowConfidencePolicy {
        /// Fewer readers.
        Conservative = "conservative",
    }
}

/// How the source is cut into ranges. Without `range_parallelism` there is one range and one reader.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Partitioning {
    /// How partitions are found. Default `auto`.
    pub(crate) strategy: Option<PartitionStrategy>,
    /// The column whose values are cut into ranges; required unless `range_parallelism.mode` is `off`.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) column: Option<String>,
    /// Number of ranges, 1 to 10000. Default: twice `reader_workers`, so that a
    /// session reads on while the last objects of its former range are written.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) num_partitions: Option<u32>,
    /// `auto` (default: read from the source), or the least and greatest value.
    pub(crate) bounds: Option<BoundsDocument>,
    /// Every interval, instead of `bounds` and `num_partitions`.
    #[schemars(length(min = 1, max = 10_000))]
    pub(crate) ranges: Option<Vec<RangeDocument>>,
    /// Rows per range, instead of `num_partitions`.
    #[schemars(range(min = 1))]
    pub(crate) target_rows_per_partition: Option<u64>,
    /// Greatest number of ranges with `target_rows_per_partition`, 1 to 10000. Default 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_partitions: Option<u32>,
    /// Legacy name of `range_parallelism.reader_workers`; must agree with it.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) export_workers: Option<u32>,
    /// Concurrent loads into staging, 1 to 64. Default 1; more needs `staging_topology: per_partition`.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) load_workers: Option<u32>,
    /// How the planner works.
    pub(crate) planner: Planner,
    /// Parallel reading. Absent means `mode: off`.
    pub(crate) range_parallelism: RangeParallelism,
}

/// How the planner works.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Planner {
    /// What it works from. Default `auto`.
    pub(crate) mode: Option<PlannerMode>,
    /// Where statistics come from.
    pub(crate) stats_source: Option<Auto>,
    /// Family of the column's values. Default `auto`: from the catalog.
    pub(crate) boundary_type: BoundaryType,
    /// What stated bounds mean. Default `stride`: they only place the cuts.
    pub(crate) bounds_role: BoundsRole,
    /// Granularity of temporal cuts.
    pub(crate) temporal_granularity: Option<Auto>,
    /// Hot ranges found in statistics.
    pub(crate) skew_policy: Option<SkewPolicy>,
    /// How much hotter than the mean a range may be before it is split.
    #[schemars(range(min = 1))]
    pub(crate) max_hot_partition_factor: Option<f64>,
    /// Least rows that a split range may have.
    #[schemars(range(min = 1))]
    pub(crate) min_partition_rows: Option<u64>,
    /// Where rows go whose range column is NULL. Default `separate`.
    pub(crate) null_bucket: NullBucket,
    /// What is done when statistics cannot be trusted.
    pub(crate) low_confidence_policy: Option<LowConfidencePolicy>,
}

/// Parallel reading of ranges.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RangeParallelism {
    /// `off` (default), `auto` or `required`.
    pub(crate) mode: RangeMode,
    /// Greatest number of open reader sessions, 1 to 64. Default: `export_workers`, else 1.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) reader_workers: Option<u32>,
    /// Greatest number of concurrent object writes, 1 to 64. Default: `reader_workers`.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) upload_workers: Option<u32>,
    /// Same as `partitioning.load_workers`; must agree with it.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) load_workers: Option<u32>,
    /// Greatest number of ranges started and not yet at their end, 1 to 10000. Default: twice `reader_workers`, so that a
    /// session reads on while the last objects of its former range are written.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_inflight_ranges: Option<u32>,
    /// Greatest number of rows held by the run at once, 1 to 1000000000. Default 200000.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(crate) max_inflight_rows: Option<u64>,
    /// Greatest number of bytes held by the run at once, up to 1TiB. Default 64MiB.
    pub(crate) max_inflight_bytes: Option<ByteSize>,
    /// Whether explicit ranges may leave gaps. Default `reject`.
    pub(crate) gap_policy: GapPolicy,
    /// What makes readers see one state of the source. Default `exported_snapshot` for `sqlite` and `postgres`, `statement`
    /// for others.
    pub(crate) consistency: Option<Consistency>,
    /// The proof that the consistency mode needs.
    pub(crate) consistency_authority: ConsistencyAuthority,
    /// What a resumed run does when the source state is gone. Default `reread`.
    pub(crate) on_authority_lost: OnAuthorityLost,
    /// How many staging tables a run has. Default `shared_per_run`.
    pub(crate) staging_topology: StagingTopology,
    /// Columns whose equal values must never be divided between ranges.
    #[schemars(inner(length(min = 1)), length(max = 64))]
    pub(crate) group_key: Vec<String>,
}

/// `auto`, or a least and a greatest value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum BoundsDocument {
    /// Least and greatest value are read from the source.
    Auto(Auto),
    /// Stated bounds.
    Between(Between),
}

/// Stated bounds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Between {
    /// Least value.
    pub(crate) lower: BoundaryText,
    /// Greatest value.
    pub(crate) upper: BoundaryText,
}

/// One interval, or the NULL bucket.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RangeDocument {
    /// Lower end; null or absent is open-ended.
    #[schemars(extend("x-nullable" = true))]
    pub(crate) lower: Option<BoundaryText>,
    /// Upper end; null or absent is open-ended.
    #[schemars(extend("x-nullable" = true))]
    pub(crate) upper: Option<BoundaryText>,
    /// Whether a value equal to `lower` belongs to it. Default true.
    pub(crate) include_lower: Option<bool>,
    /// Whether a value equal to `upper` belongs to it. Default false.
    pub(crate) include_upper: Option<bool>,
    /// `true` makes this entry the NULL bucket; it then has no other key.
    pub(crate) null: Option<bool>,
    /// Same as `null`.
    pub(crate) null_bucket: Option<bool>,
}

impl JsonSchema for BoundaryText {
    fn schema_name() -> Cow<'static, str> {
        "Boundary".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value of the range column, as a number, a date, a timestamp or text.",
            "type": ["string", "number"],
            "format": "dpone-boundary",
        })
    }
}
