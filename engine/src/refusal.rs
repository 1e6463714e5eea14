//! What an operator is told when something is refused or failed: a stable code, the place, what to do next.

use crate::codes::Code;

/// A refusal or failure, complete enough to act on.
///
/// Invariant: no field ever holds a secret or a source value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error[{code}]: {message}")]
pub struct Refusal {
    /// The stable code; its page is `docs/errors/<code>.md`.
    pub code: Code,
    /// One sentence that says what was found.
    pub message: String,
    /// Where: a manifest path such as `source.options.columns[2]`, a file, a table.
    pub place: Option<String>,
    /// What to do, as an imperative sentence.
    pub fix: Option<String>,
    /// The manifest text around the place with the place marked, when it is known.
    pub snippet: Option<String>,
}

impl Refusal {
    /// A refusal with its code and sentence; add the rest with the `at`, `fix` and `snippet` methods.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: None, fix: None, snippet: None }
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Shows the manifest lines around the place.
    #[must_use]
    pub fn snippet(mut self, snippet: impl Into<String>) -> Self {
        self.snippet = Some(snippet.into());
        self
    }
}
