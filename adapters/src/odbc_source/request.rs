//! What is to be read, as the manifest says.

use std::collections::BTreeMap;

use dpone_engine::manifest::{
    Bounds, Consistency, Fidelity, Manifest, PlannerMode, RangeMode, RangePolicy, Relation, SkewPolicy, SourceType,
};
use dpone_engine::ranges::UnitRange;
use dpone_engine::schema::{LogicalType, Schema};

/// What ranges are planned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangePlanner {
    /// Where the cuts come from.
    pub mode: PlannerMode,
    /// How many ranges are wanted, at most.
    pub units: u32,
    /// Whether cuts are needed from the source: false if the manifest states them.
    pub wanted: bool,
    /// Whether hot ranges are to be avoided where statistics show them.
    pub split_hot: bool,
}

/// What preflight looks at.
#[derive(Clone, Debug)]
pub struct OdbcRequest {
    /// The table, view or query.
    pub relation: Relation,
    /// The columns to deliver, in this order; `None` is all, in catalog order.
    pub columns: Option<Vec<String>>,
    /// Types that the manifest states, by exact column name.
    pub types: BTreeMap<String, LogicalType>,
    /// The column that ranges cut, if one is named; it need not be delivered.
    pub key: Option<String>,
    /// How the ranges are planned.
    pub planner: RangePlanner,
    /// What makes all readers see one state, and the authority that is named for it.
    pub ranges: RangePolicy,
    /// Whether the manifest says that it is SQL Server, whatever the driver calls it.
    pub sql_server: bool,
}

impl OdbcRequest {
    /// What a manifest asks for.
    pub fn of(manifest: &Manifest) -> Self {
        let (source, ranges) = (&manifest.source, &manifest.ranges);
        Self {
            relation: source.relation.clone(),
            columns: source.columns.clone(),
            types: source.types.clone(),
            // With one range nothing is asked of the column.
            key: ranges.column.clone().filter(|_| ranges.mode != RangeMode::Off),
            planner: RangePlanner {
                mode: ranges.planner.mode,
                units: ranges.units(None),
                wanted: ranges.bounds == Bounds::Auto,
                split_hot: ranges.planner.skew_policy == SkewPolicy::SplitHotRanges,
            },
            ranges: ranges.clone(),
            sql_server: source.kind == SourceType::Mssql,
        }
    }
}

/// Everything a run reads by; fixed when it was planned.
#[derive(Clone, Debug)]
pub struct OdbcPlan {
    /// What is read.
    pub request: OdbcRequest,
    /// The planned schema. A source that no longer has it is refused.
    pub schema: Schema,
    /// The units, by ordinal.
    pub units: Vec<UnitRange>,
    /// What makes all readers see one state.
    pub consistency: Consistency,
    /// How much of each row is profiled.
    pub fidelity: Fidelity,
    /// Encoded bytes at which a chunk is sealed.
    pub target_chunk_bytes: u64,
    /// Encoded bytes that no chunk exceeds.
    pub max_chunk_bytes: u64,
    /// A number never used before: part of the identity of what is opened.
    pub nonce: u64,
    /// What sessions call themselves, before the number of each.
    pub application: String,
}
