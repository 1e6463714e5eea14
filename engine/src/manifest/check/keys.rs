//! Keys that are not there, and keys that should be.

use serde_json::{Map, Value};

use super::super::node::{Key, Node};
use super::super::secrets;
use super::Checker;
use crate::codes::Code;

/// The path of a key below another path.
pub(super) fn join(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    match (path.is_empty(), plain) {
        (true, true) => key.to_owned(),
        (false, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[\"{}\"]", shown(key)),
    }
}

/// Foreign text made fit for a terminal: no control characters, bounded length.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(80).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    out
}

/// The nearest of some words, with whether it is near enough to be meant.
pub(super) fn nearest<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Option<(&'w str, bool)> {
    let word = word.to_lowercase();
    let (name, distance) =
        known.map(|name| (name, strsim::osa_distance(&word, &name.to_lowercase()))).min_by_key(|(_, d)| *d)?;
    let meant = distance <= (name.chars().count() / 3).max(1) || (word.len() >= 3 && name.contains(&word));
    Some((name, meant))
}

impl Checker<'_, '_> {
    /// Refuses a key that does not exist. It could have been meant for anything, so the rest is not resolved. Answers with
    /// the known key that it is told to be a misspelling of.
    pub(super) fn unknown_key<'k>(&mut self, key: &Key, known: &'k Map<String, Value>, path: &str) -> Option<&'k str> {
        self.incomplete = true;
        if self.problems.is_full() {
            return None;
        }
        let place = Some(key.place.clone());
        if let Some(word) = secrets::secret_word(&key.text) {
            let message = format!("the key `{word}` holds a credential, and a manifest never does");
            self.problems.at(&join(path, word), place, Code::ManifestSecretInline, message, secrets::FIX);
            return None;
        }
        self.problems.show(&key.place);
        let below = join(path, &key.text);
        if path.is_empty() && key.text == "tables" {
            let message = "several tables in one manifest are not available in this build";
            self.problems.at(&below, place, Code::RouteUnsupported, message, "Write one manifest for each table.");
            return None;
        }
        let where_to = if path.is_empty() { "at the top of a manifest".to_owned() } else { format!("under `{path}`") };
        let message = format!("`{}` is no key {where_to}", shown(&key.text));
        let elsewhere = self.elsewhere(&key.text);
        let near = nearest(&key.text, known.keys().map(String::as_str));
        let mut meant = None;
        let fix = match (elsewhere.as_slice(), near) {
            // A key that exists in one other place was hardly misspelled here.
            ([one], _) => format!("It belongs under `{one}`."),
            (_, Some((name, true))) => {
                meant = Some(name);
                format!("Did you mean `{name}`?")
            }
            ([one, two, ..], _) => format!("There is such a key under `{one}` and under `{two}`."),
            ([], found) => {
                let near = found.map(|(name, _)| format!(" The nearest is `{name}`.")).unwrap_or_default();
                let all: Vec<&str> = known.keys().map(String::as_str).collect();
                format!("Known keys here: {}.{near}", all.join(", "))
            }
        };
        self.problems.at(&below, place, Code::ManifestUnknownKey, message, fix);
        meant
    }

    pub(super) fn missing_key(&mut self, node: &Node, key: &str, schema: Option<&Value>, path: &str) {
        self.incomplete = true;
        let below = join(path, key);
        let what = schema.and_then(|s| s.get("description")).and_then(Value::as_str).unwrap_or_default();
        let message = format!("`{below}` is missing");
        self.problems.at(
            &below,
            Some(node.place.clone()),
            Code::ManifestInvalidValue,
            message,
            format!("Add `{key}`. {what}"),
        );
    }

    /// The mappings that have a key of that exact name.
    fn elsewhere(&self, key: &str) -> Vec<String> {
        let mut found = Vec::new();
        self.places_of(key, self.schema, "", 0, &mut found);
        found
    }

    fn places_of(&self, key: &str, schema: &Value, path: &str, depth: usize, found: &mut Vec<String>) {
        let schema = self.resolve(schema);
        let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|_| depth < 8) else {
            return;
        };
        if !path.is_empty() && properties.contains_key(key) {
            found.push(path.to_owned());
        }
        for (name, below) in properties {
            self.places_of(key, below, &join(path, name), depth + 1, found);
        }
    }
}
