//! `run`: many seeds.

use std::io::Write;
use std::time::Instant;

use super::Failure;
use crate::coverage::Coverage;
use crate::fault::Plan;
use crate::invariants::Broken;
use crate::parallel::{self, Go};
use crate::scenario::play;

/// Failures that are printed.
const SHOWN: usize = 10;

/// What seeds came to.
#[derive(Debug, Default)]
pub struct Seeds {
    /// What they met.
    pub coverage: Coverage,
    /// What broke, by seed.
    pub failures: Vec<(u64, Broken)>,
}

/// Plays seeds; if so asked, only until one breaks something.
pub fn play_all(from: u64, count: u64, until_broken: bool) -> Seeds {
    let seeds: Vec<u64> = (from..from.saturating_add(count)).collect();
    let mut all = Seeds::default();
    let work = |mine: &mut Seeds, seed: &u64| {
        let outcome = play(&Plan::of_seed(*seed));
        mine.coverage.add(&outcome);
        let Some(broken) = outcome.broken.into_iter().next() else { return Go::On };
        mine.failures.push((*seed, broken));
        if until_broken { Go::Enough } else { Go::On }
    };
    parallel::fold(&seeds, Seeds::default, work, |mine| {
        all.coverage.merge(&mine.coverage);
        all.failures.extend(mine.failures);
    });
    all.failures.sort_by_key(|(seed, _)| *seed);
    all
}

/// Plays seeds and prints what broke and how fast; true if nothing is broken.
///
/// # Errors
/// If it cannot be printed.
pub fn run(from: u64, count: u64, until_broken: bool, out: &mut impl Write) -> Result<bool, Failure> {
    let start = Instant::now();
    let all = play_all(from, count, until_broken);
    for (seed, broken) in all.failures.iter().take(SHOWN) {
        writeln!(out, "seed {seed}: {}: {}", broken.invariant, broken.found)?;
        writeln!(out, "  replay: cargo run -p dpone-sims -- replay {seed}")?;
    }
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    let failed = all.failures.len();
    writeln!(out, "{count} seeds from {from}, {failed} failed, {:.0} a minute", count as f64 / minutes)?;
    Ok(failed == 0)
}
