//! `dpone completions SHELL`.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::Answer;
use crate::args::Cli;
use crate::exit;
use crate::output::Output;

/// Prints the script.
pub(crate) fn completions(shell: Shell, output: &Output) -> Answer {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "dpone", &mut script);
    output.exactly(&String::from_utf8_lossy(&script));
    Ok(exit::DELIVERED)
}
