//! What a type of SQL Server becomes, and how its values travel, where nothing is stated.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;

use super::facts::CatalogType;
use super::stated;
use crate::odbc_source::Carrier;

/// What a column becomes: its type, its carrier, the expression that reads it, and for what is long its length in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) ty: LogicalType,
    pub(super) carrier: Carrier,
    pub(super) expression: String,
    pub(super) length: Option<String>,
}

impl Mapped {
    pub(super) fn new(ty: LogicalType, carrier: Carrier, expression: impl Into<String>) -> Self {
        Self { ty, carrier, expression: expression.into(), length: None }
    }

    /// Text of any length, whose expression is of type `nvarchar(max)`.
    pub(super) fn long_text(expression: impl Into<String>) -> Self {
        let expression = expression.into();
        let length = Some(format!("DATALENGTH({expression})"));
        Self { ty: LogicalType::Text, carrier: Carrier::LongWide, expression, length }
    }

    /// Bytes of any length.
    pub(super) fn long_bytes(expression: impl Into<String>) -> Self {
        let expression = expression.into();
        let length = Some(format!("DATALENGTH({expression})"));
        Self { ty: LogicalType::Binary, carrier: Carrier::LongBytes, expression, length }
    }
}

/// What a column named `reference` in a statement becomes.
///
/// # Errors
/// `unsupported_type`.
pub(super) fn map(
    name: &str,
    reference: &str,
    ty: &CatalogType,
    stated: Option<&LogicalType>,
) -> Result<Mapped, Refusal> {
    let declared = &ty.declared;
    let Some(stated) = stated else {
        return by_default(reference, ty).ok_or_else(|| {
            let (text, fix) = if stated::text(reference, ty).is_some() {
                let text =
                    format!("column \"{name}\" is {declared}, which is delivered as text if the manifest says so");
                (text, format!("State its type: `source.options.types: {{{name}: text}}`."))
            } else {
                let text = format!("column \"{name}\" is {declared}, which has no exact form here");
                (text, "Leave the column out with source.options.columns, or convert it in a query.".to_owned())
            };
            Refusal::new(Code::UnsupportedType, text).at("source.options.types").fix(fix)
        });
    };
    match stated::map(reference, ty, stated) {
        Some(mapped) => Ok(mapped),
        None => {
            let text = format!("column \"{name}\" is {declared}, which cannot be delivered exactly as {stated}");
            Err(Refusal::new(Code::UnsupportedType, text)
                .at("source.options.types")
                .fix("State another type, or remove it from `types`."))
        }
    }
}

/// What a type becomes without being told; `None` if it has to be told.
pub(super) fn by_default(reference: &str, ty: &CatalogType) -> Option<Mapped> {
    let plain = |ty, carrier| Some(Mapped::new(ty, carrier, reference));
    let units = u32::try_from(ty.length).ok();
    let digits = ty.scale;
    match ty.base.as_str() {
        "bit" => plain(LogicalType::Bool, Carrier::Bit),
        "tinyint" => plain(LogicalType::UInt { bits: 8 }, Carrier::UInt8),
        "smallint" => plain(LogicalType::Int { bits: 16 }, Carrier::Int16),
        "int" => plain(LogicalType::Int { bits: 32 }, Carrier::Int32),
        "bigint" => plain(LogicalType::Int { bits: 64 }, Carrier::Int64),
        "real" => plain(LogicalType::Float { bits: 32 }, Carrier::Float32),
        "float" => plain(LogicalType::Float { bits: 64 }, Carrier::Float64),
        "decimal" | "numeric" => plain(decimal(ty)?, digits_of(ty)),
        "money" | "smallmoney" => {
            let (precision, scale) = if ty.base == "money" { (19, 4) } else { (10, 4) };
            let expression = format!("CONVERT(decimal({precision},{scale}), {reference})");
            let carrier = Carrier::Ascii(u32::from(precision) + 3);
            Some(Mapped::new(LogicalType::Decimal { precision, scale }, carrier, expression))
        }
        "date" => plain(LogicalType::Date, Carrier::Date),
        // Drivers differ in how they deliver a time of day with seven digits; the server does not.
        "time" => {
            let expression = format!("CONVERT(varchar(16), {reference}, 121)");
            Some(Mapped::new(LogicalType::Time { digits }, Carrier::Ascii(16), expression))
        }
        "smalldatetime" => plain(LogicalType::Timestamp { digits: 0, utc: false }, Carrier::Timestamp),
        "datetime" => plain(LogicalType::Timestamp { digits: 3, utc: false }, Carrier::Timestamp),
        "datetime2" => plain(LogicalType::Timestamp { digits, utc: false }, Carrier::Timestamp),
        "datetimeoffset" => {
            let ty = LogicalType::Timestamp { digits, utc: true };
            Some(Mapped::new(ty, Carrier::Timestamp, instant(reference, digits)))
        }
        "uniqueidentifier" => plain(LogicalType::Uuid, Carrier::Ascii(36)),
        "char" | "varchar" => match units {
            Some(units) => plain(LogicalType::Text, Carrier::Wide(units)),
            None => Some(Mapped::long_text(wide(reference))),
        },
        // `length` counts bytes of UTF-16.
        "nchar" | "nvarchar" => match units {
            Some(bytes) => plain(LogicalType::Text, Carrier::Wide(bytes / 2)),
            None => Some(Mapped::long_text(reference)),
        },
        "text" | "ntext" | "xml" => Some(Mapped::long_text(wide(reference))),
        "binary" | "varbinary" => match units {
            Some(bytes) => plain(LogicalType::Binary, Carrier::Bytes(bytes)),
            None => Some(Mapped::long_bytes(reference)),
        },
        "image" => Some(Mapped::long_bytes(reference)),
        "timestamp" | "rowversion" => {
            Some(Mapped::new(LogicalType::Binary, Carrier::Bytes(8), format!("CAST({reference} AS binary(8))")))
        }
        _ => None,
    }
}

/// The decimal that a column declares; its bounds are the server's own.
pub(super) fn decimal(ty: &CatalogType) -> Option<LogicalType> {
    let (precision, scale) = (ty.precision, ty.scale);
    ((1..=38).contains(&precision) && scale <= precision).then_some(LogicalType::Decimal { precision, scale })
}

/// Room for the digits of a decimal, its sign, its point and a leading zero.
pub(super) fn digits_of(ty: &CatalogType) -> Carrier {
    Carrier::Ascii(u32::from(ty.precision) + 3)
}

/// An instant as the wall clock of UTC. The server keeps instants whose UTC is within its years only.
pub(super) fn instant(reference: &str, digits: u8) -> String {
    format!("CAST(SWITCHOFFSET({reference}, '+00:00') AS datetime2({digits}))")
}

/// Text as UTF-16: the server knows the code page of what it stores.
pub(super) fn wide(reference: &str) -> String {
    format!("CAST({reference} AS nvarchar(max))")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use dpone_engine::manifest::parse_type;

    use super::*;

    fn catalog(base: &str, length: i32, precision: u8, scale: u8) -> CatalogType {
        CatalogType::new(base, "", length, precision, scale, None)
    }

    #[track_caller]
    fn check(ty: &CatalogType, stated: Option<&str>, expect: Option<(&str, Carrier, &str)>) {
        let stated = stated.map(|ty| parse_type(ty).unwrap());
        let found = map("c", "c", ty, stated.as_ref());
        let found = found.map(|f| (f.ty.to_string(), f.carrier, f.expression, f.length)).map_err(|r| r.code);
        let expect = expect.ok_or(Code::UnsupportedType).map(|(ty, carrier, expression)| {
            let length = carrier.is_long().then(|| format!("DATALENGTH({expression})"));
            (ty.to_owned(), carrier, expression.to_owned(), length)
        });
        assert_eq!(found, expect, "{} {stated:?}", ty.declared);
    }

    #[test]
    fn types_have_an_exact_form_or_none() {
        use Carrier as C;
        for (ty, expect) in [
            (catalog("bit", 1, 1, 0), ("bool", C::Bit, "c")),
            (catalog("tinyint", 1, 3, 0), ("uint8", C::UInt8, "c")),
            (catalog("smallint", 2, 5, 0), ("int16", C::Int16, "c")),
            (catalog("int", 4, 10, 0), ("int32", C::Int32, "c")),
            (catalog("bigint", 8, 19, 0), ("int64", C::Int64, "c")),
            (catalog("real", 4, 24, 0), ("float32", C::Float32, "c")),
            (catalog("float", 8, 53, 0), ("float64", C::Float64, "c")),
            (catalog("decimal", 17, 38, 10), ("decimal(38,10)", C::Ascii(41), "c")),
            (catalog("numeric", 17, 38, 38), ("decimal(38,38)", C::Ascii(41), "c")),
            (catalog("numeric", 5, 1, 0), ("decimal(1,0)", C::Ascii(4), "c")),
            (catalog("money", 8, 19, 4), ("decimal(19,4)", C::Ascii(22), "CONVERT(decimal(19,4), c)")),
            (catalog("smallmoney", 4, 10, 4), ("decimal(10,4)", C::Ascii(13), "CONVERT(decimal(10,4), c)")),
            (catalog("date", 3, 10, 0), ("date", C::Date, "c")),
            (catalog("time", 5, 16, 7), ("time(7)", C::Ascii(16), "CONVERT(varchar(16), c, 121)")),
            (catalog("smalldatetime", 4, 16, 0), ("timestamp(0)", C::Timestamp, "c")),
            (catalog("datetime", 8, 23, 3), ("timestamp(3)", C::Timestamp, "c")),
            (catalog("datetime2", 8, 27, 7), ("timestamp(7)", C::Timestamp, "c")),
            (catalog("datetime2", 6, 19, 0), ("timestamp(0)", C::Timestamp, "c")),
            (
                catalog("datetimeoffset", 10, 34, 7),
                ("timestamp(7, utc)", C::Timestamp, "CAST(SWITCHOFFSET(c, '+00:00') AS datetime2(7))"),
            ),
            (catalog("uniqueidentifier", 16, 0, 0), ("uuid", C::Ascii(36), "c")),
            (catalog("char", 5, 0, 0), ("text", C::Wide(5), "c")),
            (catalog("varchar", 8000, 0, 0), ("text", C::Wide(8000), "c")),
            (catalog("nchar", 10, 0, 0), ("text", C::Wide(5), "c")),
            (catalog("nvarchar", 8000, 0, 0), ("text", C::Wide(4000), "c")),
            (catalog("varchar", -1, 0, 0), ("text", C::LongWide, "CAST(c AS nvarchar(max))")),
            (catalog("nvarchar", -1, 0, 0), ("text", C::LongWide, "c")),
            (catalog("text", 16, 0, 0), ("text", C::LongWide, "CAST(c AS nvarchar(max))")),
            (catalog("ntext", 16, 0, 0), ("text", C::LongWide, "CAST(c AS nvarchar(max))")),
            (catalog("xml", -1, 0, 0), ("text", C::LongWide, "CAST(c AS nvarchar(max))")),
            (catalog("binary", 16, 0, 0), ("binary", C::Bytes(16), "c")),
            (catalog("varbinary", 8000, 0, 0), ("binary", C::Bytes(8000), "c")),
            (catalog("varbinary", -1, 0, 0), ("binary", C::LongBytes, "c")),
            (catalog("image", 16, 0, 0), ("binary", C::LongBytes, "c")),
            (catalog("timestamp", 8, 0, 0), ("binary", C::Bytes(8), "CAST(c AS binary(8))")),
        ] {
            check(&ty, None, Some(expect));
        }
        for base in ["sql_variant", "geography", "geometry", "hierarchyid", "json", "vector", "dbo.Point", "cursor"] {
            check(&catalog(base, -1, 0, 0), None, None);
        }
        // A catalog that contradicts itself is not believed.
        check(&catalog("decimal", 17, 39, 0), None, None);
    }

    #[test]
    fn stated_types_are_exact_or_refused() {
        use Carrier as C;
        let text = |length| CatalogType { length, ..catalog("varchar", 0, 0, 0) };
        for (ty, stated, expect) in [
            (catalog("int", 4, 10, 0), "int64", Some(("int64", C::Int32, "c"))),
            (catalog("int", 4, 10, 0), "int16", None),
            (catalog("int", 4, 10, 0), "uint32", None),
            (catalog("tinyint", 1, 3, 0), "int16", Some(("int16", C::UInt8, "c"))),
            (catalog("tinyint", 1, 3, 0), "uint64", Some(("uint64", C::UInt8, "c"))),
            (catalog("tinyint", 1, 3, 0), "int8", None),
            (catalog("bigint", 8, 19, 0), "decimal(20,0)", Some(("decimal(20,0)", C::Ascii(20), "c"))),
            (catalog("bigint", 8, 19, 0), "text", Some(("text", C::Ascii(20), "CONVERT(varchar(20), c)"))),
            (catalog("bit", 1, 1, 0), "int8", None),
            (catalog("bit", 1, 1, 0), "text", Some(("text", C::Ascii(1), "CONVERT(varchar(1), c)"))),
            (catalog("real", 4, 24, 0), "float64", Some(("float64", C::Float32, "c"))),
            (catalog("float", 8, 53, 0), "float32", None),
            (catalog("float", 8, 53, 0), "decimal(10,2)", None),
            (catalog("float", 8, 53, 0), "text", Some(("text", C::Ascii(32), "CONVERT(varchar(32), c, 3)"))),
            (catalog("decimal", 9, 18, 4), "decimal(12,2)", Some(("decimal(12,2)", C::Ascii(21), "c"))),
            (catalog("decimal", 9, 18, 4), "float64", None),
            (catalog("decimal", 9, 18, 4), "int64", None),
            (
                catalog("money", 8, 19, 4),
                "decimal(20,6)",
                Some(("decimal(20,6)", C::Ascii(22), "CONVERT(decimal(19,4), c)")),
            ),
            (catalog("money", 8, 19, 4), "text", Some(("text", C::Ascii(24), "CONVERT(varchar(24), c, 2)"))),
            (catalog("date", 3, 10, 0), "timestamp(0)", None),
            (catalog("time", 5, 16, 7), "time(6)", Some(("time(6)", C::Ascii(16), "CONVERT(varchar(16), c, 121)"))),
            (catalog("datetime2", 8, 27, 7), "timestamp(6)", Some(("timestamp(6)", C::Timestamp, "c"))),
            (catalog("datetime2", 8, 27, 7), "timestamp(6,utc)", None),
            (catalog("datetime2", 8, 27, 7), "timestamp(8)", None),
            (catalog("datetime2", 8, 27, 7), "text", Some(("text", C::Ascii(27), "CONVERT(varchar(27), c, 121)"))),
            (
                catalog("datetimeoffset", 10, 34, 7),
                "timestamp(7,utc)",
                Some(("timestamp(7, utc)", C::Timestamp, "CAST(SWITCHOFFSET(c, '+00:00') AS datetime2(7))")),
            ),
            (catalog("datetimeoffset", 10, 34, 7), "timestamp(7)", None),
            (
                catalog("datetimeoffset", 10, 34, 7),
                "text",
                Some(("text", C::Ascii(34), "CONVERT(varchar(34), c, 121)")),
            ),
            (catalog("uniqueidentifier", 16, 0, 0), "text", Some(("text", C::Ascii(36), "CONVERT(char(36), c)"))),
            (catalog("uniqueidentifier", 16, 0, 0), "binary", None),
            (text(20), "text", Some(("text", C::Wide(20), "c"))),
            (text(20), "binary", Some(("binary", C::Bytes(20), "CAST(c AS varbinary(20))"))),
            (text(-1), "binary", Some(("binary", C::LongBytes, "CAST(c AS varbinary(max))"))),
            (text(20), "uuid", None),
            (
                catalog("text", 16, 0, 0),
                "binary",
                Some(("binary", C::LongBytes, "CAST(CAST(c AS varchar(max)) AS varbinary(max))")),
            ),
            (catalog("binary", 16, 0, 0), "text", Some(("text", C::Ascii(34), "CONVERT(varchar(34), c, 1)"))),
            (catalog("varbinary", -1, 0, 0), "text", Some(("text", C::LongWide, "CONVERT(nvarchar(max), c, 1)"))),
            (catalog("timestamp", 8, 0, 0), "int64", Some(("int64", C::Int64, "CAST(c AS bigint)"))),
            (catalog("timestamp", 8, 0, 0), "uint64", Some(("uint64", C::Int64, "CAST(c AS bigint)"))),
            (
                catalog("timestamp", 8, 0, 0),
                "text",
                Some(("text", C::Ascii(18), "CONVERT(varchar(18), CAST(c AS binary(8)), 1)")),
            ),
            (catalog("hierarchyid", 892, 0, 0), "text", Some(("text", C::Wide(4000), "c.ToString()"))),
            (catalog("hierarchyid", 892, 0, 0), "binary", Some(("binary", C::Bytes(892), "CAST(c AS varbinary(892))"))),
            (catalog("geography", -1, 0, 0), "binary", Some(("binary", C::LongBytes, "c.AsBinaryZM()"))),
            (catalog("geometry", -1, 0, 0), "text", Some(("text", C::LongWide, "c.ToString()"))),
            (catalog("json", -1, 0, 0), "text", Some(("text", C::LongWide, "CAST(c AS nvarchar(max))"))),
            (catalog("vector", -1, 0, 0), "text", Some(("text", C::LongWide, "CAST(c AS nvarchar(max))"))),
            (catalog("vector", -1, 0, 0), "binary", None),
            (catalog("Point", -1, 0, 0), "text", None),
        ] {
            check(&ty, Some(stated), expect);
        }
    }

    #[test]
    fn a_variant_is_written_by_the_type_that_it_holds() {
        let found = map("c", "c", &catalog("sql_variant", 8016, 0, 0), Some(&LogicalType::Text)).unwrap();
        // The default style of a float keeps six digits, and that of a datetime no seconds.
        for part in
            ["CAST(c AS float), 3", "CAST(c AS datetime), 121", "CAST(c AS money), 2", "CAST(c AS varbinary(8000)), 1"]
        {
            assert!(found.expression.contains(part), "{part}");
        }
        assert_eq!(found.carrier, Carrier::LongWide);
    }
}
