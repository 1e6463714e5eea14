//! One decoded column, cell by cell, as its logical type: what the profiler and the unique gate see.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, FixedSizeBinaryArray};
use arrow::array::{BinaryArray, PrimitiveArray, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use dpone_engine::codes::Code;
use dpone_engine::profile::RowProfiler;
use dpone_engine::run::Why;
use dpone_engine::schema::{Column, LogicalType};

/// Whether a column of a file holds exactly the values of a logical type.
pub(super) fn is_exact(found: &DataType, ty: &LogicalType) -> bool {
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

/// One column of a batch.
pub(super) struct Cells<'a> {
    nulls: Option<&'a NullBuffer>,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Bool(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    UInt8(&'a PrimitiveArray<UInt8Type>),
    UInt16(&'a PrimitiveArray<UInt16Type>),
    UInt32(&'a PrimitiveArray<UInt32Type>),
    UInt64(&'a PrimitiveArray<UInt64Type>),
    Float32(&'a PrimitiveArray<Float32Type>),
    Float64(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>),
    WideDecimal(&'a PrimitiveArray<Decimal256Type>),
    Date(&'a PrimitiveArray<Date32Type>),
    /// The file's values, and how many of them one tick of the logical type is.
    Ticks(TickValues<'a>, i64),
    Text(&'a StringArray),
    Binary(&'a BinaryArray),
    Uuid(&'a FixedSizeBinaryArray),
}

enum TickValues<'a> {
    Narrow(&'a [i32]),
    Wide(&'a [i64]),
}

impl<'a> Cells<'a> {
    /// The cells of a column whose type was found exact.
    ///
    /// # Errors
    /// `load_failed` if it is not.
    pub(super) fn new(array: &'a ArrayRef, column: &Column) -> Result<Self, Why> {
        let unexpected = || Why::fatal(Code::LoadFailed, format!("column {:?} is not {}", column.name, column.ty));
        if !is_exact(array.data_type(), &column.ty) {
            return Err(unexpected());
        }
        let kind = match array.data_type() {
            DataType::Boolean => Kind::Bool(array.as_boolean()),
            DataType::Int8 => Kind::Int8(array.as_primitive()),
            DataType::Int16 => Kind::Int16(array.as_primitive()),
            DataType::Int32 => Kind::Int32(array.as_primitive()),
            DataType::Int64 => Kind::Int64(array.as_primitive()),
            DataType::UInt8 => Kind::UInt8(array.as_primitive()),
            DataType::UInt16 => Kind::UInt16(array.as_primitive()),
            DataType::UInt32 => Kind::UInt32(array.as_primitive()),
            DataType::UInt64 => Kind::UInt64(array.as_primitive()),
            DataType::Float32 => Kind::Float32(array.as_primitive()),
            DataType::Float64 => Kind::Float64(array.as_primitive()),
            DataType::Decimal128(_, _) => Kind::Decimal(array.as_primitive()),
            DataType::Decimal256(_, _) => Kind::WideDecimal(array.as_primitive()),
            DataType::Date32 => Kind::Date(array.as_primitive()),
            DataType::Time32(unit) | DataType::Time64(unit) | DataType::Timestamp(unit, _) => {
                let digits = match column.ty {
                    LogicalType::Time { digits } | LogicalType::Timestamp { digits, .. } => digits,
                    _ => return Err(unexpected()),
                };
                let finer = unit_digits(unit).checked_sub(digits).ok_or_else(unexpected)?;
                Kind::Ticks(tick_values(array).ok_or_else(unexpected)?, 10_i64.pow(u32::from(finer)))
            }
            DataType::Utf8 => Kind::Text(array.as_string()),
            DataType::Binary => Kind::Binary(array.as_binary()),
            DataType::FixedSizeBinary(16) => Kind::Uuid(array.as_fixed_size_binary()),
            _ => return Err(unexpected()),
        };
        Ok(Self { nulls: array.nulls(), kind })
    }

    /// Shows one cell to a profiler. False if it holds no value of its logical type: a time finer than its digits.
    #[inline]
    pub(super) fn show(&self, row: usize, to: &mut RowProfiler) -> bool {
        if self.is_null(row) {
            to.null();
            return true;
        }
        match &self.kind {
            Kind::Bool(a) => to.bool(a.value(row)),
            Kind::Int8(a) => to.int(a.value(row).into()),
            Kind::Int16(a) => to.int(a.value(row).into()),
            Kind::Int32(a) => to.int(a.value(row).into()),
            Kind::Int64(a) => to.int(a.value(row)),
            Kind::UInt8(a) => to.uint(a.value(row).into()),
            Kind::UInt16(a) => to.uint(a.value(row).into()),
            Kind::UInt32(a) => to.uint(a.value(row).into()),
            Kind::UInt64(a) => to.uint(a.value(row)),
            Kind::Float32(a) => to.float32(a.value(row)),
            Kind::Float64(a) => to.float64(a.value(row)),
            Kind::Decimal(a) => to.decimal(a.value(row)),
            Kind::WideDecimal(a) => to.wide_decimal(&a.value(row).to_le_bytes()),
            Kind::Date(a) => to.date(a.value(row)),
            Kind::Ticks(values, per) => {
                let value = values.get(row);
                if value % per != 0 {
                    return false;
                }
                to.ticks(value / per);
            }
            Kind::Text(a) => to.text(a.value(row)),
            Kind::Binary(a) => to.binary(a.value(row)),
            Kind::Uuid(a) => match a.value(row).try_into() {
                Ok(bytes) => to.uuid(bytes),
                Err(_) => return false,
            },
        }
        true
    }

    /// Appends bytes that are equal exactly for equal values of the column; nothing for NULL, which equals nothing.
    /// As in SQL, the two zeros of a float are equal, and here NaN equals NaN.
    pub(super) fn key(&self, row: usize, to: &mut Vec<u8>) -> bool {
        if self.is_null(row) {
            return false;
        }
        match &self.kind {
            Kind::Bool(a) => to.push(u8::from(a.value(row))),
            Kind::Int8(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::Int16(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::Int32(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::Int64(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::UInt8(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::UInt16(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::UInt32(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::UInt64(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::Float32(a) => to.extend(float_key(a.value(row).into())),
            Kind::Float64(a) => to.extend(float_key(a.value(row))),
            Kind::Decimal(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::WideDecimal(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::Date(a) => to.extend(a.value(row).to_be_bytes()),
            Kind::Ticks(values, _) => to.extend(values.get(row).to_be_bytes()),
            Kind::Text(a) => to.extend(a.value(row).as_bytes()),
            Kind::Binary(a) => to.extend(a.value(row)),
            Kind::Uuid(a) => to.extend(a.value(row)),
        }
        true
    }

    /// NULLs among the cells.
    pub(super) fn null_count(&self) -> u64 {
        self.nulls.map_or(0, |n| n.null_count() as u64)
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|n| n.is_null(row))
    }
}

impl TickValues<'_> {
    #[inline]
    fn get(&self, row: usize) -> i64 {
        match self {
            Self::Narrow(values) => values[row].into(),
            Self::Wide(values) => values[row],
        }
    }
}

fn tick_values(array: &ArrayRef) -> Option<TickValues<'_>> {
    Some(match array.data_type() {
        DataType::Time32(TimeUnit::Millisecond) => {
            TickValues::Narrow(array.as_primitive::<Time32MillisecondType>().values())
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            TickValues::Wide(array.as_primitive::<Time64MicrosecondType>().values())
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            TickValues::Wide(array.as_primitive::<Time64NanosecondType>().values())
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            TickValues::Wide(array.as_primitive::<TimestampMillisecondType>().values())
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            TickValues::Wide(array.as_primitive::<TimestampMicrosecondType>().values())
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            TickValues::Wide(array.as_primitive::<TimestampNanosecondType>().values())
        }
        _ => return None,
    })
}

fn float_key(v: f64) -> [u8; 8] {
    let v = if v.is_nan() { f64::NAN } else { v + 0.0 };
    v.to_bits().to_be_bytes()
}
