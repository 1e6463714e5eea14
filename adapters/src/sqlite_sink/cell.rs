//! From a decoded Arrow cell to what SQLite stores, exactly or not at all.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use dpone_engine::codes::Code;
use dpone_engine::ranges::render_value;
use dpone_engine::run::Why;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// One cell, borrowed where it can be.
pub(super) enum Cell<'a> {
    /// NULL.
    Null,
    /// An integer or boolean.
    Integer(i64),
    /// A float that is not NaN.
    Real(f64),
    /// Text of the column itself.
    Text(&'a str),
    /// Text that renders another type.
    Rendered(String),
    /// Bytes.
    Blob(&'a [u8]),
}

impl rusqlite::ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(v) => ValueRef::Integer(*v),
            Self::Real(v) => ValueRef::Real(*v),
            Self::Text(v) => ValueRef::Text(v.as_bytes()),
            Self::Rendered(v) => ValueRef::Text(v.as_bytes()),
            Self::Blob(v) => ValueRef::Blob(v),
        }))
    }
}

/// The cell of a row in a column.
///
/// # Errors
/// `float_not_finite_unsupported_by_target` for NaN, which SQLite would store as NULL, and
/// `float_negative_zero_unsupported_by_target` for -0.0, which it would store as the integer 0; `load_failed` if the object's
/// type is not the planned one.
pub(super) fn cell<'a>(array: &'a dyn Array, row: usize, ty: &LogicalType, column: &str) -> Result<Cell<'a>, Why> {
    if array.is_null(row) {
        return Ok(Cell::Null);
    }
    let float = |v: f64| {
        if v.is_nan() {
            let detail = format!("column {column:?} holds NaN, which SQLite stores as NULL");
            Err(Why::fatal(Code::FloatNotFiniteUnsupportedByTarget, detail))
        } else if v == 0.0 && v.is_sign_negative() {
            let detail = format!("column {column:?} holds -0.0, which SQLite stores as 0.0");
            Err(Why::fatal(Code::FloatNegativeZeroUnsupportedByTarget, detail))
        } else {
            Ok(Cell::Real(v))
        }
    };
    let rendered = |value: Value| Ok(Cell::Rendered(render_value(ty, &value)));
    match array.data_type() {
        DataType::Boolean => Ok(Cell::Integer(i64::from(array.as_boolean().value(row)))),
        DataType::Int8 => Ok(Cell::Integer(array.as_primitive::<Int8Type>().value(row).into())),
        DataType::Int16 => Ok(Cell::Integer(array.as_primitive::<Int16Type>().value(row).into())),
        DataType::Int32 => Ok(Cell::Integer(array.as_primitive::<Int32Type>().value(row).into())),
        DataType::Int64 => Ok(Cell::Integer(array.as_primitive::<Int64Type>().value(row))),
        DataType::UInt8 => Ok(Cell::Integer(array.as_primitive::<UInt8Type>().value(row).into())),
        DataType::UInt16 => Ok(Cell::Integer(array.as_primitive::<UInt16Type>().value(row).into())),
        DataType::UInt32 => Ok(Cell::Integer(array.as_primitive::<UInt32Type>().value(row).into())),
        DataType::UInt64 => match i64::try_from(array.as_primitive::<UInt64Type>().value(row)) {
            Ok(v) => Ok(Cell::Integer(v)),
            Err(_) => {
                let detail = format!("column {column:?} holds an integer larger than SQLite's");
                Err(Why::fatal(Code::TargetTypeNarrowerThanSource, detail))
            }
        },
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Ok(Cell::Text(array.as_string::<i32>().value(row))),
        DataType::Binary => Ok(Cell::Blob(array.as_binary::<i32>().value(row))),
        DataType::FixedSizeBinary(16) => {
            let bytes = array.as_fixed_size_binary().value(row);
            rendered(Value::Uuid(bytes.try_into().map_err(|_| unexpected(column))?))
        }
        DataType::Decimal128(_, scale) => {
            let scale = u8::try_from(*scale).map_err(|_| unexpected(column))?;
            rendered(Value::Decimal { unscaled: array.as_primitive::<Decimal128Type>().value(row), scale })
        }
        DataType::Date32 => rendered(Value::Date(array.as_primitive::<Date32Type>().value(row))),
        DataType::Timestamp(_, _) | DataType::Time64(_) => {
            let (ticks, digits) = ticks(array, row, ty).ok_or_else(|| unexpected(column))?;
            rendered(Value::Ticks { ticks: ticks.into(), digits })
        }
        _ => Err(unexpected(column)),
    }
}

/// A time or timestamp in ticks of the column's own digits. `None` if it is not a whole number of them.
pub(super) fn ticks(array: &dyn Array, row: usize, ty: &LogicalType) -> Option<(i64, u8)> {
    let digits = match ty {
        LogicalType::Timestamp { digits, .. } | LogicalType::Time { digits } => *digits,
        _ => return None,
    };
    let (value, unit_digits) = match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            (array.as_primitive::<TimestampMicrosecondType>().value(row), 6)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => (array.as_primitive::<TimestampNanosecondType>().value(row), 9),
        DataType::Time64(TimeUnit::Microsecond) => (array.as_primitive::<Time64MicrosecondType>().value(row), 6),
        DataType::Time64(TimeUnit::Nanosecond) => (array.as_primitive::<Time64NanosecondType>().value(row), 9),
        _ => return None,
    };
    let step = 10_i64.pow(u32::from(u8::checked_sub(unit_digits, digits)?));
    (value % step == 0).then_some((value / step, digits))
}

fn unexpected(column: &str) -> Why {
    Why::fatal(Code::LoadFailed, format!("column {column:?} of an object is not of the planned type"))
}
