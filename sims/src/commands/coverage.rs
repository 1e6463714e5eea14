//! `meta` and `nightly`: what the scenarios meet, and what they ought to meet and do not.

use std::collections::BTreeMap;
use std::io::Write;

use super::{Failure, seeds, systematic};
use crate::coverage::Coverage;
use crate::systematic::shapes;

/// Plays seeds and every single fault, and prints what was met; true if everything was that can be, and nothing is
/// broken.
///
/// # Errors
/// If it cannot be printed.
pub fn meta(count: u64, out: &mut impl Write) -> Result<bool, Failure> {
    let all = seeds::play_all(0, count, false);
    let mut coverage = all.coverage;
    let well = systematic::run(0, &mut coverage, out)? && all.failures.is_empty();
    Ok(report(&coverage, out)? && well)
}

/// The long profile: many seeds, every pair of every small shape, and the coverage of both.
///
/// # Errors
/// If it cannot be printed.
pub fn nightly(count: u64, out: &mut impl Write) -> Result<bool, Failure> {
    let seeds_well = seeds::run(0, count, false, out)?;
    let mut coverage = seeds::play_all(count, count / 10, false).coverage;
    let well = systematic::run(shapes().len(), &mut coverage, out)?;
    Ok(report(&coverage, out)? && well && seeds_well)
}

fn report(coverage: &Coverage, out: &mut impl Write) -> Result<bool, Failure> {
    let lines = coverage.report();
    let mut tables: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for line in &lines {
        let (met, of) = tables.entry(line.table).or_default();
        *met += usize::from(line.met);
        *of += 1;
        match (line.met, line.unreachable) {
            (true, None) => {}
            (false, Some(reason)) => writeln!(out, "{} {}: unreachable: {reason}", line.table, line.what)?,
            (false, None) => writeln!(out, "{} {}: NOT MET", line.table, line.what)?,
            (true, Some(reason)) => writeln!(out, "{} {}: MET, though {reason}", line.table, line.what)?,
        }
    }
    for (table, (met, of)) in tables {
        writeln!(out, "{table}: {met} of {of} met")?;
    }
    Ok(!lines.iter().any(|l| l.is_wrong()))
}
