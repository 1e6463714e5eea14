//! The simulator's commands.

use std::io::Write;
use std::process::ExitCode;

use dpone_sims::commands::seeds::Choice;
use dpone_sims::commands::{Failure, Place, coverage, mutate, plan, replay, seeds, systematic};
use dpone_sims::coverage::Coverage;

const USAGE: &str = "usage:
  run --seeds N [--from S] [--journal memory|sqlite] [--until-broken]   many seeds, known ones first
  replay SEED|sqlite:SEED|PLAN.json   one scenario, line by line
  shrink SEED|sqlite:SEED|PLAN.json   the smallest plan that breaks the same invariant
  plan SEED|sqlite:SEED               a seed's plan
  systematic [--pairs N]              every single fault of every small shape, every pair of the first N
  meta [--seeds N]                    what is met, and what is not
  nightly [--seeds N]                 all of it, at length
  mutate [--only NAME…]               every planted defect must be found";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    match run(&arguments, &mut out) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "dpone-sims: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String], out: &mut impl Write) -> Result<bool, Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["run", options @ ..] => seeds::run(choice(options)?, out),
        ["replay", what] => replay::replay(&plan(what)?, out),
        ["shrink", what] => replay::smallest(&plan(what)?, out),
        ["plan", what] => replay::show(&plan(what)?, out),
        ["systematic"] => systematic::run(systematic::USUAL_PAIRS, &mut Coverage::default(), out),
        ["systematic", "--pairs", pairs] => systematic::run(pairs.parse()?, &mut Coverage::default(), out),
        ["meta"] => coverage::meta(20_000, out),
        ["meta", "--seeds", count] => coverage::meta(count.parse()?, out),
        ["nightly"] => coverage::nightly(500_000, out),
        ["nightly", "--seeds", count] => coverage::nightly(count.parse()?, out),
        ["mutate"] => mutate::run(&[], out),
        ["mutate", "--only", names @ ..] => mutate::run(names, out),
        _ => Err(USAGE.into()),
    }
}

/// The options of `run`, in any order.
fn choice(options: &[&str]) -> Result<Choice, Failure> {
    let mut choice = Choice { from: 0, count: 0, place: Place::Memory, until_broken: false };
    let mut left = options;
    loop {
        left = match left {
            [] => break,
            ["--seeds", count, rest @ ..] => {
                choice.count = count.parse()?;
                rest
            }
            ["--from", from, rest @ ..] => {
                choice.from = from.parse()?;
                rest
            }
            ["--journal", "memory", rest @ ..] => rest,
            ["--journal", "sqlite", rest @ ..] => {
                choice.place = Place::Sqlite;
                rest
            }
            ["--until-broken", rest @ ..] => {
                choice.until_broken = true;
                rest
            }
            _ => return Err(USAGE.into()),
        };
    }
    if choice.count == 0 { Err(USAGE.into()) } else { Ok(choice) }
}
