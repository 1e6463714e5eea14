//! Fields as drivers deliver them, each read as exactly a value of its column's type or as a fault.
//!
//! One file per form. What is read goes to the profile first and then into the column, so that the two never share a
//! conversion with what Arrow does.

mod date;
mod decimal;
mod text;
mod timestamp;

use dpone_engine::profile::RowProfiler;
use dpone_engine::schema::LogicalType;
use odbc_api::sys::{Date, Timestamp};

use self::decimal::Decimal;
use super::resolved::{Carrier, OdbcColumn};
use crate::columnar::ColumnBuilder;
use crate::reading::Fault;
use crate::reading::text::{NotATimestamp, parse_date, parse_time, parse_timestamp, parse_uuid};

/// A field as a driver delivered it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field<'a> {
    /// NULL.
    Null,
    /// An integer of any width that fits.
    Int(i64),
    /// A float of 32 bits.
    Float32(f32),
    /// A float of 64 bits.
    Float64(f64),
    /// A date.
    Date(&'a Date),
    /// A timestamp.
    Timestamp(&'a Timestamp),
    /// Characters of one byte.
    Ascii(&'a [u8]),
    /// UTF-16 units.
    Wide(&'a [u16]),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Field<'_> {
    /// How many bytes the driver delivered.
    pub(super) fn sent(&self) -> u64 {
        (match self {
            Self::Null => 0,
            Self::Int(_) | Self::Float64(_) => 8,
            Self::Float32(_) => 4,
            Self::Date(_) => 6,
            Self::Timestamp(_) => 16,
            Self::Ascii(v) | Self::Bytes(v) => v.len(),
            Self::Wide(v) => 2 * v.len(),
        }) as u64
    }
}

/// How a column's fields are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conversion {
    form: Form,
    nullable: bool,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Bool,
    Int { min: i64, max: i64 },
    UInt { max: u64 },
    Float32,
    Float64,
    Decimal(Decimal),
    Date,
    Time { digits: u8 },
    Timestamp { digits: u8, utc: bool },
    Uuid,
    Bytes,
    Text,
}

impl Conversion {
    /// How that column is read; `None` if its carrier and its type do not belong together.
    pub(super) fn new(column: &OdbcColumn) -> Option<Self> {
        use Carrier as C;
        use LogicalType as L;
        let integer = matches!(column.carrier, C::UInt8 | C::Int16 | C::Int32 | C::Int64 | C::Ascii(_));
        let text = matches!(column.carrier, C::Wide(_) | C::LongWide | C::Ascii(_));
        let form = match (&column.column.ty, column.carrier) {
            (L::Bool, C::Bit) => Form::Bool,
            (L::Bool, _) if integer => Form::Bool,
            (L::Int { bits }, _) if integer => {
                let shift = 64_u32.checked_sub(u32::from(*bits))?;
                Form::Int { min: i64::MIN >> shift, max: i64::MAX >> shift }
            }
            (L::UInt { bits }, _) if integer => Form::UInt { max: u64::MAX >> 64_u32.checked_sub(u32::from(*bits))? },
            (L::Float { bits: 32 }, C::Float32 | C::Float64) => Form::Float32,
            (L::Float { bits: 64 }, C::Float64 | C::Float32) => Form::Float64,
            (L::Decimal { precision, scale }, C::Ascii(_)) => Form::Decimal(Decimal::new(*precision, *scale)),
            (L::Date, C::Date | C::Ascii(_)) => Form::Date,
            (L::Time { digits }, C::Ascii(_)) => Form::Time { digits: *digits },
            (L::Timestamp { digits, utc }, C::Timestamp | C::Ascii(_)) => {
                Form::Timestamp { digits: *digits, utc: *utc }
            }
            (L::Uuid, C::Ascii(_)) => Form::Uuid,
            (L::Binary, C::Bytes(_) | C::LongBytes) => Form::Bytes,
            (L::Text, _) if text => Form::Text,
            _ => return None,
        };
        Some(Self { form, nullable: column.column.nullable })
    }

    /// Takes a field in; how many bytes of varying length it has in the column.
    ///
    /// The outer `None` is a column that does not take such values: a defect.
    #[inline]
    pub(super) fn take(
        &self,
        field: Field<'_>,
        scratch: &mut String,
        profiler: &mut RowProfiler,
        builder: &mut ColumnBuilder,
    ) -> Option<Result<u64, Fault>> {
        if matches!(field, Field::Null) {
            if !self.nullable {
                return Some(Err(Fault::Null));
            }
            profiler.null();
            builder.null();
            return Some(Ok(0));
        }
        macro_rules! fixed {
            ($read:expr, $method:ident) => {
                match $read {
                    Ok(v) => {
                        profiler.$method(v);
                        builder.$method(v).then_some(Ok(0))
                    }
                    Err(fault) => Some(Err(fault)),
                }
            };
        }
        match self.form {
            Form::Bool => fixed!(bool(field), bool),
            Form::Int { min, max } => fixed!(int(field, min, max), int),
            Form::UInt { max } => fixed!(uint(field, max), uint),
            Form::Float32 => fixed!(float32(field), float32),
            Form::Float64 => fixed!(float64(field), float64),
            Form::Decimal(decimal) => decimal.take(ascii(field), profiler, builder),
            Form::Date => fixed!(date(field), date),
            Form::Time { digits } => {
                fixed!(ascii(field).and_then(|text| parse_time(text, digits).ok_or(Fault::Form)), ticks)
            }
            Form::Timestamp { digits, utc } => fixed!(timestamp(field, digits, utc), ticks),
            Form::Uuid => match ascii(field).and_then(|text| parse_uuid(text).ok_or(Fault::Form)) {
                Ok(v) => {
                    profiler.uuid(&v);
                    builder.uuid(&v).then_some(Ok(0))
                }
                Err(fault) => Some(Err(fault)),
            },
            Form::Bytes => {
                let Field::Bytes(v) = field else { return Some(Err(Fault::Form)) };
                profiler.binary(v);
                builder.binary(v).then_some(Ok(v.len() as u64))
            }
            Form::Text => match text::read(field, scratch) {
                Ok(v) => {
                    profiler.text(v);
                    builder.text(v).then_some(Ok(v.len() as u64))
                }
                Err(fault) => Some(Err(fault)),
            },
        }
    }
}

fn ascii(field: Field<'_>) -> Result<&[u8], Fault> {
    // Drivers pad what they were asked for as characters with blanks in places.
    match field {
        Field::Ascii(v) => Ok(v.trim_ascii()),
        _ => Err(Fault::Form),
    }
}

fn bool(field: Field<'_>) -> Result<bool, Fault> {
    match field {
        Field::Int(0) => Ok(false),
        Field::Int(1) => Ok(true),
        Field::Ascii(b"0") => Ok(false),
        Field::Ascii(b"1") => Ok(true),
        _ => Err(Fault::Form),
    }
}

fn int(field: Field<'_>, min: i64, max: i64) -> Result<i64, Fault> {
    let v = match field {
        Field::Int(v) => v,
        field => std::str::from_utf8(ascii(field)?).ok().and_then(|text| text.parse().ok()).ok_or(Fault::Form)?,
    };
    if min <= v && v <= max { Ok(v) } else { Err(Fault::Form) }
}

fn uint(field: Field<'_>, max: u64) -> Result<u64, Fault> {
    let v = match field {
        Field::Int(v) => u64::try_from(v).map_err(|_| Fault::Form)?,
        field => std::str::from_utf8(ascii(field)?).ok().and_then(|text| text.parse().ok()).ok_or(Fault::Form)?,
    };
    if v <= max { Ok(v) } else { Err(Fault::Form) }
}

fn float32(field: Field<'_>) -> Result<f32, Fault> {
    match field {
        Field::Float32(v) => Ok(v),
        // A server that rounds floats in its text was asked for a double.
        Field::Float64(v) => {
            let narrow = v as f32;
            if f64::from(narrow).to_bits() == v.to_bits() || v.is_nan() { Ok(narrow) } else { Err(Fault::Form) }
        }
        _ => Err(Fault::Form),
    }
}

fn float64(field: Field<'_>) -> Result<f64, Fault> {
    match field {
        Field::Float64(v) => Ok(v),
        Field::Float32(v) => Ok(f64::from(v)),
        _ => Err(Fault::Form),
    }
}

fn date(field: Field<'_>) -> Result<i32, Fault> {
    match field {
        Field::Date(v) => date::read(v),
        field => parse_date(ascii(field)?).ok_or(Fault::Form),
    }
}

fn timestamp(field: Field<'_>, digits: u8, utc: bool) -> Result<i64, Fault> {
    match field {
        Field::Timestamp(v) => timestamp::read(v, digits),
        field => {
            let text = ascii(field)?;
            let read = |text| {
                parse_timestamp(text, digits, utc).map_err(|why| match why {
                    NotATimestamp::Form | NotATimestamp::Zone => Fault::Form,
                    NotATimestamp::Range => Fault::Range,
                })
            };
            // Servers put a blank before the offset.
            match text.iter().rposition(|c| *c == b' ') {
                Some(blank) if utc && blank > 10 => {
                    let mut joined = [0_u8; 40];
                    let parts = text.split_at_checked(blank).zip(joined.get_mut(..text.len() - 1));
                    let ((moment, offset), room) = parts.ok_or(Fault::Form)?;
                    let (front, back) = room.split_at_mut_checked(blank).ok_or(Fault::Form)?;
                    front.copy_from_slice(moment);
                    back.copy_from_slice(offset.get(1..).ok_or(Fault::Form)?);
                    read(room)
                }
                _ => read(text),
            }
        }
    }
}

#[cfg(test)]
mod tests;
