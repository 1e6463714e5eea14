//! One chunk: a complete Parquet file, written batch by batch.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use dpone_engine::ports::SealedChunk;
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::schema::{LogicalType, Schema};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescriptor};

use super::row_group::RowGroup;
use super::{EncodeError, Segments, arrow_schema, parquet_schema};
use crate::body::Body;

/// What every file of a run has in common.
#[derive(Clone, Debug)]
pub struct ChunkLayout {
    arrow: SchemaRef,
    parquet: SchemaDescriptor,
    usual: WriterPropertiesPtr,
    large: WriterPropertiesPtr,
}

impl ChunkLayout {
    /// The layout of files of that schema.
    ///
    /// # Errors
    /// If a type has no exact form.
    pub fn new(schema: &Schema) -> Result<Self, EncodeError> {
        let (arrow, parquet) = (arrow_schema(schema)?, parquet_schema(schema)?);
        Ok(Self {
            arrow,
            parquet,
            usual: Arc::new(properties(schema, false)),
            large: Arc::new(properties(schema, true)),
        })
    }

    /// The files' Arrow schema.
    pub fn arrow(&self) -> &SchemaRef {
        &self.arrow
    }
}

/// Columns with a dictionary, at most: each takes [`DICTIONARY_BYTES`] before its first value.
const DICTIONARIES: usize = 32;
/// What an empty dictionary takes.
pub const DICTIONARY_BYTES: u64 = 80 << 10;

/// What the writer remembers of each column of each finished row group until the footer is written.
const COLUMN_CHUNK_BYTES: u64 = 1000;

/// How many columns of a file have a dictionary.
pub fn dictionaries(schema: &Schema) -> u64 {
    let texts = schema.columns.iter().filter(|c| c.ty == LogicalType::Text).count();
    if texts <= DICTIONARIES { texts as u64 } else { 0 }
}

/// LZ4 has no memory of its own between pages; a zstd context takes about a megabyte for each column. Pages of version 2
/// are compressed from where they were encoded; those of version 1 are copied first.
fn properties(schema: &Schema, large: bool) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_created_by(concat!("dpone ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(Compression::LZ4_RAW)
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_page_size_limit(256 << 10)
        .set_data_page_size_limit(256 << 10)
        .set_write_batch_size(1024);
    let with_dictionary = !large && dictionaries(schema) > 0;
    for column in &schema.columns {
        let path = ColumnPath::new(vec![column.name.clone()]);
        // Delta encoding is as small as a dictionary for keys and times and needs no table of what was seen. A
        // dictionary and statistics hold whole values: where those can be large they are left out.
        let (dictionary, encoding) = match column.ty {
            LogicalType::Text => (with_dictionary, Encoding::PLAIN),
            LogicalType::Int { .. } | LogicalType::UInt { .. } => (false, Encoding::DELTA_BINARY_PACKED),
            LogicalType::Time { .. } | LogicalType::Timestamp { .. } | LogicalType::Date => {
                (false, Encoding::DELTA_BINARY_PACKED)
            }
            LogicalType::Decimal { precision: ..=18, .. } => (false, Encoding::DELTA_BINARY_PACKED),
            LogicalType::Bool
            | LogicalType::Float { .. }
            | LogicalType::Decimal { .. }
            | LogicalType::Binary
            | LogicalType::Uuid => (false, Encoding::PLAIN),
        };
        builder = builder.set_column_dictionary_enabled(path.clone(), dictionary);
        builder = builder.set_column_encoding(path.clone(), encoding);
        if large && matches!(column.ty, LogicalType::Text | LogicalType::Binary) {
            builder = builder.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    builder.build()
}

/// Writes one file.
pub struct ChunkWriter {
    file: SerializedFileWriter<Segments>,
    arrow: SchemaRef,
    open: Option<RowGroup>,
    /// Encoded and buffered bytes at which a row group is ended.
    row_group: u64,
    rows: u64,
}

impl ChunkWriter {
    /// Begins a file. `large` is for files that may hold values of any size.
    ///
    /// # Errors
    /// If the encoder refuses the schema.
    pub fn new(layout: &ChunkLayout, large: bool, row_group: u64) -> Result<Self, EncodeError> {
        let properties = Arc::clone(if large { &layout.large } else { &layout.usual });
        let file = SerializedFileWriter::new(Segments::default(), layout.parquet.root_schema_ptr(), properties)?;
        Ok(Self { file, arrow: Arc::clone(&layout.arrow), open: None, row_group, rows: 0 })
    }

    /// Encodes a batch.
    ///
    /// # Errors
    /// If the encoder fails.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), EncodeError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let mut group = match self.open.take() {
            Some(group) => group,
            None => RowGroup::begin(&self.file, &self.arrow)?,
        };
        group.write(batch)?;
        self.rows += batch.num_rows() as u64;
        if group.memory() >= self.row_group {
            return group.end(&mut self.file);
        }
        self.open = Some(group);
        Ok(())
    }

    /// Bytes of memory taken by what was written so far.
    pub fn memory(&self) -> u64 {
        let chunks = self.file.flushed_row_groups().iter().map(|g| g.columns().len() as u64).sum::<u64>();
        self.file.inner().memory() + self.open.as_ref().map_or(0, RowGroup::memory) + chunks * COLUMN_CHUNK_BYTES
    }

    /// Bytes of the file so far, as far as they are known: at least the finished row groups.
    pub fn encoded(&self) -> u64 {
        self.file.inner().written() + self.open.as_ref().map_or(0, RowGroup::encoded)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If the encoder fails.
    pub fn seal(mut self) -> Result<SealedChunk<Body>, EncodeError> {
        if let Some(group) = self.open.take() {
            group.end(&mut self.file)?;
        }
        let segments = self.file.into_inner()?;
        let bytes = segments.written();
        let (segments, sha256) = segments.finish();
        let facts = ChunkFacts { rows: self.rows, bytes, sha256 };
        Ok(SealedChunk { facts, body: Body::new(segments) })
    }
}
