//! What tests and benchmarks share: fixtures that make real databases, the product as a process, and the measuring and
//! killing of it.
#![expect(clippy::expect_used, reason = "a fixture that cannot be made fails its test by panicking")]

pub mod bench;
pub mod ended;
pub mod facts;
pub mod held;
pub mod killed;
pub mod killer;
pub mod mounts;
pub mod product;
pub mod route;
pub mod scratch;
