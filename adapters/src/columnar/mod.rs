//! Cells to Arrow to Parquet: one file per chunk, its types exactly the run's schema.

mod batch;
mod builder;
mod chunk;
pub(crate) mod decode;
mod encoder;
mod pages;
mod row_group;
mod schema;
mod segments;

pub use batch::BatchBuilder;
pub use builder::ColumnBuilder;
pub use chunk::{ChunkLayout, ChunkWriter, DICTIONARY_BYTES, dictionaries};
pub use encoder::{Encoder, Job};
pub use schema::{arrow_schema, parquet_schema, stored_digits};
pub use segments::Segments;

/// Why rows could not be encoded: a defect of this program or of the encoder, never of the rows.
#[derive(Debug, thiserror::Error)]
#[error("encoding a chunk failed: {0}")]
pub struct EncodeError(pub String);

impl From<arrow::error::ArrowError> for EncodeError {
    fn from(error: arrow::error::ArrowError) -> Self {
        Self(kind_of(&error.to_string()))
    }
}

impl From<parquet::errors::ParquetError> for EncodeError {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self(kind_of(&error.to_string()))
    }
}

/// The first words of an encoder's error: what follows could quote a value.
fn kind_of(text: &str) -> String {
    text.split(':').next().unwrap_or_default().chars().take(80).collect()
}
