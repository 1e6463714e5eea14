//! Fields of `COPY … (FORMAT binary)`, each read as exactly a value of its column's type or as a fault.
//!
//! One file per form. What is read goes to the profile first and then into the column, so that the two never share a
//! conversion with what Arrow does.

mod date;
mod latin1;
mod numeric;
mod scalar;
mod text;
mod time;
mod timestamp;

use dpone_engine::profile::RowProfiler;
use dpone_engine::schema::LogicalType;

use self::numeric::{Decimal, WideDecimal};
use super::types::{PostgresColumn, Wire};
use crate::columnar::ColumnBuilder;
pub(super) use crate::reading::Fault;

/// How a column's fields are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    form: Form,
    nullable: bool,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Bool,
    Int16,
    Int32,
    Int64,
    UInt32,
    /// An `oid` in a signed column.
    OidAsInt,
    Float32,
    Float64,
    Numeric(Decimal),
    WideNumeric(WideDecimal),
    Date,
    /// Microseconds per tick.
    Time(i64),
    Timestamp(i64),
    Uuid,
    Bytes,
    Text,
    Latin1,
}

impl Decoder {
    /// How that column is read; `None` if its form and its type do not belong together.
    pub(super) fn new(column: &PostgresColumn) -> Option<Self> {
        let per_tick = |digits: u8| 10_i64.checked_pow(6_u32.checked_sub(u32::from(digits))?);
        let form = match (column.wire, &column.column.ty) {
            (Wire::Bool, LogicalType::Bool) => Form::Bool,
            (Wire::Int16, LogicalType::Int { bits: 16.. }) => Form::Int16,
            (Wire::Int32, LogicalType::Int { bits: 32.. }) => Form::Int32,
            (Wire::Int64, LogicalType::Int { bits: 64 }) => Form::Int64,
            (Wire::UInt32, LogicalType::UInt { bits: 32.. }) => Form::UInt32,
            (Wire::UInt32, LogicalType::Int { bits: 64 }) => Form::OidAsInt,
            (Wire::Float32, LogicalType::Float { bits: 32 }) => Form::Float32,
            (Wire::Float64, LogicalType::Float { bits: 64 }) => Form::Float64,
            (Wire::Numeric, LogicalType::Decimal { precision: precision @ ..=38, scale }) => {
                Form::Numeric(Decimal::new(*precision, *scale)?)
            }
            (Wire::Numeric, LogicalType::Decimal { precision, scale }) => {
                Form::WideNumeric(WideDecimal::new(*precision, *scale)?)
            }
            (Wire::Date, LogicalType::Date) => Form::Date,
            (Wire::Time, LogicalType::Time { digits }) => Form::Time(per_tick(*digits)?),
            (Wire::Timestamp, LogicalType::Timestamp { digits, .. }) => Form::Timestamp(per_tick(*digits)?),
            (Wire::Uuid, LogicalType::Uuid) => Form::Uuid,
            (Wire::Bytes, LogicalType::Binary) => Form::Bytes,
            (Wire::Text, LogicalType::Text) => Form::Text,
            (Wire::Latin1, LogicalType::Text) => Form::Latin1,
            _ => return None,
        };
        Some(Self { form, nullable: column.column.nullable })
    }

    /// How many bytes one byte of a field can become.
    pub(super) fn growth(&self) -> u64 {
        if matches!(self.form, Form::Latin1) { 2 } else { 1 }
    }

    /// Takes a field in, `None` for NULL; how many bytes of varying length it has in the column.
    ///
    /// The outer `None` is a column that does not take such values: a defect.
    #[inline]
    pub(super) fn take(
        &self,
        field: Option<&[u8]>,
        scratch: &mut String,
        profiler: &mut RowProfiler,
        builder: &mut ColumnBuilder,
    ) -> Option<Result<u64, Fault>> {
        let Some(field) = field else {
            if !self.nullable {
                return Some(Err(Fault::Null));
            }
            profiler.null();
            builder.null();
            return Some(Ok(0));
        };
        macro_rules! fixed {
            ($read:expr, $method:ident) => {
                match $read {
                    Ok(v) => {
                        profiler.$method(v);
                        (builder.$method(v), 0)
                    }
                    Err(fault) => return Some(Err(fault)),
                }
            };
        }
        let (taken, bytes) = match self.form {
            Form::Bool => fixed!(scalar::bool(field), bool),
            Form::Int16 => fixed!(scalar::int16(field), int),
            Form::Int32 => fixed!(scalar::int32(field), int),
            Form::Int64 => fixed!(scalar::int64(field), int),
            Form::UInt32 => fixed!(scalar::uint32(field).map(u64::from), uint),
            Form::OidAsInt => fixed!(scalar::uint32(field).map(i64::from), int),
            Form::Float32 => fixed!(scalar::float32(field), float32),
            Form::Float64 => fixed!(scalar::float64(field), float64),
            Form::Numeric(decimal) => fixed!(decimal.read(field), decimal),
            Form::Date => fixed!(date::read(field), date),
            Form::Time(per_tick) => fixed!(time::read(field, per_tick), ticks),
            Form::Timestamp(per_tick) => fixed!(timestamp::read(field, per_tick), ticks),
            Form::WideNumeric(decimal) => match decimal.read(field) {
                Ok(v) => {
                    let v = numeric::bytes(v);
                    profiler.wide_decimal(&v);
                    (builder.wide_decimal(&v), 0)
                }
                Err(fault) => return Some(Err(fault)),
            },
            Form::Uuid => match scalar::uuid(field) {
                Ok(v) => {
                    profiler.uuid(v);
                    (builder.uuid(v), 0)
                }
                Err(fault) => return Some(Err(fault)),
            },
            Form::Bytes => {
                profiler.binary(field);
                (builder.binary(field), field.len())
            }
            Form::Text | Form::Latin1 => {
                let text =
                    if matches!(self.form, Form::Latin1) { latin1::read(field, scratch) } else { text::read(field) };
                match text {
                    Ok(v) => {
                        profiler.text(v);
                        (builder.text(v), v.len())
                    }
                    Err(fault) => return Some(Err(fault)),
                }
            }
        };
        taken.then_some(Ok(bytes as u64))
    }

    /// Looks at a field only for whether it is a value of the type.
    pub(super) fn check(&self, field: Option<&[u8]>) -> Result<(), Fault> {
        let Some(field) = field else { return if self.nullable { Ok(()) } else { Err(Fault::Null) } };
        match self.form {
            Form::Bool => scalar::bool(field).map(|_| ()),
            Form::Int16 => scalar::int16(field).map(|_| ()),
            Form::Int32 => scalar::int32(field).map(|_| ()),
            Form::Int64 => scalar::int64(field).map(|_| ()),
            Form::UInt32 | Form::OidAsInt => scalar::uint32(field).map(|_| ()),
            Form::Float32 => scalar::float32(field).map(|_| ()),
            Form::Float64 => scalar::float64(field).map(|_| ()),
            Form::Numeric(decimal) => decimal.read(field).map(|_| ()),
            Form::WideNumeric(decimal) => decimal.read(field).map(|_| ()),
            Form::Date => date::read(field).map(|_| ()),
            Form::Time(per_tick) => time::read(field, per_tick).map(|_| ()),
            Form::Timestamp(per_tick) => timestamp::read(field, per_tick).map(|_| ()),
            Form::Uuid => scalar::uuid(field).map(|_| ()),
            Form::Bytes | Form::Latin1 => Ok(()),
            Form::Text => text::read(field).map(|_| ()),
        }
    }
}
