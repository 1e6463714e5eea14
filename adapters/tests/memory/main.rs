//! What is taken, in Rust and in SQLite, against what was granted.
//!
//! One test in a binary of its own: the counters are the process's.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(unsafe_code, reason = "a global allocator and SQLite's counters have no safe form")]

mod counting;
mod decoding;
mod reading;

#[test]
fn no_more_is_taken_than_was_granted() {
    reading::a_pull_takes_no_more_than_its_grant();
    decoding::a_load_and_a_check_take_no_more_than_their_grants();
}
