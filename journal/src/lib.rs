//! The journal: an append-only, hash-chained log of the facts of every run, in SQLite.
//!
//! Invariant: nothing here decides anything. What may be appended is said by one pure rule, which every store calls.

mod failure;
mod folders;
pub mod lock;
pub mod log;
pub mod memory;
mod network;
pub mod record;
pub mod rule;
mod schema;
pub mod sqlite;
