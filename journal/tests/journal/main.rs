//! The journal as its users see it: records, stores, faults, rivals, and a file of every version ever written.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod allocation;
mod conformance;
mod creation;
mod damage;
mod faults;
mod golden;
mod killed;
mod locks;
mod reading;
mod records;
mod rivals;
mod rule;
mod samples;
mod story;
mod unsettled;
mod verify;
