//! What a declared type of SQLite means.

use dpone_engine::schema::LogicalType;

/// What a declaration says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    /// The values' type.
    Type(LogicalType),
    /// A number without precision and scale.
    OpenNumeric,
    /// Nothing.
    Nothing,
    /// Something that has no fixed meaning.
    Unknown,
}

/// How SQLite stores what is written to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affinity {
    Integer,
    Text,
    Blob,
    Real,
    Numeric,
}

/// SQLite's own rules, in their order.
pub(super) fn affinity(declared: &str) -> Affinity {
    let upper = declared.to_ascii_uppercase();
    let has = |part: &str| upper.contains(part);
    if has("INT") {
        Affinity::Integer
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        Affinity::Text
    } else if upper.is_empty() || has("BLOB") {
        Affinity::Blob
    } else if has("REAL") || has("FLOA") || has("DOUB") {
        Affinity::Real
    } else {
        Affinity::Numeric
    }
}

/// Reads a declaration.
pub(super) fn parse(declared: &str) -> Declared {
    let upper = declared.to_ascii_uppercase();
    let (name, arguments) = match upper.split_once('(') {
        Some((name, rest)) => (name, rest.split_once(')').map(|(inner, _)| inner)),
        None => (upper.as_str(), None),
    };
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let numbers: Option<Vec<u32>> =
        arguments.map(|a| a.split(',').map(|n| n.trim().parse().ok()).collect()).unwrap_or(Some(Vec::new()));
    let int = Declared::Type(LogicalType::Int { bits: 64 });
    match name.as_str() {
        "" => Declared::Nothing,
        "INT" | "INTEGER" | "BIGINT" | "SMALLINT" | "TINYINT" | "MEDIUMINT" | "INT2" | "INT4" | "INT8" | "INT16"
        | "INT32" | "INT64" | "BIG INT" | "SERIAL" | "BIGSERIAL" | "LONG" | "UNSIGNED INT" | "UNSIGNED INTEGER"
        | "UNSIGNED BIG INT" | "UNSIGNED BIGINT" | "INT UNSIGNED" | "INTEGER UNSIGNED" | "BIGINT UNSIGNED"
        | "SMALLINT UNSIGNED" | "TINYINT UNSIGNED" | "MEDIUMINT UNSIGNED" => int,
        "REAL" | "DOUBLE" | "DOUBLE PRECISION" | "FLOAT" | "FLOAT4" | "FLOAT8" => {
            Declared::Type(LogicalType::Float { bits: 64 })
        }
        "TEXT" | "VARCHAR" | "CHAR" | "CLOB" | "CHARACTER" | "CHARACTER VARYING" | "VARYING CHARACTER" | "NCHAR"
        | "NATIVE CHARACTER" | "NATIONAL CHARACTER" | "NVARCHAR" | "VARCHAR2" | "NVARCHAR2" | "TINYTEXT"
        | "MEDIUMTEXT" | "LONGTEXT" | "NTEXT" | "STRING" | "JSON" | "XML" | "CITEXT" | "BPCHAR" => {
            Declared::Type(LogicalType::Text)
        }
        "BLOB" | "BINARY" | "VARBINARY" | "BYTEA" | "TINYBLOB" | "MEDIUMBLOB" | "LONGBLOB" | "IMAGE" => {
            Declared::Type(LogicalType::Binary)
        }
        "BOOLEAN" | "BOOL" => Declared::Type(LogicalType::Bool),
        "DATE" => Declared::Type(LogicalType::Date),
        "DATETIME" | "TIMESTAMP" | "DATETIME2" | "TIMESTAMP WITHOUT TIME ZONE" => digits(numbers)
            .map_or(Declared::Unknown, |digits| Declared::Type(LogicalType::Timestamp { digits, utc: false })),
        "TIME" | "TIME WITHOUT TIME ZONE" => {
            digits(numbers).map_or(Declared::Unknown, |digits| Declared::Type(LogicalType::Time { digits }))
        }
        "DECIMAL" | "NUMERIC" | "DEC" | "NUMBER" | "DECIMAL_TEXT" => decimal(numbers),
        "UUID" | "GUID" | "UNIQUEIDENTIFIER" => Declared::Type(LogicalType::Uuid),
        _ => Declared::Unknown,
    }
}

/// Fractional digits; microseconds where nothing is said.
fn digits(arguments: Option<Vec<u32>>) -> Option<u8> {
    match arguments?.as_slice() {
        [] => Some(6),
        [digits @ 0..=9] => u8::try_from(*digits).ok(),
        _ => None,
    }
}

fn decimal(arguments: Option<Vec<u32>>) -> Declared {
    let Some(arguments) = arguments else { return Declared::Unknown };
    let (precision, scale) = match arguments.as_slice() {
        [] => return Declared::OpenNumeric,
        [precision] => (*precision, 0),
        [precision, scale] => (*precision, *scale),
        _ => return Declared::Unknown,
    };
    match (u8::try_from(precision), u8::try_from(scale)) {
        (Ok(precision @ 1..=76), Ok(scale)) if scale <= precision => {
            Declared::Type(LogicalType::Decimal { precision, scale })
        }
        _ => Declared::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(declared: &str, expect: &Declared) {
        assert_eq!(&parse(declared), expect, "{declared}");
    }

    #[test]
    fn declarations_mean_what_their_words_say() {
        let ty = Declared::Type;
        let int = ty(LogicalType::Int { bits: 64 });
        let decimal = |precision, scale| ty(LogicalType::Decimal { precision, scale });
        let timestamp = |digits| ty(LogicalType::Timestamp { digits, utc: false });
        for (declared, expect) in [
            ("INTEGER", &int),
            ("int", &int),
            ("BigInt", &int),
            ("UNSIGNED  BIG INT", &int),
            ("int(11)", &int),
            ("REAL", &ty(LogicalType::Float { bits: 64 })),
            ("double precision", &ty(LogicalType::Float { bits: 64 })),
            ("VARCHAR(255)", &ty(LogicalType::Text)),
            ("nvarchar(10)", &ty(LogicalType::Text)),
            ("BLOB", &ty(LogicalType::Binary)),
            ("boolean", &ty(LogicalType::Bool)),
            ("DATE", &ty(LogicalType::Date)),
            ("DATETIME", &timestamp(6)),
            ("TIMESTAMP(3)", &timestamp(3)),
            ("TIMESTAMP(10)", &Declared::Unknown),
            ("TIME", &ty(LogicalType::Time { digits: 6 })),
            ("decimal(20,4)", &decimal(20, 4)),
            ("NUMERIC( 10 , 2 )", &decimal(10, 2)),
            ("DECIMAL(9)", &decimal(9, 0)),
            ("DECIMAL_TEXT(38,10)", &decimal(38, 10)),
            ("NUMERIC", &Declared::OpenNumeric),
            ("decimal", &Declared::OpenNumeric),
            ("decimal(5,6)", &Declared::Unknown),
            ("decimal(5,-2)", &Declared::Unknown),
            ("decimal(99,2)", &Declared::Unknown),
            ("uuid", &ty(LogicalType::Uuid)),
            ("", &Declared::Nothing),
            ("GEOMETRY", &Declared::Unknown),
            ("POINT", &Declared::Unknown),
        ] {
            check(declared, expect);
        }
    }

    #[test]
    fn affinity_follows_sqlites_rules() {
        for (declared, expect) in [
            ("CHARINT", Affinity::Integer),
            ("VARCHAR(10)", Affinity::Text),
            ("DECIMAL_TEXT(38,10)", Affinity::Text),
            ("", Affinity::Blob),
            ("DOUBLE", Affinity::Real),
            ("DECIMAL(10,2)", Affinity::Numeric),
            ("DATE", Affinity::Numeric),
            ("FLOATING POINT", Affinity::Integer),
        ] {
            assert_eq!(affinity(declared), expect, "{declared}");
        }
    }
}
