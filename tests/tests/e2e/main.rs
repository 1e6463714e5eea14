//! The real binary on whole routes: stopped, raced, resumed over changes, on full disks, over damaged journals, with the
//! names and shapes that real tables have.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod full_disk;
mod journals;
mod mariadb;
mod mssql;
mod odbc;
mod odbc_memory;
mod partitions;
mod plan_changes;
mod postgres;
mod rivals;
mod shapes;
mod signals;
