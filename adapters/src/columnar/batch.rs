//! Rows of one Arrow batch under construction, with the bytes they take.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use dpone_engine::schema::{LogicalType, Schema};

use super::{ColumnBuilder, EncodeError};

/// Builds a batch of a fixed greatest number of rows, so that the memory of fixed-size values is known when it begins.
#[derive(Debug)]
pub struct BatchBuilder {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    /// Bytes per row of values of a fixed size, offsets and validity included.
    row_width: u64,
    capacity: usize,
    rows: usize,
    variable: u64,
}

impl BatchBuilder {
    /// A batch with room for `capacity` rows and, in each column whose values vary in length, for `bytes(i)` bytes.
    ///
    /// # Errors
    /// If a type has no exact form.
    pub fn new(
        schema: &Schema,
        arrow: &SchemaRef,
        capacity: usize,
        bytes: impl Fn(usize) -> usize,
    ) -> Result<Self, EncodeError> {
        let columns: Result<Vec<_>, _> =
            schema.columns.iter().enumerate().map(|(i, c)| ColumnBuilder::new(&c.ty, capacity, bytes(i))).collect();
        let row_width = Self::row_width(schema);
        Ok(Self { schema: arrow.clone(), columns: columns?, row_width, capacity, rows: 0, variable: 0 })
    }

    /// Bytes that a row's values of a fixed size take, offsets and validity included.
    pub fn row_width(schema: &Schema) -> u64 {
        schema.columns.iter().map(|c| width(&c.ty) + 1).sum()
    }

    /// The columns, to add one value to each of them. [`BatchBuilder::end_row`] follows.
    #[inline]
    pub fn columns(&mut self) -> &mut [ColumnBuilder] {
        &mut self.columns
    }

    /// Ends a row whose values of varying length have so many bytes together.
    #[inline]
    pub fn end_row(&mut self, variable: u64) {
        self.rows += 1;
        self.variable += variable;
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether it has as many rows as it has room for.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.rows >= self.capacity
    }

    /// Bytes of the values so far.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.rows as u64 * self.row_width + self.variable
    }

    /// Bytes of memory that it may have taken: a growing buffer exists twice while it is copied, at twice its size.
    #[inline]
    pub fn memory(&self) -> u64 {
        self.capacity as u64 * self.row_width + 3 * self.variable + 192 * self.columns.len() as u64
    }

    /// The batch.
    ///
    /// # Errors
    /// If a row was left incomplete.
    pub fn finish(self) -> Result<RecordBatch, EncodeError> {
        let arrays = self.columns.into_iter().map(ColumnBuilder::finish).collect();
        Ok(RecordBatch::try_new(self.schema, arrays)?)
    }
}

fn width(ty: &LogicalType) -> u64 {
    match ty {
        LogicalType::Bool => 1,
        LogicalType::Int { bits } | LogicalType::UInt { bits } | LogicalType::Float { bits } => u64::from(*bits) / 8,
        LogicalType::Decimal { precision: 39.., .. } => 32,
        LogicalType::Decimal { .. } | LogicalType::Uuid => 16,
        LogicalType::Date => 4,
        LogicalType::Time { .. } | LogicalType::Timestamp { .. } => 8,
        LogicalType::Text | LogicalType::Binary => 4,
    }
}
