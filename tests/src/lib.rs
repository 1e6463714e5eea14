//! What tests and benchmarks share: fixtures that make real databases, and the measuring of whole processes.

pub mod bench;
