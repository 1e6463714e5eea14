//! One column of a row group, a few values at a time.

use std::sync::Arc;

use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{
    AsBytes, BoolType, ByteArrayType, DataType as Physical, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use super::cell::{Cell, Kind, of_bytes, of_i32, of_i64};

/// Bytes that a value takes besides what it refers to.
pub(super) const PER_VALUE: u64 = 48;

/// The reader of a column, and the values that it read last.
pub(super) struct Column {
    kind: Kind,
    nullable: bool,
    values: Values,
    /// Definition levels of the last rows.
    levels: Vec<i16>,
    /// Where the value of each of the last rows is; empty if every row has one.
    places: Vec<Option<u32>>,
}

/// Values refer to the page that they are in; nothing of it is copied.
enum Values {
    Bool(Typed<BoolType>),
    Int32(Typed<Int32Type>),
    Int64(Typed<Int64Type>),
    Float(Typed<FloatType>),
    Double(Typed<DoubleType>),
    Bytes(Typed<ByteArrayType>),
    Fixed(Typed<FixedLenByteArrayType>),
}

struct Typed<T: Physical> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

impl<T: Physical> Typed<T> {
    fn new(reader: ColumnReaderImpl<T>) -> Self {
        Self { reader, values: Vec::new() }
    }

    /// Reads exactly that many rows.
    fn read(&mut self, rows: usize, levels: Option<&mut Vec<i16>>) -> Result<()> {
        // First of all, so that the page before is let go of.
        self.values.clear();
        let mut levels = levels;
        let mut read = 0;
        while read < rows {
            let (records, _, _) =
                self.reader.read_records(rows - read, levels.as_deref_mut(), None, &mut self.values)?;
            if records == 0 {
                return Err(ParquetError::EOF("a column ends before its row group".into()));
            }
            read += records;
        }
        Ok(())
    }
}

macro_rules! each {
    ($values:expr, $typed:ident => $run:expr) => {
        match $values {
            Values::Bool($typed) => $run,
            Values::Int32($typed) => $run,
            Values::Int64($typed) => $run,
            Values::Float($typed) => $run,
            Values::Double($typed) => $run,
            Values::Bytes($typed) => $run,
            Values::Fixed($typed) => $run,
        }
    };
}

impl Column {
    pub(super) fn new(descriptor: Arc<ColumnDescriptor>, kind: Kind, pages: Box<dyn PageReader>) -> Result<Self> {
        let nullable = descriptor.max_def_level() > 0;
        let values = match get_column_reader(descriptor, pages) {
            ColumnReader::BoolColumnReader(r) => Values::Bool(Typed::new(r)),
            ColumnReader::Int32ColumnReader(r) => Values::Int32(Typed::new(r)),
            ColumnReader::Int64ColumnReader(r) => Values::Int64(Typed::new(r)),
            ColumnReader::FloatColumnReader(r) => Values::Float(Typed::new(r)),
            ColumnReader::DoubleColumnReader(r) => Values::Double(Typed::new(r)),
            ColumnReader::ByteArrayColumnReader(r) => Values::Bytes(Typed::new(r)),
            ColumnReader::FixedLenByteArrayColumnReader(r) => Values::Fixed(Typed::new(r)),
            ColumnReader::Int96ColumnReader(_) => return Err(ParquetError::NYI("a type of old".into())),
        };
        Ok(Self { kind, nullable, values, levels: Vec::new(), places: Vec::new() })
    }

    /// Reads the next rows, in place of the last ones.
    pub(super) fn read(&mut self, rows: usize) -> Result<()> {
        let Self { nullable, values, levels, places, .. } = self;
        levels.clear();
        places.clear();
        each!(values, typed => typed.read(rows, nullable.then_some(&mut *levels)))?;
        if levels.contains(&0) {
            let mut next = 0;
            places.extend(levels.iter().map(|level| {
                let place = (*level > 0).then_some(next);
                next += u32::from(*level > 0);
                place
            }));
        }
        Ok(())
    }

    /// NULLs among the last rows.
    pub(super) fn nulls(&self) -> u64 {
        self.places.iter().filter(|place| place.is_none()).count() as u64
    }

    /// A cell of the last rows; `None` if what is stored is no value of the column's type.
    #[inline]
    pub(super) fn cell(&self, row: usize) -> Option<Cell<'_>> {
        let at = match self.places.get(row) {
            Some(None) => return Some(Cell::Null),
            Some(Some(place)) => *place as usize,
            None => row,
        };
        match &self.values {
            Values::Bool(t) => t.values.get(at).map(|v| Cell::Bool(*v)),
            Values::Int32(t) => of_i32(self.kind, *t.values.get(at)?),
            Values::Int64(t) => of_i64(self.kind, *t.values.get(at)?),
            Values::Float(t) => t.values.get(at).map(|v| Cell::Float32(*v)),
            Values::Double(t) => t.values.get(at).map(|v| Cell::Float64(*v)),
            Values::Bytes(t) => of_bytes(self.kind, t.values.get(at)?.as_bytes()),
            Values::Fixed(t) => of_bytes(self.kind, t.values.get(at)?.as_bytes()),
        }
    }
}
