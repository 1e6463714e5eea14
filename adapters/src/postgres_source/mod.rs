//! PostgreSQL as a source.
//!
//! The schema comes from the catalog, never from values. Every type is exact or refused in the plan; ranges compare the
//! column itself, with literals of its own type, so that an index can be used and each row lies in exactly one range.

mod catalog;
mod decode;
mod describe;
mod explain;
mod facts;
mod failure;
mod fetch;
mod key;
mod keys;
mod literal;
mod preflight;
mod quantiles;
mod query;
mod reader;
mod refused;
mod relation;
mod request;
mod resolve;
mod session;
mod snapshot;
mod source;
mod statistics;
mod steps;
mod types;
mod views;

pub use preflight::describe;
pub use reader::PostgresReader;
pub use relation::{KeyKind, KeySql, RelationSql};
pub use request::{PostgresPlan, PostgresRequest, RangePlanner, Stated};
pub use resolve::Resolved;
pub use source::PostgresSource;
pub use types::{PostgresColumn, Wire};
