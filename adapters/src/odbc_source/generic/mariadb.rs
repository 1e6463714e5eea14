//! MariaDB and MySQL.
//!
//! The text protocol rounds floats, and drivers turn zero dates into NULL: what is not safe in a driver's hands is cast to
//! text by the server.

use dpone_engine::ranges::render_value;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::{CatalogColumn, Mapped, unsupported};
use crate::odbc_source::resolved::Carrier;

/// The longest text or bytes, in characters or bytes, that are bound rather than read in pieces.
const BOUND: u64 = 4000;

pub(super) fn map(column: &CatalogColumn, stated: Option<&LogicalType>) -> Result<Mapped, Refusal> {
    let c = column.quoted.as_str();
    let unsigned = column.declared.to_ascii_lowercase().contains("unsigned");
    let as_text = |n: u32| (Carrier::Ascii(n), format!("CAST({c} AS CHAR)"));
    let int = |bits: u8, carrier: Carrier| {
        let ty = if unsigned { LogicalType::UInt { bits } } else { LogicalType::Int { bits } };
        Mapped::new(ty, carrier, c)
    };
    if stated == Some(&LogicalType::Text) {
        return Ok(long_text(&format!("CAST({c} AS CHAR)")));
    }
    let mapped = match column.base.as_str() {
        "tinyint" => int(8, Carrier::Int16),
        "smallint" => int(16, Carrier::Int32),
        "mediumint" | "int" => int(32, Carrier::Int64),
        "bigint" if unsigned => {
            let (carrier, expression) = as_text(20);
            Mapped::new(LogicalType::UInt { bits: 64 }, carrier, expression)
        }
        "bigint" => int(64, Carrier::Int64),
        "year" => Mapped::new(LogicalType::Int { bits: 16 }, Carrier::Int32, c),
        "bit" => {
            let bits = column.precision.unwrap_or(1);
            let ty = if bits == 1 { LogicalType::Bool } else { LogicalType::UInt { bits: 64 } };
            Mapped::new(ty, Carrier::Ascii(20), format!("CAST(CAST({c} AS UNSIGNED) AS CHAR)"))
        }
        // A double of the float has every digit of it.
        "float" => Mapped::new(LogicalType::Float { bits: 32 }, Carrier::Float64, format!("CAST({c} AS DOUBLE)")),
        "double" => Mapped::new(LogicalType::Float { bits: 64 }, Carrier::Float64, c),
        "decimal" => {
            let precision = u8::try_from(column.precision.unwrap_or(10)).unwrap_or(0);
            let scale = u8::try_from(column.scale.unwrap_or(0)).unwrap_or(0);
            let (carrier, expression) = as_text(u32::from(precision) + 3);
            Mapped::new(LogicalType::Decimal { precision, scale }, carrier, expression)
        }
        "date" => {
            let (carrier, expression) = as_text(10);
            Mapped::new(LogicalType::Date, carrier, expression)
        }
        "datetime" | "timestamp" => {
            let (digits, utc) = (column.digits.unwrap_or(0), column.base == "timestamp");
            let (carrier, expression) = as_text(26);
            Mapped::new(LogicalType::Timestamp { digits, utc }, carrier, expression)
        }
        // Up to 838 hours, and negative.
        "time" => {
            let (carrier, expression) = as_text(17);
            Mapped::new(LogicalType::Time { digits: column.digits.unwrap_or(0) }, carrier, expression)
        }
        "uuid" => {
            let (carrier, expression) = as_text(36);
            Mapped::new(LogicalType::Uuid, carrier, expression)
        }
        "char" | "varchar" | "enum" | "set" => match column.length {
            Some(length @ ..=BOUND) => {
                // A character is two units of UTF-16 at most.
                Mapped::new(LogicalType::Text, Carrier::Wide(length.max(1) as u32 * 2), c)
            }
            _ => long_text(c),
        },
        "tinytext" | "text" | "mediumtext" | "longtext" | "json" | "inet4" | "inet6" => long_text(c),
        "binary" | "varbinary" => match column.length {
            Some(length @ ..=BOUND) => Mapped::new(LogicalType::Binary, Carrier::Bytes(length.max(1) as u32), c),
            _ => long_bytes(c),
        },
        "tinyblob" | "blob" | "mediumblob" | "longblob" => long_bytes(c),
        _ => return Err(unsupported(column, &format!("State `text`: types: {{{}: text}}.", column.name))),
    };
    match stated {
        None => Ok(mapped),
        Some(ty) if *ty == mapped.ty => Ok(mapped),
        Some(LogicalType::Binary) if mapped.ty == LogicalType::Text => Ok(long_bytes(&format!("CAST({c} AS BINARY)"))),
        Some(ty) => widened(&mapped, ty).ok_or_else(|| {
            unsupported(column, &format!("State {} or `text`, or leave the type out.", mapped.ty))
                .at("source.options.types")
        }),
    }
}

/// The same column as a type that holds all of its values.
pub(super) fn widened(mapped: &Mapped, ty: &LogicalType) -> Option<Mapped> {
    use LogicalType as L;
    let fits = match (&mapped.ty, ty) {
        (L::Int { bits: from }, L::Int { bits: to }) | (L::UInt { bits: from }, L::UInt { bits: to }) => from <= to,
        (L::UInt { bits: from }, L::Int { bits: to }) => from < to,
        // What a value does not fit ends the run.
        (L::Decimal { .. }, L::Decimal { .. }) => matches!(mapped.carrier, Carrier::Ascii(_)),
        (L::Timestamp { utc: from, .. }, L::Timestamp { utc: to, .. }) => from == to,
        (L::Float { bits: 32 }, L::Float { bits: 64 }) => true,
        _ => false,
    };
    fits.then(|| Mapped { ty: ty.clone(), ..mapped.clone() })
}

fn long_text(c: &str) -> Mapped {
    // A byte of UTF-8 is one unit of UTF-16 at most.
    Mapped::long(LogicalType::Text, Carrier::LongWide, c, format!("2 * OCTET_LENGTH(CONVERT({c} USING utf8mb4))"))
}

fn long_bytes(c: &str) -> Mapped {
    Mapped::long(LogicalType::Binary, Carrier::LongBytes, c, format!("OCTET_LENGTH({c})"))
}

/// A boundary as a literal of the column's type.
pub(super) fn literal(value: &Value, declared: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let base = declared.split(['(', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    match value {
        Value::Int(v) => v.to_string(),
        Value::Decimal { scale, .. } => render_value(&LogicalType::Decimal { precision: 38, scale: *scale }, value),
        Value::Date(_) => format!("DATE {}", quoted(&render_value(&LogicalType::Date, value))),
        Value::Ticks { digits, .. } => {
            let text = render_value(&LogicalType::Timestamp { digits: *digits, utc: false }, value).replace('T', " ");
            format!("TIMESTAMP {}", quoted(&text))
        }
        Value::Text(text) => quoted(text),
        Value::Uuid(_) if base == "uuid" => {
            format!("CAST({} AS UUID)", quoted(&render_value(&LogicalType::Uuid, value)))
        }
        other => quoted(&render_value(&LogicalType::Text, other)),
    }
}
