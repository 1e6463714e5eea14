//! The names of logical types in `source.options.types`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::source::TextForm;
use crate::schema::LogicalType;

/// Every name that [`parse_type`] takes, for messages and for the nearest-name search.
pub(super) const TYPE_NAMES: &[&str] = &[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "decimal(p,s)",
    "date",
    "time(d)",
    "timestamp(d)",
    "timestamp(d,utc)",
    "text",
    "string",
    "text(latin1)",
    "json",
    "binary",
    "uuid",
];

/// A logical type as the manifest names it.
#[derive(Clone, Debug)]
pub(super) struct TypeName(pub(super) LogicalType, pub(super) Option<TextForm>);

impl<'de> Deserialize<'de> for TypeName {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let (ty, form) = parse_stated(&String::deserialize(d)?).map_err(serde::de::Error::custom)?;
        Ok(Self(ty, form))
    }
}

impl JsonSchema for TypeName {
    fn schema_name() -> Cow<'static, str> {
        "TypeName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": format!("A logical type: {}.", TYPE_NAMES.join(", ")),
            "type": "string",
            "format": "dpone-logical-type",
        })
    }
}

/// Reads a type name that may say how its text is made; the error says what is wrong with it.
pub(super) fn parse_stated(text: &str) -> Result<(LogicalType, Option<TextForm>), String> {
    let compact: String = text.chars().filter(|c| *c != ' ').collect::<String>().to_ascii_lowercase();
    match compact.as_str() {
        "json" => Ok((LogicalType::Text, Some(TextForm::Json))),
        "text(latin1)" | "string(latin1)" => Ok((LogicalType::Text, Some(TextForm::Latin1))),
        "text(json)" | "string(json)" => Ok((LogicalType::Text, Some(TextForm::Json))),
        _ => parse_type(text).map(|ty| (ty, None)),
    }
}

/// Reads a type name; the error says what is wrong with it.
pub fn parse_type(text: &str) -> Result<LogicalType, String> {
    let compact: String = text.chars().filter(|c| *c != ' ').collect::<String>().to_ascii_lowercase();
    let (name, arguments) = match compact.split_once('(') {
        Some((name, rest)) => {
            let inner = rest.strip_suffix(')').ok_or("has no closing parenthesis")?;
            (name, Some(inner.split(',').collect::<Vec<_>>()))
        }
        None => (compact.as_str(), None),
    };
    let ty = match (name, arguments.as_deref()) {
        ("bool", None) => LogicalType::Bool,
        ("int8", None) => LogicalType::Int { bits: 8 },
        ("int16", None) => LogicalType::Int { bits: 16 },
        ("int32", None) => LogicalType::Int { bits: 32 },
        ("int64", None) => LogicalType::Int { bits: 64 },
        ("uint8", None) => LogicalType::UInt { bits: 8 },
        ("uint16", None) => LogicalType::UInt { bits: 16 },
        ("uint32", None) => LogicalType::UInt { bits: 32 },
        ("uint64", None) => LogicalType::UInt { bits: 64 },
        ("float32", None) => LogicalType::Float { bits: 32 },
        ("float64", None) => LogicalType::Float { bits: 64 },
        ("date", None) => LogicalType::Date,
        ("text" | "string", None) => LogicalType::Text,
        ("binary", None) => LogicalType::Binary,
        ("uuid", None) => LogicalType::Uuid,
        ("decimal", Some([p, s])) => {
            let (precision, scale) = (number(p, 1, 76, "precision")?, number(s, 0, 76, "scale")?);
            if scale > precision {
                return Err("has a scale larger than its precision".into());
            }
            LogicalType::Decimal { precision, scale }
        }
        ("time", Some([d])) => LogicalType::Time { digits: number(d, 0, 9, "number of fractional digits")? },
        ("timestamp", Some([d])) => {
            LogicalType::Timestamp { digits: number(d, 0, 9, "number of fractional digits")?, utc: false }
        }
        ("timestamp", Some([d, "utc"])) => {
            LogicalType::Timestamp { digits: number(d, 0, 9, "number of fractional digits")?, utc: true }
        }
        ("decimal", _) => {
            return Err("needs its precision and scale, such as `decimal(38,10)`".into());
        }
        ("time" | "timestamp", _) => {
            return Err(format!("needs its fractional digits, such as `{name}(6)`"));
        }
        _ => return Err("is not a logical type".into()),
    };
    Ok(ty)
}

fn number(text: &str, min: u8, max: u8, what: &str) -> Result<u8, String> {
    let plain = !text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u8>() {
        Ok(n) if plain && (min..=max).contains(&n) => Ok(n),
        _ => Err(format!("needs a {what} of {min} to {max}")),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn type_names_are_read_back_from_their_own_display() {
        for name in [
            "bool",
            "int8",
            "int64",
            "uint8",
            "uint64",
            "float32",
            "float64",
            "decimal(38,10)",
            "decimal(1,0)",
            "date",
            "time(0)",
            "timestamp(9)",
            "timestamp(6, utc)",
            "text",
            "binary",
            "uuid",
        ] {
            assert_eq!(parse_type(name).unwrap().to_string(), name);
        }
        assert_eq!(parse_type("string").unwrap(), LogicalType::Text);
        assert_eq!(parse_type("Decimal( 38 , 10 )").unwrap(), LogicalType::Decimal { precision: 38, scale: 10 });
        for (name, why) in [
            ("decimal", "precision and scale"),
            ("decimal(38)", "precision and scale"),
            ("decimal(77,0)", "1 to 76"),
            ("decimal(0,0)", "1 to 76"),
            ("decimal(5,6)", "larger than"),
            ("decimal(5,-2)", "0 to 76"),
            ("decimal(5,2", "closing"),
            ("time", "fractional digits"),
            ("timestamp(10)", "0 to 9"),
            ("timestamp(6,cet)", "fractional digits"),
            ("int128", "not a logical type"),
            ("varchar(10)", "not a logical type"),
            ("", "not a logical type"),
        ] {
            assert!(parse_type(name).unwrap_err().contains(why), "{name}");
        }
    }
}
