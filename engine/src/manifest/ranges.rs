//! The resolved range policy: what the planner, the driver and the budget work from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text_enum::text_enum;

text_enum! {
    /// Whether ranges are read in parallel.
    #[derive(Default)]
    pub RangeMode {
        /// One range, one reader, one staging table.
        #[default]
        Off = "off",
        /// In parallel where every condition holds, else one reader with the reason in plan and evidence.
        Auto = "auto",
        /// In parallel, or the run is refused before source IO.
        Required = "required",
    }
}

text_enum! {
    /// Which family of values the range column has.
    #[derive(Default)]
    pub BoundaryType {
        /// Taken from the column's catalog type.
        #[default]
        Auto = "auto",
        /// Integer or decimal, by the column's type.
        Numeric = "numeric",
        /// Integer.
        Integer = "integer",
        /// Exact decimal.
        Decimal = "decimal",
        /// Calendar date.
        Date = "date",
        /// Date and time at full precision.
        Timestamp = "timestamp",
        /// SQL Server rowversion.
        Rowversion = "rowversion",
        /// UUID; SQL Server's uniqueidentifier by the server's own order.
        Uniqueidentifier = "uniqueidentifier",
        /// Text, by the server's own order.
        Text = "text",
    }
}

text_enum! {
    /// Where rows go whose range column is NULL.
    #[derive(Default)]
    pub NullBucket {
        /// Into one range of their own; an empty one is a confirmed state.
        #[default]
        Separate = "separate",
    }
}

text_enum! {
    /// What stated lower and upper bounds mean.
    #[derive(Default)]
    pub BoundsRole {
        /// They place the cuts; first and last range are open-ended and every row is delivered.
        #[default]
        Stride = "stride",
        /// Only rows within the bounds are read.
        Filter = "filter",
    }
}

text_enum! {
    /// Whether explicit ranges may leave gaps.
    #[derive(Default)]
    pub GapPolicy {
        /// A gap is refused.
        #[default]
        Reject = "reject",
        /// Gaps in explicit ranges are intended; rows in them are not delivered.
        AllowExplicit = "allow_explicit",
    }
}

text_enum! {
    /// What makes several readers see one state of the source.
    #[derive(Default)]
    pub Consistency {
        /// The operator states that the source does not change. Coverage is then a recorded waiver.
        Immutable = "immutable",
        /// A named database snapshot.
        DatabaseSnapshot = "database_snapshot",
        /// A temporal query as of a stated time.
        TemporalAsOf = "temporal_as_of",
        /// Writers are kept out, under a lease or with a proof.
        WriteExclusion = "write_exclusion",
        /// One snapshot shared by all readers (PostgreSQL), or its SQLite equivalent.
        #[default]
        ExportedSnapshot = "exported_snapshot",
        /// One session reads everything in one statement, and sees what the source shows a statement. The default of sources
        /// without a snapshot of their own; several readers need another mode.
        Statement = "statement",
    }
}

text_enum! {
    /// What a resumed run does when the source state that it was reading is gone.
    #[derive(Default)]
    pub OnAuthorityLost {
        /// Starts a new attempt that reads everything again.
        #[default]
        Reread = "reread",
        /// Stops with `consistency_authority_lost`.
        Stop = "stop",
    }
}

text_enum! {
    /// How many staging tables a run has.
    #[derive(Default)]
    pub StagingTopology {
        /// One for the run; ranges are loaded one at a time so that each count is the target's own.
        #[default]
        SharedPerRun = "shared_per_run",
        /// One per range, assembled at the end; ranges may be loaded in parallel.
        PerPartition = "per_partition",
    }
}

text_enum! {
    /// The shape of the source scan.
    #[derive(Default)]
    pub ScanMode {
        /// Ranges where they can be sought by an index, else one scan cut into chunks.
        #[default]
        Auto = "auto",
        /// Ranges.
        RangePartitioned = "range_partitioned",
        /// One scan cut into chunks.
        SingleScanChunks = "single_scan_chunks",
    }
}

text_enum! {
    /// What the cuts between ranges are planned from.
    #[derive(Default)]
    pub PlannerMode {
        /// Least and greatest value; keys that have no even steps (text, floats) by the source's own quantiles; a
        /// PostgreSQL table for which no column is named, by its blocks.
        #[default]
        Auto = "auto",
        /// Least and greatest value.
        Bounds = "bounds",
        /// The source's statistics, so that ranges hold about as many rows each. PostgreSQL and SQL Server.
        Statistics = "statistics",
        /// The blocks of the table, in one snapshot. PostgreSQL.
        Ctid = "ctid",
    }
}

text_enum! {
    /// What is done with hot ranges found in statistics.
    #[derive(Default)]
    pub SkewPolicy {
        /// Nothing.
        #[default]
        None = "none",
        /// They are split.
        SplitHotRanges = "split_hot_ranges",
    }
}

/// What ranges are planned from, and what is done about uneven ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlannerPolicy {
    /// What the cuts are planned from.
    pub mode: PlannerMode,
    /// What is done with hot ranges.
    pub skew_policy: SkewPolicy,
    /// Fewest rows that a range from statistics should have.
    pub min_partition_rows: u64,
}

impl Default for PlannerPolicy {
    fn default() -> Self {
        Self { mode: PlannerMode::default(), skew_policy: SkewPolicy::default(), min_partition_rows: 1 }
    }
}

impl PlannerPolicy {
    /// Whether nothing about it is stated. Such a policy has the form that it had before it could be stated.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A boundary as the manifest writes it; the planner reads it by the column's type.
///
/// It is a source value: `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BoundaryText(pub String);

impl std::fmt::Debug for BoundaryText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BoundaryText(..)")
    }
}

/// One explicit interval, structurally valid; order, overlap and gaps are the planner's to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplicitRange {
    /// Lower end; `None` is open-ended.
    pub lower: Option<BoundaryText>,
    /// Upper end; `None` is open-ended.
    pub upper: Option<BoundaryText>,
    /// Whether a value equal to `lower` belongs to it.
    pub include_lower: bool,
    /// Whether a value equal to `upper` belongs to it.
    pub include_upper: bool,
}

/// Where the cuts between ranges come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Bounds {
    /// Least and greatest value read from the source.
    Auto,
    /// Stated least and greatest value.
    Between {
        /// Least value.
        lower: BoundaryText,
        /// Greatest value.
        upper: BoundaryText,
    },
    /// Every interval is stated.
    Explicit {
        /// The intervals, in the order of the manifest; never empty.
        ranges: Vec<ExplicitRange>,
        /// Whether the list names the NULL bucket. Without it NULL rows still go by [`NullBucket`].
        null: bool,
    },
}

/// How many ranges are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RangeCount {
    /// Exactly so many (fewer only when the key domain has fewer values).
    Fixed(u32),
    /// As many as give about `rows` each, at most `max`.
    TargetRows {
        /// Rows per range, positive.
        rows: u64,
        /// Greatest number of ranges.
        max: u32,
    },
}

/// What proves that all readers see one state; which field is set follows from [`Consistency`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConsistencyAuthority {
    /// `database_snapshot`: the snapshot's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256), extend("format" = "dpone-location"))]
    pub database_snapshot: Option<String>,
    /// `temporal_as_of`: the time, as `2026-01-31T12:00:00` with up to nine fractional digits, or with `Z`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), extend("format" = "dpone-location"))]
    pub as_of: Option<String>,
    /// `write_exclusion`: reference of the lease that keeps writers out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256), extend("format" = "dpone-location"))]
    pub lease: Option<String>,
    /// `write_exclusion`: reference of the proof that writers are out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256), extend("format" = "dpone-location"))]
    pub proof: Option<String>,
    /// `write_exclusion`: one SELECT that must return one row whose first column is 1 for as long as writers are out; asked
    /// when the source is opened, and again when its rows are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000), extend("format" = "dpone-sql"))]
    pub query: Option<String>,
}

/// How the source is cut into ranges and how many of them are in flight. Every default is filled in.
///
/// Invariants: every count is at least 1; with mode `off` there is one range and one worker of each kind;
/// `shared_per_run` has `load_workers` 1; a mode other than `off` has a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangePolicy {
    /// Whether ranges are read in parallel.
    pub mode: RangeMode,
    /// The column that ranges cut; `None` only with mode `off`.
    pub column: Option<String>,
    /// How many ranges are planned; explicit bounds fix it themselves.
    pub count: RangeCount,
    /// Where the cuts come from.
    pub bounds: Bounds,
    /// What stated bounds mean.
    pub bounds_role: BoundsRole,
    /// The family of the column's values.
    pub boundary_type: BoundaryType,
    /// Where NULL rows go.
    pub null_bucket: NullBucket,
    /// Whether explicit ranges may leave gaps.
    pub gap_policy: GapPolicy,
    /// What ranges are planned from.
    #[serde(default, skip_serializing_if = "PlannerPolicy::is_default")]
    pub planner: PlannerPolicy,
    /// The shape of the scan.
    pub scan: ScanMode,
    /// Whether a range scan without an index on the column is refused.
    pub require_index: bool,
    /// Greatest number of open reader sessions, 1 to 64.
    pub reader_workers: u32,
    /// Greatest number of concurrent object writes, 1 to 64.
    pub upload_workers: u32,
    /// Greatest number of concurrent loads into staging, 1 to 64.
    pub load_workers: u32,
    /// Greatest number of ranges started and not yet at their end, 1 to 10000.
    pub max_inflight_ranges: u32,
    /// Greatest number of rows held by the run at once.
    pub max_inflight_rows: u64,
    /// Greatest number of bytes held by the run at once, in every representation together.
    pub max_inflight_bytes: u64,
    /// What makes readers see one state.
    pub consistency: Consistency,
    /// The proof of it.
    pub consistency_authority: ConsistencyAuthority,
    /// What happens when it is lost.
    pub on_authority_lost: OnAuthorityLost,
    /// How many staging tables there are.
    pub staging_topology: StagingTopology,
    /// Columns whose equal values must never be divided between ranges.
    pub group_key: Vec<String>,
}

/// When a chunk is sealed. Rows are never split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkPolicy {
    /// Encoded bytes at which a chunk is sealed after a complete row (soft).
    pub target_bytes: u64,
    /// Encoded bytes that no chunk exceeds: it is sealed before the row that would cross it.
    pub max_bytes: u64,
    /// Rows at which a chunk is sealed.
    pub max_rows: Option<u64>,
}
