//! From the manifest's range policy to what the planner works from.

use super::explicit::refuse;
use super::parse::parse_value;
use super::plan::{MAX_UNITS, PLACE, Split, StatedRange, unsupported};
use crate::codes::Code;
use crate::manifest::{BoundaryText, BoundaryType, Bounds, RangeCount, RangePolicy};
use crate::refusal::Refusal;
use crate::schema::{Column, LogicalType};
use crate::value::Value;

use super::steps::Step;
use super::uuid_order::UuidOrder;

/// What the source said about the range column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyFacts {
    /// The smallest and the largest key that is neither NULL, NaN nor infinite; `None` if there is none.
    pub extent: Option<(Value, Value)>,
    /// How many rows the table has, exactly or by estimate; used only to choose the number of ranges.
    pub rows: Option<u64>,
    /// The distribution of the keys in the source's own order, where the cuts are to be taken from it; an empty one if no
    /// row has a key.
    pub steps: Option<Vec<Step>>,
    /// How it sorts UUIDs.
    pub uuid_order: UuidOrder,
}

/// How the policy cuts that column.
///
/// # Errors
/// `unsupported_boundary_type` if the policy names another family than the column's type has; `range_invalid` if a
/// bound is not exactly a value of that type.
pub fn split_of(policy: &RangePolicy, column: &Column, facts: &KeyFacts) -> Result<Split, Refusal> {
    if !is_of(policy.boundary_type, column) {
        let text = format!("\"{}\" is {}, not {}", column.name, column.ty, policy.boundary_type);
        return Err(Refusal::new(Code::UnsupportedBoundaryType, text)
            .at(format!("{PLACE}.planner.boundary_type"))
            .fix("Set boundary_type to auto."));
    }
    let units = policy.units(facts.rows);
    let stated = !matches!(policy.bounds, Bounds::Auto);
    if column.ty == LogicalType::Uuid && facts.uuid_order == UuidOrder::Unknown && (units != 1 || stated) {
        return Err(unsupported(&column.name, &column.ty));
    }
    let between = matches!(policy.bounds, Bounds::Between { .. });
    if column.ty == LogicalType::Uuid && facts.uuid_order == UuidOrder::SqlServer && between {
        let text = format!("\"{}\" is {}, and nothing lies evenly between two of its values", column.name, column.ty);
        return Err(Refusal::new(Code::UnsupportedBoundaryType, text)
            .at(format!("{PLACE}.bounds"))
            .fix("Use bounds: auto, which asks the source for its quantiles, or state every range under ranges."));
    }
    let parse = |text: &BoundaryText| match boundary(column, &text.0) {
        Err(refusal) if refusal.code == Code::UnsupportedBoundaryType => Err(unsupported(&column.name, &column.ty)),
        parsed => parsed,
    };
    match &policy.bounds {
        Bounds::Auto if facts.steps.is_some() => {
            let steps = facts.steps.clone().unwrap_or_default();
            Ok(Split::Steps { steps, units, least: policy.planner.min_partition_rows })
        }
        Bounds::Auto => Ok(Split::Auto { extent: facts.extent.clone(), units }),
        Bounds::Between { lower, upper } => {
            let lower = parse(lower).map_err(|refusal| refusal.at(format!("{PLACE}.bounds.lower")))?;
            let upper = parse(upper).map_err(|refusal| refusal.at(format!("{PLACE}.bounds.upper")))?;
            Ok(Split::Between { lower, upper, units, role: policy.bounds_role })
        }
        Bounds::Explicit { ranges, null } => {
            let stated = (1..).zip(ranges).map(|(number, range)| {
                let value = |text: &Option<BoundaryText>, which: &str| {
                    text.as_ref().map(parse).transpose().map_err(|refusal| match refusal.code {
                        Code::RangeInvalid => {
                            let what = format!("has {which} bound that is not exactly a value of type {}", column.ty);
                            refuse(number, &what, refusal.fix.as_deref().unwrap_or_default())
                        }
                        _ => refusal,
                    })
                };
                Ok(StatedRange {
                    lower: value(&range.lower, "lower")?,
                    upper: value(&range.upper, "upper")?,
                    include_lower: range.include_lower,
                    include_upper: range.include_upper,
                })
            });
            let ranges = stated.collect::<Result<_, Refusal>>()?;
            Ok(Split::Explicit { ranges, gaps: policy.gap_policy, null: *null })
        }
    }
}

impl RangePolicy {
    /// How many ranges are asked for of a source of that many rows, where intervals are not stated.
    pub fn units(&self, rows: Option<u64>) -> u32 {
        match self.count {
            RangeCount::Fixed(units) => units,
            RangeCount::TargetRows { rows: each, max } => wanted(each, max, rows),
        }
    }
}

/// As many ranges as hold about `per_range` rows each; the most that are allowed if the rows are not counted.
fn wanted(per_range: u64, max: u32, rows: Option<u64>) -> u32 {
    let max = max.clamp(1, MAX_UNITS);
    let Some(rows) = rows else { return max };
    u32::try_from(rows.div_ceil(per_range.max(1))).unwrap_or(max).clamp(1, max)
}

/// A stated boundary. A rowversion is a number that SQL Server writes as eight bytes in hexadecimal.
fn boundary(column: &Column, text: &str) -> Result<Value, Refusal> {
    let bytes = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).filter(|_| is_rowversion(column));
    let number = bytes
        .filter(|digits| (1..=16).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    match number {
        Some(number) => Ok(Value::Int(i128::from(number))),
        None => parse_value(&column.ty, text),
    }
}

/// A column whose values the source counts up with every change, in eight bytes.
fn is_rowversion(column: &Column) -> bool {
    column.ty == (LogicalType::UInt { bits: 64 }) && matches!(column.declared.as_str(), "rowversion" | "timestamp")
}

fn is_of(family: BoundaryType, column: &Column) -> bool {
    let ty = &column.ty;
    let integer = matches!(ty, LogicalType::Int { .. } | LogicalType::UInt { .. });
    let decimal = matches!(ty, LogicalType::Decimal { .. });
    match family {
        BoundaryType::Auto => true,
        BoundaryType::Numeric => integer || decimal,
        BoundaryType::Integer => integer,
        BoundaryType::Decimal => decimal,
        BoundaryType::Date => matches!(ty, LogicalType::Date),
        BoundaryType::Timestamp => matches!(ty, LogicalType::Timestamp { .. }),
        BoundaryType::Uniqueidentifier => matches!(ty, LogicalType::Uuid),
        BoundaryType::Text => matches!(ty, LogicalType::Text),
        BoundaryType::Rowversion => is_rowversion(column),
    }
}
