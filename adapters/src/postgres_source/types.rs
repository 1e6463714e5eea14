//! What a type of PostgreSQL becomes, and how its values travel.

use dpone_engine::codes::Code;
use dpone_engine::manifest::TextForm;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::{Column, LogicalType};

use super::request::Stated;

/// The form of a field in `COPY … (FORMAT binary)`, after the cast of the select list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// One byte, 0 or 1.
    Bool,
    /// `int2`.
    Int16,
    /// `int4`.
    Int32,
    /// `int8`.
    Int64,
    /// `oid`: four bytes without a sign.
    UInt32,
    /// `float4`.
    Float32,
    /// `float8`.
    Float64,
    /// `numeric`: digits to the base of 10000; NaN and infinities have signs of their own.
    Numeric,
    /// `date`: days since 2000-01-01, infinities at the ends.
    Date,
    /// `time`: microseconds since midnight, 24:00:00 included.
    Time,
    /// `timestamp` and `timestamptz`: microseconds since 2000-01-01, infinities at the ends.
    Timestamp,
    /// `uuid`: 16 bytes.
    Uuid,
    /// Bytes as they are.
    Bytes,
    /// Text; what is not valid UTF-8 (a SQL_ASCII database) is refused by the reader.
    Text,
    /// Bytes of a SQL_ASCII database, each one character of ISO 8859-1.
    Latin1,
}

/// A delivered column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresColumn {
    /// Name, exact type and nullability.
    pub column: Column,
    /// How its fields travel.
    pub wire: Wire,
    /// The column's base type in the catalog, domains resolved.
    pub oid: u32,
    /// What stands in the select list, cast included.
    pub expression: String,
}

/// A column's type as the catalog has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CatalogType {
    /// Base type, domains resolved.
    pub(super) oid: u32,
    /// Modifier, the domain's own if the column has none.
    pub(super) typmod: i32,
    /// `format_type` of the column, with its base type if it is a domain.
    pub(super) declared: String,
    /// `typtype` of the base type: `b`ase, `c`omposite, `e`num, `r`ange, `m`ultirange, `p`seudo.
    pub(super) kind: char,
    /// Whether it is an array.
    pub(super) array: bool,
    /// The base type's own name, without its schema.
    pub(super) name: String,
}

pub(super) mod oids {
    pub(crate) const BOOL: u32 = 16;
    pub(crate) const BYTEA: u32 = 17;
    pub(crate) const CHAR: u32 = 18;
    pub(crate) const NAME: u32 = 19;
    pub(crate) const INT8: u32 = 20;
    pub(crate) const INT2: u32 = 21;
    pub(crate) const INT4: u32 = 23;
    pub(crate) const TEXT: u32 = 25;
    pub(crate) const OID: u32 = 26;
    pub(crate) const JSON: u32 = 114;
    pub(crate) const XML: u32 = 142;
    pub(crate) const CIDR: u32 = 650;
    pub(crate) const FLOAT4: u32 = 700;
    pub(crate) const FLOAT8: u32 = 701;
    pub(crate) const MACADDR8: u32 = 774;
    pub(crate) const MONEY: u32 = 790;
    pub(crate) const MACADDR: u32 = 829;
    pub(crate) const INET: u32 = 869;
    pub(crate) const BPCHAR: u32 = 1042;
    pub(crate) const VARCHAR: u32 = 1043;
    pub(crate) const DATE: u32 = 1082;
    pub(crate) const TIME: u32 = 1083;
    pub(crate) const TIMESTAMP: u32 = 1114;
    pub(crate) const TIMESTAMPTZ: u32 = 1184;
    pub(crate) const BIT: u32 = 1560;
    pub(crate) const VARBIT: u32 = 1562;
    pub(crate) const NUMERIC: u32 = 1700;
    pub(crate) const UUID: u32 = 2950;
    pub(crate) const JSONB: u32 = 3802;
}

/// What the whole database says about its types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Database {
    /// `server_encoding`.
    pub(super) encoding: String,
    /// Fractional digits of `money`, by the database's `lc_monetary`.
    pub(super) money_scale: u8,
}

impl Database {
    /// Whether texts are bytes without a stated encoding.
    pub(super) fn is_ascii(&self) -> bool {
        self.encoding == "SQL_ASCII"
    }
}

/// What a column becomes: its type, its wire form, and the expression that reads it from `reference`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) ty: LogicalType,
    pub(super) wire: Wire,
    pub(super) expression: String,
}

/// Maps a column.
///
/// # Errors
/// `unconstrained_numeric_requires_type`, `unsupported_type`.
pub(super) fn map(
    name: &str,
    reference: &str,
    ty: &CatalogType,
    stated: Option<&Stated>,
    database: &Database,
) -> Result<Mapped, Refusal> {
    let refuse = |code, text: String, example: &str| {
        Refusal::new(code, text)
            .at("source.options.types")
            .fix(format!("State its type: `source.options.types: {{{name}: {example}}}`."))
    };
    let declared = &ty.declared;
    let cast = |to: &str| format!("{reference}::pg_catalog.{to}");
    let mapped = |ty, wire, expression| Mapped { ty, wire, expression };
    let Some(stated) = stated else {
        return by_default(reference, ty, database).ok_or_else(|| match ty.oid {
            oids::NUMERIC if ty.typmod < 4 => {
                let text = format!("column \"{name}\" is {declared} without precision and scale");
                refuse(Code::UnconstrainedNumericRequiresType, text, "\"decimal(38,10)\"")
            }
            oids::NUMERIC => {
                let text =
                    format!("column \"{name}\" is {declared}; decimals of more than 76 digits have no exact form here");
                refuse(Code::UnsupportedType, text, "text")
            }
            _ => {
                let text = format!(
                    "column \"{name}\" is {declared}, which is delivered as text or JSON if the manifest says so"
                );
                refuse(Code::UnsupportedType, text, "text")
            }
        });
    };
    let unfit = || {
        let text = format!("column \"{name}\" is {declared}, which cannot be delivered exactly as {}", stated.ty);
        Refusal::new(Code::UnsupportedType, text)
            .at("source.options.types")
            .fix("State another type, or remove it from `types`.")
    };
    match stated.form {
        Some(TextForm::Json) => {
            let json = match ty.oid {
                oids::JSON | oids::JSONB => cast("text"),
                _ => format!("pg_catalog.to_json({reference})::pg_catalog.text"),
            };
            return Ok(mapped(LogicalType::Text, Wire::Text, json));
        }
        Some(TextForm::Latin1) if database.is_ascii() && is_text(ty.oid) => {
            return Ok(mapped(LogicalType::Text, Wire::Latin1, reference.to_owned()));
        }
        Some(TextForm::Latin1) => {
            let text = format!(
                "column \"{name}\" is {declared} of a {} database; only texts of a SQL_ASCII database have no encoding of their own",
                database.encoding
            );
            return Err(Refusal::new(Code::UnsupportedType, text).at("source.options.types").fix("State `text`."));
        }
        None => {}
    }
    let same = by_default(reference, ty, database);
    let found = match (ty.oid, &stated.ty) {
        (oid, LogicalType::Text) if is_text(oid) => mapped(LogicalType::Text, Wire::Text, reference.to_owned()),
        (_, LogicalType::Text) => mapped(LogicalType::Text, Wire::Text, cast("text")),
        (oid, LogicalType::Binary) if is_text(oid) => {
            let bytes = format!("pg_catalog.convert_to({}, '{}')", cast("text"), database.encoding.replace('\'', "''"));
            // A cast to text would drop what pads a char(n).
            let bytes = if oid == oids::BPCHAR {
                format!(
                    "pg_catalog.convert_to(pg_catalog.textin(pg_catalog.bpcharout({reference})), '{}')",
                    database.encoding.replace('\'', "''")
                )
            } else {
                bytes
            };
            mapped(LogicalType::Binary, Wire::Bytes, bytes)
        }
        (oids::NUMERIC, LogicalType::Decimal { .. }) => mapped(stated.ty.clone(), Wire::Numeric, reference.to_owned()),
        (oids::INT2 | oids::INT4 | oids::INT8 | oids::MONEY, LogicalType::Decimal { .. }) => {
            mapped(stated.ty.clone(), Wire::Numeric, cast("numeric"))
        }
        (oids::INT2, LogicalType::Int { bits: 16 | 32 | 64 })
        | (oids::INT4, LogicalType::Int { bits: 32 | 64 })
        | (oids::INT8, LogicalType::Int { bits: 64 })
        | (oids::OID, LogicalType::UInt { bits: 32 | 64 } | LogicalType::Int { bits: 64 })
        | (oids::TIME, LogicalType::Time { digits: 0..=6 })
        | (oids::TIMESTAMP, LogicalType::Timestamp { digits: 0..=6, utc: false })
        | (oids::TIMESTAMPTZ, LogicalType::Timestamp { digits: 0..=6, utc: true }) => {
            Mapped { ty: stated.ty.clone(), ..same.ok_or_else(unfit)? }
        }
        (oids::FLOAT4, LogicalType::Float { bits: 64 }) => mapped(stated.ty.clone(), Wire::Float64, cast("float8")),
        _ => same.filter(|same| same.ty == stated.ty).ok_or_else(unfit)?,
    };
    Ok(found)
}

/// What a type becomes without being told; `None` if it has to be told.
fn by_default(reference: &str, ty: &CatalogType, database: &Database) -> Option<Mapped> {
    let cast = |to: &str| format!("{reference}::pg_catalog.{to}");
    let digits = u8::try_from(ty.typmod).unwrap_or(6);
    let mut expression = reference.to_owned();
    if ty.array {
        let expression = format!("pg_catalog.to_json({reference})::pg_catalog.text");
        return Some(Mapped { ty: LogicalType::Text, wire: Wire::Text, expression });
    }
    let (ty, wire) = match ty.oid {
        oids::BOOL => (LogicalType::Bool, Wire::Bool),
        oids::INT2 => (LogicalType::Int { bits: 16 }, Wire::Int16),
        oids::INT4 => (LogicalType::Int { bits: 32 }, Wire::Int32),
        oids::INT8 => (LogicalType::Int { bits: 64 }, Wire::Int64),
        oids::OID => (LogicalType::UInt { bits: 32 }, Wire::UInt32),
        oids::FLOAT4 => (LogicalType::Float { bits: 32 }, Wire::Float32),
        oids::FLOAT8 => (LogicalType::Float { bits: 64 }, Wire::Float64),
        oids::NUMERIC => (decimal(ty.typmod)?, Wire::Numeric),
        oids::MONEY => {
            expression = cast("numeric");
            (LogicalType::Decimal { precision: 19, scale: database.money_scale }, Wire::Numeric)
        }
        oids::DATE => (LogicalType::Date, Wire::Date),
        oids::TIME => (LogicalType::Time { digits }, Wire::Time),
        oids::TIMESTAMP => (LogicalType::Timestamp { digits, utc: false }, Wire::Timestamp),
        oids::TIMESTAMPTZ => (LogicalType::Timestamp { digits, utc: true }, Wire::Timestamp),
        oids::UUID => (LogicalType::Uuid, Wire::Uuid),
        oids::BYTEA => (LogicalType::Binary, Wire::Bytes),
        oid if is_text(oid) => (LogicalType::Text, Wire::Text),
        _ if has_exact_text(ty) => {
            expression = cast("text");
            (LogicalType::Text, Wire::Text)
        }
        _ => return None,
    };
    Some(Mapped { ty, wire, expression })
}

/// Types whose field is the text itself.
pub(super) fn is_text(oid: u32) -> bool {
    matches!(oid, oids::TEXT | oids::VARCHAR | oids::BPCHAR | oids::NAME)
}

/// Types whose usual text says all that the value says, in one way.
fn has_exact_text(ty: &CatalogType) -> bool {
    matches!(
        ty.oid,
        oids::JSON
            | oids::JSONB
            | oids::XML
            | oids::CHAR
            | oids::INET
            | oids::CIDR
            | oids::MACADDR
            | oids::MACADDR8
            | oids::BIT
            | oids::VARBIT
    ) || ty.kind == 'e'
        || ty.name == "citext"
}

/// The decimal of `numeric(p,s)`, by its modifier; `None` without one, or if it needs more than 76 digits.
///
/// A negative scale rounds to tens and hundreds, so the integer part has that many digits more; a scale above the precision
/// has zeros after the point, which take digits here.
fn decimal(typmod: i32) -> Option<LogicalType> {
    let packed = typmod.checked_sub(4).filter(|packed| *packed >= 0)?;
    let precision = packed >> 16 & 0xffff;
    // Eleven bits with a sign; servers before 15 have no negative scales and the same layout.
    let scale = ((packed & 0x7ff) ^ 1024) - 1024;
    let (precision, scale) = if scale < 0 { (precision - scale, 0) } else { (precision.max(scale), scale) };
    let (precision, scale) = (u8::try_from(precision).ok()?, u8::try_from(scale).ok()?);
    (precision <= 76).then_some(LogicalType::Decimal { precision, scale })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use dpone_engine::manifest::parse_type;

    use super::*;

    fn catalog(oid: u32, typmod: i32, declared: &str) -> CatalogType {
        CatalogType { oid, typmod, declared: declared.into(), kind: 'b', array: false, name: declared.into() }
    }

    fn numeric(precision: i32, scale: i32) -> i32 {
        ((precision << 16) | (scale & 0x7ff)) + 4
    }

    fn database(encoding: &str) -> Database {
        Database { encoding: encoding.into(), money_scale: 2 }
    }

    #[track_caller]
    fn check(ty: &CatalogType, stated: Option<(&str, Option<TextForm>)>, expect: Result<(&str, Wire, &str), Code>) {
        let stated = stated.map(|(ty, form)| Stated { ty: parse_type(ty).unwrap(), form });
        let found = map("c", "t.\"c\"", ty, stated.as_ref(), &database("UTF8"));
        match (found, expect) {
            (Ok(found), Ok((ty, wire, expression))) => {
                assert_eq!(
                    (found.ty.to_string(), found.wire, found.expression.as_str()),
                    (ty.into(), wire, expression)
                );
            }
            (Err(refusal), Err(code)) => assert_eq!(refusal.code, code, "{}", ty.declared),
            (found, expect) => panic!("{}: {found:?}, not {expect:?}", ty.declared),
        }
    }

    #[test]
    fn types_have_an_exact_form_or_none() {
        let c = "t.\"c\"";
        for (oid, typmod, ty, wire, expression) in [
            (oids::BOOL, -1, "bool", Wire::Bool, c),
            (oids::INT2, -1, "int16", Wire::Int16, c),
            (oids::INT4, -1, "int32", Wire::Int32, c),
            (oids::INT8, -1, "int64", Wire::Int64, c),
            (oids::OID, -1, "uint32", Wire::UInt32, c),
            (oids::FLOAT4, -1, "float32", Wire::Float32, c),
            (oids::FLOAT8, -1, "float64", Wire::Float64, c),
            (oids::NUMERIC, numeric(38, 10), "decimal(38,10)", Wire::Numeric, c),
            (oids::NUMERIC, numeric(5, -2), "decimal(7,0)", Wire::Numeric, c),
            (oids::NUMERIC, numeric(3, 5), "decimal(5,5)", Wire::Numeric, c),
            (oids::NUMERIC, numeric(36, -2), "decimal(38,0)", Wire::Numeric, c),
            (oids::NUMERIC, numeric(38, -1), "decimal(39,0)", Wire::Numeric, c),
            (oids::NUMERIC, numeric(76, 10), "decimal(76,10)", Wire::Numeric, c),
            (oids::NUMERIC, numeric(76, 76), "decimal(76,76)", Wire::Numeric, c),
            (oids::NUMERIC, numeric(2, 76), "decimal(76,76)", Wire::Numeric, c),
            (oids::MONEY, -1, "decimal(19,2)", Wire::Numeric, "t.\"c\"::pg_catalog.numeric"),
            (oids::DATE, -1, "date", Wire::Date, c),
            (oids::TIME, -1, "time(6)", Wire::Time, c),
            (oids::TIME, 0, "time(0)", Wire::Time, c),
            (oids::TIMESTAMP, 3, "timestamp(3)", Wire::Timestamp, c),
            (oids::TIMESTAMPTZ, -1, "timestamp(6, utc)", Wire::Timestamp, c),
            (oids::UUID, -1, "uuid", Wire::Uuid, c),
            (oids::BYTEA, -1, "binary", Wire::Bytes, c),
            (oids::TEXT, -1, "text", Wire::Text, c),
            (oids::BPCHAR, 14, "text", Wire::Text, c),
            (oids::JSONB, -1, "text", Wire::Text, "t.\"c\"::pg_catalog.text"),
            (oids::INET, -1, "text", Wire::Text, "t.\"c\"::pg_catalog.text"),
        ] {
            check(&catalog(oid, typmod, "x"), None, Ok((ty, wire, expression)));
        }
        for (oid, typmod, code) in [
            (oids::NUMERIC, -1, Code::UnconstrainedNumericRequiresType),
            (oids::NUMERIC, numeric(77, 0), Code::UnsupportedType),
            (oids::NUMERIC, numeric(76, -1), Code::UnsupportedType),
            (oids::NUMERIC, numeric(3, 77), Code::UnsupportedType),
            (oids::NUMERIC, numeric(1000, 1000), Code::UnsupportedType),
            (1186, -1, Code::UnsupportedType),
            (1266, -1, Code::UnsupportedType),
            (600, -1, Code::UnsupportedType),
            (3904, -1, Code::UnsupportedType),
        ] {
            check(&catalog(oid, typmod, "x"), None, Err(code));
        }
        let json = "pg_catalog.to_json(t.\"c\")::pg_catalog.text";
        check(&CatalogType { array: true, ..catalog(1007, -1, "integer[]") }, None, Ok(("text", Wire::Text, json)));
        let text = "t.\"c\"::pg_catalog.text";
        check(&CatalogType { kind: 'e', ..catalog(99999, -1, "mood") }, None, Ok(("text", Wire::Text, text)));
    }

    #[test]
    fn stated_types_are_exact_or_refused() {
        let c = "t.\"c\"";
        let text = "t.\"c\"::pg_catalog.text";
        for (oid, stated, expect) in [
            (oids::NUMERIC, "decimal(38,10)", Ok(("decimal(38,10)", Wire::Numeric, c))),
            (oids::NUMERIC, "text", Ok(("text", Wire::Text, text))),
            (oids::NUMERIC, "decimal(76,0)", Ok(("decimal(76,0)", Wire::Numeric, c))),
            (oids::NUMERIC, "float64", Err(Code::UnsupportedType)),
            (oids::NUMERIC, "int64", Err(Code::UnsupportedType)),
            (oids::INT4, "int64", Ok(("int64", Wire::Int32, c))),
            (oids::INT4, "int16", Err(Code::UnsupportedType)),
            (oids::INT8, "uint64", Err(Code::UnsupportedType)),
            (oids::INT4, "decimal(10,0)", Ok(("decimal(10,0)", Wire::Numeric, "t.\"c\"::pg_catalog.numeric"))),
            (oids::FLOAT4, "float64", Ok(("float64", Wire::Float64, "t.\"c\"::pg_catalog.float8"))),
            (oids::FLOAT8, "float32", Err(Code::UnsupportedType)),
            (oids::FLOAT8, "decimal(10,2)", Err(Code::UnsupportedType)),
            (oids::TIMESTAMP, "timestamp(3)", Ok(("timestamp(3)", Wire::Timestamp, c))),
            (oids::TIMESTAMP, "timestamp(6,utc)", Err(Code::UnsupportedType)),
            (oids::TIMESTAMPTZ, "timestamp(6)", Err(Code::UnsupportedType)),
            (oids::TIMESTAMPTZ, "timestamp(9,utc)", Err(Code::UnsupportedType)),
            (oids::TEXT, "uuid", Err(Code::UnsupportedType)),
            (oids::UUID, "text", Ok(("text", Wire::Text, text))),
            (
                oids::TEXT,
                "binary",
                Ok(("binary", Wire::Bytes, "pg_catalog.convert_to(t.\"c\"::pg_catalog.text, 'UTF8')")),
            ),
            (1186, "text", Ok(("text", Wire::Text, text))),
            (1186, "int64", Err(Code::UnsupportedType)),
        ] {
            check(&catalog(oid, -1, "x"), Some((stated, None)), expect);
        }
        let json = "pg_catalog.to_json(t.\"c\")::pg_catalog.text";
        check(&catalog(600, -1, "point"), Some(("text", Some(TextForm::Json))), Ok(("text", Wire::Text, json)));
        check(&catalog(oids::TEXT, -1, "text"), Some(("text", Some(TextForm::Latin1))), Err(Code::UnsupportedType));
    }

    #[test]
    fn texts_without_an_encoding_can_be_given_one() {
        let ascii = database("SQL_ASCII");
        let ty = catalog(oids::VARCHAR, -1, "character varying");
        let stated = Stated { ty: LogicalType::Text, form: Some(TextForm::Latin1) };
        let found = map("c", "t.\"c\"", &ty, Some(&stated), &ascii).unwrap();
        assert_eq!((found.ty, found.wire), (LogicalType::Text, Wire::Latin1));
        assert_eq!(map("c", "t.\"c\"", &ty, None, &ascii).unwrap().wire, Wire::Text);
        let bytes = Stated { ty: LogicalType::Binary, form: None };
        let found = map("c", "t.\"c\"", &ty, Some(&bytes), &ascii).unwrap();
        assert_eq!(found.expression, "pg_catalog.convert_to(t.\"c\"::pg_catalog.text, 'SQL_ASCII')");
    }
}
