//! One column of a batch under construction.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Decimal256Builder,
    FixedSizeBinaryBuilder, Float32Builder, Float64Builder, Int8Builder, Int16Builder, Int32Builder, Int64Builder,
    StringBuilder, Time64MicrosecondBuilder, Time64NanosecondBuilder, TimestampMicrosecondBuilder,
    TimestampNanosecondBuilder, UInt8Builder, UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow::datatypes::i256;
use dpone_engine::schema::LogicalType;

use super::EncodeError;

/// Builds one column's array.
///
/// Each value goes in through the method of the column's logical type. A value that the type cannot hold, or a call of
/// another type's method, is answered with `false` and adds nothing.
#[derive(Debug)]
pub struct ColumnBuilder(Kind);

#[derive(Debug)]
enum Kind {
    Bool(BooleanBuilder),
    Int8(Int8Builder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    UInt8(UInt8Builder),
    UInt16(UInt16Builder),
    UInt32(UInt32Builder),
    UInt64(UInt64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Decimal(Decimal128Builder),
    WideDecimal(Decimal256Builder),
    Date(Date32Builder),
    /// The second part is what a tick of the logical type is worth in the array's unit.
    TimeMicros(Time64MicrosecondBuilder, i64),
    TimeNanos(Time64NanosecondBuilder, i64),
    Micros(TimestampMicrosecondBuilder, i64),
    Nanos(TimestampNanosecondBuilder, i64),
    Text(StringBuilder),
    Binary(BinaryBuilder),
    Uuid(FixedSizeBinaryBuilder),
}

/// Runs an expression on whatever builder there is.
macro_rules! each {
    ($kind:expr, $b:ident => $run:expr) => {
        match $kind {
            Kind::Bool($b) => $run,
            Kind::Int8($b) => $run,
            Kind::Int16($b) => $run,
            Kind::Int32($b) => $run,
            Kind::Int64($b) => $run,
            Kind::UInt8($b) => $run,
            Kind::UInt16($b) => $run,
            Kind::UInt32($b) => $run,
            Kind::UInt64($b) => $run,
            Kind::Float32($b) => $run,
            Kind::Float64($b) => $run,
            Kind::Decimal($b) => $run,
            Kind::WideDecimal($b) => $run,
            Kind::Date($b) => $run,
            Kind::TimeMicros($b, _) => $run,
            Kind::TimeNanos($b, _) => $run,
            Kind::Micros($b, _) => $run,
            Kind::Nanos($b, _) => $run,
            Kind::Text($b) => $run,
            Kind::Binary($b) => $run,
            Kind::Uuid($b) => $run,
        }
    };
}

impl ColumnBuilder {
    /// A builder of a column of that type with room for `rows` values, and for `bytes` of them where lengths vary.
    ///
    /// # Errors
    /// If the type has no exact form here.
    pub fn new(ty: &LogicalType, rows: usize, bytes: usize) -> Result<Self, EncodeError> {
        let unknown = || EncodeError(format!("{ty} has no exact form in Arrow here"));
        Ok(Self(match *ty {
            LogicalType::Bool => Kind::Bool(BooleanBuilder::with_capacity(rows)),
            LogicalType::Int { bits: 8 } => Kind::Int8(Int8Builder::with_capacity(rows)),
            LogicalType::Int { bits: 16 } => Kind::Int16(Int16Builder::with_capacity(rows)),
            LogicalType::Int { bits: 32 } => Kind::Int32(Int32Builder::with_capacity(rows)),
            LogicalType::Int { bits: 64 } => Kind::Int64(Int64Builder::with_capacity(rows)),
            LogicalType::UInt { bits: 8 } => Kind::UInt8(UInt8Builder::with_capacity(rows)),
            LogicalType::UInt { bits: 16 } => Kind::UInt16(UInt16Builder::with_capacity(rows)),
            LogicalType::UInt { bits: 32 } => Kind::UInt32(UInt32Builder::with_capacity(rows)),
            LogicalType::UInt { bits: 64 } => Kind::UInt64(UInt64Builder::with_capacity(rows)),
            LogicalType::Float { bits: 32 } => Kind::Float32(Float32Builder::with_capacity(rows)),
            LogicalType::Float { bits: 64 } => Kind::Float64(Float64Builder::with_capacity(rows)),
            LogicalType::Decimal { precision: precision @ 1..=38, scale } => {
                let scale = i8::try_from(scale).map_err(|_| unknown())?;
                let builder = Decimal128Builder::with_capacity(rows).with_precision_and_scale(precision, scale)?;
                Kind::Decimal(builder)
            }
            LogicalType::Decimal { precision: precision @ 39..=76, scale } => {
                let scale = i8::try_from(scale).map_err(|_| unknown())?;
                let builder = Decimal256Builder::with_capacity(rows).with_precision_and_scale(precision, scale)?;
                Kind::WideDecimal(builder)
            }
            LogicalType::Date => Kind::Date(Date32Builder::with_capacity(rows)),
            LogicalType::Time { digits: digits @ ..=6 } => {
                Kind::TimeMicros(Time64MicrosecondBuilder::with_capacity(rows), 10_i64.pow(6 - u32::from(digits)))
            }
            LogicalType::Time { digits: digits @ ..=9 } => {
                Kind::TimeNanos(Time64NanosecondBuilder::with_capacity(rows), 10_i64.pow(9 - u32::from(digits)))
            }
            LogicalType::Timestamp { digits: digits @ ..=6, utc } => {
                let builder = TimestampMicrosecondBuilder::with_capacity(rows);
                let builder = if utc { builder.with_timezone("UTC") } else { builder };
                Kind::Micros(builder, 10_i64.pow(6 - u32::from(digits)))
            }
            LogicalType::Timestamp { digits: digits @ ..=9, utc } => {
                let builder = TimestampNanosecondBuilder::with_capacity(rows);
                let builder = if utc { builder.with_timezone("UTC") } else { builder };
                Kind::Nanos(builder, 10_i64.pow(9 - u32::from(digits)))
            }
            LogicalType::Text => Kind::Text(StringBuilder::with_capacity(rows, bytes)),
            LogicalType::Binary => Kind::Binary(BinaryBuilder::with_capacity(rows, bytes)),
            LogicalType::Uuid => Kind::Uuid(FixedSizeBinaryBuilder::with_capacity(rows, 16)),
            _ => return Err(unknown()),
        }))
    }

    /// A NULL.
    #[inline]
    pub fn null(&mut self) {
        each!(&mut self.0, b => b.append_null());
    }

    /// A boolean.
    #[inline]
    pub fn bool(&mut self, v: bool) -> bool {
        let Kind::Bool(b) = &mut self.0 else { return false };
        b.append_value(v);
        true
    }

    /// A signed integer.
    #[inline]
    pub fn int(&mut self, v: i64) -> bool {
        match &mut self.0 {
            Kind::Int64(b) => Some(v).map(|v| b.append_value(v)),
            Kind::Int32(b) => i32::try_from(v).ok().map(|v| b.append_value(v)),
            Kind::Int16(b) => i16::try_from(v).ok().map(|v| b.append_value(v)),
            Kind::Int8(b) => i8::try_from(v).ok().map(|v| b.append_value(v)),
            _ => None,
        }
        .is_some()
    }

    /// An unsigned integer.
    #[inline]
    pub fn uint(&mut self, v: u64) -> bool {
        match &mut self.0 {
            Kind::UInt64(b) => Some(v).map(|v| b.append_value(v)),
            Kind::UInt32(b) => u32::try_from(v).ok().map(|v| b.append_value(v)),
            Kind::UInt16(b) => u16::try_from(v).ok().map(|v| b.append_value(v)),
            Kind::UInt8(b) => u8::try_from(v).ok().map(|v| b.append_value(v)),
            _ => None,
        }
        .is_some()
    }

    /// A `float32`, bit for bit.
    #[inline]
    pub fn float32(&mut self, v: f32) -> bool {
        let Kind::Float32(b) = &mut self.0 else { return false };
        b.append_value(v);
        true
    }

    /// A `float64`, bit for bit.
    #[inline]
    pub fn float64(&mut self, v: f64) -> bool {
        let Kind::Float64(b) = &mut self.0 else { return false };
        b.append_value(v);
        true
    }

    /// The unscaled value of a decimal of at most 38 digits at the column's scale. The caller has checked its precision.
    #[inline]
    pub fn decimal(&mut self, v: i128) -> bool {
        let Kind::Decimal(b) = &mut self.0 else { return false };
        b.append_value(v);
        true
    }

    /// The unscaled value of a decimal of 39 to 76 digits at the column's scale: 256 bits in two's complement,
    /// little-endian. The caller has checked its precision.
    #[inline]
    pub fn wide_decimal(&mut self, v: &[u8; 32]) -> bool {
        let Kind::WideDecimal(b) = &mut self.0 else { return false };
        b.append_value(i256::from_le_bytes(*v));
        true
    }

    /// A date, in days since 1970-01-01.
    #[inline]
    pub fn date(&mut self, v: i32) -> bool {
        let Kind::Date(b) = &mut self.0 else { return false };
        b.append_value(v);
        true
    }

    /// A time of day or timestamp, in ticks of the logical type's fractional digits.
    #[inline]
    pub fn ticks(&mut self, v: i64) -> bool {
        match &mut self.0 {
            Kind::TimeMicros(b, per) => v.checked_mul(*per).map(|v| b.append_value(v)),
            Kind::TimeNanos(b, per) => v.checked_mul(*per).map(|v| b.append_value(v)),
            Kind::Micros(b, per) => v.checked_mul(*per).map(|v| b.append_value(v)),
            Kind::Nanos(b, per) => v.checked_mul(*per).map(|v| b.append_value(v)),
            _ => None,
        }
        .is_some()
    }

    /// A text.
    #[inline]
    pub fn text(&mut self, v: &str) -> bool {
        let Kind::Text(b) = &mut self.0 else { return false };
        b.append_value(v);
        true
    }

    /// A byte string.
    #[inline]
    pub fn binary(&mut self, v: &[u8]) -> bool {
        let Kind::Binary(b) = &mut self.0 else { return false };
        b.append_value(v);
        true
    }

    /// A UUID, in RFC 4122 order.
    #[inline]
    pub fn uuid(&mut self, v: &[u8; 16]) -> bool {
        let Kind::Uuid(b) = &mut self.0 else { return false };
        b.append_value(v).is_ok()
    }

    pub(super) fn finish(mut self) -> ArrayRef {
        each!(&mut self.0, b => Arc::new(b.finish()))
    }
}
