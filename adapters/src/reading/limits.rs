//! How a grant is divided: what each representation of a row may take before the row is read.
//!
//! A frame that lies in the connection's read-ahead is looked at there: its texts exist in an Arrow buffer that is being
//! doubled (3), in a dictionary or page under construction (1), as a compressed page (1.1) and in a segment of the file (1).
//! A longer frame's row has a batch of its own, of exactly its size, and its fields are read one at a time into one buffer.

use dpone_engine::schema::{LogicalType, Schema};

use crate::columnar::{BatchBuilder, DICTIONARY_BYTES, dictionaries};

/// The longest frame that can be looked at where it lies, in bytes.
pub(crate) const LONGEST_SHORT: usize = 128 << 10;
/// Of a text in the read-ahead: 3 + 1 + 1.1 + 1, rounded up.
const COPIES: u64 = 7;
/// A frame below this is never a long one.
const LEAST_FRAME: u64 = 2048;
/// What a reader takes whatever it reads: the connection's read-ahead, the profile, an empty file.
const BASE: u64 = 320 << 10;
/// What each column takes whatever it holds: its builders, its encoder's empty buffers, its part of the footer.
const PER_COLUMN: u64 = 8 << 10;

/// The parts of a grant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of values at which a batch is handed to the encoder.
    pub(crate) batch: u64,
    /// Rows that a batch has room for.
    pub(crate) batch_rows: usize,
    /// The longest frame whose row is one of many in a batch.
    pub(crate) frame: u32,
    /// Memory of the encoder at which a row group is ended.
    pub(crate) row_group: u64,
    /// Whether files have dictionaries: they take memory before they hold anything.
    pub(crate) dictionaries: bool,
    /// What remains of the grant for rows.
    pub(crate) available: u64,
}

/// The least grant that a reader of that schema can work with.
pub(crate) fn min_grant(schema: &Schema) -> u64 {
    fixed(schema) + (64 << 10) + 16 * BatchBuilder::row_width(schema)
}

/// What is taken whatever is read.
pub(crate) fn fixed(schema: &Schema) -> u64 {
    BASE + schema.columns.len() as u64 * PER_COLUMN
}

/// Whether values of the type vary in length.
pub(crate) fn is_variable(ty: &LogicalType) -> bool {
    matches!(ty, LogicalType::Text | LogicalType::Binary)
}

impl Limits {
    /// The parts of that grant; `None` if it is too small. Where rows are `long` there are no dictionaries.
    pub(crate) fn new(schema: &Schema, grant: u64, long: bool) -> Option<Self> {
        if grant < min_grant(schema) {
            return None;
        }
        let empty_dictionaries = dictionaries(schema) * DICTIONARY_BYTES;
        let dictionaries = !long && empty_dictionaries > 0 && empty_dictionaries <= grant / 8;
        let available = (grant - fixed(schema)).saturating_sub(if dictionaries { empty_dictionaries } else { 0 });
        let batch = (available / 32).clamp(1, 4 << 20);
        let rows = (batch / BatchBuilder::row_width(schema).max(1)).clamp(1, 8192);
        let columns = (schema.columns.len() as u64).max(1);
        Some(Self {
            batch,
            batch_rows: usize::try_from(rows).unwrap_or(1),
            frame: u32::try_from((available / 4 / COPIES).clamp(LEAST_FRAME, LONGEST_SHORT as u64)).unwrap_or(0),
            // Each column of a row group costs something for itself.
            row_group: (available / 8).max(columns * 2048).min(available / 4),
            dictionaries,
            available,
        })
    }
}

/// What the rows of a frame in the read-ahead take at most, in every representation.
pub(crate) fn short_frame(length: u64, growth: u64, row_width: u64) -> u64 {
    length * growth * COPIES + 4 * row_width
}

/// What a longer frame's row takes at most: its longest field as it is sent (and, of another encoding, as text), then all
/// of them in Arrow, as a page, and as a compressed page of at most an eighth more; the file's segments replace the pages.
pub(crate) fn long_frame(length: u64, growth: u64, row_width: u64) -> u64 {
    let value = length.saturating_mul(growth);
    let buffer = if growth > 1 { length.saturating_add(value) } else { length };
    let encoded = value.saturating_mul(3).saturating_add(value / 8);
    // While fields are read the row exists in the buffer and in Arrow; while it is encoded the buffer is gone.
    encoded.max(buffer.saturating_add(value)).saturating_add(4 * row_width + (64 << 10))
}

/// What a file's footer and page headers take, roughly and at least.
pub(crate) fn overhead(schema: &Schema) -> u64 {
    let names: u64 = schema.columns.iter().map(|c| c.name.len() as u64).sum();
    4096 + schema.columns.len() as u64 * 400 + names * 3
}
