//! Ranges: the units that a run reads in parallel, and the proof that they hold each row exactly once.
//!
//! Invariants of every plan that [`plan_ranges`] returns:
//!
//! * ordinals are `0..n` in order; intervals come first, sorted by key, then the NULL bucket if there is one;
//! * a key lies in at most one unit; NULL lies in at most one unit;
//! * a plan from `auto` or stride bounds, or from the source's own distribution of keys, is open at both ends (`< b1`, …, `>= bn`), **whether or not** the
//!   bounds were read in the run's snapshot. Bounds choose where to cut and never which rows to read: a row
//!   outside stale bounds, NaN, ±infinity, or a key that the source sorts after every number is still read;
//! * only filtering bounds and explicitly stated ranges leave rows out. Whether that is allowed is for the coverage
//!   check to say, not for the planner.

mod axis;
mod digest;
mod explicit;
mod group;
mod parse;
mod plan;
mod policy;
mod render;
mod steps;
#[cfg(test)]
mod tests;
mod uuid_order;
mod window;

use serde::{Deserialize, Serialize};

pub use digest::boundary_digest;
pub use group::{check_group_key, check_query_groups};
pub use parse::parse_value;
pub use plan::{MAX_UNITS, Split, StatedRange, check_boundary_type, plan_ranges, plan_ranges_ordered};
pub use policy::{KeyFacts, split_of};
pub use render::render_value;
pub use steps::Step;
pub use uuid_order::UuidOrder;
pub use window::{SqlDialect, sql_uses_window};

use crate::value::Value;

/// One end of an interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// No limit on this side.
    Open,
    /// The value itself belongs to the interval.
    Inclusive(Value),
    /// The value itself does not belong to the interval.
    Exclusive(Value),
}

/// Which rows of the source a unit reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Every row, the rows with a NULL key included: no predicate.
    WholeTable,
    /// The rows whose key is NULL.
    Null,
    /// The rows whose key is not NULL and lies between the bounds.
    Interval {
        /// The lower end.
        lower: Bound,
        /// The upper end.
        upper: Bound,
    },
}

/// One unit of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnitRange {
    /// Position in the plan, from 0, without gaps.
    pub ordinal: u32,
    /// The rows it reads.
    pub scope: Scope,
}

impl UnitRange {
    /// Whether a row with that key belongs to this unit; `None` is a NULL key.
    ///
    /// A key that is not of the plan's type lies in no bounded interval. UUIDs are compared by their bytes, which is not how
    /// every source sorts them.
    pub fn contains(&self, key: Option<&Value>) -> bool {
        match (&self.scope, key) {
            (Scope::WholeTable, _) | (Scope::Null, None) => true,
            (Scope::Null, Some(_)) | (Scope::Interval { .. }, None) => false,
            (Scope::Interval { lower, upper }, Some(key)) => lower.admits_above(key) && upper.admits_below(key),
        }
    }
}

impl Bound {
    fn admits_above(&self, key: &Value) -> bool {
        match self {
            Self::Open => true,
            Self::Inclusive(v) => v.is_comparable_with(key) && v <= key,
            Self::Exclusive(v) => v.is_comparable_with(key) && v < key,
        }
    }

    fn admits_below(&self, key: &Value) -> bool {
        match self {
            Self::Open => true,
            Self::Inclusive(v) => v.is_comparable_with(key) && key <= v,
            Self::Exclusive(v) => v.is_comparable_with(key) && key < v,
        }
    }
}
