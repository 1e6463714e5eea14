//! What is to be read, as the manifest says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dpone_engine::manifest::{Consistency, Fidelity, Relation};
use dpone_engine::ranges::UnitRange;
use dpone_engine::schema::{LogicalType, Schema};

/// What preflight looks at.
#[derive(Clone, Debug)]
pub struct SqliteRequest {
    /// The database file.
    pub path: PathBuf,
    /// The table, view or query.
    pub relation: Relation,
    /// The columns to deliver, in this order; `None` is all, in catalog order.
    pub columns: Option<Vec<String>>,
    /// Types that the manifest states, by exact column name.
    pub types: BTreeMap<String, LogicalType>,
    /// The column that ranges cut, if one is named. It must be among the delivered columns' source, not among them.
    pub key: Option<String>,
}

/// Everything a run reads by; fixed when it was planned.
#[derive(Clone, Debug)]
pub struct SqlitePlan {
    /// What is read.
    pub request: SqliteRequest,
    /// The planned schema. A source that no longer has it is refused.
    pub schema: Schema,
    /// The units, by ordinal.
    pub units: Vec<UnitRange>,
    /// What the operator says about changes of the source.
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
