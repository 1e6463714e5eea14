//! What was seen in a unit's rows: counts, extremes and an order-independent checksum, on either side of a run.

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// One column's part of a [`UnitProfile`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnProfile {
    /// How many NULLs.
    pub nulls: u64,
    /// The least value that is not NULL.
    pub min: Option<Value>,
    /// The greatest value that is not NULL.
    pub max: Option<Value>,
}

/// The profile of some rows; profiles of disjoint rows merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnitProfile {
    /// How many rows.
    pub rows: u64,
    /// Sum modulo 2^128 of the rows' hashes (`spec/fidelity.md`).
    pub checksum: u128,
    /// One entry per column, in schema order; empty where columns were not profiled.
    pub columns: Vec<ColumnProfile>,
}
