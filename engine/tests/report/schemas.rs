//! Every document that is written satisfies its published schema.

use std::collections::BTreeSet;

use dpone_engine::evidence::{cleanup, sealed};
use dpone_engine::report::plan::{blocked, document};
use dpone_engine::report::receipt::receipt;
use dpone_engine::report::run_result::{Extras, Work, run_result};
use dpone_engine::report::schema::schemas;
use dpone_engine::report::timeline::timeline;
use dpone_engine::run::recover;
use serde_json::{Value, json, to_value};

use super::story::{JOURNAL_KEY, delivered, failed, resumed, unknown};
use super::world::World;

/// The parts of JSON Schema that generated schemas use. Anything else in a schema fails the test.
const KEYWORDS: &[&str] = &[
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "default",
    "type",
    "const",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "oneOf",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "maxItems",
];

struct Checker<'a> {
    root: &'a Value,
    wrong: Vec<String>,
}

impl Checker<'_> {
    fn check(&mut self, at: &str, schema: &Value, value: &Value) {
        let Some(schema) = schema.as_object() else { return };
        for keyword in schema.keys().filter(|k| !KEYWORDS.contains(&k.as_str())) {
            self.wrong.push(format!("{at}: the schema uses {keyword}"));
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let definition = &self.root["$defs"][reference.rsplit('/').next().unwrap()];
            assert!(definition.is_object(), "{reference} is not defined");
            self.check(at, definition, value);
        }
        if let Some(types) = schema.get("type") {
            let types: Vec<_> = types.as_array().map_or(vec![types.clone()], Clone::clone);
            if !types.iter().any(|t| is_of(t.as_str().unwrap(), value)) {
                self.wrong.push(format!("{at}: {value} is not of type {types:?}"));
            }
        }
        if schema.get("const").is_some_and(|c| c != value) {
            self.wrong.push(format!("{at}: {value} is not the constant"));
        }
        if schema.get("enum").and_then(Value::as_array).is_some_and(|e| !e.contains(value)) {
            self.wrong.push(format!("{at}: {value} is not one of the words"));
        }
        for choice in ["anyOf", "oneOf"] {
            if let Some(options) = schema.get(choice).and_then(Value::as_array) {
                let fits = options.iter().filter(|option| self.fits(option, value)).count();
                if fits == 0 || (choice == "oneOf" && fits > 1) {
                    self.wrong.push(format!("{at}: {value} fits {fits} of {choice}"));
                }
            }
        }
        if let (Some(object), Some(properties)) = (value.as_object(), schema.get("properties")) {
            for (key, value) in object {
                match properties.get(key) {
                    Some(property) => self.check(&format!("{at}.{key}"), property, value),
                    None => self.wrong.push(format!("{at}.{key} is not in the schema")),
                }
            }
            for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                if !object.contains_key(key.as_str().unwrap()) {
                    self.wrong.push(format!("{at}: {key} is missing"));
                }
            }
        }
        if let (Some(list), Some(items)) = (value.as_array(), schema.get("items")) {
            list.iter().enumerate().for_each(|(i, item)| self.check(&format!("{at}[{i}]"), items, item));
        }
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut inner = Checker { root: self.root, wrong: Vec::new() };
        inner.check("", schema, value);
        inner.wrong.is_empty()
    }
}

fn is_of(ty: &str, value: &Value) -> bool {
    match ty {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        _ => false,
    }
}

fn wrong(name: &str, value: &Value) -> Vec<String> {
    let schemas = schemas();
    let (_, root) = schemas.iter().find(|(n, _)| *n == name).unwrap();
    let mut checker = Checker { root, wrong: Vec::new() };
    checker.check(name, root, value);
    checker.wrong
}

#[track_caller]
fn valid(name: &str, value: &Value) {
    assert_eq!(wrong(name, value), Vec::<String>::new());
}

#[test]
fn documents_satisfy_their_schemas() {
    let world = World::new();
    valid("plan", &to_value(document(&world.plan(), &JOURNAL_KEY, true)).unwrap());
    let mut none = World::with(&[("unique: [id]", "unique: [nope]")]);
    none.source.key_indexed = false;
    valid("plan", &to_value(blocked(&none.build().unwrap_err())).unwrap());
    for s in [delivered(), failed(), resumed(), unknown()] {
        // At every fact, so also where a runner could have died.
        for end in 1..=s.entries.len() {
            let entries = &s.entries[..end];
            let run = recover(entries.iter().map(|entry| &entry.event)).unwrap();
            valid("evidence", &to_value(sealed(&s.plan, &JOURNAL_KEY, &run, entries, s.observed())).unwrap());
            valid("evidence-cleanup", &to_value(cleanup(&run, entries)).unwrap());
            valid("timeline", &to_value(timeline(entries, None, true).unwrap()).unwrap());
            let extras = Extras {
                manifest_file: "orders.yaml",
                journal: "journal.db",
                key: &JOURNAL_KEY,
                observed: Some(s.observed()),
            };
            let runner = (end % 3 == 0).then_some(7);
            let result = run_result(&s.plan, &run, entries, Work::Recorded { runner }, &extras);
            valid("run-result", &to_value(&result).unwrap());
            assert!(!receipt(&result, entries, end % 2 == 0).is_empty());
        }
    }
}

/// A schema that takes anything would prove nothing.
#[test]
fn schemas_refuse_what_is_wrong() {
    let good = to_value(document(&World::new().plan(), &JOURNAL_KEY, false)).unwrap();
    let spoil = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert!(!wrong("plan", &bad).is_empty(), "{pointer}");
    };
    spoil("/blocked", json!("no"));
    spoil("/ddl", json!(null));
    spoil("/target/strategy/mode", json!("other"));
    spoil("/columnar_fast_path/details/range_parallelism/ranges/0/ordinal", json!("0"));
    let mut missing = good.clone();
    missing.as_object_mut().unwrap().remove("warnings");
    assert!(!wrong("plan", &missing).is_empty());
}

/// What the interface promises to scripts, key by key.
#[test]
fn promised_keys_are_there() {
    let s = delivered();
    let extras =
        Extras { manifest_file: "orders.yaml", journal: "journal.db", key: &JOURNAL_KEY, observed: Some(s.observed()) };
    let result = to_value(run_result(&s.plan, &s.run, &s.entries, Work::NothingToDo, &extras)).unwrap();
    let keys: BTreeSet<&str> = result.as_object().unwrap().keys().map(String::as_str).collect();
    for key in "run_id manifest state outcome published code failure_class rows bytes ranges target consistency \
                concurrency budget quality evidence journal next"
        .split_whitespace()
    {
        assert!(keys.contains(key), "{key}");
    }
    for key in ["id", "ordinal", "rows", "bytes", "chunks", "attempts"] {
        assert!(!result["ranges"][0][key].is_null(), "{key}");
    }
    for (object, keys) in [("concurrency", ["requested", "observed"]), ("budget", ["configured", "reserved_peak"])] {
        assert!(keys.iter().all(|key| !result[object][key].is_null()), "{object}");
    }
}
