//! Sources, object stores and sinks: every effect outside the journal, behind the engine's ports.
//!
//! Invariant: an adapter holds no run state, calls no other port, and answers `Done`, `NotDone` or `Unknown`; it never
//! retries in a way that hides an outcome.

pub mod any;
pub mod body;
pub mod columnar;
pub mod digest;
pub mod durable;
pub mod evidence_store;
mod nearest;
pub mod object_store;
pub mod odbc;
pub mod odbc_source;
pub mod parquet_sink;
pub mod postgres;
pub mod postgres_sink;
pub mod postgres_source;
mod reading;
pub mod sqlite_sink;
pub mod sqlite_source;
pub mod system;
mod unique;
