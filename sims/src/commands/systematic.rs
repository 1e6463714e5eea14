//! `systematic`: every fault and every pair of small runs.

use std::io::Write;
use std::time::Instant;

use super::Failure;
use crate::coverage::Coverage;
use crate::systematic::{PAIRED, play_all, shapes};

/// Failures that are printed per shape.
const SHOWN: usize = 5;

/// Plays singles of every shape and, unless left out, pairs of the smallest ones; prints what was enumerated beside what
/// was met; true if nothing is broken and nothing was left out.
///
/// # Errors
/// If it cannot be printed.
pub fn run(pairs: usize, coverage: &mut Coverage, out: &mut impl Write) -> Result<bool, Failure> {
    let start = Instant::now();
    let mut well = true;
    for (number, (name, shape)) in shapes().into_iter().enumerate() {
        let report = play_all(shape, number < pairs);
        coverage.merge(&report.coverage);
        let enumerated = report.singles + report.pairs;
        writeln!(
            out,
            "{name}: {} calls, {} singles, {} pairs: {enumerated} enumerated, {} met, {} failed",
            report.calls,
            report.singles,
            report.pairs,
            report.met,
            report.failures.len()
        )?;
        for (plan, broken) in report.failures.iter().take(SHOWN) {
            writeln!(out, "  {}: {}", broken.invariant, broken.found)?;
            writeln!(out, "  replay: save as plan.json and cargo run -p dpone-sims -- replay plan.json")?;
            writeln!(out, "  {}", serde_json::to_string(plan)?)?;
        }
        well &= report.failures.is_empty() && report.met == enumerated;
    }
    writeln!(out, "in {:.0} s", start.elapsed().as_secs_f64())?;
    Ok(well)
}

/// Shapes of which every pair is played unless something else is asked for.
pub const USUAL_PAIRS: usize = PAIRED;
