//! `check [A|B|C|D]…` explores the model.

use std::io::Write;

use dpone_spec::check::explore;
use dpone_spec::model::config::Config;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let out = &mut std::io::stdout();
    let all = [Config::A, Config::B, Config::C, Config::D];
    let mut failed = false;
    for config in all.iter().filter(|c| args.iter().any(|a| a == c.name)) {
        for variant in config.variants() {
            let found = explore(variant, 2);
            writeln!(
                out,
                "{} {:<50} unique {:>9} generated {:>9} depth {:>4} settling {:>4} {:>6.1} s",
                config.name, found.config.variant(), found.unique, found.generated, found.depth, found.settling, found.seconds
            )?;
            for failure in &found.failures {
                failed = true;
                writeln!(out, "  FAILED {}", failure.name)?;
                writeln!(out, "    {:?}", failure.steps)?;
                for event in failure.log.iter().filter(|_| args.iter().any(|a| a == "-v")) {
                    writeln!(out, "      {event}")?;
                }
            }
        }
    }
    std::process::exit(i32::from(failed))
}
