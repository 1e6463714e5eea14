//! The rows of one unit, each block or long value admitted before the driver is asked for it.

use std::sync::atomic::{AtomicU64, Ordering};

use dpone_engine::ports::Pull;
use dpone_engine::run::Why;

use super::block::{Shape, View};
use super::convert::{Conversion, Field};
use super::failure::why;
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
    statement: Statement<'c>,
    form: Form<'s>,
    scratch: String,
    ended: bool,
}

enum Form<'s> {
    /// By the block; how many rows the buffers that are bound have room for.
    Blocks { shape: &'s Shape, bound: Option<u64> },
    /// One at a time; whether the row in hand has been begun.
    Pieces { order: &'s Order, row: Vec<Owned>, begun: bool },
}

impl<'s, 'c> Fetch<'s, 'c> {
    /// Rows of a statement that has been sent: by the block, or one at a time if they have no `shape`.
    pub(super) fn new(
        columns: &'s [OdbcColumn],
        conversions: &'s [Conversion],
        shape: Option<&'s Shape>,
        order: &'s Order,
        statement: Statement<'c>,
    ) -> Self {
        let form = match shape {
            Some(shape) => Form::Blocks { shape, bound: None },
            None => Form::Pieces { order, row: Vec::new(), begun: false },
        };
        Self { columns, conversions, statement, form, scratch: String::new(), ended: false }
    }

    /// One pull. `answers` is raised whenever the driver has answered.
    pub(super) fn pull(&mut self, work: &mut Work<'_>, answers: &AtomicU64) -> Result<Pull<Body>, Why> {
        let Self { columns, conversions, statement, form, scratch, ended } = self;
        match form {
            Form::Blocks { shape, bound } => {
                let mut blocks = Blocks { columns, conversions, shape, statement, bound, ended, scratch, answers };
                blocks.pull(work)
            }
            Form::Pieces { order, row, begun } => loop {
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

struct Blocks<'f, 's, 'c> {
    columns: &'s [OdbcColumn],
    conversions: &'s [Conversion],
    shape: &'s Shape,
    statement: &'f mut Statement<'c>,
    bound: &'f mut Option<u64>,
    ended: &'f mut bool,
    scratch: &'f mut String,
    answers: &'f AtomicU64,
}

impl Blocks<'_, '_, '_> {
    fn pull(&mut self, work: &mut Work<'_>) -> Result<Pull<Body>, Why> {
        let length = u32::try_from(self.shape.variable).unwrap_or(u32::MAX);
        // A row in the driver's buffer, and everything that it becomes.
        let each = work.frame(length, true).saturating_add(self.shape.bound);
        loop {
            if *self.ended {
                return if work.has_rows() { self.seal(work) } else { work.end() };
            }
            let count = self.bound.unwrap_or_else(|| work.rows_at_once(each, MOST_ROWS));
            if work.is_complete(self.shape.variable.saturating_mul(count))? {
                return self.seal(work);
            }
            // Buffers that are bound take their part whether they are full or not.
            if !work.fits(each.saturating_mul(count))? {
                return if work.has_rows() { self.seal(work) } else { Ok(work.needs(each)) };
            }
            if self.bound.is_none() {
                let buffer = self.shape.buffer(usize::try_from(count).unwrap_or(1));
                self.statement.bind(buffer).map_err(|e| why(&e))?;
                *self.bound = Some(count);
            }
            if let Err(faults) = self.block(work)? {
                work.abandon();
                return Err(faults.why(work.plan.schema));
            }
        }
    }

    /// Ends the chunk. Its grant goes with it, so no buffer stays.
    fn seal(&mut self, work: &mut Work<'_>) -> Result<Pull<Body>, Why> {
        self.statement.unbind().map_err(|e| why(&e))?;
        *self.bound = None;
        work.seal()
    }

    /// Fetches a block and takes its rows in.
    fn block(&mut self, work: &mut Work<'_>) -> Result<Result<(), Faults>, Why> {
        let fetched = self.statement.block();
        self.answers.fetch_add(1, Ordering::Relaxed);
        let Some(block) = fetched.map_err(|e| named(&e, self.columns))? else {
            *self.ended = true;
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

/// A failed fetch, with the name of the column that it is about.
fn named(error: &OdbcError, columns: &[OdbcColumn]) -> Why {
    let why = why(error);
    match error.column.and_then(|column| columns.get(column)) {
        Some(column) => Why { detail: format!("column \"{}\": {}", column.column.name, why.detail), ..why },
        None => why,
    }
}
