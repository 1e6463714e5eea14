//! The finished pages of one column chunk, each with a checksum.
//!
//! The encoder writes no page checksum, and a reader can check one only if it is there. So each page's header is written
//! anew here, with the CRC-32 of the page as it will be stored, before it is counted.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf, Bytes};
use parquet::column::page_store::{PageKey, PageStore, PageStoreArgs, PageStoreFactory};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Type of the compact protocol: a 32-bit integer, one field after the one before.
const NEXT_I32: u8 = 0x15;
/// `PageType::DICTIONARY_PAGE`.
const DICTIONARY_PAGE: u64 = 2;

/// The pages of one column chunk.
#[derive(Debug, Default)]
struct Pages {
    /// The header of a page whose bytes come next.
    header: Option<Bytes>,
    dictionary: VecDeque<Bytes>,
    data: VecDeque<Bytes>,
    dictionary_bytes: u64,
    bytes: u64,
    /// By how much the headers have grown.
    grown: u64,
    puts: u64,
}

impl Pages {
    fn put(&mut self, blob: Bytes) -> Result<()> {
        self.puts += 1;
        let Some(header) = self.header.take() else {
            self.header = Some(blob);
            return Ok(());
        };
        let (kind, plain, checked) = with_checksum(&header, crc32fast::hash(&blob)).ok_or_else(malformed)?;
        // The encoder hands a compressed page over in a buffer as long as the page was before, and nobody counts that.
        let blob = if plain > blob.len() as u64 / 8 * 9 { Bytes::copy_from_slice(&blob) } else { blob };
        self.grown += (checked.len() - header.len()) as u64;
        let size = (checked.len() + blob.len()) as u64;
        self.bytes += size;
        let place = if kind == DICTIONARY_PAGE {
            self.dictionary_bytes += size;
            &mut self.dictionary
        } else {
            &mut self.data
        };
        place.extend([checked, blob]);
        Ok(())
    }
}

/// The type of the page, its size before compression, and its header with a checksum. `None` if the header is not what the
/// encoder writes today.
///
/// A header begins with three fields of 32 bits (type and both sizes); field 4 is the checksum; a structure follows.
fn with_checksum(header: &[u8], crc: u32) -> Option<(u64, u64, Bytes)> {
    let mut rest = header;
    let (mut kind, mut plain) = (0, 0);
    for field in 1..=3 {
        if rest.try_get_u8().ok()? != NEXT_I32 {
            return None;
        }
        let value = varint(&mut rest)?;
        // Signs are in the last bit.
        match field {
            1 => kind = value / 2,
            2 => plain = value / 2,
            _ => {}
        }
    }
    let next = rest.try_get_u8().ok()?;
    // The field after it is one nearer now.
    let nearer = (next >> 4).checked_sub(1).filter(|delta| *delta > 0)? << 4 | next & 0x0f;
    let mut checked = Vec::with_capacity(header.len() + 6);
    checked.extend_from_slice(&header[..header.len() - rest.len() - 1]);
    checked.push(NEXT_I32);
    let signed = crc as i32;
    let mut zigzag = ((signed << 1) ^ (signed >> 31)) as u32;
    while zigzag >= 0x80 {
        checked.push(zigzag as u8 | 0x80);
        zigzag >>= 7;
    }
    checked.extend([zigzag as u8, nearer]);
    checked.extend_from_slice(rest);
    Some((kind, plain, checked.into()))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = bytes.try_get_u8().ok()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn malformed() -> ParquetError {
    ParquetError::General("a page header is not of the expected form".into())
}

/// The pages of every column of one row group, for the encoder to fill and for the file to take.
#[derive(Clone, Debug, Default)]
pub(super) struct RowGroupPages {
    columns: Arc<Mutex<Vec<Column>>>,
}

type Column = Arc<Mutex<Pages>>;

impl RowGroupPages {
    /// The finished pages of each column, in the columns' order.
    pub(super) fn take(&self) -> Vec<ColumnPages> {
        let columns = std::mem::take(&mut *self.columns.lock().unwrap_or_else(PoisonError::into_inner));
        columns
            .iter()
            .map(|column| {
                let pages = std::mem::take(&mut *column.lock().unwrap_or_else(PoisonError::into_inner));
                ColumnPages {
                    bytes: pages.bytes,
                    dictionary_bytes: pages.dictionary_bytes,
                    grown: pages.grown,
                    blobs: Mutex::new(pages.dictionary.into_iter().chain(pages.data).collect()),
                }
            })
            .collect()
    }
}

impl PageStoreFactory for RowGroupPages {
    fn create(&self, args: &PageStoreArgs<'_>) -> Result<Box<dyn PageStore>> {
        let mut columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if columns.len() != args.column_index() {
            return Err(ParquetError::General("columns are not begun in their order".into()));
        }
        let column = Column::default();
        columns.push(Arc::clone(&column));
        Ok(Box::new(Store(column)))
    }
}

struct Store(Column);

impl PageStore for Store {
    fn put(&mut self, value: Bytes) -> Result<PageKey> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.put(value)?;
        Ok(PageKey::new(pages.puts))
    }

    fn take(&mut self, _: PageKey) -> Result<Bytes> {
        Err(ParquetError::General("pages are taken by the row group only".into()))
    }

    fn memory_size(&self) -> usize {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.bytes as usize + pages.header.as_ref().map_or(0, Bytes::len)
    }
}

/// One column's pages in file order: the dictionary first.
#[derive(Debug)]
pub(super) struct ColumnPages {
    /// Their size.
    pub(super) bytes: u64,
    /// Size of the dictionary page, 0 if there is none.
    pub(super) dictionary_bytes: u64,
    /// By how much they are larger than the encoder knows.
    pub(super) grown: u64,
    blobs: Mutex<VecDeque<Bytes>>,
}

impl Length for ColumnPages {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for ColumnPages {
    type T = InOrder;

    /// The pages, once and from their beginning: each is released when it was read.
    fn get_read(&self, start: u64) -> Result<InOrder> {
        if start != 0 {
            return Err(ParquetError::General("pages are read from their beginning".into()));
        }
        Ok(InOrder(std::mem::take(&mut *self.blobs.lock().unwrap_or_else(PoisonError::into_inner))))
    }

    fn get_bytes(&self, _: u64, _: usize) -> Result<Bytes> {
        Err(ParquetError::General("pages are read from their beginning".into()))
    }
}

/// Reads the pages one after another.
pub(super) struct InOrder(VecDeque<Bytes>);

impl Read for InOrder {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.0.front().is_some_and(Bytes::is_empty) {
            self.0.pop_front();
        }
        let Some(blob) = self.0.front_mut() else { return Ok(0) };
        let taken = blob.len().min(into.len());
        blob.copy_to_slice(&mut into[..taken]);
        Ok(taken)
    }
}
