//! The PostgreSQL source on a real server: what it delivers, decoded again from Parquet, and what it refuses.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod admission;
mod faults;
#[path = "../rows/mod.rs"]
mod rows;
mod snapshot;
mod support;
mod types;
