//! The range policy as plans and evidence show it: normalized, with stated boundaries counted and not shown.

use schemars::JsonSchema;
use serde::Serialize;

use crate::manifest::{
    BoundaryType, Bounds, BoundsRole, Consistency, ConsistencyAuthority, GapPolicy, NullBucket, OnAuthorityLost,
    RangeCount, RangeMode, RangePolicy, ScanMode, StagingTopology,
};

/// Where the cuts between ranges come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundsView {
    /// Read from the source.
    Auto,
    /// A least and a greatest value are stated.
    Stated,
    /// Every interval is stated.
    Explicit,
}

/// The normalized policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PolicyView {
    /// Whether ranges are read in parallel.
    pub mode: RangeMode,
    /// The column that ranges cut.
    pub column: Option<String>,
    /// How many ranges are asked for; null if the number follows from the rows.
    pub num_partitions: Option<u32>,
    /// Rows per range, where the number of ranges follows from them.
    pub target_rows_per_partition: Option<u64>,
    /// Greatest number of ranges then.
    pub max_partitions: Option<u32>,
    /// Where the cuts come from.
    pub bounds: BoundsView,
    /// What stated bounds mean.
    pub bounds_role: BoundsRole,
    /// The family of the column's values.
    pub boundary_type: BoundaryType,
    /// Where rows with a NULL key go.
    pub null_bucket: NullBucket,
    /// Whether explicit ranges may leave gaps.
    pub gap_policy: GapPolicy,
    /// The shape of the scan.
    pub scan: ScanMode,
    /// Whether a range scan without an index is refused.
    pub require_index_for_range: bool,
    /// Greatest number of open reader sessions.
    pub reader_workers: u32,
    /// Greatest number of concurrent object writes.
    pub upload_workers: u32,
    /// Greatest number of concurrent loads.
    pub load_workers: u32,
    /// Greatest number of ranges in flight.
    pub max_inflight_ranges: u32,
    /// Greatest number of rows held at once.
    pub max_inflight_rows: u64,
    /// Greatest number of bytes held at once.
    pub max_inflight_bytes: u64,
    /// What makes readers see one state.
    pub consistency: Consistency,
    /// The proof of it.
    pub consistency_authority: ConsistencyAuthority,
    /// What happens when it is lost.
    pub on_authority_lost: OnAuthorityLost,
    /// How many staging places there are.
    pub staging_topology: StagingTopology,
    /// Columns whose equal values are never divided between ranges.
    pub group_key: Vec<String>,
}

impl From<&RangePolicy> for PolicyView {
    fn from(p: &RangePolicy) -> Self {
        let (num_partitions, target_rows_per_partition, max_partitions) = match (&p.bounds, p.count) {
            (Bounds::Explicit { ranges, .. }, _) => (u32::try_from(ranges.len()).ok(), None, None),
            (_, RangeCount::Fixed(n)) => (Some(n), None, None),
            (_, RangeCount::TargetRows { rows, max }) => (None, Some(rows), Some(max)),
        };
        Self {
            mode: p.mode,
            column: p.column.clone(),
            num_partitions,
            target_rows_per_partition,
            max_partitions,
            bounds: match p.bounds {
                Bounds::Auto => BoundsView::Auto,
                Bounds::Between { .. } => BoundsView::Stated,
                Bounds::Explicit { .. } => BoundsView::Explicit,
            },
            bounds_role: p.bounds_role,
            boundary_type: p.boundary_type,
            null_bucket: p.null_bucket,
            gap_policy: p.gap_policy,
            scan: p.scan,
            require_index_for_range: p.require_index,
            reader_workers: p.reader_workers,
            upload_workers: p.upload_workers,
            load_workers: p.load_workers,
            max_inflight_ranges: p.max_inflight_ranges,
            max_inflight_rows: p.max_inflight_rows,
            max_inflight_bytes: p.max_inflight_bytes,
            consistency: p.consistency,
            consistency_authority: p.consistency_authority.clone(),
            on_authority_lost: p.on_authority_lost,
            staging_topology: p.staging_topology,
            group_key: p.group_key.clone(),
        }
    }
}
