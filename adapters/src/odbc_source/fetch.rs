//! The rows of one unit, each block or long value admitted before the driver is asked for it.

use std::sync::atomic::{AtomicU64, Ordering};

use dpone_engine::ports::Pull;
use dpone_engine::run::Why;
use odbc_api::buffers::ColumnarDynBuffer;

use super::block::{Shape, View};
use super::convert::{Conversion, Field};
use super::failure::why;
use super::fetcher::Fetcher;
use super::pieces::{Order, Owned};
use super::resolved::OdbcColumn;
use crate::body::Body;
use crate::odbc::{OdbcError, Statement};
use crate::reading::{Faults, Work, defect};

/// Rows of a block, at most: more make nothing faster.
const MOST_ROWS: u64 = 2048;

/// The rows of a unit as they come.
pub(super) struct Fetch<'s, 'c> {
    columns: &'s [OdbcColumn],
    conversions: &'s [Conversion],
    form: Form<'s, 'c>,
    scratch: String,
    ended: bool,
}

enum Form<'s, 'c> {
    /// By the block, with the buffers that are neither being filled nor read.
    Blocks { shape: &'s Shape, fetcher: Fetcher, spare: Vec<ColumnarDynBuffer> },
    /// One at a time; whether the row in hand has been begun.
    Pieces { order: &'s Order, statement: Statement<'c>, row: Vec<Owned>, begun: bool },
}

impl<'s, 'c> Fetch<'s, 'c> {
    /// Rows by the block.
    pub(super) fn blocks(
        columns: &'s [OdbcColumn],
        conversions: &'s [Conversion],
        shape: &'s Shape,
        fetcher: Fetcher,
    ) -> Self {
        let form = Form::Blocks { shape, fetcher, spare: Vec::new() };
        Self { columns, conversions, form, scratch: String::new(), ended: false }
    }

    /// Rows one at a time, of a statement that was sent.
    pub(super) fn pieces(
        columns: &'s [OdbcColumn],
        conversions: &'s [Conversion],
        order: &'s Order,
        statement: Statement<'c>,
    ) -> Self {
        let form = Form::Pieces { order, statement, row: Vec::new(), begun: false };
        Self { columns, conversions, form, scratch: String::new(), ended: false }
    }

    /// One pull. `answers` is raised whenever the driver has answered.
    pub(super) fn pull(&mut self, work: &mut Work<'_>, answers: &AtomicU64) -> Result<Pull<Body>, Why> {
        let Self { columns, conversions, form, scratch, ended } = self;
        match form {
            Form::Blocks { shape, fetcher, spare } => {
                let mut blocks = Blocks { columns, conversions, shape, fetcher, spare, ended, scratch };
                blocks.pull(work)
            }
            Form::Pieces { order, statement, row, begun } => loop {
                if !*begun && !*ended {
                    *begun = order.next(statement, row).map_err(|e| why(&e))?;
                    answers.fetch_add(1, Ordering::Relaxed);
                    *ended = !*begun;
                }
                if *ended {
                    return if work.has_rows() { work.seal() } else { work.end() };
                }
                if let Some(answer) = admit_row(work, columns, row)? {
                    return Ok(answer);
                }
                order.finish(statement, row).map_err(|e| why(&e))?;
                *begun = false;
                let alone = row_length(columns, row) > u64::from(work.longest_short());
                let taken = take_row(work, conversions, scratch, alone, row.iter().map(Owned::field))?;
                row.clear();
                if let Err(mut faults) = taken {
                    work.abandon();
                    faults.incomplete();
                    return Err(faults.why(work.plan.schema));
                }
                if alone {
                    work.push_batch()?;
                }
            },
        }
    }
}

/// Bytes that the row's values of varying length have once they are UTF-8, at most.
fn row_length(columns: &[OdbcColumn], row: &[Owned]) -> u64 {
    let length = |column: &OdbcColumn, cell: &Owned| match cell {
        // Two bytes of UTF-16 become three at most.
        Owned::Long(length) if column.carrier == super::resolved::Carrier::LongWide => length + length / 2,
        Owned::Long(length) => *length,
        cell => match cell.field() {
            Field::Wide(units) => units.len() as u64 * 3,
            Field::Ascii(v) | Field::Bytes(v) => v.len() as u64,
            _ => 0,
        },
    };
    columns.iter().zip(row).map(|(column, cell)| length(column, cell)).sum()
}

/// Whether the row can be read now; what is to be answered if not.
fn admit_row(work: &mut Work<'_>, columns: &[OdbcColumn], row: &[Owned]) -> Result<Option<Pull<Body>>, Why> {
    let length = row_length(columns, row);
    let frame = u32::try_from(length).unwrap_or(u32::MAX);
    if work.is_complete(length)? {
        return work.seal().map(Some);
    }
    let short = frame <= work.longest_short();
    if !short {
        if let Some(why) = work.exceeds_chunk(frame) {
            return Err(why);
        }
        if work.expect_long() && work.has_rows() {
            // The file under way has dictionaries and statistics, which hold whole values.
            return work.seal().map(Some);
        }
        // It gets a batch of its own.
        work.push_batch()?;
    }
    // Besides what it becomes, the values as the driver delivers them.
    let need = work.frame(frame, short).saturating_add(length);
    if work.fits(need)? {
        return Ok(None);
    }
    Ok(Some(if work.has_rows() { work.seal()? } else { work.needs(need) }))
}

/// Takes a row in whose fields are all there.
#[inline]
fn take_row<'f>(
    work: &mut Work<'_>,
    conversions: &[Conversion],
    scratch: &mut String,
    alone: bool,
    fields: impl Iterator<Item = Field<'f>>,
) -> Result<Result<(), Faults>, Why> {
    work.begin_row(alone)?;
    for (conversion, field) in conversions.iter().zip(fields) {
        work.field(field.sent(), |profiler, builder| conversion.take(field, scratch, profiler, builder))?;
    }
    work.end_row()
}

struct Blocks<'f, 's> {
    columns: &'s [OdbcColumn],
    conversions: &'s [Conversion],
    shape: &'s Shape,
    fetcher: &'f mut Fetcher,
    spare: &'f mut Vec<ColumnarDynBuffer>,
    ended: &'f mut bool,
    scratch: &'f mut String,
}

impl Blocks<'_, '_> {
    /// A block is asked for only once it and everything that becomes of it has its place in the grant; while it is read, the
    /// next one is asked for if that has too. At the end of a chunk nothing is under way.
    fn pull(&mut self, work: &mut Work<'_>) -> Result<Pull<Body>, Why> {
        let length = u32::try_from(self.shape.variable).unwrap_or(u32::MAX);
        // A row in the driver's buffer, and everything that it becomes.
        let each = work.frame(length, true).saturating_add(self.shape.bound);
        let count = work.rows_at_once(each, MOST_ROWS);
        loop {
            if !self.fetcher.is_under_way() {
                if *self.ended {
                    return if work.has_rows() { self.seal(work) } else { work.end() };
                }
                let full = work.has_rows() && !work.has_room_for_rows(count);
                if full || work.is_complete(self.shape.variable.saturating_mul(count))? {
                    return self.seal(work);
                }
                if !work.fits(each.saturating_mul(count))? {
                    return if work.has_rows() { self.seal(work) } else { Ok(work.needs(each)) };
                }
                self.ask(count)?;
            }
            let (block, there) = self.fetcher.take()?;
            if !there.map_err(|e| named(&e, self.columns))? {
                *self.ended = true;
                continue;
            }
            // The block at hand has its rows still before it.
            let both = count.saturating_mul(2);
            if work.has_room_for_rows(both)
                && !work.is_complete(self.shape.variable.saturating_mul(both))?
                && work.fits(each.saturating_mul(both))?
            {
                self.ask(count)?;
            }
            if let Err(faults) = self.read(work, &block)? {
                work.abandon();
                return Err(faults.why(work.plan.schema));
            }
            self.spare.push(block);
        }
    }

    fn ask(&mut self, count: u64) -> Result<(), Why> {
        let rows = usize::try_from(count).unwrap_or(1);
        let buffer = self.spare.pop().unwrap_or_else(|| self.shape.buffer(rows));
        self.fetcher.ask(buffer)
    }

    /// Ends the chunk. Its grant goes with it, so no buffer stays.
    fn seal(&mut self, work: &mut Work<'_>) -> Result<Pull<Body>, Why> {
        self.spare.clear();
        work.seal()
    }

    /// Takes a block's rows in.
    fn read(&mut self, work: &mut Work<'_>, block: &ColumnarDynBuffer) -> Result<Result<(), Faults>, Why> {
        let views: Option<Vec<View<'_>>> =
            (0..).zip(self.columns).map(|(index, column)| View::new(block.column(index), column.carrier)).collect();
        let views = views.ok_or_else(defect)?;
        for row in 0..block.num_rows() {
            let fields = views.iter().map(|view| view.field(row));
            if let Err(mut faults) = take_row(work, self.conversions, self.scratch, false, fields)? {
                faults.incomplete();
                return Ok(Err(faults));
            }
        }
        Ok(Ok(()))
    }
}

/// A failed fetch, with the name of the column that it is about.
fn named(error: &OdbcError, columns: &[OdbcColumn]) -> Why {
    let why = why(error);
    match error.column.and_then(|column| columns.get(column)) {
        Some(column) => Why { detail: format!("column \"{}\": {}", column.column.name, why.detail), ..why },
        None => why,
    }
}
