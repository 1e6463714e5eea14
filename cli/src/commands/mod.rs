//! One command per file. Each answers with its exit code, or with the refusals that end it.

pub(crate) mod claim;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod execute;
pub(crate) mod explain;
mod find;
pub(crate) mod journal;
pub(crate) mod plan;
pub(crate) mod reconcile;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
mod unsettled;

use std::path::{Path, PathBuf};

use dpone_engine::manifest::DEFAULT_JOURNAL;
use dpone_engine::plan::Plan;
use dpone_engine::refusal::Refusal;

/// What a command answers.
pub(crate) type Answer = Result<u8, Vec<Refusal>>;

/// The journal of commands that have no manifest.
pub(crate) fn journal_path(stated: Option<&Path>) -> PathBuf {
    stated.map_or_else(|| PathBuf::from(DEFAULT_JOURNAL), Path::to_path_buf)
}

/// What stands for the manifest's file of a run whose plan does not name it.
const SOME_MANIFEST: &str = "MANIFEST";

/// The manifest's file, as it was named when the run was planned.
fn manifest_file(plan: &Plan) -> &str {
    plan.manifest_file.as_deref().unwrap_or(SOME_MANIFEST)
}

/// The plan that a run was begun with.
fn planned(document: &str) -> Result<Plan, Vec<Refusal>> {
    Plan::from_document(document).map_err(one)
}

fn one(refusal: Refusal) -> Vec<Refusal> {
    vec![refusal]
}
