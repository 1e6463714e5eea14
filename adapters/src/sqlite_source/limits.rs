//! How a grant is divided: what each representation of a row may take before the row is fetched.
//!
//! A cell that SQLite hands out exists, at most, as the cell itself and its predecessor in the same register (2), in an
//! Arrow buffer that is being doubled (3), in a dictionary or page under construction (1), as a compressed page (1.1) and in
//! a segment of the file (1). Cells that are neither text nor bytes exist only in SQLite.

use dpone_engine::schema::{LogicalType, Schema};

use crate::columnar::{BatchBuilder, DICTIONARY_BYTES, dictionaries};

/// Of a text or binary cell: 2 + 3 + 1 + 1.1 + 1, rounded up.
const VARIABLE_COPIES: u64 = 9;
/// Of any other cell: SQLite alone.
const FIXED_COPIES: u64 = 2;
/// The least limit on a cell that a reader works with. Longer cells are measured first.
const LEAST_CELL: u64 = 256;
/// What a reader takes whatever it reads: the profile, statements, an empty file.
const BASE: u64 = 64 << 10;
/// What each column takes whatever it holds: its builders, its encoder's empty buffers, its part of the footer.
const PER_COLUMN: u64 = 8 << 10;

/// The parts of a grant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of values at which a batch is handed to the encoder.
    pub(super) batch: u64,
    /// Rows that a batch has room for.
    pub(super) batch_rows: usize,
    /// The longest cell that is fetched without having been measured.
    pub(super) cell: u64,
    /// The most that one row of such cells takes in every representation.
    pub(super) row: u64,
    /// Memory of the encoder at which a row group is ended.
    pub(super) row_group: u64,
    /// Whether files have dictionaries: they take memory before they hold anything.
    pub(super) dictionaries: bool,
    /// What remains of the grant for rows.
    pub(super) available: u64,
}

/// The least grant that a reader of that schema can work with.
pub(super) fn min_grant(schema: &Schema) -> u64 {
    // A row of the shortest limit takes at most a quarter of what is available.
    fixed(schema) + 4 * copies(schema) * LEAST_CELL + 16 * BatchBuilder::row_width(schema)
}

/// What is taken whatever is read.
pub(super) fn fixed(schema: &Schema) -> u64 {
    BASE + schema.columns.len() as u64 * PER_COLUMN
}

fn copies(schema: &Schema) -> u64 {
    schema.columns.iter().map(|c| if is_variable(&c.ty) { VARIABLE_COPIES } else { FIXED_COPIES }).sum::<u64>().max(1)
}

/// Whether values of the type vary in length.
pub(super) fn is_variable(ty: &LogicalType) -> bool {
    matches!(ty, LogicalType::Text | LogicalType::Binary)
}

impl Limits {
    /// The parts of that grant, for chunks of at most `max_chunk` bytes; `None` if it is too small. Where cells are `long`
    /// there are no dictionaries.
    pub(super) fn new(schema: &Schema, grant: u64, max_chunk: u64, long: bool) -> Option<Self> {
        if grant < min_grant(schema) {
            return None;
        }
        let empty_dictionaries = dictionaries(schema) * DICTIONARY_BYTES;
        let dictionaries = !long && empty_dictionaries > 0 && empty_dictionaries <= grant / 8;
        let available = grant - fixed(schema) - if dictionaries { empty_dictionaries } else { 0 };
        let batch = (available / 32).clamp(1, 4 << 20);
        let rows = (batch / BatchBuilder::row_width(schema).max(1)).clamp(1, 8192);
        // A row that is not measured must also be a small part of the largest chunk.
        let columns = (schema.columns.len() as u64).max(1);
        let cell = (available / 4 / copies(schema)).min(max_chunk / 8 / columns).clamp(LEAST_CELL, i32::MAX as u64);
        Some(Self {
            batch,
            batch_rows: usize::try_from(rows).unwrap_or(1),
            cell,
            row: cell * copies(schema),
            // Each column of a row group costs something for itself.
            row_group: (available / 8).max(columns * 2048).min(available / 4),
            dictionaries,
            available,
        })
    }
}

/// What a file's footer and page headers take, roughly and at least.
pub(super) fn overhead(schema: &Schema) -> u64 {
    let names: u64 = schema.columns.iter().map(|c| c.name.len() as u64).sum();
    4096 + schema.columns.len() as u64 * 400 + names * 3
}
