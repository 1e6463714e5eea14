//! Any ODBC driver as a source, and SQL Server as one that is known through and through.
//!
//! The schema comes from the source's catalog, never from what a driver infers. What a driver gets wrong is in its profile;
//! how a server is asked is in its dialect; how a field is read is in `convert`.

mod authority;
mod block;
mod convert;
mod dialect;
mod failure;
mod fetch;
mod fetcher;
mod generic;
mod pieces;
mod preflight;
mod reader;
mod relation;
mod request;
mod resolved;
mod session;
mod source;
pub mod tsql;

pub use authority::Authority;
pub use preflight::describe;
pub use reader::OdbcReader;
pub use relation::{KeySql, RelationSql};
pub use request::{OdbcPlan, OdbcRequest, RangePlanner};
pub use resolved::{Carrier, Key, OdbcColumn, Resolved};
pub use source::OdbcSource;
