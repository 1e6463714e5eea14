//! What is to be read, as the manifest says.

use std::collections::BTreeMap;

use dpone_engine::manifest::{Consistency, Fidelity, PlannerMode, Relation, TextForm};
use dpone_engine::ranges::UnitRange;
use dpone_engine::schema::{LogicalType, Schema};

/// A type that the manifest states for a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The type.
    pub ty: LogicalType,
    /// How its text is made, where that is stated too.
    pub form: Option<TextForm>,
}

/// What ranges are planned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangePlanner {
    /// Where the cuts come from.
    pub mode: PlannerMode,
    /// How many ranges are wanted, at most.
    pub units: u32,
    /// Whether cuts are needed from the source: false if the manifest states them.
    pub wanted: bool,
}

/// What preflight looks at.
#[derive(Clone, Debug)]
pub struct PostgresRequest {
    /// The table, view or query.
    pub relation: Relation,
    /// The columns to deliver, in this order; `None` is all, in catalog order.
    pub columns: Option<Vec<String>>,
    /// Types that the manifest states, by exact column name.
    pub types: BTreeMap<String, Stated>,
    /// The column that ranges cut, if one is named; it need not be delivered. `ctid` cuts by the table's blocks.
    pub key: Option<String>,
    /// How the ranges are planned.
    pub planner: RangePlanner,
}

/// Everything a run reads by; fixed when it was planned.
#[derive(Clone, Debug)]
pub struct PostgresPlan {
    /// What is read.
    pub request: PostgresRequest,
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
}
