//! The published JSON Schemas are the ones that the code gives. `UPDATE=1 cargo test -p dpone-spec` writes them.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

use serde_json::Value;

fn fresh(name: &str, schema: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(name);
    let text = format!("{}\n", serde_json::to_string_pretty(schema).unwrap());
    if std::env::var_os("UPDATE").is_some_and(|v| v == "1") {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "{} is not what the code gives; run: UPDATE=1 cargo test -p dpone-spec", path.display());
}

#[test]
fn the_manifest_schema_is_fresh() {
    fresh("manifest.json", &dpone_engine::manifest::json_schema());
}

/// Every mapping with named keys is closed, every named key is described, and no key may stand without a value.
#[test]
fn the_manifest_schema_is_strict_and_described() {
    let schema = dpone_engine::manifest::json_schema();
    let mut wrong = Vec::new();
    walk("manifest", &schema, &mut wrong);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        walk(name, definition, &mut wrong);
    }
    assert_eq!(wrong, Vec::<String>::new());
}

fn walk(name: &str, schema: &Value, wrong: &mut Vec<String>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    if schema["additionalProperties"] != Value::Bool(false) {
        wrong.push(format!("{name} takes any key"));
    }
    for (key, property) in properties {
        if property["description"].as_str().is_none_or(str::is_empty) {
            wrong.push(format!("{name}.{key} has no description"));
        }
        let nullable = property["anyOf"].as_array().is_some_and(|c| c.iter().any(|c| c["type"] == "null"));
        if nullable && !["lower", "upper"].contains(&key.as_str()) {
            wrong.push(format!("{name}.{key} takes null"));
        }
    }
}
