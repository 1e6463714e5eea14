//! Boundaries as literals of the column's own type.

use dpone_engine::ranges::render_value;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

/// A text literal, under `standard_conforming_strings = on`.
pub(super) fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// An identifier in double quotes.
pub(super) fn ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A boundary of a column of that logical type, cast to the SQL type `cast`.
pub(super) fn literal(value: &Value, ty: &LogicalType, cast: &str) -> String {
    let rendered = match value {
        Value::Float(_) => match value.to_f64() {
            Some(v) if v.is_nan() => "NaN".to_owned(),
            Some(v) if v.is_infinite() => if v > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
            // The shortest text that reads back as the same float.
            v => format!("{:?}", v.unwrap_or_default()),
        },
        Value::Bytes(bytes) => format!("\\x{}", bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()),
        value => render_value(ty, value),
    };
    format!("{}::{cast}", text(&rendered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_carry_the_type_and_every_digit() {
        let stamp = |utc| LogicalType::Timestamp { digits: 6, utc };
        for (value, ty, cast, expect) in [
            (Value::Int(-5), LogicalType::Int { bits: 64 }, "pg_catalog.int8", "'-5'::pg_catalog.int8"),
            (
                Value::Decimal { unscaled: -1, scale: 10 },
                LogicalType::Decimal { precision: 38, scale: 10 },
                "pg_catalog.numeric",
                "'-0.0000000001'::pg_catalog.numeric",
            ),
            (Value::Date(0), LogicalType::Date, "pg_catalog.date", "'1970-01-01'::pg_catalog.date"),
            (
                Value::Ticks { ticks: 1, digits: 6 },
                stamp(true),
                "pg_catalog.timestamptz",
                "'1970-01-01T00:00:00.000001Z'::pg_catalog.timestamptz",
            ),
            (
                Value::Ticks { ticks: 0, digits: 6 },
                stamp(false),
                "pg_catalog.timestamp",
                "'1970-01-01T00:00:00.000000'::pg_catalog.timestamp",
            ),
            (Value::Text("it's \\".into()), LogicalType::Text, "pg_catalog.text", "'it''s \\'::pg_catalog.text"),
            (Value::from_f64(0.1), LogicalType::Float { bits: 64 }, "pg_catalog.float8", "'0.1'::pg_catalog.float8"),
            (
                Value::Uuid([0xab; 16]),
                LogicalType::Uuid,
                "pg_catalog.uuid",
                "'abababab-abab-abab-abab-abababababab'::pg_catalog.uuid",
            ),
        ] {
            assert_eq!(literal(&value, &ty, cast), expect);
        }
    }
}
