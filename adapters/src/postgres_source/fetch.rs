//! Frames of a `COPY … (FORMAT binary)` into rows, each frame admitted before its body is read.

use dpone_engine::codes::Code;
use dpone_engine::ports::Pull;
use dpone_engine::run::Why;

use super::decode::Decoder;
use super::failure::why;
use crate::body::Body;
use crate::postgres::{CopyOut, READ_AHEAD};
use crate::reading::{Faults, LONGEST_SHORT, Work, defect};

const _: () = assert!(LONGEST_SHORT == READ_AHEAD);

/// What a binary COPY begins with; flags and the length of an extension follow.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
const HEADER: usize = SIGNATURE.len() + 8;
/// The extension's most bytes. No server has one.
const EXTENSION: usize = 1 << 16;
/// How many more rows are looked at to count what is wrong.
const LOOKED_AT: u64 = 1_000_000;
/// A field's buffer above this is given back after its row.
const KEPT: usize = 64 << 10;

/// The rows of a unit as they come.
pub(super) struct Fetch<'c> {
    copy: CopyOut<'c>,
    decoders: &'c [Decoder],
    /// Text that was not sent as UTF-8, for the time of one field.
    scratch: String,
    /// A frame that was announced and not read.
    ahead: Option<u32>,
    place: Place,
    /// A long row's field.
    field: Vec<u8>,
}

/// Where in the COPY the next frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Header,
    Rows,
    /// Behind the trailer: only the end of the COPY can follow.
    End,
}

impl<'c> Fetch<'c> {
    pub(super) fn new(copy: CopyOut<'c>, decoders: &'c [Decoder]) -> Self {
        Self { copy, decoders, scratch: String::new(), ahead: None, place: Place::Header, field: Vec::new() }
    }

    /// One pull.
    pub(super) fn pull(&mut self, work: &mut Work<'_>) -> Result<Pull<Body>, Why> {
        loop {
            let ahead = match self.ahead {
                Some(length) => Some(length),
                None => self.copy.next_frame().map_err(|e| why(&e))?,
            };
            let Some(length) = ahead else { return self.ended(work) };
            self.ahead = Some(length);
            let short = length <= work.longest_short();
            if work.is_complete(u64::from(length))? {
                return work.seal();
            }
            if !short {
                if let Some(why) = work.exceeds_chunk(length) {
                    return Err(why);
                }
                if work.expect_long() && work.has_rows() {
                    // The file under way has dictionaries and statistics, which hold whole values.
                    return work.seal();
                }
                // It gets a batch of its own.
                work.push_batch()?;
            }
            let need = work.frame(length, short);
            if !work.fits(need)? {
                return if work.has_rows() { work.seal() } else { Ok(work.needs(need)) };
            }
            self.ahead = None;
            let taken = if short { self.short(work)? } else { self.long(work)? };
            if let Err(faults) = taken {
                return Err(self.count_rest(work, faults));
            }
        }
    }

    fn ended(&mut self, work: &mut Work<'_>) -> Result<Pull<Body>, Why> {
        if self.place != Place::End {
            return Err(out_of_step("the rows have no end"));
        }
        if work.has_rows() {
            return work.seal();
        }
        if self.copy.rows() != Some(work.delivered) {
            return Err(out_of_step("the server counts other rows than it sent"));
        }
        work.end()
    }

    /// A frame in the read-ahead.
    #[inline]
    fn short(&mut self, work: &mut Work<'_>) -> Result<Result<(), Faults>, Why> {
        let scratch = &mut self.scratch;
        let body = self.copy.whole().map_err(|e| why(&e))?.ok_or_else(defect)?;
        let mut rest = body;
        if self.place == Place::Header {
            rest = after_header(rest)?;
            self.place = Place::Rows;
        }
        while !rest.is_empty() {
            if self.place == Place::End {
                return Err(out_of_step("something follows the end of the rows"));
            }
            let (count, after) = rest.split_first_chunk::<2>().ok_or_else(cut_row)?;
            rest = after;
            if !is_row(*count, self.decoders.len())? {
                self.place = Place::End;
                continue;
            }
            work.begin_row(false)?;
            for decoder in self.decoders {
                let (field, after) = field(rest)?;
                rest = after;
                take(work, decoder, scratch, field)?;
            }
            if let Err(faults) = work.end_row()? {
                return Ok(Err(faults));
            }
        }
        Ok(Ok(()))
    }

    /// A frame that is read field by field: one row, and the header before it if it is the first.
    fn long(&mut self, work: &mut Work<'_>) -> Result<Result<(), Faults>, Why> {
        if self.place == Place::Header {
            let mut header = [0; HEADER];
            self.read(&mut header)?;
            if !after_header(&header)?.is_empty() {
                return Err(defect());
            }
            self.place = Place::Rows;
        }
        let mut faulty = Ok(());
        while self.copy.remaining() > 0 {
            let mut count = [0; 2];
            self.read(&mut count)?;
            if self.place == Place::End || !is_row(count, self.decoders.len())? {
                return Err(out_of_step("a row and the end of the rows are in one frame"));
            }
            work.begin_row(true)?;
            for decoder in self.decoders {
                let mut length = [0; 4];
                self.read(&mut length)?;
                let Some(length) = field_length(length, self.copy.remaining() as usize)? else {
                    take(work, decoder, &mut self.scratch, None)?;
                    continue;
                };
                if length > self.field.capacity() {
                    // Not grown: the former content is of no use.
                    self.field = Vec::with_capacity(length);
                }
                self.field.resize(length, 0);
                let mut field = std::mem::take(&mut self.field);
                self.read(&mut field)?;
                self.field = field;
                take(work, decoder, &mut self.scratch, Some(&self.field))?;
            }
            if self.field.capacity() > KEPT {
                self.field = Vec::new();
            }
            faulty = work.end_row()?;
            if faulty.is_err() {
                break;
            }
            work.push_batch()?;
        }
        Ok(faulty)
    }

    fn read(&mut self, room: &mut [u8]) -> Result<(), Why> {
        if room.len() > self.copy.remaining() as usize {
            return Err(cut_row());
        }
        self.copy.read_exact(room).map_err(|e| why(&e))
    }

    /// Reads on only to count fields like the first bad one, for a while.
    fn count_rest(&mut self, work: &mut Work<'_>, mut faults: Faults) -> Why {
        work.abandon();
        let mut row = work.delivered + 1;
        let last = row.saturating_add(LOOKED_AT);
        while row < last {
            match self.copy.next_frame() {
                Ok(Some(length)) if length as usize > READ_AHEAD => {
                    row += 1;
                    faults.incomplete();
                }
                Ok(Some(_)) => {
                    let Ok(Some(mut rest)) = self.copy.whole() else { break };
                    while let Some((count, after)) = rest.split_first_chunk::<2>() {
                        rest = after;
                        if !matches!(is_row(*count, self.decoders.len()), Ok(true)) {
                            break;
                        }
                        row += 1;
                        for (i, decoder) in self.decoders.iter().enumerate() {
                            let Ok((field, after)) = field(rest) else { break };
                            rest = after;
                            if let Err(fault) = decoder.check(field) {
                                faults.add(i, fault, row);
                            }
                        }
                    }
                }
                Ok(None) => return faults.why(work.plan.schema),
                Err(error) => {
                    faults.incomplete();
                    let cancelled = error.kind == crate::postgres::PgErrorKind::Cancelled;
                    return if cancelled { why(&error) } else { faults.why(work.plan.schema) };
                }
            }
        }
        faults.incomplete();
        faults.why(work.plan.schema)
    }
}

/// Takes the row's next field in.
#[inline]
fn take(work: &mut Work<'_>, decoder: &Decoder, scratch: &mut String, field: Option<&[u8]>) -> Result<(), Why> {
    let sent = field.map_or(0, |field| field.len() as u64);
    work.field(sent, |profiler, builder| decoder.take(field, scratch, profiler, builder))
}

/// What follows the header, of whose flags none may be set: they would change the form of rows.
fn after_header(bytes: &[u8]) -> Result<&[u8], Why> {
    let other = || out_of_step("the rows are not in the binary form of COPY");
    let rest = bytes.strip_prefix(SIGNATURE).ok_or_else(other)?;
    let (flags, rest) = rest.split_first_chunk::<4>().ok_or_else(other)?;
    let (extension, rest) = rest.split_first_chunk::<4>().ok_or_else(other)?;
    let extension = usize::try_from(u32::from_be_bytes(*extension)).ok().filter(|length| *length <= EXTENSION);
    if u32::from_be_bytes(*flags) & 0xffff_0000 != 0 {
        return Err(other());
    }
    rest.get(extension.ok_or_else(other)?..).ok_or_else(other)
}

/// Whether a row of so many fields follows, and not the end.
#[inline]
fn is_row(count: [u8; 2], columns: usize) -> Result<bool, Why> {
    match i16::from_be_bytes(count) {
        -1 => Ok(false),
        count if usize::try_from(count) == Ok(columns) => Ok(true),
        _ => Err(out_of_step("a row has another number of columns than was planned")),
    }
}

/// A field, and what follows it.
#[inline]
fn field(bytes: &[u8]) -> Result<(Option<&[u8]>, &[u8]), Why> {
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut_row)?;
    match field_length(*length, rest.len())? {
        None => Ok((None, rest)),
        Some(length) => rest.split_at_checked(length).map(|(field, rest)| (Some(field), rest)).ok_or_else(cut_row),
    }
}

/// A field's length, `None` for NULL.
#[inline]
fn field_length(length: [u8; 4], most: usize) -> Result<Option<usize>, Why> {
    match i32::from_be_bytes(length) {
        -1 => Ok(None),
        length => usize::try_from(length).ok().filter(|length| *length <= most).map(Some).ok_or_else(cut_row),
    }
}

/// Servers send each row in a frame of its own.
#[cold]
fn cut_row() -> Why {
    out_of_step("a row does not end with its frame")
}

#[cold]
fn out_of_step(what: &str) -> Why {
    Why::fatal(Code::SourceReadFailed, format!("the COPY is not understood: {what}"))
}
