//! One cell, as its column's logical type has it.

use arrow::datatypes::{DataType, TimeUnit};
use dpone_engine::schema::LogicalType;

/// A value of a column.
///
/// No variant holds bytes by value: those would lie at odd offsets, and a cell that was just built could not be copied
/// without waiting for its stores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float32(f32),
    Float64(f64),
    /// The unscaled value.
    Decimal(i128),
    /// The unscaled value of more than 38 digits, in two's complement, the low half first.
    WideDecimal([u128; 2]),
    /// Days since 1970-01-01.
    Date(i32),
    /// In the type's own fractional digits.
    Ticks(i64),
    Text(&'a str),
    Binary(&'a [u8]),
    Uuid(&'a [u8; 16]),
}

impl Cell<'_> {
    /// Bytes of a value whose length varies.
    pub(crate) fn variable_bytes(&self) -> u64 {
        match self {
            Cell::Text(v) => v.len() as u64,
            Cell::Binary(v) => v.len() as u64,
            _ => 0,
        }
    }
}

/// The halves of a [`Cell::WideDecimal`] as 256 bits, little-endian.
pub(crate) fn wide_bytes([low, high]: [u128; 2]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let (to_low, to_high) = bytes.split_at_mut(16);
    to_low.copy_from_slice(&low.to_le_bytes());
    to_high.copy_from_slice(&high.to_le_bytes());
    bytes
}

/// Whether a column of a file holds exactly the values of a logical type.
pub(crate) fn is_exact(found: &DataType, ty: &LogicalType) -> bool {
    match (ty, found) {
        (LogicalType::Bool, DataType::Boolean)
        | (LogicalType::Int { bits: 8 }, DataType::Int8)
        | (LogicalType::Int { bits: 16 }, DataType::Int16)
        | (LogicalType::Int { bits: 32 }, DataType::Int32)
        | (LogicalType::Int { bits: 64 }, DataType::Int64)
        | (LogicalType::UInt { bits: 8 }, DataType::UInt8)
        | (LogicalType::UInt { bits: 16 }, DataType::UInt16)
        | (LogicalType::UInt { bits: 32 }, DataType::UInt32)
        | (LogicalType::UInt { bits: 64 }, DataType::UInt64)
        | (LogicalType::Float { bits: 32 }, DataType::Float32)
        | (LogicalType::Float { bits: 64 }, DataType::Float64)
        | (LogicalType::Date, DataType::Date32)
        | (LogicalType::Text, DataType::Utf8)
        | (LogicalType::Binary, DataType::Binary)
        | (LogicalType::Uuid, DataType::FixedSizeBinary(16)) => true,
        (LogicalType::Decimal { precision, scale }, DataType::Decimal128(p, s)) => {
            *precision <= 38 && p == precision && i16::from(*s) == i16::from(*scale)
        }
        (LogicalType::Decimal { precision, scale }, DataType::Decimal256(p, s)) => {
            *precision > 38 && p == precision && i16::from(*s) == i16::from(*scale)
        }
        (LogicalType::Time { digits }, DataType::Time32(unit) | DataType::Time64(unit)) => unit_digits(unit) >= *digits,
        (LogicalType::Timestamp { digits, utc }, DataType::Timestamp(unit, zone)) => {
            unit_digits(unit) >= *digits && zone.is_some() == *utc
        }
        _ => false,
    }
}

fn unit_digits(unit: &TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// How the stored values of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Unsigned32,
    Unsigned64,
    Decimal,
    WideDecimal,
    Date,
    /// So many of the file's units are one tick.
    Ticks(i64),
    Text,
    Uuid,
}

impl Kind {
    /// How a column of that type is read, once the file's type was found exact.
    pub(super) fn of(found: &DataType, ty: &LogicalType) -> Self {
        match (ty, found) {
            (LogicalType::UInt { bits: 64 }, _) => Self::Unsigned64,
            (LogicalType::UInt { .. }, _) => Self::Unsigned32,
            (LogicalType::Decimal { precision: ..=38, .. }, _) => Self::Decimal,
            (LogicalType::Decimal { .. }, _) => Self::WideDecimal,
            (LogicalType::Date, _) => Self::Date,
            (
                LogicalType::Time { digits } | LogicalType::Timestamp { digits, .. },
                DataType::Time32(unit) | DataType::Time64(unit) | DataType::Timestamp(unit, _),
            ) => Self::Ticks(10_i64.pow(u32::from(unit_digits(unit).saturating_sub(*digits)))),
            (LogicalType::Text, _) => Self::Text,
            (LogicalType::Uuid, _) => Self::Uuid,
            _ => Self::Plain,
        }
    }
}

/// The cell of a 32-bit integer; `None` if the type has no such value.
#[inline]
pub(super) fn of_i32<'a>(kind: Kind, v: i32) -> Option<Cell<'a>> {
    match kind {
        Kind::Plain => Some(Cell::Int(v.into())),
        Kind::Unsigned32 => Some(Cell::UInt((v as u32).into())),
        Kind::Date => Some(Cell::Date(v)),
        Kind::Decimal => Some(Cell::Decimal(v.into())),
        Kind::Ticks(_) => of_i64(kind, v.into()),
        _ => None,
    }
}

/// The cell of a 64-bit integer.
#[inline]
pub(super) fn of_i64<'a>(kind: Kind, v: i64) -> Option<Cell<'a>> {
    match kind {
        Kind::Plain => Some(Cell::Int(v)),
        Kind::Unsigned64 => Some(Cell::UInt(v as u64)),
        Kind::Decimal => Some(Cell::Decimal(v.into())),
        Kind::Ticks(per) => (v % per == 0).then_some(Cell::Ticks(v / per)),
        _ => None,
    }
}

/// The cell of bytes.
#[inline]
pub(super) fn of_bytes(kind: Kind, v: &[u8]) -> Option<Cell<'_>> {
    match kind {
        Kind::Plain => Some(Cell::Binary(v)),
        Kind::Text => std::str::from_utf8(v).ok().map(Cell::Text),
        Kind::Uuid => v.try_into().ok().map(Cell::Uuid),
        Kind::Decimal => Some(Cell::Decimal(i128::from_le_bytes(extended(v)?))),
        Kind::WideDecimal => {
            let number: [u8; 32] = extended(v)?;
            let half = |half: &[u8]| half.try_into().ok().map(u128::from_le_bytes);
            Some(Cell::WideDecimal([half(number.get(..16)?)?, half(number.get(16..)?)?]))
        }
        _ => None,
    }
}

/// A big-endian number in two's complement, little-endian and as long as is asked for.
fn extended<const N: usize>(v: &[u8]) -> Option<[u8; N]> {
    let sign = if v.first().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
    let mut number = [sign; N];
    for (at, byte) in v.iter().rev().enumerate() {
        match number.get_mut(at) {
            Some(to) => *to = *byte,
            None if *byte == sign => {}
            None => return None,
        }
    }
    Some(number)
}
