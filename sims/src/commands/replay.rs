//! `replay`, `shrink` and `plan`: one scenario.

use std::io::Write;

use super::Failure;
use crate::fault::Plan;
use crate::scenario::{play, play_traced};
use crate::shrink::shrink;

/// Plays one scenario and prints what happens; true if nothing is broken.
///
/// # Errors
/// If it cannot be printed.
pub fn replay(plan: &Plan, out: &mut impl Write) -> Result<bool, Failure> {
    let outcome = play_traced(plan);
    for line in &outcome.trace {
        writeln!(out, "{line}")?;
    }
    for broken in &outcome.broken {
        writeln!(out, "BROKEN {}: {}", broken.invariant, broken.found)?;
    }
    Ok(outcome.broken.is_empty())
}

/// Prints the smallest plan that breaks the same invariant; true if nothing is broken.
///
/// # Errors
/// If it cannot be printed.
pub fn smallest(plan: &Plan, out: &mut impl Write) -> Result<bool, Failure> {
    let outcome = play(plan);
    let Some(first) = outcome.broken.first() else {
        writeln!(out, "nothing is broken")?;
        return Ok(true);
    };
    let smallest = shrink(plan, first.invariant).unwrap_or_else(|| plan.clone());
    writeln!(out, "{}", serde_json::to_string_pretty(&smallest)?)?;
    Ok(false)
}

/// Prints a seed's plan.
///
/// # Errors
/// If it cannot be printed.
pub fn show(plan: &Plan, out: &mut impl Write) -> Result<bool, Failure> {
    writeln!(out, "{}", serde_json::to_string_pretty(plan)?)?;
    Ok(true)
}
