//! The real binary, as a user and a script meet it: what it prints, where, and with which exit code.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod documents;
mod formats;
mod journals;
mod plans;
mod quickstart;
mod refusals;
mod runs;
mod stops;
mod terminals;
mod usage;
mod world;
