//! PostgreSQL by way of its ODBC driver. dpone's own source of type `postgres` is faster and shares one snapshot.

use dpone_engine::ranges::render_value;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::mariadb::widened;
use super::{CatalogColumn, Mapped, unsupported};
use crate::odbc_source::resolved::Carrier;

/// The longest text, in characters, that is bound rather than read in pieces.
const BOUND: u64 = 4000;

pub(super) fn map(column: &CatalogColumn, stated: Option<&LogicalType>) -> Result<Mapped, Refusal> {
    let c = column.quoted.as_str();
    let text = |n: u32| (Carrier::Ascii(n), format!("{c}::text"));
    if stated == Some(&LogicalType::Text) {
        return Ok(long_text(&format!("{c}::text")));
    }
    let mapped = match column.base.as_str() {
        "bool" => Mapped::new(LogicalType::Bool, Carrier::Int32, format!("{c}::int4")),
        "int2" => Mapped::new(LogicalType::Int { bits: 16 }, Carrier::Int16, c),
        "int4" => Mapped::new(LogicalType::Int { bits: 32 }, Carrier::Int32, c),
        "int8" => Mapped::new(LogicalType::Int { bits: 64 }, Carrier::Int64, c),
        "oid" => Mapped::new(LogicalType::UInt { bits: 32 }, Carrier::Int64, format!("{c}::int8")),
        "float4" => Mapped::new(LogicalType::Float { bits: 32 }, Carrier::Float64, format!("{c}::float8")),
        "float8" => Mapped::new(LogicalType::Float { bits: 64 }, Carrier::Float64, c),
        "numeric" => {
            let (precision, scale) = match (stated, column.precision) {
                (Some(LogicalType::Decimal { precision, scale }), _) => (u32::from(*precision), u32::from(*scale)),
                (_, Some(precision)) => (precision, column.scale.unwrap_or(0)),
                _ => {
                    let text = format!("\"{}\" is numeric without precision and scale", column.name);
                    return Err(Refusal::new(dpone_engine::codes::Code::UnconstrainedNumericRequiresType, text)
                        .at(format!("source.options.types.{}", column.name))
                        .fix(format!("State them: types: {{{}: \"decimal(38,10)\"}}, or text.", column.name)));
                }
            };
            match (u8::try_from(precision), u8::try_from(scale)) {
                (Ok(precision @ 1..=76), Ok(scale)) if scale <= precision => {
                    let (carrier, expression) = text(u32::from(precision) + 3);
                    Mapped::new(LogicalType::Decimal { precision, scale }, carrier, expression)
                }
                _ => return Err(unsupported(column, "State `text`, or a decimal that the values fit.")),
            }
        }
        // The locale's own text is not a number.
        "money" => Mapped::new(
            LogicalType::Decimal { precision: 19, scale: 2 },
            Carrier::Ascii(22),
            format!("{c}::numeric::text"),
        ),
        "date" => {
            let (carrier, expression) = text(16);
            Mapped::new(LogicalType::Date, carrier, expression)
        }
        "time" => {
            let (carrier, expression) = text(16);
            Mapped::new(LogicalType::Time { digits: column.digits.unwrap_or(6) }, carrier, expression)
        }
        "timestamp" => {
            let (carrier, expression) = text(32);
            Mapped::new(LogicalType::Timestamp { digits: column.digits.unwrap_or(6), utc: false }, carrier, expression)
        }
        "timestamptz" => Mapped::new(
            LogicalType::Timestamp { digits: column.digits.unwrap_or(6), utc: true },
            Carrier::Ascii(32),
            format!("({c} AT TIME ZONE 'UTC')::text"),
        ),
        "uuid" => {
            let (carrier, expression) = text(36);
            Mapped::new(LogicalType::Uuid, carrier, expression)
        }
        "varchar" | "bpchar" => match column.length {
            Some(length @ ..=BOUND) => Mapped::new(LogicalType::Text, Carrier::Wide(length.max(1) as u32 * 2), c),
            _ => long_text(c),
        },
        "text" | "name" | "citext" => long_text(c),
        "json" | "jsonb" | "xml" => long_text(&format!("{c}::text")),
        "bytea" => Mapped::long(LogicalType::Binary, Carrier::LongBytes, c, format!("octet_length({c})")),
        _ => return Err(unsupported(column, &format!("State `text`: types: {{{}: text}}.", column.name))),
    };
    match stated {
        None => Ok(mapped),
        Some(ty) if *ty == mapped.ty => Ok(mapped),
        Some(ty) => widened(&mapped, ty)
            .ok_or_else(|| unsupported(column, &format!("State {} or `text`, or leave the type out.", mapped.ty))),
    }
}

fn long_text(c: &str) -> Mapped {
    // A byte of UTF-8 is one unit of UTF-16 at most.
    Mapped::long(LogicalType::Text, Carrier::LongWide, c, format!("2::int8 * octet_length({c})"))
}

/// A boundary as a literal of the column's type.
pub(super) fn literal(value: &Value, declared: &str) -> String {
    let base = declared.split('(').next().unwrap_or_default().trim();
    let rendered = match value {
        Value::Text(text) => text.clone(),
        Value::Decimal { scale, .. } => render_value(&LogicalType::Decimal { precision: 38, scale: *scale }, value),
        Value::Ticks { digits, .. } => {
            let utc = base == "timestamptz" || declared.contains("with time zone");
            render_value(&LogicalType::Timestamp { digits: *digits, utc }, value)
        }
        Value::Date(_) => render_value(&LogicalType::Date, value),
        Value::Uuid(_) => render_value(&LogicalType::Uuid, value),
        other => render_value(&LogicalType::Int { bits: 64 }, other),
    };
    let rendered = rendered.replace('\'', "''");
    let cast = match value {
        Value::Text(_) => "text",
        _ => declared,
    };
    format!("'{rendered}'::{cast}")
}
