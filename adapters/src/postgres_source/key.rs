//! What the range column holds.

use dpone_engine::codes::Code;
use dpone_engine::manifest::PlannerMode;
use dpone_engine::ranges::{Bound, KeyFacts, Scope, UuidOrder};
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::explain::explain;
use super::facts::CatalogTable;
use super::keys::{admitted, is_even, value, written};
use super::literal::text;
use super::quantiles::quantiles;
use super::refused::refused;
use super::request::RangePlanner;
use super::resolve::{Key, Resolved};
use super::statistics::statistics;
use super::types::oids;
use crate::postgres::{PgError, Session};

const PLACE: &str = "source.options.partitioning.column";

/// What the planner is to work from, and whether ranges of the key can be sought.
///
/// # Errors
/// `source_stats_low_confidence` and `unsupported_boundary_type` are for the plan to judge; any other is final.
pub(super) fn key_facts(
    session: &mut Session,
    resolved: &Resolved,
    key: &Key,
    planner: &RangePlanner,
    rows: Option<u64>,
) -> Result<(KeyFacts, bool), Refusal> {
    let failed = |e: PgError| refused(&e, &format!("the keys of \"{}\" cannot be read", key.column.name), PLACE);
    let mut facts = KeyFacts { rows, uuid_order: UuidOrder::Bytes, ..KeyFacts::default() };
    if planner.mode == PlannerMode::Ctid {
        facts.extent = blocks(session, resolved).map_err(failed)?;
        // Older servers read the whole table for a range of places.
        return Ok((facts, session.server_version() >= 140_000));
    }
    let sought = is_sought(session, resolved, key).map_err(failed)?;
    if !planner.wanted {
        return Ok((facts, sought));
    }
    let from_statistics = planner.mode == PlannerMode::Statistics || planner.split_hot || !is_even(key);
    if from_statistics && planner.mode != PlannerMode::Bounds {
        facts.steps = statistics(session, resolved, key).map_err(failed)?;
    }
    if facts.steps.is_some() {
        return Ok((facts, sought));
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
        _ if is_even(key) => facts.extent = extent(session, resolved, key).map_err(failed)?,
        _ => facts.steps = Some(quantiles(session, resolved, key, planner.units, rows).map_err(failed)?),
    }
    Ok((facts, sought))
}

fn no_statistics(key: &Key) -> Refusal {
    let text = format!("there are no statistics of \"{}\" that can be trusted", key.column.name);
    Refusal::new(Code::SourceStatsLowConfidence, text)
        .at("source.options.partitioning.planner.mode")
        .fix("Run ANALYZE on the table, or use planner.mode: auto.")
}

/// The first and the last block.
fn blocks(session: &mut Session, resolved: &Resolved) -> Result<Option<(Value, Value)>, PgError> {
    let Some(table) = &resolved.table else { return Ok(None) };
    let sql = format!(
        "SELECT pg_catalog.pg_relation_size({}) / pg_catalog.current_setting('block_size')::pg_catalog.int8",
        table.oid
    );
    let rows = session.query(&sql)?;
    let blocks: i128 = rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok()).unwrap_or(0);
    Ok((blocks > 0).then(|| (Value::Int(0), Value::Int((blocks - 1).min(i128::from(u32::MAX))))))
}

/// The least and the greatest key that can place a cut.
fn extent(session: &mut Session, resolved: &Resolved, key: &Key) -> Result<Option<(Value, Value)>, PgError> {
    let (column, from) = (&key.sql.expression, &resolved.sql.from);
    let sql = if key.oid == oids::UUID {
        // Older servers have no least uuid.
        let one = |order: &str| {
            format!("(SELECT {column} FROM {from} WHERE {column} IS NOT NULL ORDER BY {column} {order} LIMIT 1)")
        };
        format!("SELECT {}, {}", written(key, &one("ASC")), written(key, &one("DESC")))
    } else {
        let condition = admitted(key, column).map(|c| format!(" WHERE {c}")).unwrap_or_default();
        let one = |function: &str| written(key, &format!("pg_catalog.{function}({column})"));
        format!("SELECT {}, {} FROM {from}{condition}", one("min"), one("max"))
    };
    let rows = session.query(&sql)?;
    let cell = |i: usize| rows.first().and_then(|row| row.get(i)?.as_deref());
    let (Some(least), Some(greatest)) = (cell(0), cell(1)) else { return Ok(None) };
    match (value(key, least), value(key, greatest)) {
        (Some(least), Some(greatest)) => Ok(Some((least, greatest))),
        _ => Err(PgError::protocol("the server's least and greatest key are not values of the column's type")),
    }
}

/// Whether an interval of the key is sought in an index, or leaves out whole partitions.
fn is_sought(session: &mut Session, resolved: &Resolved, key: &Key) -> Result<bool, PgError> {
    match &resolved.table {
        Some(table) if matches!(table.kind, 'r' | 'm' | 'p') && (table.kind == 'p' || !table.has_children) => {
            leads_an_index(session, table, &key.column.name)
        }
        _ => {
            let (low, high) = neighbours(&key.column.ty);
            let scope = Scope::Interval { lower: Bound::Inclusive(low), upper: Bound::Exclusive(high) };
            // On a table of a few rows the planner would not use an index that it uses once there are more.
            session.execute("SET LOCAL enable_seqscan = off")?;
            let explained = explain(session, &resolved.sql.rows(&scope))?;
            session.execute("SET LOCAL enable_seqscan = on")?;
            Ok(explained.sought)
        }
    }
}

fn leads_an_index(session: &mut Session, table: &CatalogTable, column: &str) -> Result<bool, PgError> {
    let (oid, column) = (table.oid, text(column));
    // An index with another order of the same texts is of no use for a range.
    let sql = format!(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_index i \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
         JOIN pg_catalog.pg_opclass o ON o.oid = i.indclass[0] JOIN pg_catalog.pg_am m ON m.oid = o.opcmethod \
         WHERE i.indrelid = {oid} AND a.attname = {column} AND i.indisvalid AND i.indpred IS NULL AND o.opcdefault \
         AND m.amname = 'btree' AND i.indcollation[0] = a.attcollation) \
         OR EXISTS (SELECT FROM pg_catalog.pg_partitioned_table p \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0] \
         WHERE p.partrelid = {oid} AND p.partstrat = 'r' AND a.attname = {column})"
    );
    let rows = session.query(&sql)?;
    Ok(rows.first().and_then(|row| row.first()?.as_deref()) == Some("t"))
}

/// Two values of a type, the first below the second.
fn neighbours(ty: &LogicalType) -> (Value, Value) {
    let pair = |value: fn(i128, u8) -> Value, scale| (value(0, scale), value(1, scale));
    match *ty {
        LogicalType::Decimal { scale, .. } => pair(|unscaled, scale| Value::Decimal { unscaled, scale }, scale),
        LogicalType::Timestamp { digits, .. } => pair(|ticks, digits| Value::Ticks { ticks, digits }, digits),
        LogicalType::Date => (Value::Date(0), Value::Date(1)),
        LogicalType::Float { .. } => (Value::from_f64(0.0), Value::from_f64(1.0)),
        LogicalType::Text => (Value::Text("a".into()), Value::Text("b".into())),
        LogicalType::Uuid => (Value::Uuid([0; 16]), Value::Uuid([1; 16])),
        _ => pair(|v, _| Value::Int(v), 0),
    }
}
