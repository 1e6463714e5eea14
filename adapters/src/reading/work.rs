//! The rows of one unit on their way into chunks, under one grant at a time.

use dpone_engine::codes::Code;
use dpone_engine::manifest::Fidelity;
use dpone_engine::ports::{Pull, SealedChunk};
use dpone_engine::profile::RowProfiler;
use dpone_engine::run::Why;
use dpone_engine::schema::Schema;

use super::faults::{Fault, Faults};
use super::limits::{self, Limits, is_variable, overhead};
use crate::body::Body;
use crate::columnar::{BatchBuilder, ColumnBuilder, EncodeError, Encoder};

/// What a unit is read into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// The planned schema.
    pub(crate) schema: &'a Schema,
    /// How much of each row is profiled.
    pub(crate) fidelity: Fidelity,
    /// Encoded bytes at which a chunk is sealed.
    pub(crate) target_chunk_bytes: u64,
    /// Encoded bytes that no chunk exceeds.
    pub(crate) max_chunk_bytes: u64,
    /// How many bytes one byte of a field, as it is sent, can become.
    pub(crate) growth: u64,
}

/// One unit being read.
pub(crate) struct Work<'a> {
    pub(crate) plan: Reading<'a>,
    encoder: &'a mut Encoder,
    arrow: arrow::datatypes::SchemaRef,
    profiler: RowProfiler,
    batch: Option<BatchBuilder>,
    /// Bytes of varying length per column in the last batch: the room to make in the next.
    usual: Vec<usize>,
    variable: Vec<bool>,
    limits: Limits,
    grant: u64,
    max_rows: u64,
    row_width: u64,
    rows_in_chunk: u64,
    raw_in_chunk: u64,
    source_bytes: u64,
    /// Rows read so far in this unit.
    pub(crate) delivered: u64,
    /// Whether files may hold fields of any length.
    long: bool,
    row: RowInHand,
}

/// A row whose fields are being taken in.
#[derive(Default)]
struct RowInHand {
    variable: u64,
    source: u64,
    column: usize,
    faults: Option<Faults>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(plan: Reading<'a>, encoder: &'a mut Encoder, arrow: arrow::datatypes::SchemaRef) -> Option<Self> {
        let limits = Limits::new(plan.schema, limits::min_grant(plan.schema), false)?;
        Some(Self {
            plan,
            encoder,
            arrow,
            profiler: RowProfiler::new(plan.schema, plan.fidelity),
            batch: None,
            usual: vec![0; plan.schema.columns.len()],
            variable: plan.schema.columns.iter().map(|c| is_variable(&c.ty)).collect(),
            limits,
            grant: 0,
            max_rows: 0,
            row_width: BatchBuilder::row_width(plan.schema),
            rows_in_chunk: 0,
            raw_in_chunk: 0,
            source_bytes: 0,
            delivered: 0,
            long: false,
            row: RowInHand::default(),
        })
    }

    /// Divides a new grant. A grant that is too small is answered.
    pub(crate) fn begin(&mut self, grant: u64, max_rows: u64) -> Result<(), Pull<Body>> {
        match Limits::new(self.plan.schema, grant, self.long) {
            Some(limits) => {
                self.limits = limits;
                self.grant = grant;
                self.max_rows = max_rows.max(1);
                Ok(())
            }
            None => Err(Pull::NeedsGrant { bytes: limits::min_grant(self.plan.schema) }),
        }
    }

    /// What a frame's rows take, in every representation, and whether that is a frame in the read-ahead.
    pub(crate) fn frame(&self, length: u32, short: bool) -> u64 {
        let size = if short { limits::short_frame } else { limits::long_frame };
        size(u64::from(length), self.plan.growth, self.row_width)
    }

    /// From now on files may hold fields of any length; whether they could not until now.
    pub(crate) fn expect_long(&mut self) -> bool {
        if self.long {
            return false;
        }
        self.long = true;
        if let Some(limits) = Limits::new(self.plan.schema, self.grant, true) {
            self.limits = limits;
        }
        true
    }

    /// How many rows, of which each takes at most so many bytes in every representation, may be on their way at once: a small part
    /// of the grant that leaves room for what is encoded. At least one, and no more than the chunk has room for.
    pub(crate) fn rows_at_once(&self, each: u64, most: u64) -> u64 {
        let room = self.max_rows.saturating_sub(self.rows_in_chunk).max(1);
        (self.limits.available / 16 / each.max(1)).clamp(1, most.max(1)).min(room)
    }

    /// Whether the chunk may have that many rows more.
    pub(crate) fn has_room_for_rows(&self, rows: u64) -> bool {
        self.rows_in_chunk.saturating_add(rows) <= self.max_rows
    }

    /// The longest frame that is looked at where it lies in the read-ahead.
    #[inline]
    pub(crate) fn longest_short(&self) -> u32 {
        self.limits.frame
    }

    /// Whether `bytes` more fit into the grant, after waiting for what the encoder is about to free.
    #[inline]
    pub(crate) fn fits(&mut self, bytes: u64) -> Result<bool, Why> {
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

    /// Whether the chunk is complete before the next frame, which may add that many bytes of values.
    #[inline]
    pub(crate) fn is_complete(&mut self, frame: u64) -> Result<bool, Why> {
        if self.rows_in_chunk == 0 {
            return Ok(false);
        }
        if self.rows_in_chunk >= self.max_rows || self.encoder.encoded() >= self.plan.target_chunk_bytes {
            return Ok(true);
        }
        // What is not encoded yet is taken to stay as large as it is, and an encoding may add a little to what it cannot
        // shrink.
        let room = self.plan.max_chunk_bytes.saturating_sub(overhead(self.plan.schema));
        let room = room - room / 16;
        let added = frame.saturating_mul(self.plan.growth).saturating_add(self.row_width);
        if self.raw_in_chunk.saturating_add(added) <= room {
            return Ok(false);
        }
        self.push_batch()?;
        while self.encoder.is_busy() {
            self.encoder.wait().map_err(internal)?;
        }
        self.raw_in_chunk = self.encoder.encoded();
        Ok(self.raw_in_chunk.saturating_add(added) > room)
    }

    /// The failure of a frame that no chunk can hold.
    pub(crate) fn exceeds_chunk(&self, length: u32) -> Option<Why> {
        let (bytes, max) = (u64::from(length), self.plan.max_chunk_bytes);
        if bytes.saturating_mul(self.plan.growth).saturating_add(overhead(self.plan.schema)) <= max {
            return None;
        }
        let detail = format!("a row has {bytes} bytes of values and a chunk may have {max}");
        Some(Why::fatal(Code::PhysicalChunkRowExceedsMaxBytes, detail))
    }

    /// What a row that fits no chunk under way needs, alone.
    pub(crate) fn needs(&self, bytes: u64) -> Pull<Body> {
        Pull::NeedsGrant { bytes: bytes.saturating_add(limits::fixed(self.plan.schema)) }
    }

    pub(crate) fn has_rows(&self) -> bool {
        self.rows_in_chunk > 0
    }

    /// Makes a batch ready for a row that comes field by field. A row that is `alone` gets a batch of its own.
    #[inline]
    pub(crate) fn begin_row(&mut self, alone: bool) -> Result<(), Why> {
        self.row = RowInHand::default();
        if self.batch.is_some() {
            return Ok(());
        }
        let (usual, rows) = (&self.usual, if alone { 1 } else { self.limits.batch_rows });
        // The first value in an empty buffer makes room for exactly itself.
        let bytes = |i: usize| if alone { 0 } else { usual.get(i).copied().unwrap_or(0) };
        self.batch = Some(BatchBuilder::new(self.plan.schema, &self.arrow, rows, bytes).map_err(internal)?);
        Ok(())
    }

    /// Takes the row's next field in, which the source sent as so many bytes: `take` gives it to the profile and to the
    /// column, and says how many bytes of varying length it has there. Its outer `None` is a column that does not take such
    /// values: a defect.
    #[inline]
    pub(crate) fn field(
        &mut self,
        sent: u64,
        take: impl FnOnce(&mut RowProfiler, &mut ColumnBuilder) -> Option<Result<u64, Fault>>,
    ) -> Result<(), Why> {
        let column = self.row.column;
        let Some(builder) = self.batch.as_mut().and_then(|batch| batch.columns().get_mut(column)) else {
            return Err(defect());
        };
        match take(&mut self.profiler, builder).ok_or_else(defect)? {
            Ok(bytes) => self.row.variable += bytes,
            Err(fault) => self.fault(column, fault),
        }
        self.row.source += sent;
        self.row.column += 1;
        Ok(())
    }

    #[cold]
    fn fault(&mut self, column: usize, fault: Fault) {
        let (columns, row) = (self.plan.schema.columns.len(), self.delivered + 1);
        self.row.faults.get_or_insert_with(|| Faults::new(columns)).add(column, fault, row);
    }

    /// Ends a row that is complete; its faults, if it has some.
    #[inline]
    pub(crate) fn end_row(&mut self) -> Result<Result<(), Faults>, Why> {
        if let Some(faults) = self.row.faults.take() {
            return Ok(Err(faults));
        }
        let Some(batch) = &mut self.batch else { return Err(defect()) };
        self.profiler.end_row();
        batch.end_row(self.row.variable);
        self.source_bytes += self.row.source;
        self.raw_in_chunk += self.row.variable + self.row_width;
        self.rows_in_chunk += 1;
        self.delivered += 1;
        if batch.is_full() || batch.bytes() >= self.limits.batch {
            self.push_batch()?;
        }
        Ok(Ok(()))
    }

    /// Hands the batch to the encoder.
    pub(crate) fn push_batch(&mut self) -> Result<(), Why> {
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
    pub(crate) fn seal(&mut self) -> Result<Pull<Body>, Why> {
        self.push_batch()?;
        let chunk: SealedChunk<Body> = self.encoder.seal().map_err(internal)?;
        if chunk.facts.rows != self.rows_in_chunk {
            return Err(defect());
        }
        (self.rows_in_chunk, self.raw_in_chunk) = (0, 0);
        Ok(Pull::Chunk(chunk))
    }

    /// The unit's end.
    pub(crate) fn end(&self) -> Result<Pull<Body>, Why> {
        let profile = self.profiler.finish().map_err(|refusal| Why::fatal(refusal.code, refusal.message))?;
        Ok(Pull::End { source_bytes: self.source_bytes, profile })
    }

    /// Gives up what has not been handed over.
    pub(crate) fn abandon(&mut self) {
        self.batch = None;
        self.encoder.discard();
    }
}

pub(crate) fn internal(error: EncodeError) -> Why {
    Why::fatal(Code::InternalError, error.to_string())
}

pub(crate) fn defect() -> Why {
    Why::fatal(Code::InternalError, "the reader's columns are not those of its schema")
}
