//! What staging holds, read back as the server's text: no Parquet is looked at here, and no binary form.

use std::collections::BTreeMap;

use dpone_engine::codes::Code;
use dpone_engine::manifest::Fidelity;
use dpone_engine::ports::StagedUnit;
use dpone_engine::profile::{RowProfiler, UnitProfile};
use dpone_engine::run::Why;
use dpone_engine::schema::{Column, LogicalType};

use super::check::Checks;
use super::line::{Field, fields, read};
use super::session::{Step, rows, why};
use super::text;
use crate::postgres::{CopyOut, Session, quote_ident, quote_literal};

/// Bytes that reading takes besides the row at hand.
const BASE: u64 = 256 << 10;
/// Bytes of a profile, per column.
const PER_COLUMN: u64 = 512;

/// The units of one staging table, each by the transaction that loaded it.
type Units<'a> = Vec<(u32, &'a StagedUnit)>;

/// The profile of every unit, in their order.
pub(super) fn profiles(session: &mut Session, checks: &Checks<'_>) -> Step<Vec<UnitProfile>> {
    let each = PER_COLUMN * (checks.schema.columns.len() as u64 + 1);
    let at_once = usize::try_from(checks.grant / 4 / each).unwrap_or(usize::MAX).max(1);
    let mut found = BTreeMap::new();
    for staging in &checks.staged.staging {
        let units: Vec<&StagedUnit> = checks.staged.units.iter().filter(|u| u.staging == *staging).collect();
        for units in units.chunks(at_once) {
            let units = loaded_by(session, checks, units)?;
            for ((_, unit), profile) in units.iter().zip(scan(session, checks, staging, &units)?) {
                found.insert(unit.unit, profile);
            }
        }
    }
    let missing = || Why::fatal(Code::LoadFailed, "a unit is in no staging table");
    checks.staged.units.iter().map(|u| found.remove(&u.unit).ok_or_else(missing)).collect()
}

/// A load and its row are of one transaction, and every row says which that was.
fn loaded_by<'a>(session: &mut Session, checks: &Checks<'_>, units: &[&'a StagedUnit]) -> Step<Units<'a>> {
    let loads: Vec<String> = units.iter().map(|u| quote_literal(&u.load)).collect();
    let (books, loads) = (checks.place.loads(), loads.join(", "));
    let mut transactions: BTreeMap<String, u32> = BTreeMap::new();
    for row in rows(session, &format!("SELECT load, xmin FROM {books} WHERE load IN ({loads})"))? {
        if let [Some(load), Some(transaction)] = row.as_slice()
            && let Ok(transaction) = transaction.parse()
        {
            transactions.insert(load.clone(), transaction);
        }
    }
    let missing = || Why::fatal(Code::LoadFailed, "a load that was confirmed has no row in the target's books");
    units.iter().map(|unit| Ok((*transactions.get(&unit.load).ok_or_else(missing)?, *unit))).collect()
}

/// Reads a staging table once and profiles the rows of those units.
fn scan(session: &mut Session, checks: &Checks<'_>, staging: &str, units: &Units<'_>) -> Step<Vec<UnitProfile>> {
    let quality = checks.quality.fidelity;
    let whole = quality >= Fidelity::Columns;
    let columns: &[Column] = if whole { &checks.schema.columns } else { &[] };
    let list: String = columns.iter().map(|column| format!(", {}", expression(column))).collect();
    let transactions: Vec<String> = units.iter().map(|(transaction, _)| transaction.to_string()).collect();
    let sql = format!(
        "COPY (SELECT xmin{list} FROM {} WHERE xmin = ANY ('{{{}}}'::xid[])) TO STDOUT",
        checks.place.beside(staging),
        transactions.join(",")
    );
    let mut profilers: Vec<RowProfiler> = units.iter().map(|_| RowProfiler::new(checks.schema, quality)).collect();
    let mut copy = session.copy_out(&sql).map_err(|e| why(&e))?;
    let (mut row, mut room, mut at) = (Vec::new(), Room::default(), 0);
    while let Some(length) = copy.next_frame().map_err(|e| why(&e))? {
        admitted(length, checks.grant)?;
        let row = frame(&mut copy, length, &mut row)?;
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        let mut fields = fields(row);
        let transaction = fields.next().and_then(text::unsigned);
        // Rows of one load lie side by side.
        if transaction != units.get(at).map(|(transaction, _)| u64::from(*transaction)) {
            at = units.iter().position(|(t, _)| Some(u64::from(*t)) == transaction).ok_or_else(shape)?;
        }
        let profiler = profilers.get_mut(at).ok_or_else(shape)?;
        for column in columns {
            see(profiler, column, fields.next().ok_or_else(shape)?, &mut room)?;
        }
        if fields.next().is_some() {
            return Err(shape());
        }
        profiler.end_row();
    }
    profilers.iter().map(|p| p.finish().map_err(|r| Why::fatal(r.code, r.message))).collect()
}

/// A float is written as its bits: no text of one has them all.
fn expression(column: &Column) -> String {
    let name = quote_ident(&column.name);
    match column.ty {
        LogicalType::Float { bits: 32 } => format!("float4send({name})"),
        LogicalType::Float { .. } => format!("float8send({name})"),
        _ => name,
    }
}

/// A row may be there three times: as it came, a text without its escapes, and bytes without their digits.
fn admitted(length: u32, grant: u64) -> Step<()> {
    let taken = 3 * u64::from(length) + BASE + grant / 4;
    if taken <= grant {
        return Ok(());
    }
    let detail = format!("a row of staging takes {taken} bytes and {grant} are granted");
    Err(Why::fatal(Code::BudgetTooSmall, detail))
}

/// The frame at hand, where it lies or in `room`.
fn frame<'a>(copy: &'a mut CopyOut<'_>, length: u32, room: &'a mut Vec<u8>) -> Step<&'a [u8]> {
    if length <= SHORT {
        return match copy.whole() {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(shape()),
            Err(error) => Err(why(&error)),
        };
    }
    room.clear();
    room.reserve_exact(length as usize);
    room.resize(length as usize, 0);
    copy.read_exact(room).map_err(|e| why(&e))?;
    Ok(room)
}

/// Frames up to this length lie whole in the connection's read-ahead.
const SHORT: u32 = 64 << 10;

#[derive(Default)]
struct Room {
    unescaped: Vec<u8>,
    bytes: Vec<u8>,
}

/// Shows one field to the profiler, as the value that its column's type reads it as.
fn see(profiler: &mut RowProfiler, column: &Column, field: &[u8], room: &mut Room) -> Step<()> {
    let seen = match read(field, &mut room.unescaped) {
        Some(Field::Null) => {
            profiler.null();
            Some(())
        }
        Some(Field::Value(value)) => value_of(profiler, &column.ty, value, &mut room.bytes),
        None => None,
    };
    seen.ok_or_else(|| {
        let detail = format!("column {:?} of staging holds something that is not {}", column.name, column.ty);
        Why::fatal(Code::FidelityMismatch, detail)
    })
}

fn value_of(profiler: &mut RowProfiler, ty: &LogicalType, value: &[u8], room: &mut Vec<u8>) -> Option<()> {
    match ty {
        LogicalType::Bool => profiler.bool(match value {
            b"t" => true,
            b"f" => false,
            _ => return None,
        }),
        LogicalType::Int { .. } => profiler.int(text::integer(value)?),
        LogicalType::UInt { .. } => profiler.uint(text::unsigned(value)?),
        LogicalType::Float { bits: 32 } => {
            text::bytes(value, room)?;
            profiler.float32(f32::from_bits(u32::from_be_bytes(room.as_slice().try_into().ok()?)));
        }
        LogicalType::Float { .. } => {
            text::bytes(value, room)?;
            profiler.float64(f64::from_bits(u64::from_be_bytes(room.as_slice().try_into().ok()?)));
        }
        LogicalType::Decimal { precision: ..=38, scale } => profiler.decimal(text::decimal(value, *scale)?),
        LogicalType::Decimal { scale, .. } => profiler.wide_decimal(&text::wide_decimal(value, *scale)?),
        LogicalType::Date => profiler.date(text::date(value)?),
        LogicalType::Time { digits } => profiler.ticks(text::time(value, *digits)?),
        LogicalType::Timestamp { digits, utc } => profiler.ticks(text::timestamp(value, *digits, *utc)?),
        LogicalType::Text => profiler.text(std::str::from_utf8(value).ok()?),
        LogicalType::Binary => {
            text::bytes(value, room)?;
            profiler.binary(room);
        }
        LogicalType::Uuid => profiler.uuid(&text::uuid(value)?),
    }
    Some(())
}

fn shape() -> Why {
    Why::fatal(Code::FidelityMismatch, "a row of staging is not of the planned columns")
}
