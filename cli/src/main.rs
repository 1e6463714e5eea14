//! The `dpone` command.
fn main() {}
