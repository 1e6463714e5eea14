#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod partition;
mod plans;
mod policy;
mod privacy;
mod steps;
mod text;
mod windows;

use super::{Bound, Scope, Split, UnitRange, plan_ranges};
use crate::refusal::Refusal;
use crate::schema::{Column, LogicalType};
use crate::value::Value;

const I64: LogicalType = LogicalType::Int { bits: 64 };

fn column(ty: LogicalType, nullable: bool) -> Column {
    Column { name: "k".into(), ty, nullable, declared: String::new() }
}

fn plan(column: &Column, split: Split) -> Result<Vec<UnitRange>, Refusal> {
    plan_ranges(Some(column), &split)
}

/// `[-2^31, 7)` style text of a plan, for comparison with what a person would write.
fn show(ty: &LogicalType, units: &[UnitRange]) -> Vec<String> {
    let lower = |bound: &Bound| match bound {
        Bound::Open => "(..".to_owned(),
        Bound::Inclusive(v) => format!("[{}", super::render_value(ty, v)),
        Bound::Exclusive(v) => format!("({}", super::render_value(ty, v)),
    };
    let upper = |bound: &Bound| match bound {
        Bound::Open => "..)".to_owned(),
        Bound::Inclusive(v) => format!("{}]", super::render_value(ty, v)),
        Bound::Exclusive(v) => format!("{})", super::render_value(ty, v)),
    };
    units
        .iter()
        .map(|unit| match &unit.scope {
            Scope::WholeTable => "all".to_owned(),
            Scope::Null => "null".to_owned(),
            Scope::Interval { lower: l, upper: u } => format!("{}, {}", lower(l), upper(u)),
        })
        .collect()
}

fn int(v: i128) -> Value {
    Value::Int(v)
}
