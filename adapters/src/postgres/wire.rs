//! Messages on a stream: a tag and a length first, the body when the caller wants it.

use std::io::{self, ErrorKind, Read as _, Write as _};

use bytes::BytesMut;

use super::error::{PgError, PgErrorKind};
use super::stream::Stream;
use super::watch::Watch;

/// Bytes that a session reads ahead. A frame up to this size can be looked at without being copied.
pub const READ_AHEAD: usize = 128 << 10;
/// Bytes gathered before they are written.
const WRITE_BEHIND: usize = 64 << 10;

/// A message's tag and the length of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) tag: u8,
    pub(super) length: u32,
}

pub(super) struct Wire {
    stream: Stream,
    input: Box<[u8]>,
    start: usize,
    end: usize,
    output: BytesMut,
    /// Asks after the server when it is silent; without one, silence is the end.
    watch: Option<Watch>,
}

impl Wire {
    pub(super) fn new(stream: Stream) -> Self {
        let input = vec![0; READ_AHEAD].into_boxed_slice();
        Self { stream, input, start: 0, end: 0, output: BytesMut::new(), watch: None }
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(super) fn watch(&mut self, watch: Watch) {
        self.watch = Some(watch);
    }

    /// The next message's header.
    #[inline]
    pub(super) fn header(&mut self) -> Result<Header, PgError> {
        while self.end - self.start < 5 {
            self.fill()?;
        }
        let Some([tag, a, b, c, d]) = self.input.get(self.start..self.start + 5) else { return Err(defect()) };
        let (tag, length) = (*tag, u32::from_be_bytes([*a, *b, *c, *d]));
        self.start += 5;
        if length < 4 || length > i32::MAX as u32 {
            return Err(PgError::protocol("a message's length is not possible"));
        }
        Ok(Header { tag, length: length - 4 })
    }

    /// A message's body, which must not be longer than that.
    pub(super) fn body(&mut self, header: Header, most: u32) -> Result<Vec<u8>, PgError> {
        if header.length > most {
            let text = format!("a message has {} bytes and at most {most} are allowed", header.length);
            return Err(PgError::protocol(text));
        }
        let mut body = vec![0; header.length as usize];
        self.read_exact(&mut body)?;
        Ok(body)
    }

    /// The next `length` bytes, where they are; they must not be more than [`READ_AHEAD`].
    #[inline]
    pub(super) fn slice(&mut self, length: usize) -> Result<&[u8], PgError> {
        if length > READ_AHEAD {
            return Err(defect());
        }
        while self.end - self.start < length {
            self.fill()?;
        }
        let from = self.start;
        self.start += length;
        self.input.get(from..from + length).ok_or_else(defect)
    }

    /// Some of the next bytes, at least one.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> Result<usize, PgError> {
        if self.start == self.end && buf.len() >= READ_AHEAD {
            return self.receive(buf);
        }
        while self.start == self.end {
            self.fill()?;
        }
        let ready = self.input.get(self.start..self.end).ok_or_else(defect)?;
        let count = ready.len().min(buf.len());
        buf[..count].copy_from_slice(&ready[..count]);
        self.start += count;
        Ok(count)
    }

    pub(super) fn read_exact(&mut self, mut buf: &mut [u8]) -> Result<(), PgError> {
        while !buf.is_empty() {
            let count = self.read(buf)?;
            buf = buf.get_mut(count..).ok_or_else(defect)?;
        }
        Ok(())
    }

    /// Leaves out the next bytes.
    pub(super) fn skip(&mut self, mut bytes: usize) -> Result<(), PgError> {
        while bytes > 0 {
            if self.start == self.end {
                self.fill()?;
            }
            let count = bytes.min(self.end - self.start);
            self.start += count;
            bytes -= count;
        }
        Ok(())
    }

    /// Reads at least one byte more into the read-ahead, which must have room.
    fn fill(&mut self) -> Result<(), PgError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let mut input = std::mem::take(&mut self.input);
        let read = match input.get_mut(self.end..) {
            Some(room) if !room.is_empty() => self.receive(room),
            _ => Err(defect()),
        };
        self.input = input;
        self.end += read?;
        Ok(())
    }

    fn receive(&mut self, buf: &mut [u8]) -> Result<usize, PgError> {
        loop {
            match self.stream.read(buf) {
                Ok(0) => return Err(PgError::new(PgErrorKind::Network, "the server closed the connection")),
                Ok(count) => return Ok(count),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if is_silence(&e) => self.still_works()?,
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                    return Err(PgError::new(PgErrorKind::Network, "the server closed the connection"));
                }
                Err(e) => return Err(PgError::network("reading from the server", &e)),
            }
        }
    }

    /// The server has been silent for as long as it may be: whether it works on what it was asked.
    fn still_works(&self) -> Result<(), PgError> {
        if self.watch.as_ref().is_some_and(Watch::is_working) {
            return Ok(());
        }
        Err(PgError::new(PgErrorKind::Deadline, "the server was silent for longer than the read timeout"))
    }

    /// Where messages to be sent are put.
    pub(super) fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// Writes what has gathered if that is much.
    pub(super) fn flush_if_much(&mut self) -> Result<(), PgError> {
        if self.output.len() >= WRITE_BEHIND { self.flush() } else { Ok(()) }
    }

    /// Writes what has gathered.
    pub(super) fn flush(&mut self) -> Result<(), PgError> {
        let output = std::mem::take(&mut self.output);
        let written = self.write(&output);
        self.output = output;
        self.output.clear();
        written?;
        loop {
            match self.stream.flush() {
                Ok(()) => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if is_silence(&e) => self.still_works()?,
                Err(e) => return Err(PgError::network("writing to the server", &e)),
            }
        }
    }

    /// Writes bytes as they are, behind what has gathered.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<(), PgError> {
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(0) => return Err(PgError::new(PgErrorKind::Network, "the server takes no more bytes")),
                Ok(count) => bytes = bytes.get(count..).ok_or_else(defect)?,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if is_silence(&e) => self.still_works()?,
                Err(e) => return Err(PgError::network("writing to the server", &e)),
            }
        }
        Ok(())
    }
}

/// Whether an error is a socket's timeout.
fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

pub(super) fn defect() -> PgError {
    PgError::protocol("the connection's buffers are out of step")
}
