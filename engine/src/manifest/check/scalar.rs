//! Single values.

use serde_json::Value;

use super::super::node::{Node, Scalar};
use super::super::{logical, secrets, size};
use super::{Checker, keys};
use crate::codes::Code;

/// Whether a scalar of that kind can be a value of that schema.
pub(super) fn fits(kind: Scalar, schema: &Value) -> bool {
    let takes = |name: &str| match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(many)) => many.iter().any(|m| m == name),
        _ => false,
    };
    match kind {
        Scalar::Bool => takes("boolean") || takes("string"),
        Scalar::Integer | Scalar::Float => takes("integer") || takes("number") || takes("string"),
        Scalar::Text => takes("string"),
    }
}

/// Plain decimal digits without a leading zero: the one spelling of a whole number that nobody reads differently.
fn whole_number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// A value that can be repeated in a message: short, and of letters that carry no meaning elsewhere.
fn repeated(text: &str) -> Option<&str> {
    let harmless = text.len() <= 32 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    Some(text).filter(|_| harmless && !text.is_empty())
}

impl Checker<'_, '_> {
    /// One word of a closed set.
    pub(super) fn word(&mut self, node: &Node, words: &[String], path: &str) -> Option<Value> {
        let list = words.join(", ");
        let Some(text) = node.text() else {
            return self.wrong_kind(node, super::Expected::Scalar, path);
        };
        self.problems.show(&node.place);
        if words.iter().any(|word| word == text) {
            return Some(Value::from(text));
        }
        // `false` is what other YAML tools make of `off` before they write a manifest.
        let meant = match text {
            "false" | "no" | "False" | "Off" | "OFF" if words.iter().any(|w| w == "off") => Some("off"),
            _ => keys::nearest(text, words.iter().map(String::as_str)).filter(|(_, near)| *near).map(|(word, _)| word),
        };
        let fix = match meant {
            Some(word) => format!("Did you mean `{word}`? One of: {list}."),
            None => format!("One of: {list}."),
        };
        let found =
            repeated(text).map_or_else(|| "is none of its words".to_owned(), |text| format!("cannot be `{text}`"));
        self.refuse(node, path, &found, &fix)
    }

    /// A value by its schema's type and format.
    pub(super) fn scalar(
        &mut self,
        node: &Node,
        kind: Scalar,
        text: &str,
        schema: &Value,
        path: &str,
    ) -> Option<Value> {
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        if format != "dpone-sql" && format != "dpone-boundary" {
            self.problems.show(&node.place);
        }
        match (schema.get("type").and_then(Value::as_str), format) {
            (_, "dpone-byte-size") => self.size(node, kind, text, path),
            (_, "dpone-boundary") => self.string(node, text, schema, path),
            (Some("boolean"), _) => match (kind, text) {
                (Scalar::Bool, text) => Some(Value::Bool(text.eq_ignore_ascii_case("true"))),
                _ => self.refuse(node, path, "is not true or false", "Write `true` or `false`; `off` is only a mode."),
            },
            (Some("integer"), _) => self.integer(node, kind, text, schema, path),
            (Some("number"), _) => self.number(node, text, schema, path),
            _ => self.string(node, text, schema, path),
        }
    }

    fn integer(&mut self, node: &Node, kind: Scalar, text: &str, schema: &Value, path: &str) -> Option<Value> {
        let least = schema.get("minimum").and_then(Value::as_u64).unwrap_or(0);
        let widest = match schema.get("format").and_then(Value::as_str) {
            Some("uint16") => u64::from(u16::MAX),
            Some("uint32") => u64::from(u32::MAX),
            _ => u64::MAX,
        };
        let most = schema.get("maximum").and_then(Value::as_u64).unwrap_or(widest);
        let range = if most == u64::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
        let fix = format!("Write a whole number, {range}.");
        match whole_number(text) {
            Some(_) if kind == Scalar::Text => self.refuse(node, path, "is text", &format!("{fix} Remove the quotes.")),
            Some(n) if n < least => self.refuse(node, path, &format!("is less than {least}"), &fix),
            Some(n) if n > most => self.refuse(node, path, &format!("is more than {most}"), &fix),
            Some(n) => Some(Value::from(n)),
            None if text.starts_with('-') => self.refuse(node, path, "is negative", &fix),
            None => self.refuse(node, path, "is not a plain whole number", &fix),
        }
    }

    fn number(&mut self, node: &Node, text: &str, schema: &Value, path: &str) -> Option<Value> {
        let least = schema.get("minimum").and_then(Value::as_f64).unwrap_or(f64::MIN);
        match text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= least) {
            Some(n) => Some(Value::from(n)),
            None => {
                self.refuse(node, path, "is not a number in its range", &format!("Write a number of at least {least}."))
            }
        }
    }

    fn size(&mut self, node: &Node, kind: Scalar, text: &str, path: &str) -> Option<Value> {
        let fix = "Write bytes as a whole number, or one positive number and a unit, such as `64MiB`.";
        let bytes = match kind {
            Scalar::Text => size::parse_with_unit(text),
            _ if text.starts_with('-') => Err("is negative".to_owned()),
            _ => match whole_number(text) {
                Some(0) => Err("is zero".to_owned()),
                Some(bytes) => Ok(bytes),
                None if text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0') => {
                    Err("is too large".to_owned())
                }
                None => Err("is not a whole number of bytes".to_owned()),
            },
        };
        match bytes {
            // What is journalled and compared must survive every JSON reader and SQLite's signed integers.
            Ok(bytes) if bytes > i64::MAX as u64 => self.refuse(node, path, "is too large", fix),
            Ok(bytes) => Some(Value::from(bytes)),
            Err(why) => self.refuse(node, path, &why, fix),
        }
    }

    fn string(&mut self, node: &Node, text: &str, schema: &Value, path: &str) -> Option<Value> {
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let length = text.chars().count() as u64;
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
        let longest = if format == "dpone-sql" { 1 << 20 } else { 65_536 };
        let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(longest);
        if length < least {
            return self.refuse(node, path, "is empty", "Give it a value, or remove the key.");
        }
        if length > most {
            return self.refuse(node, path, &format!("is longer than {most} characters"), "Shorten it.");
        }
        if text.contains('\0') {
            return self.refuse(node, path, "holds a NUL character", "Remove it.");
        }
        let word = |extra: &str| {
            (1..=64).contains(&length) && text.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c))
        };
        match format {
            "dpone-sql" | "dpone-boundary" => {}
            "dpone-name" if !word("_-") || text.chars().any(|c| c.is_ascii_uppercase()) => {
                return self.refuse(node, path, "is not a name", "Use 1 to 64 of a-z, 0-9, `_` and `-`.");
            }
            "dpone-logical-type" => {
                if let Err(why) = logical::parse_stated(text) {
                    let names = logical::TYPE_NAMES;
                    let near = keys::nearest(text, names.iter().copied()).filter(|(_, near)| *near);
                    let meant = near.map(|(name, _)| format!("Did you mean `{name}`? ")).unwrap_or_default();
                    return self.refuse(node, path, &why, &format!("{meant}One of: {}.", names.join(", ")));
                }
            }
            "dpone-location" | "dpone-connection-id" if secrets::holds_secret(text) => {
                return self.inline_secret(node, path);
            }
            "dpone-connection-id" if !word("_") => {
                return self.refuse(node, path, "is not a connection name", "Use 1 to 64 letters, digits and `_`.");
            }
            _ => {}
        }
        Some(Value::from(text))
    }

    fn inline_secret(&mut self, node: &Node, path: &str) -> Option<Value> {
        self.incomplete = true;
        self.problems.hide(&node.place);
        self.problems.at(
            path,
            Some(node.place.clone()),
            Code::ManifestSecretInline,
            format!("`{}` holds a credential, and a manifest never does", keys::shown(path)),
            secrets::FIX,
        );
        None
    }
}
