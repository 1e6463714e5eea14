//! A range without its boundary values: what kind it is, which ends it has, and a commitment to each.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ranges::{Bound, Scope, UnitRange, boundary_digest, render_value};
use crate::schema::LogicalType;

/// How a range selects rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RangeKind {
    /// Every row, without a predicate.
    WholeTable,
    /// The rows whose key is NULL.
    Null,
    /// The rows whose key lies between two ends.
    Interval,
}

/// One end of an interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct End {
    /// Whether a key equal to the boundary belongs to the range.
    pub inclusive: bool,
    /// 128 bits, in hex, of a keyed digest of the boundary; the key is not published.
    pub hash: String,
    /// The boundary itself; only where the operator asked to see values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// A planned range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RangeView {
    /// Its id in documents and messages: `r` and the ordinal.
    pub id: String,
    /// Its position in the plan, from 0.
    pub ordinal: u32,
    /// How it selects rows.
    pub kind: RangeKind,
    /// The lower end; null if it is open.
    pub lower: Option<End>,
    /// The upper end; null if it is open.
    pub upper: Option<End>,
}

impl RangeView {
    /// The view of a range under a digest key, with values of that type only if they are to be shown.
    pub fn of(range: &UnitRange, key: &[u8; 32], show: Option<&LogicalType>) -> Self {
        let (kind, lower, upper) = match &range.scope {
            Scope::WholeTable => (RangeKind::WholeTable, None, None),
            Scope::Null => (RangeKind::Null, None, None),
            Scope::Interval { lower, upper } => (RangeKind::Interval, end(lower, key, show), end(upper, key, show)),
        };
        Self { id: format!("r{}", range.ordinal), ordinal: range.ordinal, kind, lower, upper }
    }
}

fn end(bound: &Bound, key: &[u8; 32], show: Option<&LogicalType>) -> Option<End> {
    let (value, inclusive) = match bound {
        Bound::Open => return None,
        Bound::Inclusive(value) => (value, true),
        Bound::Exclusive(value) => (value, false),
    };
    let value = show.map(|ty| render_value(ty, value));
    Some(End { inclusive, hash: boundary_digest(key, bound), value })
}

/// The family of values that boundaries of a type belong to.
pub fn boundary_family(ty: &LogicalType) -> &'static str {
    match ty {
        LogicalType::Int { .. } | LogicalType::UInt { .. } => "integer",
        LogicalType::Decimal { .. } => "decimal",
        LogicalType::Date => "date",
        LogicalType::Timestamp { .. } => "timestamp",
        LogicalType::Text => "text",
        LogicalType::Uuid => "uniqueidentifier",
        LogicalType::Bool | LogicalType::Float { .. } | LogicalType::Time { .. } | LogicalType::Binary => "none",
    }
}
