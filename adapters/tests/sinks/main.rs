//! Sinks and the transfer store over real files, through their ports.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod conformance;
mod full_disk;
mod given;
mod parquet;
mod postgres;
mod sqlite;
