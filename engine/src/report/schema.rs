//! The JSON Schemas of what is published, generated from the types that write it.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

use super::plan::PlanDocument;
use super::run_result::RunResult;
use super::timeline::Timeline;
use crate::evidence::{CleanupDocument, Evidence};

/// Every published document: the schema's name and the schema.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("plan", of::<PlanDocument>()),
        ("evidence", of::<Evidence>()),
        ("evidence-cleanup", of::<CleanupDocument>()),
        ("run-result", of::<RunResult>()),
        ("timeline", of::<Timeline>()),
    ]
}

/// As documents are written, not as they are read: a field that is always written is required.
fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    SchemaGenerator::new(settings).into_root_schema_for::<T>().into()
}
