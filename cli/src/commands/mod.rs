//! One command per file. Each answers with its exit code, or with the refusals that end it.

pub(crate) mod completions;
pub(crate) mod execute;
pub(crate) mod explain;
pub(crate) mod journal;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;

use std::path::{Path, PathBuf};

use dpone_engine::refusal::Refusal;

/// What a command answers.
pub(crate) type Answer = Result<u8, Vec<Refusal>>;

/// The journal of commands that have no manifest.
pub(crate) fn journal_path(stated: Option<&Path>) -> PathBuf {
    stated.map_or_else(|| PathBuf::from(".dpone/journal.db"), Path::to_path_buf)
}
