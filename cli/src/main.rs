//! The `dpone` command: arguments in, results on stdout, everything else on stderr, an exit code that scripts can use.

mod args;
mod commands;
mod exit;
mod output;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use commands::Answer;
use output::Output;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output::new(&cli.global);
    match dispatch(&cli, &output) {
        Ok(code) => exit::code(code),
        Err(refusals) => {
            output.refusals(&refusals);
            exit::code(refusals.first().map_or(exit::INTERNAL, |r| exit::of_refusal(r.code)))
        }
    }
}

fn dispatch(cli: &Cli, output: &Output) -> Answer {
    match &cli.command {
        Command::Explain { code } => commands::explain::explain(code.as_deref(), output),
        Command::Schema { command } => commands::schema::schema(*command, output),
        Command::Completions { shell } => commands::completions::completions(*shell, output),
        Command::Plan { .. } | Command::Run(_) | Command::Runs { .. } | Command::Journal { .. } => Ok(exit::INTERNAL),
    }
}
