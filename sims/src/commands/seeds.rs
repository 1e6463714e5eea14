//! `run`: many seeds, those that found something before them.

use std::io::Write;
use std::time::Instant;

use super::{Failure, Place, plan};
use crate::coverage::Coverage;
use crate::fault::Plan;
use crate::invariants::Broken;
use crate::parallel::{self, Go};
use crate::scenario::{Outcome, play, play_traced};

/// Failures that are printed.
const SHOWN: usize = 10;
/// One seed in so many is played twice more, with a trace: the same plan must be the same story.
const COMPARED: u64 = 64;

/// Which seeds are played.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The first.
    pub from: u64,
    /// How many.
    pub count: u64,
    /// Where their journals are.
    pub place: Place,
    /// Whether to go on only until one breaks something.
    pub until_broken: bool,
}

/// What seeds came to.
#[derive(Debug, Default)]
pub struct Seeds {
    /// What they met.
    pub coverage: Coverage,
    /// How many were played.
    pub played: u64,
    /// How many were played again and compared.
    pub compared: u64,
    /// What broke, by seed.
    pub failures: Vec<(u64, Broken)>,
}

/// Plays seeds; if so asked, only until one breaks something.
pub fn play_all(choice: Choice) -> Seeds {
    let seeds: Vec<u64> = (choice.from..choice.from.saturating_add(choice.count)).collect();
    let mut all = Seeds::default();
    let work = |mine: &mut Seeds, seed: &u64| {
        let plan = choice.place.plan(*seed);
        let outcome = play(&plan);
        mine.played += 1;
        mine.coverage.add(&outcome);
        let compared = seed.is_multiple_of(COMPARED);
        mine.compared += u64::from(compared);
        let other = if compared { another_story(&plan, &outcome) } else { None };
        let Some(broken) = outcome.broken.into_iter().next().or(other) else { return Go::On };
        mine.failures.push((*seed, broken));
        if choice.until_broken { Go::Enough } else { Go::On }
    };
    parallel::fold(&seeds, Seeds::default, work, |mine| {
        all.coverage.merge(&mine.coverage);
        all.played += mine.played;
        all.compared += mine.compared;
        all.failures.extend(mine.failures);
    });
    all.failures.sort_by_key(|(seed, _)| *seed);
    all
}

/// Plays a plan twice more: every time it must be the same, line by line.
pub fn another_story(plan: &Plan, outcome: &Outcome) -> Option<Broken> {
    let (first, second) = (play_traced(plan), play_traced(plan));
    let differs = first.trace.iter().zip(&second.trace).position(|(a, b)| a != b);
    let found = match differs {
        Some(line) => format!("line {} is another the second time", line + 1),
        None if first.trace.len() != second.trace.len() => "it ends elsewhere the second time".to_owned(),
        None if first.entries != outcome.entries => "the log is another with a trace".to_owned(),
        None if first.calls != outcome.calls => "the calls are others with a trace".to_owned(),
        None => return None,
    };
    Some(Broken::new("the same plan is the same story", found))
}

/// Plays what `seeds.txt` names, then seeds, and prints what broke and how fast; true if nothing is broken.
///
/// # Errors
/// If it cannot be printed, or a plan of the list cannot be read.
pub fn run(choice: Choice, out: &mut impl Write) -> Result<bool, Failure> {
    let known = known(out)?;
    Ok(played(choice, out)?.1 && known)
}

/// Plays seeds and prints what broke and how fast; true if nothing is broken and all were played.
///
/// # Errors
/// If it cannot be printed.
pub fn played(choice: Choice, out: &mut impl Write) -> Result<(Seeds, bool), Failure> {
    let start = Instant::now();
    let all = play_all(choice);
    for (seed, broken) in all.failures.iter().take(SHOWN) {
        writeln!(out, "seed {seed}: {}: {}", broken.invariant, broken.found)?;
        writeln!(out, "  replay: cargo run --release -p dpone-sims -- replay {}", choice.place.name(*seed))?;
    }
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    let Choice { from, count, place, until_broken } = choice;
    let (played, compared, failed) = (all.played, all.compared, all.failures.len());
    writeln!(
        out,
        "{count} seeds enumerated from {from} (journal in {place:?}), {played} played, {compared} of them compared with \
         their replay, {failed} failed, {:.0} a minute",
        played as f64 / minutes
    )?;
    let well = failed == 0 && (until_broken || played == count);
    Ok((all, well))
}

/// Plays the plans and seeds that found something once; true if none does any more.
///
/// # Errors
/// If the list or a plan cannot be read.
pub fn known(out: &mut impl Write) -> Result<bool, Failure> {
    let mut well = true;
    for name in listed()? {
        for broken in play(&plan(&name)?).broken {
            let short = name.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/")).unwrap_or(&name);
            writeln!(out, "seed {short}: {}: {}", broken.invariant, broken.found)?;
            writeln!(out, "  replay: cargo run --release -p dpone-sims -- replay {name}")?;
            well = false;
        }
    }
    Ok(well)
}

/// The names in `seeds.txt`, as [`plan`] takes them.
///
/// # Errors
/// If the list cannot be read.
pub fn listed() -> Result<Vec<String>, Failure> {
    let folder = env!("CARGO_MANIFEST_DIR");
    let list = std::fs::read_to_string(format!("{folder}/seeds.txt"))?;
    let names = list.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_whitespace().next());
    let path = |name: &str| if name.ends_with(".json") { format!("{folder}/{name}") } else { name.to_owned() };
    Ok(names.map(path).collect())
}
