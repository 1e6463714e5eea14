//! ODBC drivers: found, connected to, asked.

mod error;

pub use error::OdbcError;
