//! What a driver describes, for servers whose catalog is not known and for queries.
//!
//! Drivers guess. Only what cannot be delivered wrongly by a wrong guess is taken: a text is refused when it is longer than
//! described, a decimal when it has other digits.

use dpone_engine::ranges::render_value;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;
use odbc_api::DataType;

use super::{CatalogColumn, Mapped, unsupported};
use crate::odbc::Described;
use crate::odbc_source::resolved::Carrier;

/// The longest text or bytes that are bound.
const BOUND: usize = 8192;

pub(super) fn map(
    column: &CatalogColumn,
    described: &Described,
    stated: Option<&LogicalType>,
) -> Result<Mapped, Refusal> {
    let c = column.quoted.as_str();
    let refuse = || {
        let fix = "Cast it in source.query to a type with a length, or state `text` where it has one.";
        unsupported(column, fix)
    };
    let wide = |length: Option<std::num::NonZeroUsize>| match length.map(std::num::NonZeroUsize::get) {
        Some(length @ ..=BOUND) => Ok(Carrier::Wide(length as u32 * 2)),
        _ => Err(refuse()),
    };
    if stated == Some(&LogicalType::Text) {
        let length = match described.data_type {
            DataType::Varchar { length }
            | DataType::WVarchar { length }
            | DataType::Char { length }
            | DataType::WChar { length } => wide(length)?,
            other => Carrier::Wide(other.display_size().map_or(256, |n| n.get().clamp(1, BOUND) as u32)),
        };
        return Ok(Mapped::new(LogicalType::Text, length, c));
    }
    let mapped = match described.data_type {
        DataType::TinyInt => Mapped::new(LogicalType::Int { bits: 16 }, Carrier::Int16, c),
        DataType::SmallInt => Mapped::new(LogicalType::Int { bits: 16 }, Carrier::Int16, c),
        DataType::Integer => Mapped::new(LogicalType::Int { bits: 32 }, Carrier::Int32, c),
        DataType::BigInt => Mapped::new(LogicalType::Int { bits: 64 }, Carrier::Int64, c),
        DataType::Bit => Mapped::new(LogicalType::Bool, Carrier::Bit, c),
        // A float of 64 bits has every digit of one of 32, whatever the driver calls it.
        DataType::Real | DataType::Double | DataType::Float { .. } => {
            Mapped::new(LogicalType::Float { bits: 64 }, Carrier::Float64, c)
        }
        DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale } => {
            match (u8::try_from(precision), u8::try_from(scale)) {
                (Ok(precision @ 1..=76), Ok(scale)) if scale <= precision => {
                    Mapped::new(LogicalType::Decimal { precision, scale }, Carrier::Ascii(u32::from(precision) + 3), c)
                }
                _ => return Err(refuse()),
            }
        }
        DataType::Varchar { length }
        | DataType::WVarchar { length }
        | DataType::Char { length }
        | DataType::WChar { length } => Mapped::new(LogicalType::Text, wide(length)?, c),
        DataType::Binary { length } | DataType::Varbinary { length } => match length.map(std::num::NonZeroUsize::get) {
            Some(length @ ..=BOUND) => Mapped::new(LogicalType::Binary, Carrier::Bytes(length as u32), c),
            _ => return Err(refuse()),
        },
        DataType::Date => Mapped::new(LogicalType::Date, Carrier::Date, c),
        DataType::Timestamp { precision } => {
            let digits = u8::try_from(precision).ok().filter(|d| *d <= 9).unwrap_or(9);
            Mapped::new(LogicalType::Timestamp { digits, utc: false }, Carrier::Timestamp, c)
        }
        _ => return Err(refuse()),
    };
    match stated {
        None => Ok(mapped),
        Some(ty) if *ty == mapped.ty => Ok(mapped),
        Some(ty) => super::mariadb::widened(&mapped, ty).ok_or_else(refuse),
    }
}

/// A boundary as a literal.
pub(super) fn literal(value: &Value, _: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    match value {
        Value::Int(v) => v.to_string(),
        Value::Decimal { scale, .. } => render_value(&LogicalType::Decimal { precision: 38, scale: *scale }, value),
        Value::Date(_) => format!("{{d {}}}", quoted(&render_value(&LogicalType::Date, value))),
        Value::Ticks { digits, .. } => {
            let text = render_value(&LogicalType::Timestamp { digits: *digits, utc: false }, value).replace('T', " ");
            format!("{{ts {}}}", quoted(&text))
        }
        Value::Text(text) => quoted(text),
        other => quoted(&render_value(&LogicalType::Text, other)),
    }
}
