//! The way through a unit that has long cells: each row is measured before it is fetched.
//!
//! A second statement over the same rows yields every cell's length, for which SQLite reads no content. It runs one row
//! ahead. Rows with a number are then fetched by it, one at a time, so that SQLite holds no row between two of them. Other
//! rows are fetched in lockstep by a statement whose plan must be the same.

use dpone_engine::codes::Code;
use dpone_engine::ports::Pull;
use dpone_engine::run::Why;
use rusqlite::{Connection, Row, Rows, Statement};

use super::connect::why;
use super::faults::{Faults, RowPlace};
use super::fetch::{LOOKED_AT, bind, limit_cells, number, unlimited};
use super::key::query_plan;
use super::relation::Select;
use super::wide::Wide;
use super::work::Work;
use crate::body::Body;

/// Rows below this are cheap enough to be left in SQLite's registers between pulls.
const KEPT: u64 = 64 << 10;

/// A row that has been measured and not fetched.
#[derive(Clone, Debug)]
struct Ahead {
    rowid: Option<i64>,
    lengths: Vec<u64>,
}

/// Where the content of a measured row comes from.
enum Content<'s, 'c> {
    ByNumber(&'s mut Statement<'c>),
    Lockstep(Rows<'s>),
}

/// The statements of a measured unit.
pub(super) struct Statements<'c> {
    rows: Select,
    lengths: Select,
    length_statement: Statement<'c>,
    content_statement: Statement<'c>,
    by_number: bool,
}

/// The statements at work.
pub(super) struct Measured<'s, 'c> {
    lengths: Rows<'s>,
    content: Content<'s, 'c>,
    ahead: Option<Ahead>,
}

/// What a pull came to.
pub(super) struct Answered {
    pub(super) pull: Pull<Body>,
    /// SQLite still holds a long row: the statements must be started again.
    pub(super) release: bool,
}

impl<'c> Statements<'c> {
    /// Prepares them.
    pub(super) fn prepare(connection: &'c Connection, work: &Work<'_>) -> Result<Self, Why> {
        unlimited(connection)?;
        let ty = work.resolved.key.as_ref().map(|key| &key.column.ty);
        let sql = &work.resolved.sql;
        let (rows, lengths) = (sql.rows(&work.unit.scope, ty), sql.lengths(&work.unit.scope, ty));
        let plans = [&rows, &lengths].map(|select| query_plan(connection, &select.sql));
        let [rows_plan, lengths_plan] = plans;
        if rows_plan.map_err(|e| why(&e))? != lengths_plan.map_err(|e| why(&e))? {
            return Err(out_of_step());
        }
        let by_number = sql.row_by_number();
        let length_statement = connection.prepare(&lengths.sql).map_err(|e| why(&e))?;
        let content_sql = by_number.as_deref().unwrap_or(&rows.sql);
        let content_statement = connection.prepare(content_sql).map_err(|e| why(&e))?;
        let by_number = by_number.is_some();
        Ok(Self { rows, lengths, length_statement, content_statement, by_number })
    }

    /// Starts them after the rows that were delivered.
    pub(super) fn start<'s>(&'s mut self, work: &Work<'_>) -> Result<Measured<'s, 'c>, Why> {
        // The last delivered row is measured again, where it can be recognised.
        let again = self.by_number && work.delivered > 0;
        bind(&mut self.length_statement, &self.lengths, work.delivered - u64::from(again))?;
        let mut lengths = self.length_statement.raw_query();
        if again {
            let row = lengths.next().map_err(|e| why(&e))?;
            let rowid: Option<i64> = row.map(|row| row.get(0)).transpose().map_err(|e| why(&e))?;
            if rowid != work.last_rowid {
                return Err(out_of_step());
            }
        }
        let content = if self.by_number {
            Content::ByNumber(&mut self.content_statement)
        } else {
            bind(&mut self.content_statement, &self.rows, work.delivered)?;
            Content::Lockstep(self.content_statement.raw_query())
        };
        Ok(Measured { lengths, content, ahead: None })
    }
}

impl Measured<'_, '_> {
    /// One pull.
    pub(super) fn pull(&mut self, work: &mut Work<'_>, connection: &Connection) -> Result<Answered, Why> {
        let mut release = false;
        loop {
            // Lengths are of no content; what a query computes on the way to them is SQLite's own.
            unlimited(connection)?;
            let Some(ahead) = self.look_ahead(work)? else {
                let pull = if work.has_rows() { work.seal()? } else { work.end()? };
                return Ok(Answered { pull, release: false });
            };
            let need = Need::of(&ahead, work, self.is_lockstep());
            if work.is_complete(need.raw)? {
                return Ok(Answered { pull: work.seal()?, release });
            }
            if work.exceeds_chunk(need.raw) {
                let max = work.plan.max_chunk_bytes;
                let detail = format!("a row has {} bytes of values and a chunk may have {max}", need.raw);
                return Err(Why::fatal(Code::PhysicalChunkRowExceedsMaxBytes, detail));
            }
            if need.is_long {
                // It gets a batch of its own, of exactly its size.
                work.push_batch()?;
            }
            if !work.fits(need.bytes)? {
                let pull = if work.has_rows() { work.seal()? } else { work.needs(need.bytes) };
                return Ok(Answered { pull, release });
            }
            if !self.is_lockstep() {
                limit_cells(connection, need.longest + 16)?;
            }
            self.fetch(&ahead, work, need.is_long)?;
            self.ahead = None;
            release = self.is_lockstep() && need.raw > KEPT;
        }
    }

    fn is_lockstep(&self) -> bool {
        matches!(self.content, Content::Lockstep(_))
    }

    /// The next row's lengths; stays with it until it has been fetched.
    fn look_ahead(&mut self, work: &Work<'_>) -> Result<Option<Ahead>, Why> {
        if self.ahead.is_none() {
            let Some(row) = self.lengths.next().map_err(|e| why(&e))? else { return Ok(None) };
            let (rowid, first) = number(work, row)?;
            let growth = if work.resolved.wide.is_some() { Wide::GROWTH } else { 1 };
            let lengths: Result<Vec<u64>, _> = (0..work.resolved.conversions.len())
                .map(|i| row.get::<_, Option<u64>>(first + i).map(|length| length.unwrap_or_default() * growth))
                .collect();
            self.ahead = Some(Ahead { rowid, lengths: lengths.map_err(|e| why(&e))? });
        }
        Ok(self.ahead.clone())
    }

    fn fetch(&mut self, ahead: &Ahead, work: &mut Work<'_>, is_long: bool) -> Result<(), Why> {
        let room = is_long.then_some(ahead.lengths.as_slice());
        let taken = match &mut self.content {
            Content::ByNumber(statement) => {
                statement.raw_bind_parameter(1, ahead.rowid).map_err(|e| why(&e))?;
                let mut rows = statement.raw_query();
                let row = rows.next().map_err(|e| why(&e))?.ok_or_else(out_of_step)?;
                check_lengths(row, 0, ahead, work)?;
                work.take(row, 0, ahead.rowid, room)?
            }
            Content::Lockstep(rows) => {
                let row = rows.next().map_err(|e| why(&e))?.ok_or_else(out_of_step)?;
                check_lengths(row, 0, ahead, work)?;
                work.take(row, 0, None, room)?
            }
        };
        match taken {
            // Its content is out of SQLite by now, unless in lockstep; what it becomes was admitted with it.
            Ok(()) if is_long => work.push_batch(),
            Ok(()) => Ok(()),
            Err(faults) => Err(self.count_rest(work, faults)),
        }
    }

    /// Counts faults in the rows that can be fetched in what has been admitted.
    fn count_rest(&mut self, work: &mut Work<'_>, mut faults: Faults) -> Why {
        work.abandon();
        faults.incomplete();
        if let Content::Lockstep(rows) = &mut self.content {
            let mut position = work.delivered + 1;
            let last = position + LOOKED_AT;
            while position < last
                && let Ok(Some(row)) = rows.next()
            {
                position += 1;
                if work.inspect(row, 0, RowPlace::Position(position), &mut faults).is_err() {
                    break;
                }
            }
        }
        faults.why(&work.plan.schema)
    }
}

/// What a measured row needs.
struct Need {
    /// Bytes of its text and binary cells, and what its other cells take in a batch.
    raw: u64,
    /// Its longest cell.
    longest: u64,
    /// Bytes in every representation.
    bytes: u64,
    /// Whether a cell is above the limit for unmeasured rows.
    is_long: bool,
}

impl Need {
    fn of(ahead: &Ahead, work: &Work<'_>, lockstep: bool) -> Self {
        let limits = work.limits();
        let longest = ahead.lengths.iter().copied().max().unwrap_or(0);
        let all: u64 = ahead.lengths.iter().sum();
        let variable = work.variable_bytes(&ahead.lengths);
        let raw = variable + work.row_width();
        if longest <= limits.cell {
            return Self { raw, longest, bytes: limits.row, is_long: false };
        }
        // In SQLite (in lockstep its predecessor may be as long, and stays while it is encoded), in Arrow, as a page, as a
        // compressed page of at most an eighth more. The segments of the file replace the pages. A sink needs four: the object,
        // its page, and the row twice in a database.
        let encoded = variable * 4 + variable / 8;
        let bytes = if lockstep { all * 2 + encoded } else { encoded.max(all + variable) } + 4 * work.row_width();
        Self { raw, longest, bytes: bytes + (64 << 10), is_long: true }
    }
}

/// The content must be of the row that was measured.
fn check_lengths(row: &Row<'_>, first: usize, ahead: &Ahead, work: &Work<'_>) -> Result<(), Why> {
    let growth = if work.resolved.wide.is_some() { Wide::GROWTH } else { 1 };
    for (i, length) in ahead.lengths.iter().enumerate().filter(|(i, _)| work.is_variable(*i)) {
        let value = row.get_ref(first + i).map_err(|e| why(&e))?;
        if let rusqlite::types::ValueRef::Text(v) | rusqlite::types::ValueRef::Blob(v) = value
            && v.len() as u64 * growth != *length
        {
            return Err(out_of_step());
        }
    }
    Ok(())
}

fn out_of_step() -> Why {
    Why::fatal(Code::SourceReadFailed, "the rows that were measured are not the rows that were fetched")
}
