//! What a log is told as: evidence, the run's result, the timeline. The logs are written by hand and every fact of them
//! passes the machine's own rules.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod evidence;
mod results;
mod rules;
mod schemas;
mod story;
mod timelines;
#[path = "../plan/world.rs"]
mod world;
