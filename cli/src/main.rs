//! The `dpone` command: arguments in, results on stdout, everything else on stderr, an exit code that scripts can use.

mod args;
mod commands;
mod compose;
mod exit;
mod logs;
mod output;
mod panics;
mod progress;
mod report;
mod signals;
mod stderr;
mod terminal;
mod usage;
mod wrap;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use commands::Answer;
use output::Output;
use stderr::Stderr;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let asked = usage::Asked::of(&arguments);
    panics::install(Stderr::new(asked.log_format));
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::refuse(&error, &asked),
    };
    let output = Output::new(&cli.global);
    if let Err(refusal) = logs::start(&cli.global, output.color) {
        asked.tell(&refusal);
        output.refusals(&[refusal]);
        return exit::code(exit::REFUSED);
    }
    match dispatch(&cli, &output) {
        // A run's end is its own; of a command that only reads, the result is all there is.
        Ok(exit::DELIVERED) if Output::is_lost() && cli.command.only_reads() => exit::code(exit::INTERNAL),
        Ok(code) => exit::code(code),
        Err(refusals) => {
            output.refusals(&refusals);
            exit::code(refusals.first().map_or(exit::INTERNAL, |r| exit::of_refusal(r.code)))
        }
    }
}

fn dispatch(cli: &Cli, output: &Output) -> Answer {
    match &cli.command {
        Command::Doctor { manifest } => commands::doctor::doctor(&cli.global, manifest.as_deref(), output),
        Command::Explain { code } => commands::explain::explain(code.as_deref(), output),
        Command::Schema { command } => commands::schema::schema(*command, output),
        Command::Completions { shell } => commands::completions::completions(*shell, output),
        Command::Plan { manifest, show_values } => commands::plan::plan(&cli.global, manifest, *show_values, output),
        Command::Run(args) => commands::run::run(&cli.global, args, output),
        Command::Reconcile { run } => commands::reconcile::reconcile(&cli.global, run, output),
        Command::Runs { command } => commands::runs::runs(&cli.global, command.as_ref(), output),
        Command::Claim { command } => commands::claim::claim(&cli.global, command, output),
        Command::Journal { command } => commands::journal::journal(&cli.global, command, output),
    }
}
