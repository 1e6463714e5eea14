//! Plans: what is planned, what blocks a plan, what a plan is remembered as.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod arbitrary;
mod blockers;
mod differences;
mod fallback;
mod fingerprint;
mod record;
mod rendered;
mod world;

use world::World;
