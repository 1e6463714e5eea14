//! The headers of a column chunk's pages: how large each will be before it is decompressed.
//!
//! Parquet writes headers in Thrift's compact protocol; only what is needed is read, the rest is skipped.

use parquet::file::reader::ChunkReader;

/// Bytes that are read for a header at first, and at most.
const GUESS: usize = 512;
const LONGEST: usize = 16 << 20;
/// How deep structures may be inside each other.
const DEPTH: u32 = 8;

/// One page, by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Whether it is the dictionary.
    pub(super) is_dictionary: bool,
    /// Its values, or entries.
    pub(super) values: u64,
    /// Its size in the file, without the header.
    pub(super) compressed: u64,
    /// Its size in memory.
    pub(super) uncompressed: u64,
}

/// Every page of the column chunk that lies in `start..start + length`. `None` if it is damaged.
pub(super) fn pages<R: ChunkReader>(reader: &R, start: u64, length: u64) -> Option<Vec<Page>> {
    let end = start.checked_add(length)?;
    let mut at = start;
    let mut pages = Vec::new();
    while at < end {
        let (page, header) = page(reader, at, end)?;
        at = at.checked_add(header)?.checked_add(page.compressed)?;
        pages.push(page);
    }
    (at == end).then_some(pages)
}

/// The page at that place, and the size of its header.
fn page<R: ChunkReader>(reader: &R, at: u64, end: u64) -> Option<(Page, u64)> {
    let most = usize::try_from(end - at).ok()?.min(LONGEST);
    let mut size = GUESS.min(most);
    loop {
        let bytes = reader.get_bytes(at, size).ok()?;
        let mut input = Input { bytes: &bytes, at: 0 };
        if let Some(page) = input.header() {
            return Some((page, input.at as u64));
        }
        if size == most {
            return None;
        }
        size = (size * 8).min(most);
    }
}

/// Bytes being read.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    /// `PageHeader`.
    fn header(&mut self) -> Option<Page> {
        let (mut kind, mut uncompressed, mut compressed, mut values) = (None, None, None, None);
        let mut last = 0;
        while let Some((id, ty)) = self.field(&mut last)? {
            match (id, ty) {
                (1, 5) => kind = Some(self.integer()?),
                (2, 5) => uncompressed = Some(self.integer()?),
                (3, 5) => compressed = Some(self.integer()?),
                // The headers of a data page, a dictionary page and a data page of version 2 begin with the number of values.
                (5 | 7 | 8, 12) => values = Some(self.first_integer()?),
                _ => self.skip(ty, DEPTH)?,
            }
        }
        let size = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        Some(Page {
            is_dictionary: kind? == 2,
            values: size(values)?,
            compressed: size(compressed)?,
            uncompressed: size(uncompressed)?,
        })
    }

    /// The first field of a structure, which is an integer; the others are skipped.
    fn first_integer(&mut self) -> Option<i64> {
        let (mut last, mut found) = (0, None);
        while let Some((id, ty)) = self.field(&mut last)? {
            match (id, ty) {
                (1, 5) => found = Some(self.integer()?),
                _ => self.skip(ty, DEPTH)?,
            }
        }
        found
    }

    /// The next field of a structure: its number and type; `Some(None)` at the end of the structure.
    fn field(&mut self, last: &mut i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *last = match byte >> 4 {
            0 => self.integer()?,
            delta => *last + i64::from(delta),
        };
        Some(Some((*last, byte & 0x0f)))
    }

    fn skip(&mut self, ty: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match ty {
            1 | 2 => {}
            3 => self.forward(1)?,
            4..=6 => {
                self.varint()?;
            }
            7 => self.forward(8)?,
            8 => {
                let length = self.varint()?;
                self.forward(length)?;
            }
            9 | 10 => {
                let byte = self.byte()?;
                let (short, of) = (byte >> 4, byte & 0x0f);
                let count = if short == 15 { self.varint()? } else { u64::from(short) };
                for _ in 0..count {
                    // In a list a boolean takes a byte.
                    if of <= 2 { self.forward(1)? } else { self.skip(of, depth)? }
                }
            }
            12 => {
                let mut last = 0;
                while let Some((_, ty)) = self.field(&mut last)? {
                    self.skip(ty, depth)?;
                }
            }
            // Page headers hold no maps.
            _ => return None,
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn forward(&mut self, bytes: u64) -> Option<()> {
        let at = self.at.checked_add(usize::try_from(bytes).ok()?)?;
        (at <= self.bytes.len()).then(|| self.at = at)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A signed integer, zigzag.
    fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}
