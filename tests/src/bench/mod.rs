//! Benchmarks of the product as a whole process, from manifest to published target, beside a floor measured in the
//! same run. Ratios are quoted, never times: machines differ and are shared.

mod measure;
mod odbc;
mod peers;
mod postgres;
mod report;
mod sqlite_parquet;
mod table;

pub use measure::{Measured, measure, measure_child};
pub use odbc::{odbc_floor_child, odbc_parquet};
pub use peers::PeerReport;
pub use postgres::{pg_parquet, pg_postgres};
pub use report::Report;
pub use sqlite_parquet::{floor_child, sqlite_parquet};

/// What a benchmark was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Rows of the table.
    pub rows: u64,
    /// Readers of the product.
    pub readers: u32,
    /// Alternating runs of product and floor; medians are reported.
    pub repeat: u32,
    /// Whether other tools are measured too, where the benchmark has some.
    pub peers: bool,
}

/// Whatever stops a benchmark.
pub type Failure = Box<dyn std::error::Error>;
