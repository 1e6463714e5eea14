//! The command line.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Moves tables from operational databases into analytical ones, in bulk and provably.
///
/// Every run is a state machine whose facts are appended to a journal: a crash at any instruction resumes or reconciles
/// from it.
#[derive(Debug, Parser)]
#[command(name = "dpone", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "Examples:
  dpone plan orders.yaml                 what a run would do, and what stops it
  dpone run orders.yaml                  one run to the end
  dpone run orders.yaml --resume         continue the newest run
  dpone journal inspect RUN              what happened, fact by fact
  dpone explain run_unsettled            what a code means and what to do";

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The journal [default: the manifest's, else .dpone/journal.db]
    #[arg(long, global = true, value_name = "PATH", env = "DPONE_JOURNAL", hide_env_values = true)]
    pub(crate) journal: Option<PathBuf>,
    /// How results are printed on stdout
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// How logs are printed on stderr
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    /// Print no progress, no notes and no receipt of a run that went well
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Log more; twice for everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Show no progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    /// When to use colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Md,
}

/// How logs are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a run would do, without side effects
    ///
    /// Exits with 2 if something stops the run.
    Plan {
        /// The manifest
        manifest: PathBuf,
        /// Show range boundaries, which are source values
        #[arg(long)]
        show_values: bool,
    },
    /// Run a manifest to the end, or continue a run
    Run(RunArgs),
    /// List runs, show one, or give one up
    Runs {
        #[command(subcommand)]
        command: Option<RunsCommand>,
    },
    /// Find out whether an announced publication happened, and work on from there
    ///
    /// Exits with 4 if it still cannot be found out.
    Reconcile {
        /// The run
        run: String,
    },
    /// Show who has claimed a target, or give a claim back whose journal is gone
    Claim {
        #[command(subcommand)]
        command: ClaimCommand,
    },
    /// Read the journal
    Journal {
        #[command(subcommand)]
        command: JournalCommand,
    },
    /// Say which ODBC drivers are there, and whether a manifest's source can be read
    Doctor {
        /// A manifest whose source is tried; nothing is read of its rows
        manifest: Option<PathBuf>,
    },
    /// Say what a code means and what to do
    Explain {
        /// The code, as an error prints it; none lists every code
        code: Option<String>,
    },
    /// Print a JSON Schema
    Schema {
        #[command(subcommand)]
        command: SchemaCommand,
    },
    /// Print a completion script
    Completions {
        /// For which shell
        #[arg(value_enum)]
        shell: Shell,
    },
}

impl Command {
    /// Whether its result is all that it does.
    pub(crate) fn only_reads(&self) -> bool {
        match self {
            Self::Run(_)
            | Self::Reconcile { .. }
            | Self::Runs { command: Some(RunsCommand::Abandon { .. }) }
            | Self::Claim { command: ClaimCommand::Release { .. } } => false,
            Self::Plan { .. }
            | Self::Runs { .. }
            | Self::Claim { .. }
            | Self::Journal { .. }
            | Self::Doctor { .. }
            | Self::Explain { .. }
            | Self::Schema { .. }
            | Self::Completions { .. } => true,
        }
    }
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The manifest
    pub(crate) manifest: PathBuf,
    /// The new run's id: letters, digits, - and _, at most 64 [default: a UUID]
    #[arg(long, value_name = "ID", conflicts_with = "resume", value_parser = run_id)]
    pub(crate) run_id: Option<String>,
    /// Continue the newest run of this manifest, or the one named
    ///
    /// A failed run starts its next attempt; a delivered one is answered with nothing to do.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = NEWEST, value_parser = resumed)]
    pub(crate) resume: Option<String>,
}

/// What to do with runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Show one run's receipt
    Show {
        /// The run
        run: String,
    },
    /// Give a run up before its publication and remove what it owns or has kept
    Abandon {
        /// The run
        run: String,
    },
}

/// What to do with a target's claim.
#[derive(Debug, Subcommand)]
pub(crate) enum ClaimCommand {
    /// Show which run has claimed a manifest's target
    Show {
        /// The manifest
        manifest: PathBuf,
    },
    /// Give a claim back whose journal is gone for good
    ///
    /// The run can then neither load nor publish any more. What it staged stays. A run whose journal exists is settled
    /// with that journal instead: `runs abandon`.
    Release {
        /// The manifest
        manifest: PathBuf,
        /// The run that has claimed the target
        #[arg(long, value_name = "RUN")]
        run: String,
        /// That no journal with this run exists any more
        #[arg(long, required = true)]
        journal_is_gone: bool,
    },
}

/// What to do with the journal.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Show a run's facts as a timeline, and what follows from them
    Inspect {
        /// The run
        run: String,
        /// What was known after this fact, and what would have been decided
        #[arg(long, value_name = "SEQ")]
        at: Option<u64>,
        /// Show range boundaries, which are source values
        #[arg(long)]
        show_values: bool,
    },
    /// Check the hash chain and the facts of every run
    ///
    /// Exits with 1 if anything is broken.
    Verify,
}

/// Which schema.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum SchemaCommand {
    /// Of the manifest
    Manifest,
}

/// What `--resume` alone stands for: no run can have that id.
pub(crate) const NEWEST: &str = "the newest";

/// An empty id is most likely a script's empty variable.
fn resumed(text: &str) -> Result<String, String> {
    if text == NEWEST { Ok(text.to_owned()) } else { run_id(text) }
}

fn run_id(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if (1..=64).contains(&text.len()) && text.chars().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("1 to 64 letters, digits, - and _".to_owned())
    }
}
