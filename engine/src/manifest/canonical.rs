//! The form of a manifest that a run's journal keeps.

use super::Manifest;
use crate::codes::Code;
use crate::refusal::Refusal;

impl Manifest {
    /// The manifest as JSON with every default filled in: equal manifests give equal bytes.
    ///
    /// Holds no credential. It can hold source values (stated bounds, query text), so it belongs to the operator's
    /// journal and to nothing that is published.
    ///
    /// # Errors
    /// `internal_error`, when the manifest has no JSON form, which its types rule out.
    pub fn canonical_json(&self) -> Result<String, Refusal> {
        serde_json::to_string(self).map_err(|_| Refusal::new(Code::InternalError, "the manifest has no canonical form"))
    }

    /// Reads what [`Manifest::canonical_json`] wrote. Defaults of this build are not applied: what was resolved when
    /// the run was planned stands.
    ///
    /// # Errors
    /// `journal_corrupt`, when the text is not such a form.
    pub fn from_canonical_json(text: &str) -> Result<Self, Refusal> {
        // serde_json's message can quote the text, which can hold source values; only the position is kept.
        serde_json::from_str(text).map_err(|error| {
            Refusal::new(Code::JournalCorrupt, "a run's recorded manifest cannot be read back")
                .at(format!("recorded manifest, byte column {}", error.column()))
                .fix("Check the journal with `dpone journal verify`.")
        })
    }
}
