//! Text of databases that are stored as UTF-16.
//!
//! SQLite converts such text to UTF-8 by itself, and makes another character of a lone surrogate without a word. So the
//! stored bytes are read, beside whether the cell was a blob all along, and decoded here.

use dpone_engine::schema::{LogicalType, Schema};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Row};

use super::convert::Fault;

/// The columns of a UTF-16 database whose text is delivered.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    little_endian: bool,
    /// By column: where, after the delivered columns, it stands whether the cell is a blob; `None` for other columns.
    flags: Vec<Option<usize>>,
}

impl Wide {
    /// `None` for a UTF-8 database.
    pub(super) fn of(connection: &Connection, schema: &Schema) -> Result<Option<Self>, Error> {
        let encoding: String = connection.pragma_query_value(None, "encoding", |row| row.get(0))?;
        if encoding == "UTF-8" {
            return Ok(None);
        }
        let mut next = schema.columns.len();
        let flags = schema.columns.iter().map(|column| {
            matches!(column.ty, LogicalType::Text | LogicalType::Binary).then(|| {
                next += 1;
                next - 1
            })
        });
        Ok(Some(Self { flags: flags.collect(), little_endian: encoding == "UTF-16le" }))
    }

    /// The expressions that read those columns: each by its stored bytes, and after all columns the flags.
    pub(super) fn expressions(&self, columns: &[String]) -> Vec<String> {
        let read = columns.iter().zip(&self.flags).map(|(column, flag)| match flag {
            Some(_) => format!("CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) ELSE {column} END"),
            None => column.clone(),
        });
        let flagged = columns.iter().zip(&self.flags).filter(|(_, flag)| flag.is_some());
        read.chain(flagged.map(|(column, _)| format!("typeof({column}) = 'blob'"))).collect()
    }

    /// The cell as it would be in a UTF-8 database; `buffer` holds its text meanwhile.
    pub(super) fn cell<'a>(
        &self,
        row: &'a Row<'_>,
        first: usize,
        column: usize,
        is_binary: bool,
        buffer: &'a mut String,
    ) -> Result<Result<ValueRef<'a>, Fault>, Error> {
        let value = row.get_ref(first + column)?;
        let (ValueRef::Blob(bytes), Some(Some(flag))) = (value, self.flags.get(column)) else { return Ok(Ok(value)) };
        if row.get_ref(first + flag)? == ValueRef::Integer(1) {
            return Ok(Ok(value));
        }
        if is_binary {
            return Ok(Ok(ValueRef::Text(bytes)));
        }
        buffer.clear();
        buffer.reserve_exact(bytes.len() / 2 * 3);
        let unit = if self.little_endian { u16::from_le_bytes } else { u16::from_be_bytes };
        let (pairs, rest) = bytes.as_chunks::<2>();
        for c in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
            match c {
                Ok(c) => buffer.push(c),
                Err(_) => return Ok(Err(Fault::Encoding)),
            }
        }
        Ok(if rest.is_empty() { Ok(ValueRef::Text(buffer.as_bytes())) } else { Err(Fault::Encoding) })
    }

    /// How many bytes a text of so many stored bytes may take, in SQLite and here.
    pub(super) const GROWTH: u64 = 2;
}
