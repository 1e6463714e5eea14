//! Keys of the range column: how the server writes them for the plan, which of them can place a cut, and how they are read.

use dpone_engine::ranges::parse_value;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::relation::KeyKind;
use super::resolve::Key;
use super::types::oids;

/// The longest text that may place a cut, in bytes.
const LONGEST: u32 = 4096;

/// An expression's value as text that [`value`] reads.
pub(super) fn written(key: &Key, expression: &str) -> String {
    match (key.oid, &key.column.ty) {
        // A cut needs no more digits than the boundaries have.
        (oids::NUMERIC, LogicalType::Decimal { scale, .. }) => {
            format!("pg_catalog.trunc({expression}, {scale})::pg_catalog.text")
        }
        (oids::MONEY, _) => format!("{expression}::pg_catalog.numeric::pg_catalog.text"),
        (oids::TIMESTAMPTZ, _) => format!("(({expression} AT TIME ZONE 'UTC')::pg_catalog.text || 'Z')"),
        _ => format!("{expression}::pg_catalog.text"),
    }
}

/// The condition that a value can place a cut: neither NaN, nor infinite, nor beyond what boundaries can hold. Rows that
/// it leaves out are read by an open end.
pub(super) fn admitted(key: &Key, expression: &str) -> Option<String> {
    let between = |low: &str, high: &str, ty: &str| {
        Some(format!("{expression} >= '{low}'::pg_catalog.{ty} AND {expression} < '{high}'::pg_catalog.{ty}"))
    };
    match (key.oid, &key.column.ty) {
        (oids::NUMERIC, LogicalType::Decimal { precision, scale }) => {
            let limit = format!("1{}", "0".repeat(usize::from(precision - scale.min(precision))));
            let numeric = "pg_catalog.numeric";
            Some(format!("{expression} > '-{limit}'::{numeric} AND {expression} < '{limit}'::{numeric}"))
        }
        (oids::FLOAT4, _) => {
            Some(format!("{expression} > '-Infinity' AND {expression} < 'Infinity'::pg_catalog.float4"))
        }
        (oids::FLOAT8, _) => {
            Some(format!("{expression} > '-Infinity' AND {expression} < 'Infinity'::pg_catalog.float8"))
        }
        (oids::DATE, _) => between("0001-01-01", "10000-01-01", "date"),
        (oids::TIMESTAMP, _) => between("0001-01-01 00:00:00", "10000-01-01 00:00:00", "timestamp"),
        (oids::TIMESTAMPTZ, _) => between("0001-01-01 00:00:00Z", "10000-01-01 00:00:00Z", "timestamptz"),
        (_, LogicalType::Text) => Some(format!("pg_catalog.octet_length({expression}) <= {LONGEST}")),
        _ => None,
    }
}

/// A key that the server wrote; `None` if it is not one.
pub(super) fn value(key: &Key, text: &str) -> Option<Value> {
    match key.column.ty {
        LogicalType::Float { .. } => text.parse().ok().filter(|v: &f64| v.is_finite()).map(Value::from_f64),
        // Bytes of a database without an encoding that are no UTF-8 come with this in their place.
        LogicalType::Text => (!text.contains('\u{fffd}')).then(|| Value::Text(text.to_owned())),
        _ => parse_value(&key.column.ty, text).ok(),
    }
}

/// The SQL type of the key.
pub(super) fn type_name(key: &Key) -> &str {
    match &key.sql.kind {
        KeyKind::Column { cast, .. } => cast.rsplit("::").next().unwrap_or(cast),
        KeyKind::Block => "pg_catalog.tid",
    }
}

/// Whether keys have even steps, so that a least and a greatest one are enough to cut.
pub(super) fn is_even(key: &Key) -> bool {
    !matches!(key.column.ty, LogicalType::Float { .. } | LogicalType::Text)
}

/// What follows `ORDER BY` for an expression of the key: the column's own order.
pub(super) fn ordered(key: &Key, expression: &str) -> String {
    match &key.collation {
        Some(collation) => format!("{expression} COLLATE {collation}"),
        None => expression.to_owned(),
    }
}
