//! A Parquet file in memory, in the segments that it came in.

use std::io::{self, Cursor, Read};

use bytes::{Bytes, BytesMut};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::body::Body;

/// The segments, with where each begins.
#[derive(Debug)]
pub(crate) struct InMemory {
    segments: Vec<(u64, Bytes)>,
    length: u64,
}

impl From<&Body> for InMemory {
    fn from(body: &Body) -> Self {
        let mut length = 0;
        let placed = body.segments().iter().map(|segment| {
            let begin = length;
            length += segment.len() as u64;
            (begin, segment.clone())
        });
        Self { segments: placed.collect(), length }
    }
}

impl InMemory {
    /// The rest of the segment that holds that place.
    fn rest(&self, at: u64) -> Bytes {
        let next = self.segments.partition_point(|(begin, _)| *begin <= at);
        let found = next.checked_sub(1).and_then(|i| self.segments.get(i));
        found.map_or_else(Bytes::new, |(begin, segment)| {
            let skip = usize::try_from(at - begin).unwrap_or(usize::MAX).min(segment.len());
            segment.slice(skip..)
        })
    }
}

impl Length for InMemory {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for InMemory {
    type T = Onward;

    fn get_read(&self, start: u64) -> Result<Onward> {
        let first = self.segments.partition_point(|(begin, segment)| begin + segment.len() as u64 <= start);
        let rest = self.segments.get(first + 1..).unwrap_or_default();
        Ok(Onward {
            now: Cursor::new(self.rest(start)),
            rest: rest.iter().map(|(_, s)| s.clone()).collect::<Vec<_>>().into_iter(),
        })
    }

    /// Without a copy, unless it lies in more than one segment.
    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length);
        let end = end.ok_or_else(|| ParquetError::EOF("beyond the end of the file".into()))?;
        let first = self.rest(start);
        if length <= first.len() {
            return Ok(first.slice(..length));
        }
        let mut whole = BytesMut::with_capacity(length);
        while whole.len() < length {
            let part = self.rest(start + whole.len() as u64);
            let take = part.len().min(length - whole.len());
            if take == 0 {
                return Err(ParquetError::EOF(format!("nothing before {end}")));
            }
            whole.extend_from_slice(&part[..take]);
        }
        Ok(whole.freeze())
    }
}

/// Reads from one place to the end.
#[derive(Debug)]
pub(crate) struct Onward {
    now: Cursor<Bytes>,
    rest: std::vec::IntoIter<Bytes>,
}

impl Read for Onward {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let taken = self.now.read(into)?;
            if taken > 0 || into.is_empty() {
                return Ok(taken);
            }
            match self.rest.next() {
                Some(next) => self.now = Cursor::new(next),
                None => return Ok(0),
            }
        }
    }
}
