//! Evidence: what a run proves, as two documents that follow from its log alone.
//!
//! The sealed document says what was done and has cleanup `pending`; the cleanup document is bound to the sealed one's
//! SHA-256. The same log gives the same bytes, but for what the runner that
//! writes the document measured of its budget. Neither holds a source value or a secret: boundaries and profiles appear
//! as digests under a key that is derived for the run and not published.

mod cleanup;
mod document;
pub mod log;
mod quality;
pub(crate) mod ranges;
pub(crate) mod sealed;

pub use cleanup::{CleanupDocument, cleanup};
pub use document::*;
pub use quality::{FidelityView, GateView, QualityView, quality};
pub use ranges::{ChunkView, RangeEvidence, RangeState};
pub use sealed::sealed;

use crate::driver::{Entry, Observed};
use crate::plan::Plan;
use crate::run::Run;
use crate::run::effect::Document;

/// The text of an evidence document, ready to be written. `journal_key` is the journal's secret key.
pub fn render(
    document: Document,
    plan: &Plan,
    journal_key: &[u8; 32],
    run: &Run,
    entries: &[Entry],
    observed: Observed,
) -> String {
    let text = match document {
        Document::Sealed => serde_json::to_string_pretty(&sealed(plan, journal_key, run, entries, observed)),
        Document::Cleanup => serde_json::to_string_pretty(&cleanup(run, entries)),
    };
    // Every field is text, a number, a list or a mapping with text keys, so there is always a JSON form.
    text.map(|text| text + "\n").unwrap_or_default()
}

/// The digest key of one run: equal boundaries of different runs have different digests.
pub(crate) fn run_key(journal_key: &[u8; 32], run: &str) -> [u8; 32] {
    *blake3::keyed_hash(journal_key, format!("evidence of run {run}").as_bytes()).as_bytes()
}
