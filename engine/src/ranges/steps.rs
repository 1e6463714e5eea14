//! Cuts from a distribution: ranges that hold about as many rows each.

use super::axis::Axis;
use crate::refusal::Refusal;
use crate::schema::{Column, LogicalType};
use crate::value::Value;

use super::plan::{reported, unsupported};
use super::uuid_order::UuidOrder;

/// A point of the range column's distribution as the source describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A key of the source.
    pub key: Value,
    /// How many rows it is estimated to have from this key on, up to the next step's key.
    pub rows: u64,
}

/// The keys at which to cut into at most `units` ranges of about as many rows, none of fewer than `least` if that can be
/// helped.
///
/// A key that alone holds more rows than a range should gets a range of its own: rows with equal keys are never divided.
pub(super) fn cuts(steps: &[Step], units: u32, least: u64) -> Vec<Value> {
    let total: u128 = steps.iter().map(|step| u128::from(step.rows)).sum();
    let most = total / u128::from(least.max(1));
    let units = u128::from(units).min(most.max(1));
    // Rows below each step.
    let prefix: Vec<u128> = steps
        .iter()
        .scan(0_u128, |sum, step| {
            let below = *sum;
            *sum += u128::from(step.rows);
            Some(below)
        })
        .collect();
    let mut chosen: Vec<usize> = (1..units)
        .filter_map(|k| {
            let target = total * k / units;
            let at = prefix.partition_point(|below| *below < target);
            let nearest = |i: &usize| prefix.get(*i).map(|below| below.abs_diff(target));
            [at.checked_sub(1), Some(at)]
                .into_iter()
                .flatten()
                .filter(|i| *i > 0 && *i < steps.len())
                .min_by_key(nearest)
        })
        .collect();
    chosen.dedup();
    chosen.into_iter().filter_map(|i| steps.get(i)).map(|step| step.key.clone()).collect()
}

/// Checks that the steps are keys of the column and, where their order is known here, sorted without a repetition.
pub(super) fn check(column: &Column, steps: &[Step], uuids: UuidOrder) -> Result<(), Refusal> {
    let unsorted = || {
        let text = format!("the source's distribution of \"{}\" is not sorted", column.name);
        Refusal::new(crate::codes::Code::RangeInvalid, text).at(format!("{}.planner.mode", super::plan::PLACE))
    };
    if let Some(axis) = Axis::of(&column.ty, uuids) {
        let positions: Vec<i128> =
            steps.iter().map(|step| reported(&axis, &step.key, column)).collect::<Result<_, _>>()?;
        return if positions.is_sorted_by(|a, b| a < b) { Ok(()) } else { Err(unsorted()) };
    }
    // Texts are in the source's own order, which is not known here.
    let of_type = |step: &Step| match column.ty {
        LogicalType::Float { .. } => matches!(step.key, Value::Float(_)),
        LogicalType::Text => matches!(step.key, Value::Text(_)),
        _ => false,
    };
    if !steps.iter().all(of_type) {
        return Err(unsupported(&column.name, &column.ty));
    }
    let sorted = match column.ty {
        LogicalType::Text => steps.windows(2).all(|pair| pair[0].key != pair[1].key),
        _ => steps.is_sorted_by(|a, b| a.key < b.key),
    };
    if sorted { Ok(()) } else { Err(unsorted()) }
}
