//! What the range column holds.

use dpone_engine::codes::Code;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::ranges::{Bound, KeyFacts, Scope};
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error};

use super::convert::{Cell, Fault, Scratch, class};
use super::declared::Affinity;
use super::relation::RelationSql;
use super::resolve::{Key, Resolved};

const PLACE: &str = "source.options.partitioning.column";

/// The extremes of the range column, each checked to be of its type, and whether ranges of it can be sought.
pub(super) fn key_facts(connection: &Connection, resolved: &Resolved, key: &Key) -> Result<(KeyFacts, bool), Refusal> {
    let failed = |e: Error| {
        let text = format!("the extremes of \"{}\" cannot be read: {}", key.column.name, super::connect::reason(&e));
        Refusal::new(Code::SourceNotFound, text).at(PLACE)
    };
    let indexed = match resolved.kind {
        RelationKind::Table => key.indexed,
        RelationKind::View | RelationKind::Query => {
            is_sought(connection, &resolved.sql, &key.column.ty).map_err(failed)?
        }
    };
    let rows = estimate(connection, resolved).map_err(failed)?;
    if !check_order(key)? {
        return Ok((KeyFacts { rows, ..KeyFacts::default() }, indexed));
    }
    let (Some(min), Some(max)) = (
        extreme(connection, &resolved.sql, key, "min").map_err(failed)?,
        extreme(connection, &resolved.sql, key, "max").map_err(failed)?,
    ) else {
        return Ok((KeyFacts { rows, ..KeyFacts::default() }, indexed));
    };
    Ok((KeyFacts { extent: Some((min?, max?)), rows, ..KeyFacts::default() }, indexed))
}

/// Whether the type has boundaries at all; refuses one whose stored form does not sort as its values do.
fn check_order(key: &Key) -> Result<bool, Refusal> {
    let refuse = |why: &str| {
        Err(Refusal::new(
            Code::UnsupportedBoundaryType,
            format!("\"{}\" cannot be split into ranges: {why}", key.column.name),
        )
        .at(PLACE)
        .fix("Split by a column whose stored form sorts as its values do, such as an integer or a date."))
    };
    match key.column.ty {
        LogicalType::Decimal { .. } if matches!(key.affinity, Affinity::Text | Affinity::Blob) => {
            refuse("its decimals are stored as text, which sorts by characters")
        }
        LogicalType::Timestamp { utc: true, .. } => refuse("texts with time zones do not sort by their instants"),
        LogicalType::Int { .. } | LogicalType::UInt { .. } if key.affinity == Affinity::Text => {
            refuse("its integers are stored as text, which sorts by characters")
        }
        LogicalType::Int { .. }
        | LogicalType::UInt { .. }
        | LogicalType::Decimal { .. }
        | LogicalType::Date
        | LogicalType::Timestamp { .. } => Ok(true),
        LogicalType::Bool
        | LogicalType::Float { .. }
        | LogicalType::Time { .. }
        | LogicalType::Text
        | LogicalType::Binary
        | LogicalType::Uuid => Ok(false),
    }
}

/// The least or greatest key; the outer `None` if there is no key but NULL.
fn extreme(
    connection: &Connection,
    sql: &RelationSql,
    key: &Key,
    function: &str,
) -> Result<Option<Result<Value, Refusal>>, Error> {
    let Some(statement) = sql.extreme(function) else { return Ok(None) };
    connection.query_row(&statement, [], |row| {
        let value = row.get_ref(0)?;
        if value == ValueRef::Null {
            return Ok(None);
        }
        let mut scratch = Scratch::default();
        Ok(Some(match key.conversion.read(value, &mut scratch) {
            Ok(cell) => to_value(cell, &key.column.ty).ok_or_else(|| mismatch(key, function, class(value))),
            Err(Fault::Class(found) | Fault::Value(found)) => Err(mismatch(key, function, found)),
            Err(Fault::Null | Fault::Encoding | Fault::Order) => Err(mismatch(key, function, class(value))),
        }))
    })
}

fn mismatch(key: &Key, function: &str, found: &str) -> Refusal {
    let which = if function == "min" { "smallest" } else { "largest" };
    let text = format!("the {which} value of \"{}\" is {found}, not {}", key.column.name, key.column.ty);
    Refusal::new(Code::SourceValueTypeMismatch, text)
        .at(PLACE)
        .fix("Correct the cell in the source, split by another column, or state the column's real type in `types`.")
}

fn to_value(cell: Cell<'_>, ty: &LogicalType) -> Option<Value> {
    Some(match (cell, ty) {
        (Cell::Int(v), _) => Value::Int(i128::from(v)),
        (Cell::UInt(v), _) => Value::Int(i128::from(v)),
        (Cell::Decimal(unscaled), LogicalType::Decimal { scale, .. }) => Value::Decimal { unscaled, scale: *scale },
        (Cell::Date(days), _) => Value::Date(days),
        (Cell::Ticks(ticks), LogicalType::Timestamp { digits, .. }) => {
            Value::Ticks { ticks: i128::from(ticks), digits: *digits }
        }
        _ => return None,
    })
}

/// Whether SQLite plans a search for an interval of the key, and no full scan before it.
fn is_sought(connection: &Connection, sql: &RelationSql, ty: &LogicalType) -> Result<bool, Error> {
    let scope = Scope::Interval { lower: Bound::Inclusive(Value::Int(0)), upper: Bound::Exclusive(Value::Int(1)) };
    let plan = query_plan(connection, &sql.rows(&scope, Some(ty)).sql)?;
    Ok(plan.first().is_some_and(|first| first.starts_with("SEARCH") && first.contains(">?") && first.contains("<?")))
}

/// SQLite's plan of a statement, one line per step.
pub(super) fn query_plan(connection: &Connection, sql: &str) -> Result<Vec<String>, Error> {
    connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?.raw_query().mapped(|row| row.get(3)).collect()
}

/// How many rows there are, at most: the greatest row number, or what the size of the file allows.
fn estimate(connection: &Connection, resolved: &Resolved) -> Result<Option<u64>, Error> {
    let Some(rowid) = &resolved.sql.rowid else { return Ok(None) };
    let greatest: Option<i64> =
        connection.query_row(&format!("SELECT max({rowid}) FROM {}", resolved.sql.from), [], |row| row.get(0))?;
    let pages: u64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let page: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    // A row takes at least eight bytes of a page.
    let most = pages.saturating_mul(page) / 8;
    Ok(Some(greatest.and_then(|n| u64::try_from(n).ok()).unwrap_or(0).min(most)))
}
