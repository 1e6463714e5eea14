//! `dpone-sims run --seeds N [--from S] | replay SEED|PLAN.json | shrink SEED | meta`

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use dpone_sims::fault::{Plan, Site};
use dpone_sims::scenario::play;
use dpone_sims::shrink::shrink;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    match run(&arguments, &mut out) {
        Ok(code) => code,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "dpone-sims: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String], out: &mut impl Write) -> Result<ExitCode, Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["run", "--seeds", count] => seeds(0, count.parse()?, out),
        ["run", "--seeds", count, "--from", from] => seeds(from.parse()?, count.parse()?, out),
        ["replay", what] => replay(&plan(what)?, out),
        ["shrink", what] => {
            let plan = plan(what)?;
            let outcome = play(&plan);
            let Some(first) = outcome.broken.first() else {
                writeln!(out, "nothing is broken")?;
                return Ok(ExitCode::SUCCESS);
            };
            let smallest = shrink(&plan, first.invariant).unwrap_or(plan);
            writeln!(out, "{}", serde_json::to_string_pretty(&smallest)?)?;
            Ok(ExitCode::FAILURE)
        }
        _ => Err("usage: run --seeds N [--from S] | replay SEED|PLAN.json | shrink SEED|PLAN.json".into()),
    }
}

fn plan(what: &str) -> Result<Plan, Failure> {
    match what.parse::<u64>() {
        Ok(seed) => Ok(Plan::of_seed(seed)),
        Err(_) => Ok(serde_json::from_str(&std::fs::read_to_string(what)?)?),
    }
}

fn replay(plan: &Plan, out: &mut impl Write) -> Result<ExitCode, Failure> {
    let outcome = play(plan);
    for line in &outcome.trace {
        writeln!(out, "{line}")?;
    }
    for broken in &outcome.broken {
        writeln!(out, "BROKEN {}: {}", broken.invariant, broken.found)?;
    }
    Ok(if outcome.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn seeds(from: u64, count: u64, out: &mut impl Write) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let mut met = BTreeSet::new();
    let mut failed = 0_u64;
    for seed in from..from + count {
        let outcome = play(&Plan::of_seed(seed));
        met.extend(outcome.met.iter().copied());
        if let Some(broken) = outcome.broken.first() {
            failed += 1;
            writeln!(out, "seed {seed}: {}: {}", broken.invariant, broken.found)?;
            writeln!(out, "  replay: cargo run -p dpone-sims -- replay {seed}")?;
            if failed >= 10 {
                writeln!(out, "stopping after 10 failures")?;
                break;
            }
        }
    }
    let possible: BTreeSet<_> = Site::ALL.iter().flat_map(|s| s.kinds().iter().map(move |k| (*s, *k))).collect();
    let unmet: Vec<_> = possible.difference(&met).collect();
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    writeln!(out, "{count} seeds from {from}, {failed} failed, {:.0} a minute", count as f64 / minutes)?;
    writeln!(out, "faults met: {} of {}; not met: {unmet:?}", met.len(), possible.len())?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
