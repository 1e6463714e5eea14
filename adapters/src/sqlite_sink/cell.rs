//! From a decoded cell to what SQLite stores, exactly or not at all.

use dpone_engine::codes::Code;
use dpone_engine::ranges::render_value;
use dpone_engine::run::Why;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::columnar::decode::Cell;

/// One cell as SQLite takes it, borrowed where it can be.
pub(super) enum Stored<'a> {
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

impl rusqlite::ToSql for Stored<'_> {
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

/// What SQLite stores for a cell of a column.
///
/// # Errors
/// `float_not_finite_unsupported_by_target` for NaN, which SQLite would store as NULL, and
/// `float_negative_zero_unsupported_by_target` for -0.0, which it would store as the integer 0;
/// `target_type_narrower_than_source` for an integer larger than SQLite's; `load_failed` for a decimal of more than 38 digits.
pub(super) fn stored<'a>(cell: Cell<'a>, ty: &LogicalType, column: &str) -> Result<Stored<'a>, Why> {
    let float = |v: f64| {
        if v.is_nan() {
            let detail = format!("column {column:?} holds NaN, which SQLite stores as NULL");
            Err(Why::fatal(Code::FloatNotFiniteUnsupportedByTarget, detail))
        } else if v == 0.0 && v.is_sign_negative() {
            let detail = format!("column {column:?} holds -0.0, which SQLite stores as 0.0");
            Err(Why::fatal(Code::FloatNegativeZeroUnsupportedByTarget, detail))
        } else {
            Ok(Stored::Real(v))
        }
    };
    let rendered = |value: Value| Ok(Stored::Rendered(render_value(ty, &value)));
    match cell {
        Cell::Null => Ok(Stored::Null),
        Cell::Bool(v) => Ok(Stored::Integer(v.into())),
        Cell::Int(v) => Ok(Stored::Integer(v)),
        Cell::UInt(v) => i64::try_from(v).map(Stored::Integer).map_err(|_| {
            let detail = format!("column {column:?} holds an integer larger than SQLite's");
            Why::fatal(Code::TargetTypeNarrowerThanSource, detail)
        }),
        Cell::Float32(v) => float(v.into()),
        Cell::Float64(v) => float(v),
        Cell::Text(v) => Ok(Stored::Text(v)),
        Cell::Binary(v) => Ok(Stored::Blob(v)),
        Cell::Uuid(v) => rendered(Value::Uuid(*v)),
        Cell::Date(v) => rendered(Value::Date(v)),
        Cell::Decimal(unscaled) => match ty {
            LogicalType::Decimal { scale, .. } => rendered(Value::Decimal { unscaled, scale: *scale }),
            _ => Err(unexpected(column)),
        },
        Cell::Ticks(ticks) => match ty {
            LogicalType::Time { digits } | LogicalType::Timestamp { digits, .. } => {
                rendered(Value::Ticks { ticks: ticks.into(), digits: *digits })
            }
            _ => Err(unexpected(column)),
        },
        Cell::WideDecimal(_) => Err(unexpected(column)),
    }
}

pub(super) fn unexpected(column: &str) -> Why {
    Why::fatal(Code::LoadFailed, format!("column {column:?} of an object is not of the planned type"))
}
