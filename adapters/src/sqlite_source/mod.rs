//! SQLite as a source.
//!
//! Every cell is read by its storage class and is exactly a value of the planned type, or the unit fails naming column and
//! row. Every reader holds its transaction on one state of the database from before the first row to after the last. Bytes
//! are admitted before SQLite copies them: see `limits` for short cells and `measured` for long ones.

mod catalog;
mod connect;
mod convert;
mod declared;
mod describe;
mod faults;
mod fetch;
mod key;
mod limits;
mod measured;
mod reader;
mod relation;
mod request;
mod resolve;
mod session;
mod snapshot;
mod source;
mod stop;
mod wide;
mod work;

pub use describe::describe;
pub use reader::SqliteReader;
pub use request::{SqlitePlan, SqliteRequest};
pub use source::SqliteSource;
