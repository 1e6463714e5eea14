//! What the range column holds.

use dpone_engine::codes::Code;
use dpone_engine::manifest::PlannerMode;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::ranges::{KeyFacts, UuidOrder};
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::Ask;
use super::catalog::strange;
use super::keys::{is_even, value, written};
use super::quantiles::quantiles;
use super::refused::refused;
use super::statistics::statistics;
use super::uuid_order::is_known;
use crate::odbc::OdbcError;
use crate::odbc_source::{Key, KeySql, RangePlanner, RelationSql, Resolved};

const PLACE: &str = "source.options.partitioning.column";

/// What the planner is to work from. Reads keys of the range column, never rows.
///
/// # Errors
/// `source_stats_low_confidence` and `unsupported_boundary_type` are for the plan to judge; any other is final.
pub fn key_facts(ask: &mut impl Ask, resolved: &Resolved, planner: &RangePlanner) -> Result<KeyFacts, Refusal> {
    let mut facts = KeyFacts { rows: resolved.rows, ..KeyFacts::default() };
    let (Some(key), Some(sql)) = (&resolved.key, &resolved.sql.key) else { return Ok(facts) };
    let failed = |e: OdbcError| refused(&e, &format!("the keys of \"{}\" cannot be read", key.column.name), PLACE);
    if key.column.ty == LogicalType::Uuid {
        if !is_known(ask).map_err(failed)? {
            let text = "the server does not sort uniqueidentifier as SQL Server is known to";
            return Err(Refusal::new(Code::UnsupportedBoundaryType, text).at(PLACE).fix("Split by another column."));
        }
        facts.uuid_order = UuidOrder::SqlServer;
    }
    if !planner.wanted {
        return Ok(facts);
    }
    let from_statistics = planner.mode == PlannerMode::Statistics || planner.split_hot || !is_even(key);
    if from_statistics && planner.mode != PlannerMode::Bounds && resolved.kind == RelationKind::Table {
        facts.steps = statistics(ask, resolved, key).map_err(failed)?;
    }
    if facts.steps.is_some() {
        return Ok(facts);
    }
    match planner.mode {
        PlannerMode::Statistics => return Err(no_statistics(key)),
        PlannerMode::Bounds if !is_even(key) => {
            let text =
                format!("\"{}\" is {}, whose least and greatest value place no cuts", key.column.name, key.column.ty);
            return Err(Refusal::new(Code::UnsupportedBoundaryType, text)
                .at("source.options.partitioning.planner.mode")
                .fix("Use planner.mode: auto."));
        }
        _ if is_even(key) => facts.extent = extent(ask, resolved, key, sql).map_err(failed)?,
        _ => facts.steps = Some(quantiles(ask, resolved, key, sql, planner.units).map_err(failed)?),
    }
    Ok(facts)
}

fn no_statistics(key: &Key) -> Refusal {
    let text = format!("there are no statistics of \"{}\" that can be trusted", key.column.name);
    Refusal::new(Code::SourceStatsLowConfidence, text)
        .at("source.options.partitioning.planner.mode")
        .fix("Run UPDATE STATISTICS on the table, or use planner.mode: auto.")
}

/// The least and the greatest key: two questions, so that each is one row of an index. `MIN` does not take every type that
/// can be sorted.
fn extent(
    ask: &mut impl Ask,
    resolved: &Resolved,
    key: &Key,
    sql: &KeySql,
) -> Result<Option<(Value, Value)>, OdbcError> {
    let (column, RelationSql { prefix, from, .. }) = (&sql.expression, &resolved.sql);
    let mut one = |order: &str| {
        let asked = format!(
            "{prefix}SELECT TOP (1) {} FROM {from} WHERE {column} IS NOT NULL ORDER BY {column} {order}",
            written(key, column)
        );
        let rows = ask.ask(&asked)?;
        let cell = rows.first().and_then(|row| row.first()?.as_deref());
        cell.map(|text| value(key, text).ok_or_else(strange)).transpose()
    };
    Ok(one("ASC")?.zip(one("DESC")?))
}
