//! One row group under construction.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::SerializedFileWriter;

use super::pages::{ColumnPages, RowGroupPages};
use super::{EncodeError, Segments};

/// Encodes the columns of a row group side by side; a file holds them one after another.
pub(super) struct RowGroup {
    arrow: SchemaRef,
    columns: Vec<ArrowColumnWriter>,
    pages: RowGroupPages,
}

impl RowGroup {
    /// The next row group of a file.
    pub(super) fn begin(file: &SerializedFileWriter<Segments>, arrow: &SchemaRef) -> Result<Self, EncodeError> {
        let pages = RowGroupPages::default();
        let columns = ArrowRowGroupWriterFactory::new(file, Arc::clone(arrow))
            .with_page_store_factory(Arc::new(pages.clone()))
            .create_column_writers(file.flushed_row_groups().len())?;
        Ok(Self { arrow: Arc::clone(arrow), columns, pages })
    }

    /// Encodes a batch.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), EncodeError> {
        let mut writers = self.columns.iter_mut();
        for (field, column) in self.arrow.fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field, column)? {
                writers.next().ok_or_else(|| EncodeError("more leaves than columns".into()))?.write(&leaf)?;
            }
        }
        Ok(())
    }

    /// Bytes of memory taken.
    pub(super) fn memory(&self) -> u64 {
        self.columns.iter().map(|column| column.memory_size() as u64).sum()
    }

    /// Bytes it will have in the file, as far as they are known.
    pub(super) fn encoded(&self) -> u64 {
        self.columns.iter().map(|column| column.get_estimated_total_bytes() as u64).sum()
    }

    /// Moves it into the file.
    pub(super) fn end(self, file: &mut SerializedFileWriter<Segments>) -> Result<(), EncodeError> {
        let chunks = self.columns.into_iter().map(ArrowColumnWriter::close).collect::<Result<Vec<_>, _>>()?;
        let mut group = file.next_row_group()?;
        for (chunk, pages) in chunks.into_iter().zip(self.pages.take()) {
            let mut close = chunk.close().clone();
            close.metadata = located(close.metadata, &pages)?;
            group.append_column(&pages, close)?;
        }
        group.close()?;
        Ok(())
    }
}

/// Where the pages are, counted from the first of them: the dictionary, which was finished last, comes first.
fn located(metadata: ColumnChunkMetaData, pages: &ColumnPages) -> Result<ColumnChunkMetaData, EncodeError> {
    let signed = |bytes: u64| i64::try_from(bytes).map_err(|_| EncodeError("a column chunk is too large".into()));
    let (grown, dictionary) = (signed(pages.grown)?, signed(pages.dictionary_bytes)?);
    let (compressed, uncompressed) = (metadata.compressed_size() + grown, metadata.uncompressed_size() + grown);
    Ok(metadata
        .into_builder()
        .set_total_compressed_size(compressed)
        .set_total_uncompressed_size(uncompressed)
        .set_dictionary_page_offset((dictionary > 0).then_some(0))
        .set_data_page_offset(dictionary)
        .build()?)
}
