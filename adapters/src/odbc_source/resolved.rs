//! What a request comes to on the catalog as it is now: the schema to deliver and the SQL that reads it.

use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::{Column, Schema};

use super::relation::RelationSql;

/// How a field travels from the driver, and how many bytes or characters it has at most.
///
/// The carrier and the column's logical type together say how the field is read; a pair that does not belong together is
/// a defect of the dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// `SQL_C_BIT`.
    Bit,
    /// `SQL_C_UTINYINT`.
    UInt8,
    /// `SQL_C_SSHORT`.
    Int16,
    /// `SQL_C_SLONG`.
    Int32,
    /// `SQL_C_SBIGINT`.
    Int64,
    /// `SQL_C_FLOAT`.
    Float32,
    /// `SQL_C_DOUBLE`.
    Float64,
    /// `SQL_C_TYPE_DATE`.
    Date,
    /// `SQL_C_TYPE_TIMESTAMP`, whose fraction is in nanoseconds.
    Timestamp,
    /// `SQL_C_CHAR` of what is always ASCII: digits, dates, identifiers. At most that many characters.
    Ascii(u32),
    /// `SQL_C_WCHAR`, at most that many UTF-16 units.
    Wide(u32),
    /// `SQL_C_BINARY`, at most that many bytes.
    Bytes(u32),
    /// `SQL_C_WCHAR` in pieces; `length` of the column says how many bytes of UTF-16 there are.
    LongWide,
    /// `SQL_C_BINARY` in pieces; `length` of the column says how many bytes there are.
    LongBytes,
}

impl Carrier {
    /// Whether the value is read in pieces, one row at a time.
    pub const fn is_long(self) -> bool {
        matches!(self, Self::LongWide | Self::LongBytes)
    }
}

/// One column to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OdbcColumn {
    /// Its name and type.
    pub column: Column,
    /// The expression that reads it, casts included.
    pub expression: String,
    /// How its fields travel.
    pub carrier: Carrier,
    /// For long carriers: the expression that gives how many bytes the driver will deliver at most, NULL for NULL.
    pub length: Option<String>,
}

/// The range key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name and the type that boundaries have.
    pub column: Column,
    /// The type as the source declares it, for the dialect's literals and statements.
    pub declared: String,
}

/// What a request comes to.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What kind of thing is read.
    pub kind: RelationKind,
    /// The columns to deliver.
    pub columns: Vec<OdbcColumn>,
    /// What reads them.
    pub sql: RelationSql,
    /// The range key, if one is named and can be cut.
    pub key: Option<Key>,
    /// Why the named column cannot be cut, if so.
    pub key_refused: Option<Refusal>,
    /// The statements that define the view and every view below it; see `SourceFacts::view_sql`.
    pub view_sql: Vec<String>,
    /// Rows, by the catalog's own estimate.
    pub rows: Option<u64>,
    /// Whether an interval of the key is sought in an index.
    pub key_indexed: bool,
    /// What an operator should know of.
    pub warnings: Vec<String>,
}

impl Resolved {
    /// The planned schema.
    pub fn schema(&self) -> Schema {
        Schema { columns: self.columns.iter().map(|c| c.column.clone()).collect() }
    }
}
