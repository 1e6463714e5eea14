//! The rows of a `COPY … TO STDOUT`, frame by frame, each announced before it is read.

use super::error::PgError;
use super::session::{Said, Session, State, rows_of_tag};
use super::wire::{READ_AHEAD, defect};

/// A COPY under way. One that is dropped before its end takes the session with it.
pub struct CopyOut<'a> {
    session: &'a mut Session,
    /// Bytes of the present frame that have not been read.
    left: u32,
    rows: Option<u64>,
}

impl<'a> CopyOut<'a> {
    pub(super) fn new(session: &'a mut Session) -> Self {
        Self { session, left: 0, rows: None }
    }

    /// The length of the next frame, of which nothing has been read beyond the connection's fixed read-ahead; `None` after
    /// the last. What was left of the frame before is skipped.
    ///
    /// # Errors
    /// What the server reports, or that the connection is lost.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<u32>, PgError> {
        if self.rows.is_some() {
            return Ok(None);
        }
        if self.left > 0 {
            self.skip()?;
        }
        loop {
            let header = match self.session.said()? {
                Said::Error(error) => return Err(error),
                Said::Message(header) => header,
            };
            match header.tag {
                b'd' => {
                    self.left = header.length;
                    return Ok(Some(header.length));
                }
                b'c' if header.length == 0 => {}
                b'C' => {
                    let tag = self.session.wire.body(header, 1024).map_err(|e| self.session.end(e))?;
                    return self.last(rows_of_tag(&tag));
                }
                _ => return Err(self.session.end(PgError::protocol("the server left the COPY"))),
            }
        }
    }

    fn last(&mut self, rows: u64) -> Result<Option<u32>, PgError> {
        match self.session.said()? {
            Said::Error(error) => Err(error),
            Said::Message(header) if header.tag == b'Z' => {
                self.session.wire.skip(header.length as usize).map_err(|e| self.session.end(e))?;
                self.session.state = State::Ready;
                self.rows = Some(rows);
                Ok(None)
            }
            Said::Message(_) => Err(self.session.end(PgError::protocol("more than one statement was run"))),
        }
    }

    /// Bytes of the present frame that have not been read.
    pub fn remaining(&self) -> u32 {
        self.left
    }

    /// The rest of the present frame where it lies in the read-ahead, if it fits there; otherwise read it in parts.
    ///
    /// # Errors
    /// That the connection is lost.
    #[inline]
    pub fn whole(&mut self) -> Result<Option<&[u8]>, PgError> {
        let length = self.left as usize;
        if length > READ_AHEAD {
            return Ok(None);
        }
        self.left = 0;
        // What was read stays readable when the session is marked as ended.
        match self.session.wire.slice(length) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => {
                self.session.state = State::Ended;
                Err(error)
            }
        }
    }

    /// Reads some of the present frame; 0 at its end.
    ///
    /// # Errors
    /// That the connection is lost.
    pub fn read(&mut self, buf: &mut [u8]) -> Result<usize, PgError> {
        let count = buf.len().min(self.left as usize);
        let Some(buf) = buf.get_mut(..count).filter(|buf| !buf.is_empty()) else { return Ok(0) };
        let count = self.session.wire.read(buf).map_err(|e| self.session.end(e))?;
        self.left -= u32::try_from(count).map_err(|_| defect())?;
        Ok(count)
    }

    /// Fills a buffer from the present frame.
    ///
    /// # Errors
    /// That the connection is lost; `Protocol` if the frame has fewer bytes left.
    pub fn read_exact(&mut self, mut buf: &mut [u8]) -> Result<(), PgError> {
        while !buf.is_empty() {
            let count = self.read(buf)?;
            if count == 0 {
                return Err(self.session.end(PgError::protocol("a frame of the COPY is too short")));
            }
            buf = buf.get_mut(count..).ok_or_else(defect)?;
        }
        Ok(())
    }

    fn skip(&mut self) -> Result<(), PgError> {
        let left = std::mem::take(&mut self.left);
        self.session.wire.skip(left as usize).map_err(|e| self.session.end(e))
    }

    /// Reads to the end without looking; the number of rows that the server says it sent.
    ///
    /// # Errors
    /// What the server reports, or that the connection is lost.
    pub fn finish(mut self) -> Result<u64, PgError> {
        while self.next_frame()?.is_some() {}
        Ok(self.rows.unwrap_or(0))
    }

    /// The number of rows that the server says it sent, once the last frame was read.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }
}
