//! The manifest's JSON Schema, generated from the document types.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::document::Document;

/// The JSON Schema (2020-12) of a manifest: every key with its type, bounds, default and description.
pub fn json_schema() -> Value {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Document>();
    let mut value = schema.to_value();
    forbid_null(&mut value);
    value
}

/// Whether some mapping of the manifest has a key of that name.
pub(super) fn has_key(schema: &Value, name: &str) -> bool {
    let has = |mapping: &Value| mapping.get("properties").is_some_and(|p| p.get(name).is_some());
    has(schema) || schema.get("$defs").and_then(Value::as_object).is_some_and(|defs| defs.values().any(has))
}

/// An optional key may be absent; it may not be there without a value. Only `x-nullable` places take null.
fn forbid_null(schema: &mut Value) {
    if let Value::Array(items) = schema {
        items.iter_mut().for_each(forbid_null);
    }
    let Value::Object(map) = schema else { return };
    let nullable = map.remove("x-nullable").is_some();
    map.values_mut().for_each(forbid_null);
    if nullable {
        return;
    }
    if map.get("default") == Some(&Value::Null) {
        map.remove("default");
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            map.insert("type".into(), one);
        }
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|c| c.get("type") != Some(&Value::from("null")));
        if let [one] = choices.as_slice() {
            // The description beside an optional reference says what the key is for, so it wins.
            let one = one.clone();
            map.remove("anyOf");
            for (key, value) in one.as_object().into_iter().flatten() {
                map.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
}
