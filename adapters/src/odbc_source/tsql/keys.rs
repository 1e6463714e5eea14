//! Keys of the range column: which type boundaries have, how the server writes them, and how they are read.

use dpone_engine::ranges::parse_value;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::facts::CatalogType;
use super::types::by_default;
use crate::odbc_source::Key;

/// The longest text that may place a cut, in UTF-16 units.
const LONGEST: u32 = 2000;

/// The type that boundaries of a column have, whatever type it is delivered in, and the column's type as literals of it
/// spell it; `None` if it cannot be cut.
pub(super) fn boundary_type(ty: &CatalogType) -> Option<(LogicalType, String)> {
    let spelled = ty.spelled();
    let boundary = match ty.base.as_str() {
        "tinyint" | "smallint" | "int" | "bigint" | "decimal" | "numeric" | "money" | "smallmoney" | "real"
        | "float" | "date" | "smalldatetime" | "datetime" | "datetime2" | "datetimeoffset" | "uniqueidentifier" => {
            by_default("", ty)?.ty
        }
        "timestamp" | "rowversion" => LogicalType::UInt { bits: 64 },
        "char" | "varchar" | "nchar" | "nvarchar" if ty.length >= 0 => LogicalType::Text,
        _ => return None,
    };
    let collation = ty.collation.as_ref().filter(|_| boundary == LogicalType::Text);
    // A collation's name is not a text: it stands in the statement as it is.
    let plain = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match collation {
        Some(name) if plain(name) => Some((boundary, format!("{spelled} COLLATE {name}"))),
        Some(_) => None,
        None => Some((boundary, spelled)),
    }
}

/// The column's system type, without its length.
pub(super) fn base(key: &Key) -> &str {
    key.declared.split(['(', ' ']).next().unwrap_or_default()
}

/// An expression's value as text that [`value`] reads.
pub(super) fn written(key: &Key, expression: &str) -> String {
    match base(key) {
        "tinyint" | "smallint" | "int" | "bigint" => format!("CONVERT(varchar(20), {expression})"),
        "decimal" | "numeric" => format!("CONVERT(varchar(41), {expression})"),
        "money" | "smallmoney" => format!("CONVERT(varchar(24), {expression}, 2)"),
        "real" | "float" => format!("CONVERT(varchar(32), {expression}, 3)"),
        "date" => format!("CONVERT(varchar(10), {expression}, 23)"),
        "smalldatetime" => format!("CONVERT(varchar(19), {expression}, 120)"),
        "datetime" => format!("CONVERT(varchar(23), {expression}, 121)"),
        "datetimeoffset" => {
            format!("CONVERT(varchar(27), CAST(SWITCHOFFSET({expression}, '+00:00') AS datetime2(7)), 121)")
        }
        "datetime2" => format!("CONVERT(varchar(27), {expression}, 121)"),
        "timestamp" | "rowversion" => format!("CONVERT(varchar(20), CAST({expression} AS bigint))"),
        "uniqueidentifier" => format!("CONVERT(char(36), {expression})"),
        _ => expression.to_owned(),
    }
}

/// A key that the server wrote; `None` if it is not one.
pub(super) fn value(key: &Key, text: &str) -> Option<Value> {
    match key.column.ty {
        LogicalType::Float { .. } => text.trim().parse().ok().filter(|v: &f64| v.is_finite()).map(Value::from_f64),
        LogicalType::Text => (text.encode_utf16().count() <= LONGEST as usize).then(|| Value::Text(text.to_owned())),
        LogicalType::Timestamp { utc: true, .. } => parse_value(&key.column.ty, &format!("{}Z", text.trim())).ok(),
        // The server counts rowversions without a sign and writes them here with one.
        LogicalType::UInt { bits: 64 } => {
            text.trim().parse::<i64>().ok().map(|v| Value::Int(i128::from(v.cast_unsigned())))
        }
        _ => parse_value(&key.column.ty, text.trim()).ok(),
    }
}

/// Whether keys have even steps, so that a least and a greatest one are enough to cut. Nothing lies evenly between two
/// UUIDs as this server sorts them.
pub(super) fn is_even(key: &Key) -> bool {
    !matches!(key.column.ty, LogicalType::Float { .. } | LogicalType::Text | LogicalType::Uuid)
}

#[cfg(test)]
mod tests {
    use dpone_engine::schema::Column;

    use super::*;

    fn key(base: &str, length: i32, precision: u8, scale: u8, collation: Option<&str>) -> Option<Key> {
        let ty = CatalogType::new(base, "", length, precision, scale, collation.map(str::to_owned));
        let (boundary, declared) = boundary_type(&ty)?;
        let column = Column { name: "k".into(), ty: boundary, nullable: false, declared: ty.declared };
        Some(Key { column, declared })
    }

    #[test]
    fn keys_are_read_as_the_server_writes_them() {
        let check = |key: Option<Key>, text: &str, expect: Option<Value>| {
            let found = key.as_ref().and_then(|key| value(key, text));
            assert!(found == expect, "{text}");
        };
        check(key("int", 4, 10, 0, None), "-7", Some(Value::Int(-7)));
        check(key("decimal", 9, 18, 4, None), "0.5000", Some(Value::Decimal { unscaled: 5000, scale: 4 }));
        check(key("money", 8, 19, 4, None), "-0.0100", Some(Value::Decimal { unscaled: -100, scale: 4 }));
        check(key("float", 8, 53, 0, None), "1.0000000000000001e-001", Some(Value::from_f64(0.1)));
        check(key("date", 3, 10, 0, None), "1970-01-02", Some(Value::Date(1)));
        check(key("datetime", 8, 23, 3, None), "1970-01-01 00:00:00.003", Some(Value::Ticks { ticks: 3, digits: 3 }));
        check(key("smalldatetime", 4, 16, 0, None), "1970-01-01 00:01:00", Some(Value::Ticks { ticks: 60, digits: 0 }));
        check(
            key("datetime2", 8, 27, 7, None),
            "1969-12-31 23:59:59.9999999",
            Some(Value::Ticks { ticks: -1, digits: 7 }),
        );
        check(
            key("datetimeoffset", 10, 26, 0, None),
            "1970-01-01 00:00:01.0000000",
            Some(Value::Ticks { ticks: 1, digits: 0 }),
        );
        check(key("timestamp", 8, 0, 0, None), "4524", Some(Value::Int(4524)));
        check(key("timestamp", 8, 0, 0, None), "-1", Some(Value::Int(u64::MAX.into())));
        check(
            key("uniqueidentifier", 16, 0, 0, None),
            "ABABABAB-ABAB-ABAB-ABAB-ABABABABABAB",
            Some(Value::Uuid([0xab; 16])),
        );
        check(key("nvarchar", 40, 0, 0, None), "a ", Some(Value::Text("a ".into())));
        check(key("nvarchar", 8000, 0, 0, None), &"a".repeat(2001), None);
        check(key("int", 4, 10, 0, None), "x", None);
    }

    #[test]
    fn what_cannot_be_cut_is_no_key() {
        for (base, length) in [
            ("time", 5),
            ("bit", 1),
            ("varbinary", 16),
            ("nvarchar", -1),
            ("xml", -1),
            ("sql_variant", 8016),
            ("geography", -1),
        ] {
            assert_eq!(key(base, length, 0, 0, None), None, "{base}");
        }
        assert_eq!(key("varchar", 9, 0, 0, Some("Latin1; DROP")), None);
        let declared = key("varchar", 9, 0, 0, Some("Latin1_General_100_BIN2_UTF8")).map(|key| key.declared);
        assert_eq!(declared.as_deref(), Some("varchar(9) COLLATE Latin1_General_100_BIN2_UTF8"));
    }
}
