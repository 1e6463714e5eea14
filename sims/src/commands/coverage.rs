//! `meta` and `nightly`: what the scenarios meet, and what they ought to meet and do not.

use std::collections::BTreeMap;
use std::io::Write;

use super::seeds::Choice;
use super::{Failure, Place, seeds, systematic};
use crate::coverage::Coverage;
use crate::systematic::shapes;

/// Seeds of a short profile whose journal is in SQLite.
const ON_DISK: u64 = 500;

/// Plays seeds and every single fault, and prints what was met; true if everything was that can be, and nothing is
/// broken.
///
/// # Errors
/// If it cannot be printed.
pub fn meta(count: u64, out: &mut impl Write) -> Result<bool, Failure> {
    let all = seeds::play_all(Choice { from: 0, count, place: Place::Memory, until_broken: false });
    let on_disk = seeds::play_all(Choice { from: 0, count: ON_DISK, place: Place::Sqlite, until_broken: false });
    let mut coverage = all.coverage;
    coverage.merge(&on_disk.coverage);
    let well = systematic::run(0, &mut coverage, out)? && all.failures.is_empty() && on_disk.failures.is_empty();
    Ok(report(&coverage, out)? && well)
}

/// The long profile: many seeds, every pair of every small shape, and the coverage of both.
///
/// # Errors
/// If it cannot be printed.
pub fn nightly(count: u64, out: &mut impl Write) -> Result<bool, Failure> {
    let mut well = seeds::known(out)?;
    let mut coverage = Coverage::default();
    for (place, count) in [(Place::Memory, count), (Place::Sqlite, count / 50)] {
        let (all, played) = seeds::played(Choice { from: 0, count, place, until_broken: false }, out)?;
        coverage.merge(&all.coverage);
        well &= played;
    }
    well &= systematic::run(shapes().len(), &mut coverage, out)?;
    Ok(report(&coverage, out)? && well)
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
