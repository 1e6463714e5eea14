//! `check [A|B|C|D]…` explores the model; `generate` writes the tables and the diagram; `mutate` breaks the machine on
//! purpose and expects the model to notice.

use std::io::Write;
use std::process::ExitCode;

use dpone_spec::check::{self, Explored};
use dpone_spec::model::config::Config;
use dpone_spec::{generate, mutate};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let out = &mut std::io::stdout();
    let done = match args.split_first() {
        Some((&"check", names)) => check_all(names, out),
        Some((&"generate", [])) => generate::write_all().map(|()| true),
        Some((&"mutate", names)) => mutate::run(names, out),
        _ => {
            let usage = "usage: dpone-spec check [A|B|C|D]… [--log] [--first] | generate | mutate [NAME]…";
            writeln!(std::io::stderr(), "{usage}").map(|()| false)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Explores the named configurations, or A to C.
fn check_all(names: &[&str], out: &mut impl Write) -> std::io::Result<bool> {
    let log = names.contains(&"--log");
    let first = names.contains(&"--first");
    let names: Vec<&str> = names.iter().copied().filter(|n| !n.starts_with("--")).collect();
    let known = [Config::A, Config::B, Config::C, Config::D];
    if let Some(unknown) = names.iter().find(|n| known.iter().all(|c| c.name != **n)) {
        writeln!(out, "error: there is no configuration {unknown}")?;
        return Ok(false);
    }
    let names = if names.is_empty() { vec!["A", "B", "C"] } else { names };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut passed = true;
    for config in known.iter().filter(|c| names.contains(&c.name)) {
        for (variant, least) in config.variants().into_iter().zip(check::least_unique(config.name)) {
            let found = check::explore(variant, threads);
            report(&found, least, log, out)?;
            passed &= found.failures.is_empty() && found.unique >= least;
            if first && !passed {
                return Ok(false);
            }
        }
    }
    writeln!(out, "{}", if passed { "every invariant holds in every state" } else { "FAILED" })?;
    Ok(passed)
}

fn report(found: &Explored, least: usize, log: bool, out: &mut impl Write) -> std::io::Result<()> {
    let name = format!("{} {}", found.config.name, found.config.variant());
    let Explored { unique, generated, depth, settling, seconds, .. } = found;
    writeln!(
        out,
        "{name:<50} {unique:>8} unique states (at least {least}), {generated} generated, depth {depth}, \
         at most {settling} steps to the end, {seconds:.1} s"
    )?;
    if found.failures.is_empty() && *unique < least {
        writeln!(out, "  FAILED: fewer states than recorded; the model no longer explores what it did")?;
    }
    for failure in &found.failures {
        writeln!(out, "  FAILED: {}\n    {:?}", failure.name, failure.steps)?;
        for event in failure.log.iter().filter(|_| log) {
            writeln!(out, "      {event}")?;
        }
    }
    Ok(())
}
