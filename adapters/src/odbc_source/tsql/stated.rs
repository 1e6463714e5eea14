//! Types that the manifest states: exact, or none.

use dpone_engine::schema::LogicalType;

use super::facts::CatalogType;
use super::types::{Mapped, by_default, digits_of, instant, wide};
use crate::odbc_source::Carrier;

/// The column as that type; `None` if it could lose something. A value that does not fit ends the run.
pub(super) fn map(reference: &str, ty: &CatalogType, stated: &LogicalType) -> Option<Mapped> {
    use LogicalType as L;
    let own = || by_default(reference, ty);
    let widened = || Some(Mapped { ty: stated.clone(), ..own()? });
    match (ty.base.as_str(), stated) {
        (_, L::Text) => text(reference, ty),
        (
            "char" | "varchar" | "nchar" | "nvarchar" | "text" | "ntext" | "hierarchyid" | "geography" | "geometry",
            L::Binary,
        ) => bytes(reference, ty),
        ("tinyint", L::UInt { .. } | L::Int { bits: 16 | 32 | 64 })
        | ("smallint", L::Int { bits: 16 | 32 | 64 })
        | ("int", L::Int { bits: 32 | 64 })
        | ("real", L::Float { .. })
        | ("money" | "smallmoney" | "decimal" | "numeric", L::Decimal { .. })
        | ("time", L::Time { digits: 0..=7 })
        | ("datetime" | "smalldatetime" | "datetime2", L::Timestamp { digits: 0..=7, utc: false }) => widened(),
        ("tinyint" | "smallint" | "int" | "bigint", L::Decimal { .. }) => {
            Some(Mapped::new(stated.clone(), Carrier::Ascii(20), reference))
        }
        // The digits that the column has are the ones that are delivered, so that none is rounded away here.
        ("datetimeoffset", L::Timestamp { digits: 0..=7, utc: true }) => {
            Some(Mapped::new(stated.clone(), Carrier::Timestamp, instant(reference, ty.scale)))
        }
        ("timestamp" | "rowversion", L::Int { bits: 64 } | L::UInt { bits: 64 }) => {
            Some(Mapped::new(stated.clone(), Carrier::Int64, format!("CAST({reference} AS bigint)")))
        }
        _ => own().filter(|own| own.ty == *stated),
    }
}

/// The column as the text that says all that its values say.
pub(super) fn text(reference: &str, ty: &CatalogType) -> Option<Mapped> {
    let convert = |units: u32, style: &str| {
        let expression = format!("CONVERT(varchar({units}), {reference}{style})");
        Some(Mapped::new(LogicalType::Text, Carrier::Ascii(units), expression))
    };
    let bytes = u32::try_from(ty.length).ok();
    match ty.base.as_str() {
        "bit" => convert(1, ""),
        "tinyint" | "smallint" | "int" | "bigint" => convert(20, ""),
        "decimal" | "numeric" => match digits_of(ty) {
            Carrier::Ascii(units) => convert(units, ""),
            _ => None,
        },
        "money" | "smallmoney" => convert(24, ", 2"),
        "real" | "float" => convert(32, ", 3"),
        "date" => convert(10, ", 23"),
        "time" => convert(16, ", 121"),
        "smalldatetime" => convert(19, ", 120"),
        "datetime" => convert(23, ", 121"),
        "datetime2" => convert(27, ", 121"),
        "datetimeoffset" => convert(34, ", 121"),
        "uniqueidentifier" => {
            Some(Mapped::new(LogicalType::Text, Carrier::Ascii(36), format!("CONVERT(char(36), {reference})")))
        }
        "binary" | "varbinary" => match bytes {
            Some(bytes @ 0..=3999) => convert(bytes * 2 + 2, ", 1"),
            _ => Some(Mapped::long_text(format!("CONVERT(nvarchar(max), {reference}, 1)"))),
        },
        "image" => Some(Mapped::long_text(format!("CONVERT(nvarchar(max), CAST({reference} AS varbinary(max)), 1)"))),
        "timestamp" | "rowversion" => {
            let expression = format!("CONVERT(varchar(18), CAST({reference} AS binary(8)), 1)");
            Some(Mapped::new(LogicalType::Text, Carrier::Ascii(18), expression))
        }
        "char" | "varchar" | "nchar" | "nvarchar" | "text" | "ntext" | "xml" => by_default(reference, ty),
        "json" | "vector" => Some(Mapped::long_text(wide(reference))),
        "hierarchyid" => Some(Mapped::new(LogicalType::Text, Carrier::Wide(4000), format!("{reference}.ToString()"))),
        // Well-known text with Z and M; the reference system is not part of it.
        "geography" | "geometry" => Some(Mapped::long_text(format!("{reference}.ToString()"))),
        "sql_variant" => Some(Mapped::long_text(variant(reference))),
        _ => None,
    }
}

/// A variant is written by the type that it holds: the server's default styles lose digits of floats, money and times.
fn variant(reference: &str) -> String {
    let styled: String = [
        ("'float', 'real'", "float", "3"),
        ("'money', 'smallmoney'", "money", "2"),
        ("'datetime', 'smalldatetime'", "datetime", "121"),
        ("'binary', 'varbinary'", "varbinary(8000)", "1"),
    ]
    .iter()
    .map(|(names, ty, style)| {
        format!(
            " WHEN CAST(SQL_VARIANT_PROPERTY({reference}, 'BaseType') AS nvarchar(128)) IN ({names}) \
             THEN CONVERT(nvarchar(max), CAST({reference} AS {ty}), {style})"
        )
    })
    .collect();
    format!("CASE{styled} ELSE CAST({reference} AS nvarchar(max)) END")
}

/// The column as the bytes that the server stores, or as well-known binary.
fn bytes(reference: &str, ty: &CatalogType) -> Option<Mapped> {
    let length = u32::try_from(ty.length).ok();
    let short = |bytes: u32| {
        Some(Mapped::new(
            LogicalType::Binary,
            Carrier::Bytes(bytes),
            format!("CAST({reference} AS varbinary({bytes}))"),
        ))
    };
    let long = |expression: &str| Some(Mapped::long_bytes(format!("CAST({expression} AS varbinary(max))")));
    match (ty.base.as_str(), length) {
        ("char" | "varchar" | "nchar" | "nvarchar" | "hierarchyid", Some(bytes)) => short(bytes),
        ("varchar" | "nvarchar", None) => long(reference),
        ("text", _) => long(&format!("CAST({reference} AS varchar(max))")),
        ("ntext", _) => long(&format!("CAST({reference} AS nvarchar(max))")),
        // With Z and M; the reference system is not part of it.
        ("geography" | "geometry", _) => Some(Mapped::long_bytes(format!("{reference}.AsBinaryZM()"))),
        _ => None,
    }
}
