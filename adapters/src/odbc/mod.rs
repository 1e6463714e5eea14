//! ODBC drivers: found, connected to, asked.
//!
//! Invariant: nothing here sends a statement twice, and no value of a row passes through a message.

mod attributes;
mod cancel;
mod config;
mod connection;
mod driver;
mod error;
mod profile;
mod statement;

pub use cancel::Canceller;
pub use config::{Config, Session};
pub use connection::{Connection, Row};
pub use driver::{
    Driver, Registered, find as find_driver, library as driver_library, registered as registered_drivers,
};
pub use error::OdbcError;
pub use profile::{Buffering, Family};
pub use statement::{Described, Statement};
