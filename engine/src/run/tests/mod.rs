//! Logs that once led somewhere they must not, replayed.

mod found;
