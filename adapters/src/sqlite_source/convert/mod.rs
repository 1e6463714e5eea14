//! From a cell of SQLite to a value of the run's schema: exact, or refused.

mod decimal;
mod text;

use dpone_engine::schema::LogicalType;
use rusqlite::types::ValueRef;

use crate::reading::text::{NotATimestamp, parse_date, parse_time, parse_timestamp, parse_uuid};

pub(super) use text::Scratch;

/// A value of the column's type. No variant holds bytes by value: a cell that was just built is copied faster so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float32(f32),
    Float64(f64),
    Decimal(i128),
    Date(i32),
    Ticks(i64),
    Text(&'a str),
    Binary(&'a [u8]),
    /// Its bytes in RFC 4122 order as one big-endian number.
    Uuid(u128),
}

/// Why a cell is no value of its column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is stored in a class that the type is never stored in.
    Class(&'static str),
    /// The class is right and the value is not.
    Value(&'static str),
    /// It is NULL and the column does not allow that.
    Null,
    /// The text is not UTF-8.
    Encoding,
    /// The value is right, and stored in a form that does not sort as its value does.
    Order,
}

/// How the cells of a column are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conversion {
    kind: Kind,
    nullable: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Bool,
    Int {
        min: i64,
        max: i64,
    },
    UInt {
        max: u64,
    },
    Float32,
    Float64,
    Decimal {
        limit: i128,
        scale: u8,
    },
    Date,
    Time {
        digits: u8,
    },
    Timestamp {
        digits: u8,
        utc: bool,
    },
    Text,
    /// Every class but blobs, as text.
    AnyAsText,
    Binary,
    /// Text too, by its bytes.
    TextAsBinary,
    Uuid,
}

impl Conversion {
    /// How cells of that type are read; `stated` where the manifest names the type.
    pub(super) fn new(ty: &LogicalType, nullable: bool, stated: bool) -> Self {
        let kind = match *ty {
            LogicalType::Bool => Kind::Bool,
            LogicalType::Int { bits } => {
                let shift = 64 - u32::from(bits.clamp(1, 64));
                Kind::Int { min: i64::MIN >> shift, max: i64::MAX >> shift }
            }
            LogicalType::UInt { bits } => Kind::UInt { max: u64::MAX >> (64 - u32::from(bits.clamp(1, 64))) },
            LogicalType::Float { bits: 32 } => Kind::Float32,
            LogicalType::Float { .. } => Kind::Float64,
            LogicalType::Decimal { precision, scale } => {
                Kind::Decimal { limit: 10_i128.checked_pow(u32::from(precision)).unwrap_or(i128::MAX), scale }
            }
            LogicalType::Date => Kind::Date,
            LogicalType::Time { digits } => Kind::Time { digits },
            LogicalType::Timestamp { digits, utc } => Kind::Timestamp { digits, utc },
            LogicalType::Text if stated => Kind::AnyAsText,
            LogicalType::Text => Kind::Text,
            LogicalType::Binary if stated => Kind::TextAsBinary,
            LogicalType::Binary => Kind::Binary,
            LogicalType::Uuid => Kind::Uuid,
        };
        Self { kind, nullable }
    }

    /// The cell's value.
    #[inline]
    pub(super) fn read<'a>(&self, value: ValueRef<'a>, scratch: &'a mut Scratch) -> Result<Cell<'a>, Fault> {
        match (self.kind, value) {
            (_, ValueRef::Null) if self.nullable => Ok(Cell::Null),
            (_, ValueRef::Null) => Err(Fault::Null),
            (Kind::Int { min, max }, ValueRef::Integer(v)) => {
                if min <= v && v <= max {
                    Ok(Cell::Int(v))
                } else {
                    Err(Fault::Value("an integer out of range"))
                }
            }
            (Kind::Float64, ValueRef::Real(v)) => Ok(Cell::Float64(v)),
            (Kind::Text | Kind::AnyAsText, ValueRef::Text(v)) => {
                std::str::from_utf8(v).map(Cell::Text).map_err(|_| Fault::Encoding)
            }
            (Kind::Date, ValueRef::Text(v)) => {
                parse_date(v).map(Cell::Date).ok_or(Fault::Value("a text that is not a date"))
            }
            (Kind::Timestamp { digits, utc }, ValueRef::Text(v)) => {
                parse_timestamp(v, digits, utc).map(Cell::Ticks).map_err(timestamp)
            }
            (Kind::Time { digits }, ValueRef::Text(v)) => {
                parse_time(v, digits).map(Cell::Ticks).ok_or(Fault::Value("a text that is not a time of day"))
            }
            (Kind::Decimal { limit, scale }, value) => decimal::read(value, limit, scale).map(Cell::Decimal),
            (Kind::Binary | Kind::TextAsBinary, ValueRef::Blob(v)) => Ok(Cell::Binary(v)),
            (Kind::TextAsBinary, ValueRef::Text(v)) => Ok(Cell::Binary(v)),
            (Kind::Bool, ValueRef::Integer(v @ 0..=1)) => Ok(Cell::Bool(v == 1)),
            (Kind::Bool, ValueRef::Integer(_)) => Err(Fault::Value("an integer that is neither 0 nor 1")),
            (Kind::UInt { max }, ValueRef::Integer(v)) => match u64::try_from(v) {
                Ok(v) if v <= max => Ok(Cell::UInt(v)),
                _ => Err(Fault::Value("an integer out of range")),
            },
            (Kind::Float32, ValueRef::Real(v)) => float32(v),
            (Kind::Float64, ValueRef::Integer(v)) => exact_float(v).map(Cell::Float64),
            (Kind::Float32, ValueRef::Integer(v)) => exact_float(v).and_then(float32),
            (Kind::AnyAsText, ValueRef::Integer(v)) => Ok(Cell::Text(scratch.integer(v))),
            (Kind::AnyAsText, ValueRef::Real(v)) => Ok(Cell::Text(scratch.real(v))),
            (Kind::Uuid, ValueRef::Text(v)) => {
                parse_uuid(v).map(u128::from_be_bytes).map(Cell::Uuid).ok_or(Fault::Value("a text that is not a UUID"))
            }
            (Kind::Uuid, ValueRef::Blob(v)) => v
                .try_into()
                .map(u128::from_be_bytes)
                .map(Cell::Uuid)
                .map_err(|_| Fault::Value("a blob that has not 16 bytes")),
            (_, other) => Err(Fault::Class(class(other))),
        }
    }
}

fn timestamp(why: NotATimestamp) -> Fault {
    Fault::Value(match why {
        NotATimestamp::Form => "a text that is not a timestamp",
        NotATimestamp::Zone => "a timestamp with a time zone in a column without one",
        NotATimestamp::Range => "a timestamp outside the range of its type",
    })
}

/// The storage class in words.
pub(super) fn class(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "a NULL",
        ValueRef::Integer(_) => "an integer",
        ValueRef::Real(_) => "a real",
        ValueRef::Text(_) => "a text",
        ValueRef::Blob(_) => "a blob",
    }
}

fn float32<'a>(v: f64) -> Result<Cell<'a>, Fault> {
    let narrow = v as f32;
    if f64::from(narrow).to_bits() == v.to_bits() {
        Ok(Cell::Float32(narrow))
    } else {
        Err(Fault::Value("a real that float32 does not hold exactly"))
    }
}

fn exact_float(v: i64) -> Result<f64, Fault> {
    if v.unsigned_abs() <= 1 << 53 { Ok(v as f64) } else { Err(Fault::Value("an integer too large for a float")) }
}

#[cfg(test)]
mod tests;
