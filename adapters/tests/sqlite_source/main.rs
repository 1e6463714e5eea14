//! The SQLite source on real files: what it delivers, decoded again from Parquet, and what it refuses.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod admission;
mod conformance;
mod consistency;
mod describe;
mod property;
mod ranges;
#[path = "../rows/mod.rs"]
mod rows;
mod storage_classes;
mod support;
