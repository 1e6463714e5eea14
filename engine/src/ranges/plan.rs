//! The planner: from a column, bounds and a number of units to the ranges of a run.

use super::axis::Axis;
use super::explicit::stated_intervals;
use super::steps::{self, Step};
use super::uuid_order::UuidOrder;
use super::{Bound, Scope, UnitRange};
use crate::codes::Code;
use crate::manifest::{BoundsRole, GapPolicy};
use crate::refusal::Refusal;
use crate::schema::{Column, LogicalType};
use crate::value::Value;

/// The most units that one plan may have.
pub const MAX_UNITS: u32 = 10_000;

pub(super) const PLACE: &str = "source.options.partitioning";

/// One explicitly stated range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedRange {
    /// The lower bound; `None` is open.
    pub lower: Option<Value>,
    /// The upper bound; `None` is open.
    pub upper: Option<Value>,
    /// Whether the lower bound belongs to the range; usual: true.
    pub include_lower: bool,
    /// Whether the upper bound belongs to the range; usual: false.
    pub include_upper: bool,
}

/// How the key's values are to be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// Evenly between the smallest and the largest finite key that the source reported.
    Auto {
        /// The smallest and largest key; `None` if no row has a key (an empty table, or NULLs only).
        extent: Option<(Value, Value)>,
        /// How many intervals are wanted.
        units: u32,
    },
    /// Evenly between two stated values.
    Between {
        /// The lower value.
        lower: Value,
        /// The upper value, not below the lower.
        upper: Value,
        /// How many intervals are wanted.
        units: u32,
        /// Whether rows outside are read.
        role: BoundsRole,
    },
    /// So that ranges hold about as many rows each, by the source's own account of its keys.
    Steps {
        /// The keys in the source's order, without repetition.
        steps: Vec<Step>,
        /// How many intervals are wanted.
        units: u32,
        /// Fewest rows that an interval should have.
        least: u64,
    },
    /// Exactly as stated.
    Explicit {
        /// The ranges, in order.
        ranges: Vec<StatedRange>,
        /// Whether there may be gaps between them.
        gaps: GapPolicy,
        /// Whether the NULL bucket is stated too.
        null: bool,
    },
}

/// Refuses a partition column whose type cannot be split into `units` ranges, before any bound is queried.
///
/// # Errors
/// `unsupported_boundary_type`: `time` always; a type without an exact number line unless `units` is 1.
pub fn check_boundary_type(column: &Column, units: u32) -> Result<(), Refusal> {
    let never = matches!(column.ty, LogicalType::Time { .. });
    if never || (units != 1 && Axis::of(&column.ty, UuidOrder::Bytes).is_none()) {
        return Err(unsupported(&column.name, &column.ty));
    }
    Ok(())
}

/// Plans the units of a run over the values of `column`; without one, the whole table is one unit.
///
/// One unit is the whole table in one scan, unless bounds filter. Otherwise the plan has at most `units` intervals
/// (fewer if the bounds hold fewer distinct values, never one that is empty by construction), and a NULL bucket if
/// the column can be NULL or the bucket is stated.
///
/// # Errors
/// `unsupported_boundary_type`, `range_invalid`, `manifest_invalid_value` (the number of units), and
/// `source_value_type_mismatch` if a reported extreme is not a value of the column's type.
pub fn plan_ranges(column: Option<&Column>, split: &Split) -> Result<Vec<UnitRange>, Refusal> {
    plan_ranges_ordered(column, split, UuidOrder::Bytes)
}

/// As [`plan_ranges`], of a source that sorts UUIDs in that order.
///
/// # Errors
/// As [`plan_ranges`].
pub fn plan_ranges_ordered(
    column: Option<&Column>,
    split: &Split,
    uuids: UuidOrder,
) -> Result<Vec<UnitRange>, Refusal> {
    let whole = || Ok(vec![UnitRange { ordinal: 0, scope: Scope::WholeTable }]);
    let Some(column) = column else { return whole() };
    let units = units(split)?;
    match split {
        Split::Steps { .. } if !matches!(column.ty, LogicalType::Time { .. }) => {}
        _ => check_boundary_type(column, units)?,
    }
    let intervals = match (split, Axis::of(&column.ty, uuids)) {
        (Split::Auto { .. } | Split::Between { role: BoundsRole::Stride, .. }, _) if units == 1 => return whole(),
        (Split::Steps { .. }, _) if units == 1 => return whole(),
        (Split::Steps { steps, least, .. }, _) => {
            steps::check(column, steps, uuids)?;
            let cuts = steps::cuts(steps, units, *least);
            joined(cuts, Bound::Open, Bound::Open)
        }
        (_, None) => return Err(unsupported(&column.name, &column.ty)),
        (Split::Explicit { ranges, gaps, .. }, Some(axis)) => stated_intervals(&axis, ranges, *gaps)?,
        (Split::Auto { extent: None, .. }, Some(_)) => vec![(Bound::Open, Bound::Open)],
        (Split::Auto { extent: Some((min, max)), .. }, Some(axis)) => {
            let (min, max) = (reported(&axis, min, column)?, reported(&axis, max, column)?);
            if min > max {
                let text = format!("the source's smallest \"{}\" sorts above its largest", column.name);
                return Err(Refusal::new(Code::RangeInvalid, text).at(format!("{PLACE}.bounds")));
            }
            cut(&axis, min, max, units, BoundsRole::Stride)
        }
        (Split::Between { lower, upper, role, .. }, Some(axis)) => {
            let (lower, upper) = (stated(&axis, lower, column, "lower")?, stated(&axis, upper, column, "upper")?);
            if lower > upper {
                let found = Refusal::new(Code::RangeInvalid, "the lower bound is above the upper bound");
                return Err(found.at(format!("{PLACE}.bounds")).fix("Swap lower and upper."));
            }
            cut(&axis, lower, upper, units, *role)
        }
    };
    let null = column.nullable || matches!(split, Split::Explicit { null: true, .. });
    let scopes = intervals.into_iter().map(|(lower, upper)| Scope::Interval { lower, upper });
    let scopes = scopes.chain(null.then_some(Scope::Null));
    Ok((0..).zip(scopes).map(|(ordinal, scope)| UnitRange { ordinal, scope }).collect())
}

/// The number of intervals asked for, within the limits.
fn units(split: &Split) -> Result<u32, Refusal> {
    let units = match split {
        Split::Auto { units, .. } | Split::Between { units, .. } | Split::Steps { units, .. } => *units,
        Split::Explicit { ranges, .. } => u32::try_from(ranges.len()).unwrap_or(u32::MAX),
    };
    if (1..=MAX_UNITS).contains(&units) {
        return Ok(units);
    }
    let place = if matches!(split, Split::Explicit { .. }) { "ranges" } else { "num_partitions" };
    Err(Refusal::new(Code::ManifestInvalidValue, format!("a plan has 1 to {MAX_UNITS} ranges"))
        .at(format!("{PLACE}.{place}"))
        .fix("State a number within those limits."))
}

/// Cuts `low..=high` into at most `units` intervals of equal width (± 1); the ends are open, or closed if they filter.
fn cut(axis: &Axis, low: i128, high: i128, units: u32, role: BoundsRole) -> Vec<(Bound, Bound)> {
    // The difference of any two i128 fits u128 as wrapped; the domains of the axes keep far below its maximum.
    let distinct = (high.wrapping_sub(low) as u128).saturating_add(1);
    let count = u128::from(units).min(distinct);
    let (width, rest) = (distinct / count, distinct % count);
    // low + floor(k * distinct / count), split so that no product can overflow; width >= 1 keeps it increasing.
    let at = |k: u128| low.wrapping_add((k * width + k * rest / count) as i128);
    let cuts: Vec<Value> = (1..count).map(|k| axis.value(at(k))).collect();
    let (first, last) = match role {
        BoundsRole::Stride => (Bound::Open, Bound::Open),
        BoundsRole::Filter => (Bound::Inclusive(axis.value(low)), Bound::Inclusive(axis.value(high))),
    };
    joined(cuts, first, last)
}

/// The intervals between cuts.
fn joined(cuts: Vec<Value>, first: Bound, last: Bound) -> Vec<(Bound, Bound)> {
    let lowers = std::iter::once(first).chain(cuts.iter().cloned().map(Bound::Inclusive));
    let uppers = cuts.iter().cloned().map(Bound::Exclusive).chain(std::iter::once(last));
    lowers.zip(uppers).collect()
}

pub(super) fn reported(axis: &Axis, value: &Value, column: &Column) -> Result<i128, Refusal> {
    axis.position(value).ok_or_else(|| {
        let text = format!("an extreme value of \"{}\" is not a value of type {}", column.name, column.ty);
        Refusal::new(Code::SourceValueTypeMismatch, text)
            .at(format!("{PLACE}.column"))
            .fix("Correct the value in the source, state the column's real type, or split by another column.")
    })
}

fn stated(axis: &Axis, value: &Value, column: &Column, which: &str) -> Result<i128, Refusal> {
    axis.position(value).ok_or_else(|| {
        Refusal::new(Code::RangeInvalid, format!("the {which} bound is not a value of type {}", column.ty))
            .at(format!("{PLACE}.bounds.{which}"))
            .fix("State a value that the column can hold exactly.")
    })
}

pub(super) fn unsupported(name: &str, ty: &LogicalType) -> Refusal {
    Refusal::new(Code::UnsupportedBoundaryType, format!("\"{name}\" is {ty}, which cannot be split into ranges"))
        .at(format!("{PLACE}.column"))
        .fix("Split by an integer, decimal, date or timestamp column, or set num_partitions to 1.")
}
