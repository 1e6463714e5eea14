//! The logical schema: what a column *is*, independent of any source, file format or sink.
//!
//! One schema is fixed from the source's catalog before the first row is read, and every unit of the run uses
//! it. A type that a source cannot promise exactly is a blocker in the plan, never a guess.

use serde::{Deserialize, Serialize};

/// Unit of the fractional part of a time or timestamp: the number of decimal digits, 0 to 9.
pub type FractionDigits = u8;

/// What the values of a column are.
///
/// Invariant: every type is exact. There is no "number" that may round and no "timestamp" that may shift.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogicalType {
    /// true or false.
    Bool,
    /// Signed integer of `bits` (8, 16, 32 or 64).
    Int {
        /// Width: 8, 16, 32 or 64.
        bits: u8,
    },
    /// Unsigned integer of `bits` (8, 16, 32 or 64).
    UInt {
        /// Width: 8, 16, 32 or 64.
        bits: u8,
    },
    /// IEEE 754 binary float; every bit pattern is kept, NaN and -0.0 included.
    Float {
        /// Width: 32 or 64.
        bits: u8,
    },
    /// Exact decimal with `precision` significant digits (1 to 76) of which `scale` are fractional.
    Decimal {
        /// Total digits, 1 to 76.
        precision: u8,
        /// Fractional digits, 0 to `precision`.
        scale: u8,
    },
    /// Calendar date, proleptic Gregorian, years 0001 to 9999.
    Date,
    /// Time of day with the given fractional digits.
    Time {
        /// Fractional digits, 0 to 9.
        digits: FractionDigits,
    },
    /// Date and time. With `utc` it is an instant; without, a wall clock of no stated zone, never shifted.
    Timestamp {
        /// Fractional digits, 0 to 9.
        digits: FractionDigits,
        /// Whether the value is an instant in UTC.
        utc: bool,
    },
    /// Valid UTF-8 text, any length, NUL bytes included.
    Text,
    /// Bytes, any length.
    Binary,
    /// 16 bytes in RFC 4122 order.
    Uuid,
}

/// One column of the run's schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Column {
    /// The column's name, exactly as the source spells it. Mapping between schemas is by name only.
    pub name: String,
    /// What its values are.
    pub ty: LogicalType,
    /// Whether NULL can occur.
    pub nullable: bool,
    /// The type as the source's catalog declares it, for messages and for the plan.
    pub declared: String,
}

/// The columns of a run, in delivery order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Schema {
    /// The columns, in order. Names are unique.
    pub columns: Vec<Column>,
}

impl Schema {
    /// The position and column of that exact name.
    pub fn column(&self, name: &str) -> Option<(usize, &Column)> {
        self.columns.iter().enumerate().find(|(_, c)| c.name == name)
    }
}

impl std::fmt::Display for LogicalType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool => write!(f, "bool"),
            Self::Int { bits } => write!(f, "int{bits}"),
            Self::UInt { bits } => write!(f, "uint{bits}"),
            Self::Float { bits } => write!(f, "float{bits}"),
            Self::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            Self::Date => write!(f, "date"),
            Self::Time { digits } => write!(f, "time({digits})"),
            Self::Timestamp { digits, utc: true } => write!(f, "timestamp({digits}, utc)"),
            Self::Timestamp { digits, utc: false } => write!(f, "timestamp({digits})"),
            Self::Text => write!(f, "text"),
            Self::Binary => write!(f, "binary"),
            Self::Uuid => write!(f, "uuid"),
        }
    }
}
