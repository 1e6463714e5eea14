//! The rows of one unit, each block or long value admitted before the driver is asked for it.

use std::sync::atomic::{AtomicU64, Ordering};

use dpone_engine::codes::Code;
use dpone_engine::ports::Pull;
use dpone_engine::run::Why;
use odbc_api::buffers::ColumnarDynBuffer;
use odbc_api::{BlockCursor, Cursor as _, Error};

use super::block::{Shape, View};
use super::convert::{Conversion, Field};
use super::failure::why;
use super::pieces::{Order, Owned};
use super::resolved::OdbcColumn;
use crate::body::Body;
use crate::odbc::{OdbcError, Rows};
use crate::reading::{Faults, Work, defect};

/// Rows of a block, at most: more make nothing faster.
const MOST_ROWS: u64 = 2048;

/// The rows of a unit as they come.
pub(super) struct Fetch<'s> {
    columns: &'s [OdbcColumn],
    conversions: &'s [Conversion],
    form: Form<'s>,
    scratch: String,
}

enum Form<'s> {
    Blocks { shape: &'s Shape, rows: Bound<'s> },
    Pieces { order: &'s Order, rows: Rows<'s>, row: Vec<Owned>, begun: bool, ended: bool },
}

/// A result, with or without buffers.
enum Bound<'s> {
    Free(Rows<'s>),
    Buffered(BlockCursor<Rows<'s>, ColumnarDynBuffer>, u64),
    Ended,
}

impl<'s> Fetch<'s> {
    /// Rows by the block.
    pub(super) fn blocks(
        columns: &'s [OdbcColumn],
        conversions: &'s [Conversion],
        shape: &'s Shape,
        rows: Rows<'s>,
    ) -> Self {
        let form = Form::Blocks { shape, rows: Bound::Free(rows) };
        Self { columns, conversions, form, scratch: String::new() }
    }

    /// Rows one at a time.
    pub(super) fn pieces(
        columns: &'s [OdbcColumn],
        conversions: &'s [Conversion],
        order: &'s Order,
        rows: Rows<'s>,
    ) -> Self {
        let form = Form::Pieces { order, rows, row: Vec::new(), begun: false, ended: false };
        Self { columns, conversions, form, scratch: String::new() }
    }

    /// One pull. `answers` is raised whenever the driver has answered.
    pub(super) fn pull(&mut self, work: &mut Work<'_>, answers: &AtomicU64) -> Result<Pull<Body>, Why> {
        let Self { columns, conversions, form, scratch } = self;
        match form {
            Form::Blocks { shape, rows } => {
                let mut blocks = Blocks { columns, conversions, shape, rows, scratch, answers };
                blocks.pull(work)
            }
            Form::Pieces { order, rows, row, begun, ended } => loop {
                if !*begun && !*ended {
                    *begun = order.next(rows, row).map_err(|e| why(&e))?;
                    answers.fetch_add(1, Ordering::Relaxed);
                    *ended = !*begun;
                }
                if *ended {
                    return if work.has_rows() { work.seal() } else { work.end() };
                }
                if let Some(answer) = admit_row(work, columns, row)? {
                    return Ok(answer);
                }
                order.finish(rows, row).map_err(|e| why(&e))?;
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
    rows: &'f mut Bound<'s>,
    scratch: &'f mut String,
    answers: &'f AtomicU64,
}

impl<'s> Blocks<'_, 's> {
    fn pull(&mut self, work: &mut Work<'_>) -> Result<Pull<Body>, Why> {
        let length = u32::try_from(self.shape.variable).unwrap_or(u32::MAX);
        // A row in the driver's buffer, and everything that it becomes.
        let each = work.frame(length, true).saturating_add(self.shape.bound);
        loop {
            if matches!(self.rows, Bound::Ended) {
                return if work.has_rows() { work.seal() } else { work.end() };
            }
            let count = match self.rows {
                Bound::Buffered(_, count) => *count,
                _ => work.rows_at_once(each, MOST_ROWS),
            };
            if work.is_complete(self.shape.variable.saturating_mul(count))? {
                return self.seal(work);
            }
            // Buffers that are bound take their part whether they are full or not.
            if !work.fits(each.saturating_mul(count))? {
                if work.has_rows() {
                    return self.seal(work);
                }
                self.unbind()?;
                if count == 1 {
                    return Ok(work.needs(each));
                }
                // Other rows than in the chunk before: as many as this grant has room for.
                let count = work.rows_at_once(each, MOST_ROWS);
                if !work.fits(each.saturating_mul(count))? {
                    return Ok(work.needs(each));
                }
                continue;
            }
            self.bind(count)?;
            if let Err(faults) = self.block(work)? {
                work.abandon();
                return Err(faults.why(work.plan.schema));
            }
        }
    }

    /// Ends the chunk. Its grant goes with it, so no buffer stays.
    fn seal(&mut self, work: &mut Work<'_>) -> Result<Pull<Body>, Why> {
        self.unbind()?;
        work.seal()
    }

    fn unbind(&mut self) -> Result<(), Why> {
        *self.rows = match std::mem::replace(self.rows, Bound::Ended) {
            Bound::Buffered(cursor, _) => Bound::Free(cursor.unbind().map_err(|e| why(&OdbcError::of(&e)))?.0),
            other => other,
        };
        Ok(())
    }

    fn bind(&mut self, count: u64) -> Result<(), Why> {
        *self.rows = match std::mem::replace(self.rows, Bound::Ended) {
            Bound::Free(rows) => {
                let buffer = self.shape.buffer(usize::try_from(count).unwrap_or(1));
                Bound::Buffered(rows.bind_buffer(buffer).map_err(|e| why(&OdbcError::of(&e)))?, count)
            }
            other => other,
        };
        Ok(())
    }

    /// Fetches a block and takes its rows in.
    fn block(&mut self, work: &mut Work<'_>) -> Result<Result<(), Faults>, Why> {
        let Bound::Buffered(cursor, _) = self.rows else { return Err(defect()) };
        let fetched = cursor.fetch_with_truncation_check(true).map_err(|e| truncated(&e, self.columns))?;
        self.answers.fetch_add(1, Ordering::Relaxed);
        let Some(block) = fetched else {
            *self.rows = Bound::Ended;
            return Ok(Ok(()));
        };
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

/// A failed fetch, with the column where the driver had too little room.
fn truncated(error: &Error, columns: &[OdbcColumn]) -> Why {
    match error {
        Error::TooLargeValueForBuffer { buffer_index, .. } => {
            let name = columns.get(*buffer_index).map_or("", |c| c.column.name.as_str());
            let text = format!("column \"{name}\": the driver delivered only a part of a value");
            Why::fatal(Code::OdbcValueTruncated, text)
        }
        error => why(&OdbcError::of(error)),
    }
}
