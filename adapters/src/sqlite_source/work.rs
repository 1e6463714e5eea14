//! The rows of one unit on their way into chunks, under one grant at a time.

use dpone_engine::codes::Code;
use dpone_engine::ports::{Pull, SealedChunk};
use dpone_engine::profile::RowProfiler;
use dpone_engine::ranges::{Scope, UnitRange};
use dpone_engine::run::Why;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;
use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::convert::{Cell, Conversion, Fault, Scratch};
use super::faults::{Faults, RowPlace};
use super::limits::{Limits, fixed, is_variable, overhead};
use super::request::SqlitePlan;
use super::resolve::Resolved;
use crate::body::Body;
use crate::columnar::{BatchBuilder, ColumnBuilder, EncodeError, Encoder};

/// One unit being read.
pub(super) struct Work<'a> {
    pub(super) plan: &'a SqlitePlan,
    pub(super) resolved: &'a Resolved,
    pub(super) unit: &'a UnitRange,
    encoder: &'a mut Encoder,
    arrow: arrow::datatypes::SchemaRef,
    profiler: RowProfiler,
    batch: Option<BatchBuilder>,
    /// Bytes of varying length per column in the last batch: the room to make in the next.
    usual: Vec<usize>,
    variable: Vec<bool>,
    scratch: Scratch,
    /// Text that was stored as UTF-16, for the time of one cell.
    narrow: String,
    limits: Limits,
    max_rows: u64,
    rows_in_chunk: u64,
    raw_in_chunk: u64,
    source_bytes: u64,
    /// Rows read so far in this unit.
    pub(super) delivered: u64,
    pub(super) last_rowid: Option<i64>,
    /// Whether files may hold cells of any length.
    pub(super) large: bool,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        plan: &'a SqlitePlan,
        resolved: &'a Resolved,
        unit: &'a UnitRange,
        encoder: &'a mut Encoder,
        arrow: arrow::datatypes::SchemaRef,
    ) -> Option<Self> {
        let limits = Limits::new(&plan.schema, super::limits::min_grant(&plan.schema), plan.max_chunk_bytes, false)?;
        let columns = plan.schema.columns.len();
        Some(Self {
            plan,
            resolved,
            unit,
            encoder,
            arrow,
            profiler: RowProfiler::new(&plan.schema, plan.fidelity),
            batch: None,
            usual: vec![0; columns],
            variable: plan.schema.columns.iter().map(|c| is_variable(&c.ty)).collect(),
            scratch: Scratch::default(),
            narrow: String::new(),
            limits,
            max_rows: 0,
            rows_in_chunk: 0,
            raw_in_chunk: 0,
            source_bytes: 0,
            delivered: 0,
            last_rowid: None,
            large: false,
        })
    }

    /// Divides a new grant. A grant that is too small is answered.
    pub(super) fn begin(&mut self, grant: u64, max_rows: u64) -> Result<(), Pull<Body>> {
        match Limits::new(&self.plan.schema, grant, self.plan.max_chunk_bytes, self.large) {
            Some(limits) => {
                self.limits = limits;
                self.max_rows = max_rows.max(1);
                Ok(())
            }
            None => Err(Pull::NeedsGrant { bytes: super::limits::min_grant(&self.plan.schema) }),
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether `bytes` more fit into the grant, after waiting for what the encoder is about to free.
    pub(super) fn fits(&mut self, bytes: u64) -> Result<bool, Why> {
        loop {
            let encoder = self.encoder.memory();
            let batch = self.batch.as_ref().map_or(0, BatchBuilder::memory);
            // While a row group moves into the file, the part that is being copied exists twice.
            let moving = encoder.min(self.limits.row_group);
            if encoder + moving + batch + bytes <= self.limits.available {
                return Ok(true);
            }
            if !self.encoder.is_busy() {
                return Ok(false);
            }
            self.encoder.wait().map_err(internal)?;
        }
    }

    /// Whether the chunk is complete before the next row, which may have that many bytes of values.
    pub(super) fn is_complete(&mut self, row: u64) -> Result<bool, Why> {
        if self.rows_in_chunk == 0 {
            return Ok(false);
        }
        // Whoever decodes the object later has as much room as was granted here: half is for the object itself.
        let target = self.plan.target_chunk_bytes.min(self.limits.available / 2);
        if self.rows_in_chunk >= self.max_rows || self.encoder.encoded() >= target {
            return Ok(true);
        }
        // What is not encoded yet is taken to stay as large as it is.
        // An encoding may add a little to what it cannot shrink.
        let room = self.plan.max_chunk_bytes.saturating_sub(overhead(&self.plan.schema));
        let room = room - room / 16;
        if self.raw_in_chunk.saturating_add(row) <= room {
            return Ok(false);
        }
        self.push_batch()?;
        while self.encoder.is_busy() {
            self.encoder.wait().map_err(internal)?;
        }
        self.raw_in_chunk = self.encoder.encoded();
        Ok(self.raw_in_chunk.saturating_add(row) > room)
    }

    /// What a row that fits no chunk under way needs, alone.
    pub(super) fn needs(&self, bytes: u64) -> Pull<Body> {
        Pull::NeedsGrant { bytes: bytes.saturating_add(fixed(&self.plan.schema)) }
    }

    /// Whether that column's values vary in length.
    pub(super) fn is_variable(&self, column: usize) -> bool {
        self.variable.get(column).copied().unwrap_or(false)
    }

    /// Bytes of the cells whose types vary in length.
    pub(super) fn variable_bytes(&self, lengths: &[u64]) -> u64 {
        lengths.iter().zip(&self.variable).filter(|(_, variable)| **variable).map(|(length, _)| length).sum()
    }

    /// Bytes that a row's other cells take in a batch.
    pub(super) fn row_width(&self) -> u64 {
        BatchBuilder::row_width(&self.plan.schema)
    }

    pub(super) fn has_rows(&self) -> bool {
        self.rows_in_chunk > 0
    }

    /// The next row's bytes in a file of their own, beyond what a chunk may have.
    pub(super) fn exceeds_chunk(&self, row: u64) -> bool {
        row.saturating_add(overhead(&self.plan.schema)) > self.plan.max_chunk_bytes
    }

    /// Takes a row in, its cells from position `first`. `room` is made in a new batch for values of varying length.
    pub(super) fn take(
        &mut self,
        row: &Row<'_>,
        first: usize,
        rowid: Option<i64>,
        room: Option<&[u64]>,
    ) -> Result<Result<(), Faults>, Why> {
        if self.batch.is_none() {
            let (usual, exact) = (&self.usual, room);
            let rows = if room.is_some() { 1 } else { self.limits.batch_rows };
            let bytes = |i: usize| match exact {
                Some(sizes) => sizes.get(i).and_then(|s| usize::try_from(*s).ok()).unwrap_or(0),
                None => usual.get(i).copied().unwrap_or(0),
            };
            self.batch = Some(BatchBuilder::new(&self.plan.schema, &self.arrow, rows, bytes).map_err(internal)?);
        }
        let Some(batch) = &mut self.batch else { return Err(Why::fatal(Code::InternalError, "no batch")) };
        let place = match rowid {
            Some(rowid) => RowPlace::Rowid(rowid),
            None => RowPlace::Position(self.delivered + 1),
        };
        let mut faults: Option<Faults> = None;
        let (mut variable, mut source) = (0_u64, 0_u64);
        let key = self.resolved.key.as_ref().and_then(|key| key.position);
        for (i, (conversion, builder)) in self.resolved.conversions.iter().zip(batch.columns()).enumerate() {
            let ordered = if key == Some(i) { Some(self.unit) } else { None };
            let (scratch, profiler) = (&mut self.scratch, &mut self.profiler);
            // Each kind of cell goes all the way by itself: this is the hot path, and a value that both hand on is a copy.
            let taken = match &self.resolved.wide {
                None => match row.get_ref(first + i) {
                    Ok(value) => {
                        source += size_of_value(value);
                        pass(value, conversion, ordered, scratch, profiler, builder)
                    }
                    Err(error) => return Err(super::connect::why(&error)),
                },
                Some(wide) => match wide.cell(row, first, i, is_binary(self.resolved, i), &mut self.narrow) {
                    Ok(Ok(value)) => {
                        source += size_of_value(value);
                        pass(value, conversion, ordered, scratch, profiler, builder)
                    }
                    Ok(Err(fault)) => Err(fault),
                    Err(error) => return Err(super::connect::why(&error)),
                },
            };
            match taken {
                Ok(Some(bytes)) => variable += bytes,
                Ok(None) => return Err(defect()),
                Err(fault) => {
                    faults.get_or_insert_with(|| Faults::new(self.plan.schema.columns.len())).add(i, fault, place);
                }
            }
        }
        if let Some(faults) = faults {
            return Ok(Err(faults));
        }
        self.profiler.end_row();
        batch.end_row(variable);
        self.source_bytes += source;
        self.raw_in_chunk += variable + BatchBuilder::row_width(&self.plan.schema);
        self.rows_in_chunk += 1;
        self.delivered += 1;
        self.last_rowid = rowid;
        // A long row is handed on by its caller, once SQLite has let go of it.
        if room.is_none() && (batch.is_full() || batch.bytes() >= self.limits.batch) {
            self.push_batch()?;
        }
        Ok(Ok(()))
    }

    /// Looks at a row only to count its faults.
    pub(super) fn inspect(
        &mut self,
        row: &Row<'_>,
        first: usize,
        place: RowPlace,
        faults: &mut Faults,
    ) -> Result<(), Why> {
        for (i, conversion) in self.resolved.conversions.iter().enumerate() {
            let cell = cell(self.resolved, row, first, i, &mut self.narrow).map_err(|e| super::connect::why(&e))?;
            if let Err(fault) = cell.and_then(|value| conversion.read(value, &mut self.scratch)) {
                faults.add(i, fault, place);
            }
        }
        Ok(())
    }

    /// Hands the batch to the encoder.
    pub(super) fn push_batch(&mut self) -> Result<(), Why> {
        let Some(batch) = self.batch.take() else { return Ok(()) };
        if batch.rows() == 0 {
            return Ok(());
        }
        // The batch itself, the pages it becomes, and those pages compressed.
        let charge = batch.bytes() * 3 + batch.bytes() / 8;
        let batch = batch.finish().map_err(internal)?;
        for ((usual, is_variable), array) in self.usual.iter_mut().zip(&self.variable).zip(batch.columns()) {
            if *is_variable {
                let length = array.to_data().buffers().get(1).map_or(0, arrow::buffer::Buffer::len);
                // Room for a tenth more than last time, unless that was a single large row.
                *usual = if batch.num_rows() > 1 { length + length / 10 } else { 0 };
            }
        }
        self.encoder.write(batch, !self.limits.dictionaries, self.limits.row_group, charge).map_err(internal)
    }

    /// Ends the chunk.
    pub(super) fn seal(&mut self) -> Result<Pull<Body>, Why> {
        self.push_batch()?;
        let chunk: SealedChunk<Body> = self.encoder.seal().map_err(internal)?;
        if chunk.facts.rows != self.rows_in_chunk {
            return Err(defect());
        }
        (self.rows_in_chunk, self.raw_in_chunk) = (0, 0);
        Ok(Pull::Chunk(chunk))
    }

    /// The unit's end.
    pub(super) fn end(&self) -> Result<Pull<Body>, Why> {
        let profile = self.profiler.finish().map_err(|refusal| Why::fatal(refusal.code, refusal.message))?;
        Ok(Pull::End { source_bytes: self.source_bytes, profile })
    }

    /// Gives up what has not been handed over.
    pub(super) fn abandon(&mut self) {
        self.batch = None;
        self.encoder.discard();
    }
}

/// A cell, its text in UTF-8 however it is stored.
fn cell<'a>(
    resolved: &Resolved,
    row: &'a Row<'_>,
    first: usize,
    column: usize,
    narrow: &'a mut String,
) -> rusqlite::Result<Result<ValueRef<'a>, Fault>> {
    match &resolved.wide {
        None => row.get_ref(first + column).map(Ok),
        Some(wide) => wide.cell(row, first, column, is_binary(resolved, column), narrow),
    }
}

fn is_binary(resolved: &Resolved, column: usize) -> bool {
    resolved.schema.columns.get(column).is_some_and(|c| c.ty == LogicalType::Binary)
}

/// A value through its conversion into its column; what [`emit`] says, or why it is no value of the column. `ordered` for
/// the range's key.
#[inline(always)]
fn pass(
    value: ValueRef<'_>,
    conversion: &Conversion,
    ordered: Option<&UnitRange>,
    scratch: &mut Scratch,
    profiler: &mut RowProfiler,
    builder: &mut ColumnBuilder,
) -> Result<Option<u64>, Fault> {
    match conversion.read(value, scratch) {
        Ok(cell) if ordered.is_none_or(|unit| in_order(unit, cell)) => Ok(emit(cell, profiler, builder)),
        Ok(_) => Err(Fault::Order),
        Err(fault) => Err(fault),
    }
}

/// A cell to the profile and into its column; bytes of varying length, or `None` if the column takes no such cell.
#[inline]
fn emit(cell: Cell<'_>, profiler: &mut RowProfiler, builder: &mut ColumnBuilder) -> Option<u64> {
    let (taken, bytes) = match cell {
        Cell::Null => {
            profiler.null();
            builder.null();
            (true, 0)
        }
        Cell::Int(v) => {
            profiler.int(v);
            (builder.int(v), 0)
        }
        Cell::Float64(v) => {
            profiler.float64(v);
            (builder.float64(v), 0)
        }
        Cell::Text(v) => {
            profiler.text(v);
            (builder.text(v), v.len())
        }
        Cell::Date(v) => {
            profiler.date(v);
            (builder.date(v), 0)
        }
        Cell::Ticks(v) => {
            profiler.ticks(v);
            (builder.ticks(v), 0)
        }
        Cell::Decimal(v) => {
            profiler.decimal(v);
            (builder.decimal(v), 0)
        }
        Cell::Binary(v) => {
            profiler.binary(v);
            (builder.binary(v), v.len())
        }
        Cell::Bool(v) => {
            profiler.bool(v);
            (builder.bool(v), 0)
        }
        Cell::UInt(v) => {
            profiler.uint(v);
            (builder.uint(v), 0)
        }
        Cell::Float32(v) => {
            profiler.float32(v);
            (builder.float32(v), 0)
        }
        Cell::Uuid(v) => {
            let v = v.to_be_bytes();
            profiler.uuid(&v);
            (builder.uuid(&v), 0)
        }
    };
    taken.then_some(bytes as u64)
}

/// Whether a timestamp that a text comparison put into this unit belongs to it by value too. Other types are compared by
/// value, or in a form of fixed length.
#[inline]
fn in_order(unit: &UnitRange, cell: Cell<'_>) -> bool {
    let (Cell::Ticks(ticks), Scope::Interval { lower, upper }) = (cell, &unit.scope) else { return true };
    let digits = |bound: &dpone_engine::ranges::Bound| match bound {
        dpone_engine::ranges::Bound::Inclusive(Value::Ticks { digits, .. })
        | dpone_engine::ranges::Bound::Exclusive(Value::Ticks { digits, .. }) => Some(*digits),
        _ => None,
    };
    let Some(digits) = digits(lower).or_else(|| digits(upper)) else { return true };
    unit.contains(Some(&Value::Ticks { ticks: i128::from(ticks), digits }))
}

fn size_of_value(value: ValueRef<'_>) -> u64 {
    match value {
        ValueRef::Null => 0,
        ValueRef::Integer(_) | ValueRef::Real(_) => 8,
        ValueRef::Text(v) | ValueRef::Blob(v) => v.len() as u64,
    }
}

pub(super) fn internal(error: EncodeError) -> Why {
    Why::fatal(Code::InternalError, error.to_string())
}

pub(super) fn defect() -> Why {
    Why::fatal(Code::InternalError, "the reader's columns are not those of its schema")
}
