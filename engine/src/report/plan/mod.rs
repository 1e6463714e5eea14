//! A plan, or why there is none, for people and for scripts.

mod document;
mod text;

pub use document::{BlockerView, PlanDocument, blocked, document};
pub use text::{blocked_markdown, blocked_text, markdown, rows_with, text};
