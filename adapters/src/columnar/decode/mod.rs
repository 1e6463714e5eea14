//! Rows of a finished Parquet file, in memory that is known before it is taken.
//!
//! A few bytes of a file can stand for many of values: a dictionary's entry for thousands of rows, a compressed page for a
//! large one. So pages are looked at before they are decompressed, rows are read up to the next end of any column's page,
//! and values stay in their pages: what is held is one page and one dictionary of each column, and nothing else that grows.

mod cell;
mod column;
mod file;
mod headers;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dpone_engine::schema::Schema;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

pub(crate) use cell::{Cell, wide_bytes};
pub(crate) use file::InMemory;

use cell::{Kind, is_exact};
use column::{Column, PER_VALUE};
use headers::{Page, pages};

/// Rows that are read at a time, at most.
const MAX_ROWS: u64 = 1024;
/// What a reader takes whatever it reads, and for each column of it.
const BASE: u64 = 32 << 10;
const PER_COLUMN: u64 = 1 << 10;

/// Why a file cannot be read. Never quotes a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// It is no Parquet file, or damaged.
    #[error("{0}")]
    Damaged(&'static str),
    /// A column is not the planned one.
    #[error("column {0:?} is not the planned {1}")]
    Column(String, String),
    /// It has another number of columns.
    #[error("it has {0} columns of {1}")]
    Columns(usize, usize),
}

/// A file whose columns are the planned ones.
pub(crate) struct File<R: ChunkReader> {
    reader: Arc<R>,
    metadata: ParquetMetaData,
    kinds: Vec<Kind>,
}

/// The pages of one row group, by column.
struct Group {
    rows: u64,
    columns: Vec<Vec<Page>>,
}

impl<R: ChunkReader + 'static> File<R> {
    /// Opens a file. The Arrow schema that a writer may have embedded is ignored: what counts is what any reader sees.
    ///
    /// # Errors
    /// If it is not a readable file of that schema.
    pub(crate) fn open(reader: R, schema: &Schema) -> Result<Self, Unreadable> {
        let damaged = |_| Unreadable::Damaged("its footer is damaged");
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&reader).map_err(damaged)?;
        let found = parquet_to_arrow_schema(metadata.file_metadata().schema_descr(), None).map_err(damaged)?;
        if found.fields().len() != schema.columns.len() {
            return Err(Unreadable::Columns(found.fields().len(), schema.columns.len()));
        }
        let mut kinds = Vec::with_capacity(schema.columns.len());
        for (field, column) in found.fields().iter().zip(&schema.columns) {
            if *field.name() != column.name || !is_exact(field.data_type(), &column.ty) {
                return Err(Unreadable::Column(column.name.clone(), column.ty.to_string()));
            }
            kinds.push(Kind::of(field.data_type(), &column.ty));
        }
        Ok(Self { reader: Arc::new(reader), metadata, kinds })
    }

    /// Its rows, by its footer.
    pub(crate) fn rows(&self) -> u64 {
        u64::try_from(self.metadata.file_metadata().num_rows()).unwrap_or(0)
    }

    /// Looks at every page, and begins.
    ///
    /// # Errors
    /// If a page's header is damaged.
    pub(crate) fn into_rows(self) -> Result<Rows<R>, Unreadable> {
        let damaged = || Unreadable::Damaged("its pages are damaged");
        let mut groups = Vec::new();
        for group in self.metadata.row_groups() {
            let rows = u64::try_from(group.num_rows()).map_err(|_| damaged())?;
            let mut columns = Vec::new();
            for chunk in group.columns() {
                let (start, length) = chunk.byte_range();
                let pages = pages(self.reader.as_ref(), start, length).ok_or_else(damaged)?;
                let values: u64 = pages.iter().filter(|p| !p.is_dictionary).map(|p| p.values).sum();
                if values != rows {
                    return Err(damaged());
                }
                columns.push(pages);
            }
            groups.push(Group { rows, columns });
        }
        // Few rows at a time where columns are many: a row's values take room besides what they refer to.
        let most = ((128 << 10) / (PER_VALUE * self.kinds.len().max(1) as u64)).clamp(1, MAX_ROWS);
        Ok(Rows { file: self, groups, most, group: 0, row: 0, columns: Vec::new() })
    }
}

/// The rows of a file, from the first to the last.
pub(crate) struct Rows<R: ChunkReader> {
    file: File<R>,
    groups: Vec<Group>,
    most: u64,
    group: usize,
    /// Rows of the present group that were read.
    row: u64,
    columns: Vec<Column>,
}

/// Some rows, side by side.
pub(crate) struct Window<'a> {
    columns: &'a [Column],
    rows: usize,
}

impl Window<'_> {
    /// How many there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A cell; `None` if what is stored is no value of the column's type.
    #[inline]
    pub(crate) fn cell(&self, column: usize, row: usize) -> Option<Cell<'_>> {
        self.columns.get(column)?.cell(row)
    }

    /// NULLs in a column.
    pub(crate) fn nulls(&self, column: usize) -> u64 {
        self.columns.get(column).map_or(0, Column::nulls)
    }
}

impl<R: ChunkReader + 'static> Rows<R> {
    /// The most memory that reading takes at one time, without the file if that is in memory.
    pub(crate) fn peak(&self) -> u64 {
        let columns = self.file.kinds.len() as u64;
        let fixed = BASE + columns * (PER_COLUMN + self.most * PER_VALUE);
        fixed + self.groups.iter().map(Group::peak).max().unwrap_or(0)
    }

    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// If the file is damaged.
    pub(crate) fn next(&mut self) -> Result<Option<Window<'_>>, Unreadable> {
        let damaged = |_| Unreadable::Damaged("its pages are damaged");
        while let Some(group) = self.groups.get(self.group) {
            if self.row == group.rows {
                self.columns.clear();
                (self.group, self.row) = (self.group + 1, 0);
                continue;
            }
            if self.columns.is_empty() {
                self.columns = self.file.columns(self.group).map_err(damaged)?;
            }
            let rows = group.until_a_page_ends(self.row).min(self.most);
            let count = usize::try_from(rows).map_err(|_| Unreadable::Damaged("it has too many rows"))?;
            let columns = &mut self.columns;
            let mut read = || columns.iter_mut().try_for_each(|column| column.read(count));
            // The decoder asserts what a damaged page does not hold; nothing is read from its columns after that.
            let read = catch_unwind(AssertUnwindSafe(&mut read));
            read.map_err(|_| Unreadable::Damaged("its pages are damaged"))?.map_err(damaged)?;
            self.row += rows;
            return Ok(Some(Window { columns: &self.columns, rows: count }));
        }
        Ok(None)
    }
}

impl<R: ChunkReader + 'static> File<R> {
    /// The readers of a row group's columns.
    fn columns(&self, group: usize) -> parquet::errors::Result<Vec<Column>> {
        let group = self.metadata.row_group(group);
        let rows = usize::try_from(group.num_rows())?;
        let mut columns = Vec::with_capacity(self.kinds.len());
        for (chunk, kind) in group.columns().iter().zip(&self.kinds) {
            let pages = SerializedPageReader::new(Arc::clone(&self.reader), chunk, rows, None)?;
            columns.push(Column::new(chunk.column_descr_ptr(), *kind, Box::new(pages))?);
        }
        Ok(columns)
    }
}

impl Group {
    /// Rows from that one on that lie in the same page in every column.
    fn until_a_page_ends(&self, row: u64) -> u64 {
        let left = |pages: &Vec<Page>| {
            let mut end = 0;
            let ends = pages.iter().filter(|p| !p.is_dictionary).map(|p| {
                end += p.values;
                end
            });
            ends.filter(|end| *end > row).min().map_or(self.rows - row, |end| end - row)
        };
        self.columns.iter().map(left).min().unwrap_or(self.rows - row).clamp(1, self.rows - row)
    }

    /// The most that the pages of one column after another take together.
    fn peak(&self) -> u64 {
        // A column's page is there until the next one is decompressed, and that from a copy if the file is in parts.
        let of = |pages: &Vec<Page>| {
            let entries = |p: &Page| p.uncompressed + p.values * PER_VALUE;
            let dictionary: u64 = pages.iter().filter(|p| p.is_dictionary).map(entries).sum();
            let copied = pages.iter().map(|p| p.compressed).max().unwrap_or(0);
            let data: Vec<u64> = pages.iter().filter(|p| !p.is_dictionary).map(|p| p.uncompressed).collect();
            let two = data.windows(2).map(|w| w.iter().sum()).max();
            (dictionary + data.iter().copied().max().unwrap_or(0), two.unwrap_or(0), copied)
        };
        let columns: Vec<(u64, u64, u64)> = self.columns.iter().map(of).collect();
        let held: u64 = columns.iter().map(|(held, _, _)| held).sum();
        // One column at a time is at the change of its page.
        held + columns.iter().map(|(_, two, copied)| two + copied).max().unwrap_or(0)
    }
}
