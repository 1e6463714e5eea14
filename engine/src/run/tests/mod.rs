//! Logs that once led somewhere they must not, replayed.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod ends;
mod found;
mod story;
