//! Where an encoder writes: segments of bounded size, hashed as they pass.

use std::io;

use bytes::{Bytes, BytesMut};
use sha2::{Digest, Sha256};

/// Size of the first segment; each is twice as large as the one before, up to [`LARGEST`].
const FIRST: usize = 4 << 10;
/// The largest segment: what a file's last segment may waste.
const LARGEST: usize = 256 << 10;

/// A growing list of segments. Nothing that was written is ever moved or copied again.
#[derive(Debug, Default)]
pub struct Segments {
    full: Vec<Bytes>,
    open: BytesMut,
    next: usize,
    written: u64,
    hash: Sha256,
}

impl Segments {
    /// Bytes written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Bytes of memory taken.
    pub fn memory(&self) -> u64 {
        self.full.iter().map(|s| s.len() as u64).sum::<u64>() + self.open.capacity() as u64
    }

    /// The segments in order, and the SHA-256 of their bytes together.
    pub fn finish(mut self) -> (Vec<Bytes>, [u8; 32]) {
        if !self.open.is_empty() {
            self.full.push(self.open.freeze());
        }
        (self.full, self.hash.finalize().into())
    }
}

impl io::Write for Segments {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.open.len() == self.open.capacity() {
            if !self.open.is_empty() {
                self.full.push(std::mem::take(&mut self.open).freeze());
            }
            self.next = if self.next == 0 { FIRST } else { (self.next * 2).min(LARGEST) };
            self.open = BytesMut::with_capacity(self.next);
        }
        let room = self.open.capacity() - self.open.len();
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.open.extend_from_slice(taken);
        self.hash.update(taken);
        self.written += taken.len() as u64;
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
