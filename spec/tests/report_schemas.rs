//! The JSON Schemas of plans, results, evidence and timelines are the ones that the code gives.
//! `UPDATE=1 cargo test -p dpone-spec` writes them.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

use dpone_engine::report::schema::schemas;
use serde_json::Value;

#[test]
fn the_schemas_are_fresh() {
    for (name, schema) in schemas() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(format!("{name}.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("UPDATE").is_some_and(|v| v == "1") {
            std::fs::write(&path, &text).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == text, "{} is not what the code gives; run: UPDATE=1 cargo test -p dpone-spec", path.display());
    }
}

/// Every key is described: the schemas are the documents' reference.
#[test]
fn every_key_is_described() {
    let mut wrong = Vec::new();
    for (name, schema) in schemas() {
        walk(name, &schema, &mut wrong);
        for (part, definition) in schema["$defs"].as_object().unwrap() {
            walk(&format!("{name}.{part}"), definition, &mut wrong);
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

fn walk(name: &str, schema: &Value, wrong: &mut Vec<String>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (key, property) in properties {
        if property["description"].as_str().is_none_or(str::is_empty) {
            wrong.push(format!("{name}.{key} has no description"));
        }
    }
}
