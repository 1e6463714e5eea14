//! The usual way through a unit: row by row, under a limit on cells that SQLite itself keeps.

use dpone_engine::ports::Pull;
use dpone_engine::run::Why;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Error, ErrorCode, Row, Rows};

use super::connect::why;
use super::faults::{Faults, RowPlace};
use super::relation::Select;
use super::work::Work;
use crate::body::Body;

/// What a pull came to.
pub(super) enum Fetched {
    /// An answer.
    Answer(Pull<Body>),
    /// The next row has a cell above the limit; the rows before it are in the answer, if there are any.
    TooLong(Option<Pull<Body>>),
}

/// Binds a statement of a unit to start after `skip` rows.
pub(super) fn bind(statement: &mut rusqlite::Statement<'_>, select: &Select, skip: u64) -> Result<(), Why> {
    for (i, parameter) in select.parameters.iter().enumerate() {
        statement.raw_bind_parameter(i + 1, parameter).map_err(|e| why(&e))?;
    }
    let skip = i64::try_from(skip).unwrap_or(i64::MAX);
    statement.raw_bind_parameter(select.parameters.len() + 1, skip).map_err(|e| why(&e))
}

/// Sets how long a cell may be for SQLite to copy it.
pub(super) fn limit_cells(connection: &Connection, bytes: u64) -> Result<(), Why> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes).map(|_| ()).map_err(|e| why(&e))
}

/// Lets SQLite copy cells of any length: statements are prepared, and lengths measured, without a limit.
pub(super) fn unlimited(connection: &Connection) -> Result<(), Why> {
    limit_cells(connection, i32::MAX as u64)
}

pub(super) fn is_too_long(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::TooBig)
}

/// The row's number, where the statement selects it first, and the position of its first cell.
pub(super) fn number(work: &Work<'_>, row: &Row<'_>) -> Result<(Option<i64>, usize), Why> {
    if work.resolved.sql.rowid.is_none() {
        return Ok((None, 0));
    }
    row.get(0).map(|rowid| (Some(rowid), 1)).map_err(|e| why(&e))
}

/// One pull.
pub(super) fn pull(work: &mut Work<'_>, connection: &Connection, rows: &mut Rows<'_>) -> Result<Fetched, Why> {
    let (cell, row_bytes) = (work.limits().cell, work.limits().row);
    let raw = cell.saturating_mul(work.plan.schema.columns.len() as u64);
    limit_cells(connection, cell)?;
    loop {
        if work.is_complete(raw)? || !work.fits(row_bytes)? {
            return work.seal().map(Fetched::Answer);
        }
        match rows.next() {
            Ok(Some(row)) => {
                let (rowid, first) = number(work, row)?;
                if let Err(faults) = work.take(row, first, rowid, None)? {
                    return Err(count_rest(work, rows, faults));
                }
            }
            Ok(None) if work.has_rows() => return work.seal().map(Fetched::Answer),
            Ok(None) => return work.end().map(Fetched::Answer),
            Err(e) if is_too_long(&e) => {
                let answer = if work.has_rows() { Some(work.seal()?) } else { None };
                return Ok(Fetched::TooLong(answer));
            }
            Err(e) => return Err(why(&e)),
        }
    }
}

/// How many rows after the first bad one are looked at only to count more of them: a failure must not take as long as the
/// rest of a large unit.
pub(super) const LOOKED_AT: u64 = 10_000;

/// Reads on in the unit only to count cells like the first bad one.
fn count_rest(work: &mut Work<'_>, rows: &mut Rows<'_>, mut faults: Faults) -> Why {
    work.abandon();
    let mut position = work.delivered + 1;
    let last = position + LOOKED_AT;
    loop {
        if position == last {
            faults.incomplete();
            break;
        }
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(e) => {
                if e.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
                    return why(&e);
                }
                faults.incomplete();
                break;
            }
        };
        position += 1;
        let looked = number(work, row).and_then(|(rowid, first)| {
            let place = rowid.map_or(RowPlace::Position(position), RowPlace::Rowid);
            work.inspect(row, first, place, &mut faults)
        });
        if looked.is_err() {
            faults.incomplete();
            break;
        }
    }
    faults.why(&work.plan.schema)
}
