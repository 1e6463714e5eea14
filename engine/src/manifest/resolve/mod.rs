//! From what is written to what a run works from: defaults filled in, contradictions refused.

mod chunks;
mod consistency;
mod planner;
mod ranges;
mod sides;
mod storage;

use std::collections::BTreeSet;

use super::Manifest;
use super::document::Document;
use super::problems::Problems;
use crate::codes::Code;

/// Resolves a document. Problems are collected; the manifest stands only when there are none.
pub(super) fn resolve(document: Document, problems: &mut Problems<'_>) -> Option<Manifest> {
    let chunks = chunks::resolve(&document.source.options.native_transfer, problems);
    let ranges = ranges::resolve(&document.source.options, document.source.kind, problems);
    let runtime = storage::resolve(&document, problems);
    let source = sides::source(&document.source, problems);
    let sink = sides::sink(&document.sink, problems);
    unique(&document.quality.not_null, "quality.not_null", problems);
    unique(&document.quality.unique, "quality.unique", problems);
    Some(Manifest {
        name: document.name,
        source: source?,
        ranges: ranges?,
        chunks,
        sink: sink?,
        quality: document.quality,
        runtime,
    })
}

/// Refuses a name that occurs twice in a list.
fn unique(names: &[String], path: &str, problems: &mut Problems<'_>) {
    let mut seen = BTreeSet::new();
    for (index, name) in names.iter().enumerate() {
        if !seen.insert(name) {
            problems.add(
                &format!("{path}[{index}]"),
                Code::ManifestInvalidValue,
                format!("`{path}` names the same column twice"),
                "Remove one of them.",
            );
        }
    }
}

/// Two places for one setting: either alone counts, both must agree.
fn agree<T: Copy + PartialEq>(a: (&str, Option<T>), b: (&str, Option<T>), problems: &mut Problems<'_>) -> Option<T> {
    if let (Some(left), Some(right)) = (a.1, b.1)
        && left != right
    {
        let message = format!("`{}` and `{}` state the same setting with different values", a.0, b.0);
        problems.add(b.0, Code::OptionConflict, message, format!("Keep `{}` and remove the other.", a.0));
    }
    a.1.or(b.1)
}
