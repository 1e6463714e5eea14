//! Checks the tree against the JSON Schema and turns it into the JSON that the document types read.
//!
//! The schema decides how a word is read: where a mode is expected `off` is that word, where text is expected
//! `007` is those three characters, where a whole number is expected only plain decimal digits are one.

mod keys;
mod scalar;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::node::{Content, Node};
use super::problems::Problems;
use crate::codes::Code;
pub(crate) use keys::shown;

/// What the checker carries along.
pub(super) struct Checker<'c, 'a> {
    pub(super) schema: &'c Value,
    pub(super) problems: &'c mut Problems<'a>,
    /// Whether a value was refused or is missing, so that the JSON does not stand for the manifest.
    pub(super) incomplete: bool,
}

impl Checker<'_, '_> {
    /// Checks the whole manifest; `None` when a value was refused or is missing.
    pub(super) fn manifest(mut self, root: &Node) -> Option<Value> {
        let schema = self.schema.clone();
        let value = self.value(root, &schema, "");
        value.filter(|_| !self.incomplete)
    }

    /// Checks one value; `None` when it was refused.
    fn value(&mut self, node: &Node, schema: &Value, path: &str) -> Option<Value> {
        let schema = self.resolve(schema);
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            if matches!(node.content, Content::Null)
                && choices.iter().any(|choice| choice.get("type").is_some_and(|t| t == "null"))
            {
                return Some(Value::Null);
            }
            return self.one_of(node, choices, &schema, path);
        }
        if let Some(words) = words(&schema) {
            return self.word(node, &words, path);
        }
        match (&node.content, expected(&schema)) {
            (Content::Map(entries), Expected::Map) => self.map(node, entries, &schema, path),
            // An empty file lacks every key that is required.
            (Content::Null, Expected::Map) if path.is_empty() => self.map(node, &[], &schema, path),
            (Content::List(items), Expected::List) => self.list(node, items, &schema, path),
            (Content::Scalar(kind, text), Expected::Scalar) => self.scalar(node, *kind, text, &schema, path),
            (_, wanted) => self.wrong_kind(node, wanted, path),
        }
    }

    /// Follows references.
    fn resolve(&self, schema: &Value) -> Value {
        let mut schema = schema;
        // A reference leads to a definition; more than a few in a row cannot be.
        for _ in 0..8 {
            let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/")) else {
                break;
            };
            let Some(target) = self.schema.get("$defs").and_then(|defs| defs.get(name)) else {
                break;
            };
            schema = target;
        }
        schema.clone()
    }

    fn one_of(&mut self, node: &Node, choices: &[Value], schema: &Value, path: &str) -> Option<Value> {
        let fits = |schema: &Value| match (&node.content, expected(schema)) {
            (Content::Map(_), Expected::Map) | (Content::List(_), Expected::List) => true,
            (Content::Scalar(kind, _), Expected::Scalar) => words(schema).is_some() || scalar::fits(*kind, schema),
            _ => false,
        };
        let choices: Vec<Value> = choices.iter().map(|choice| self.resolve(choice)).collect();
        if let Some(choice) = choices.iter().find(|choice| fits(choice)) {
            return self.value(node, choice, path);
        }
        let wanted = schema.get("description").and_then(Value::as_str).unwrap_or("another kind of value");
        self.refuse(node, path, "is not the kind of value that is expected here", &format!("Expected: {wanted}"))
    }

    fn list(&mut self, node: &Node, items: &[Node], schema: &Value, path: &str) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(10_000);
        let len = items.len() as u64;
        if len < least {
            return self.refuse(node, path, "is an empty list", "Name at least one entry, or remove the key.");
        }
        if len > most {
            return self.refuse(node, path, &format!("has more than {most} entries"), "Shorten the list.");
        }
        let item = schema.get("items").cloned().unwrap_or(Value::Bool(true));
        let mut values = Vec::with_capacity(items.len());
        for (index, entry) in items.iter().enumerate() {
            values.extend(self.value(entry, &item, &format!("{path}[{index}]")));
        }
        Some(Value::Array(values))
    }

    fn map(&mut self, node: &Node, entries: &[(super::node::Key, Node)], schema: &Value, path: &str) -> Option<Value> {
        let empty = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let free = schema.get("additionalProperties").filter(|s| s.is_object());
        let mut values: Map<String, Value> = Map::new();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut misspelled = Vec::new();
        for (key, entry) in entries {
            let below = keys::join(path, &key.text);
            if let Some(line) = seen.get(key.text.as_str()) {
                let message = format!("`{}` is written twice; the first is on line {line}", keys::shown(&key.text));
                self.problems.show(&key.place);
                self.problems.again(&below, key.place.clone(), Code::ManifestSyntax, message, "Keep one of them.");
                continue;
            }
            seen.insert(&key.text, key.place.line);
            match known.get(&key.text).or(free) {
                Some(schema) => {
                    self.problems.show(&key.place);
                    if let Some(value) = self.value(entry, schema, &below) {
                        values.insert(key.text.clone(), value);
                    }
                }
                None => misspelled.extend(self.unknown_key(key, known, path)),
            }
        }
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            // Of a misspelled key its place was told already.
            if !seen.contains_key(key) && !misspelled.contains(&key) {
                self.missing_key(node, key, known.get(key), path);
            }
        }
        Some(Value::Object(values))
    }

    fn wrong_kind(&mut self, node: &Node, wanted: Expected, path: &str) -> Option<Value> {
        let found = match &node.content {
            Content::Null => {
                let fix = match wanted {
                    Expected::Map => "Write its keys below it, indented, or remove it.",
                    Expected::List | Expected::Scalar => "Give it one, or remove the key.",
                };
                return self.refuse(node, path, "has no value", fix);
            }
            Content::Scalar(..) => "is a single value",
            Content::List(_) => "is a list",
            Content::Map(_) => "is a mapping",
        };
        let (wanted, fix) = match wanted {
            Expected::Map if path.ends_with(".table") => {
                ("a mapping", "Write `table: {name: …}` with the table's name.")
            }
            Expected::Map => ("a mapping", "Write its keys below it, indented."),
            Expected::List => ("a list", "Write it as a list: `[a, b]`."),
            Expected::Scalar => ("a single value", "Write one value."),
        };
        self.refuse(node, path, &format!("{found} where {wanted} is expected"), fix)
    }

    /// Refuses a value: `path message`.
    fn refuse(&mut self, node: &Node, path: &str, message: &str, fix: &str) -> Option<Value> {
        self.incomplete = true;
        let subject = if path.is_empty() { "the manifest" } else { path };
        let subject = keys::shown(subject);
        let quoted = if path.is_empty() { subject } else { format!("`{subject}`") };
        self.problems.at(
            path,
            Some(node.place.clone()),
            Code::ManifestInvalidValue,
            format!("{quoted} {message}"),
            fix,
        );
        None
    }
}

/// The three forms of a YAML value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Map,
    List,
    Scalar,
}

fn expected(schema: &Value) -> Expected {
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => Expected::Map,
        Some("array") => Expected::List,
        _ => Expected::Scalar,
    }
}

/// The words of a closed set.
fn words(schema: &Value) -> Option<Vec<String>> {
    let word = |v: &Value| v.as_str().map(str::to_owned);
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().map(word).collect();
    }
    schema.get("oneOf")?.as_array()?.iter().map(|choice| choice.get("const").and_then(word)).collect()
}
