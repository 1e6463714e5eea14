//! Gates and profile of what staging holds, read back through SQLite: no Parquet is looked at here.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Fidelity, Quality};
use dpone_engine::ports::{Staged, StagedUnit};
use dpone_engine::profile::{RowProfiler, UnitProfile};
use dpone_engine::run::effect::GateResult;
use dpone_engine::run::{Receipt, Why};
use dpone_engine::schema::{Column, LogicalType, Schema};
use dpone_engine::value::Value;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use super::database::{Step, open, why};
use super::ddl::{columns, quote, rowid};
use super::load::no_rowid;
use super::moment;
use crate::unique::{Keys, any_twice, spill_failed};

/// Everything the check is told.
pub(super) struct Checks<'a> {
    pub(super) schema: &'a Schema,
    pub(super) quality: &'a Quality,
    /// The merge key; empty for other strategies.
    pub(super) merge_key: &'a [String],
    pub(super) staged: &'a Staged,
    /// Where keys are sorted that do not fit into memory.
    pub(super) work_dir: &'a Path,
    /// Bytes that the check may take.
    pub(super) grant: u64,
}

/// Runs every gate and profiles every unit.
pub(super) fn check(path: &Path, checks: &Checks<'_>) -> Step<Receipt> {
    let db = open(path)?;
    let profile = checks.quality.fidelity > Fidelity::Off;
    let units = checks.staged.units.iter().filter(|_| profile);
    let units: Vec<UnitProfile> = units.map(|unit| unit_profile(&db, checks, unit)).collect::<Result<_, _>>()?;
    Ok(Receipt::Checked { gates: gates(&db, checks)?, units })
}

fn gates(db: &Connection, checks: &Checks<'_>) -> Step<Vec<GateResult>> {
    let mut results = Vec::new();
    let mut gate = |gate: String, failed: Option<Why>| results.push(GateResult { gate, failed });
    let everything = union(checks);
    let count = |sql: String| -> Step<u64> { db.query_row(&sql, [], |r| r.get(0)).map_err(|e| why(&e)) };
    let rows: u64 = count(format!("SELECT count(*) FROM ({everything})"))?;
    let promised: u64 = checks.staged.units.iter().map(|u| u.rows).sum();
    let detail = format!("{promised} rows were confirmed and staging holds {rows}");
    gate("staged_rows".to_owned(), (rows != promised).then(|| Why::fatal(Code::LoadCountMismatch, detail)));
    let least = checks.quality.min_rows;
    let detail = format!("{rows} rows, and at least {least} are demanded");
    gate("min_rows".to_owned(), (rows < least).then(|| Why::fatal(Code::QualityMinRows, detail)));
    for name in &checks.quality.not_null {
        let column = quote(name);
        let nulls = count(format!("SELECT count(*) FROM ({everything}) WHERE {column} IS NULL"))?;
        let detail = format!("column {name:?} holds {nulls} NULLs");
        gate(format!("not_null({name})"), (nulls > 0).then(|| Why::fatal(Code::QualityNotNull, detail)));
    }
    for name in &checks.quality.unique {
        let twice = holds_twice(db, checks, &everything, std::slice::from_ref(name))?;
        let detail = format!("column {name:?} holds a value more than once");
        gate(format!("unique({name})"), twice.then(|| Why::fatal(Code::QualityUnique, detail)));
    }
    if !checks.merge_key.is_empty() {
        let key = checks.merge_key.join(", ");
        let twice = holds_twice(db, checks, &everything, checks.merge_key)?;
        let absent: Vec<String> = checks.merge_key.iter().map(|k| format!("{} IS NULL", quote(k))).collect();
        let nulls = count(format!("SELECT count(*) FROM ({everything}) WHERE {}", absent.join(" OR ")))?;
        let more = if twice { "a value more than once" } else { "no value more than once" };
        let detail = format!("key ({key}) holds {more} and {nulls} rows with NULL");
        let failed = twice || nulls > 0;
        gate(format!("merge_key({key})"), failed.then(|| Why::fatal(Code::MergeKeyNotUnique, detail)));
    }
    Ok(results)
}

/// Whether any key occurs twice; one with a NULL in it equals nothing. SQLite would sort in a folder of its own choosing.
fn holds_twice(db: &Connection, checks: &Checks<'_>, everything: &str, key: &[String]) -> Step<bool> {
    let columns: Vec<String> = key.iter().map(|k| quote(k)).collect();
    let sql = format!("SELECT {} FROM ({everything})", columns.join(", "));
    let mut statement = db.prepare(&sql).map_err(|e| why(&e))?;
    let mut rows = statement.raw_query();
    let mut keys = Keys::new(checks.work_dir, checks.grant / 2);
    while let Some(row) = rows.next().map_err(|e| why(&e))? {
        let values: Vec<ValueRef<'_>> =
            (0..key.len()).map(|at| row.get_ref(at)).collect::<Result<_, _>>().map_err(|e| why(&e))?;
        keys.add(|to| values.iter().all(|value| part(*value, to))).map_err(|e| spill_failed(&e))?;
    }
    any_twice(vec![keys]).map_err(|e| spill_failed(&e))
}

/// Appends one column of a key: bytes that are equal exactly for equal values, and tell where they end. False for NULL.
fn part(value: ValueRef<'_>, to: &mut Vec<u8>) -> bool {
    let (kind, long) = match value {
        ValueRef::Null => return false,
        // Staging's columns have one type each, so that an integer never meets the real that equals it.
        ValueRef::Integer(v) => {
            to.push(1);
            to.extend(v.to_be_bytes());
            return true;
        }
        ValueRef::Real(v) => {
            to.push(2);
            to.extend((v + 0.0).to_bits().to_be_bytes());
            return true;
        }
        ValueRef::Text(v) => (3, v),
        ValueRef::Blob(v) => (4, v),
    };
    to.push(kind);
    to.extend((long.len() as u64).to_be_bytes());
    to.extend(long);
    true
}

fn union(checks: &Checks<'_>) -> String {
    let columns = columns(checks.schema);
    let parts: Vec<String> =
        checks.staged.staging.iter().map(|s| format!("SELECT {columns} FROM {}", quote(s))).collect();
    parts.join(" UNION ALL ")
}

/// The profile of the rows that one load put into staging.
fn unit_profile(db: &Connection, checks: &Checks<'_>, unit: &StagedUnit) -> Step<UnitProfile> {
    let (first, last): (i64, i64) = db
        .query_row("SELECT first, last FROM __dpone_load WHERE load = ?1", [&unit.load], |r| Ok((r.get(0)?, r.get(1)?)))
        .map_err(|e| why(&e))?;
    let rowid = rowid(checks.schema).ok_or_else(no_rowid)?;
    let (columns, staging) = (columns(checks.schema), quote(&unit.staging));
    let sql = format!("SELECT {columns} FROM {staging} WHERE {rowid} BETWEEN ?1 AND ?2");
    let mut statement = db.prepare(&sql).map_err(|e| why(&e))?;
    let mut rows = statement.query(params![first, last]).map_err(|e| why(&e))?;
    let mut profiler = RowProfiler::new(checks.schema, checks.quality.fidelity);
    while let Some(row) = rows.next().map_err(|e| why(&e))? {
        for (at, column) in checks.schema.columns.iter().enumerate() {
            see(&mut profiler, column, row.get_ref(at).map_err(|e| why(&e))?)?;
        }
        profiler.end_row();
    }
    profiler.finish().map_err(|r| Why::fatal(r.code, r.message))
}

/// Shows one stored cell to the profiler, as the value that its column's type reads it as.
fn see(profiler: &mut RowProfiler, column: &Column, value: ValueRef<'_>) -> Step<()> {
    let differs = || {
        let detail = format!("column {:?} of staging holds something that is not {}", column.name, column.ty);
        Why::fatal(Code::FidelityMismatch, detail)
    };
    match (&column.ty, value) {
        (_, ValueRef::Null) => profiler.null(),
        (LogicalType::Bool, ValueRef::Integer(v @ 0..=1)) => profiler.bool(v == 1),
        (LogicalType::Int { .. }, ValueRef::Integer(v)) => profiler.int(v),
        (LogicalType::UInt { .. }, ValueRef::Integer(v)) => profiler.uint(u64::try_from(v).map_err(|_| differs())?),
        (LogicalType::Float { bits: 32 }, ValueRef::Real(v)) => {
            let narrow = v as f32;
            if f64::from(narrow) != v {
                return Err(differs());
            }
            profiler.float32(narrow);
        }
        (LogicalType::Float { .. }, ValueRef::Real(v)) => profiler.float64(v),
        (LogicalType::Text, ValueRef::Text(v)) => profiler.text(std::str::from_utf8(v).map_err(|_| differs())?),
        (LogicalType::Binary, ValueRef::Blob(v)) => profiler.binary(v),
        (ty, ValueRef::Text(v)) => match moment::read(ty, v).ok_or_else(differs)? {
            Value::Date(days) => profiler.date(days),
            Value::Decimal { unscaled, .. } => profiler.decimal(unscaled),
            Value::Ticks { ticks, .. } => profiler.ticks(i64::try_from(ticks).map_err(|_| differs())?),
            Value::Uuid(bytes) => profiler.uuid(&bytes),
            _ => return Err(differs()),
        },
        _ => return Err(differs()),
    }
    Ok(())
}
