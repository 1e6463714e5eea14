//! Explicitly stated ranges: sorted, non-overlapping, and contiguous unless gaps are allowed.

use super::Bound;
use super::axis::Axis;
use super::plan::{PLACE, StatedRange};
use crate::codes::Code;
use crate::manifest::GapPolicy;
use crate::refusal::Refusal;
use crate::value::Value;

/// The intervals of the stated ranges, as stated and in order.
pub(super) fn stated_intervals(
    axis: &Axis,
    ranges: &[StatedRange],
    gaps: GapPolicy,
) -> Result<Vec<(Bound, Bound)>, Refusal> {
    let mut intervals = Vec::with_capacity(ranges.len());
    // Where the previous interval ends: its first position that is not in it; `None` inside is an open end.
    let mut previous: Option<Option<i128>> = None;
    for (number, range) in (1..).zip(ranges) {
        let (lower, upper) = (range.lower.as_ref(), range.upper.as_ref());
        // Every value is a whole position, so each end has a half-open form: `(4, 9]` is `[5, 10)`.
        let start = position(axis, lower, !range.include_lower, number, "lower")?;
        let end = position(axis, upper, range.include_upper, number, "upper")?;
        if lower.is_some() && start.is_none() {
            return Err(refuse(number, "holds no value", "State a lower bound below the greatest value of the type."));
        }
        if matches!((start, end), (Some(start), Some(end)) if start >= end) {
            return Err(refuse(number, "holds no value", "State a lower bound below the upper bound."));
        }
        match (previous, start) {
            (None, _) => {}
            (Some(Some(end)), Some(start)) if start == end => {}
            (Some(Some(end)), Some(start)) if start > end && gaps == GapPolicy::AllowExplicit => {}
            (Some(Some(end)), Some(start)) if start > end => {
                let fix = "Begin it where the previous interval ends, or set gap_policy to allow_explicit.";
                return Err(refuse(number, "leaves a gap before it", fix));
            }
            _ => {
                let fix = "Sort the ranges and let each begin where the previous one ends.";
                return Err(refuse(number, "begins before the previous one ends", fix));
            }
        }
        previous = Some(end);
        intervals.push((bound(axis, lower, range.include_lower), bound(axis, upper, range.include_upper)));
    }
    Ok(intervals)
}

/// `number` counts the intervals from 1; a NULL bucket in the manifest's list is not counted.
pub(super) fn refuse(number: usize, what: &str, fix: &str) -> Refusal {
    Refusal::new(Code::RangeInvalid, format!("interval {number} {what}")).at(format!("{PLACE}.ranges")).fix(fix)
}

/// The position of a bound, or of its neighbour above.
fn position(
    axis: &Axis,
    value: Option<&Value>,
    next: bool,
    number: usize,
    which: &str,
) -> Result<Option<i128>, Refusal> {
    let Some(value) = value else { return Ok(None) };
    let Some(position) = axis.position(value) else {
        let what = format!("has {which} bound that is not a value of the column's type");
        return Err(refuse(number, &what, "State a value that the column can hold exactly."));
    };
    // Above the greatest uuid there is nothing: an end that includes it is open.
    Ok(position.checked_add(i128::from(next)))
}

/// The bound in the column's own form (decimal scale, fractional digits), so that it compares with its keys.
fn bound(axis: &Axis, value: Option<&Value>, inclusive: bool) -> Bound {
    match value.and_then(|value| axis.position(value)).map(|position| axis.value(position)) {
        None => Bound::Open,
        Some(value) if inclusive => Bound::Inclusive(value),
        Some(value) => Bound::Exclusive(value),
    }
}
