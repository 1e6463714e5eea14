//! The receipt of one runner's work: the JSON object of `run --format json`, and its exit code.

use schemars::JsonSchema;
use serde::Serialize;

use crate::codes::{Code, FailureClass};
use crate::driver::{Entry, Finish, Observed};
use crate::evidence::log::Log;
use crate::evidence::ranges::digest;
use crate::evidence::sealed::cause;
use crate::evidence::{QualityView, quality, run_key};
use crate::manifest::{Consistency, DEFAULT_JOURNAL, StrategyMode};
use crate::plan::{Concurrency, Plan};
use crate::report::remedy::remedy;
use crate::run::effect::Document;
use crate::run::{Ending, Run, Why, ending};

/// How the runner's work ended, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The target holds the run's rows, once.
    Delivered,
    /// The run had been delivered before; nothing was done.
    NothingToDo,
    /// The attempt failed; nothing was published.
    Failed,
    /// The runner stopped before the end; the run can be resumed.
    Suspended,
    /// It is not known whether the publication happened.
    Unknown,
    /// A runner is working on it; in lists and `runs show` only.
    Running,
    /// Nobody is working on it, and it is not at its end; in lists and `runs show` only.
    Interrupted,
}

impl RunOutcome {
    /// As JSON says it.
    pub const fn name(self) -> &'static str {
        match self {
            RunOutcome::Delivered => "delivered",
            RunOutcome::NothingToDo => "nothing_to_do",
            RunOutcome::Failed => "failed",
            RunOutcome::Suspended => "suspended",
            RunOutcome::Unknown => "unknown",
            RunOutcome::Running => "running",
            RunOutcome::Interrupted => "interrupted",
        }
    }
}

/// The last object on stdout of `run --format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunResult {
    /// The run.
    pub run_id: String,
    /// The manifest's name.
    pub manifest: String,
    /// The state that the run is in.
    pub state: &'static str,
    /// How the work ended.
    pub outcome: RunOutcome,
    /// Whether the target holds the run's rows; null if that is not known.
    pub published: Option<bool>,
    /// The code of what went wrong; null if nothing did.
    pub code: Option<String>,
    /// One sentence about it.
    pub detail: Option<String>,
    /// What mends it; null if there is nothing to mend.
    pub fix: Option<String>,
    /// Its class.
    pub failure_class: Option<FailureClass>,
    /// Rows read, of every range.
    pub rows: u64,
    /// Bytes of the objects, of every range.
    pub bytes: u64,
    /// Every planned range.
    pub ranges: Vec<RangeResult>,
    /// The target.
    pub target: String,
    /// What made all readers see one state.
    pub consistency: Consistency,
    /// How much ran at the same time.
    pub concurrency: ConcurrencyResult,
    /// The byte budget.
    pub budget: BudgetResult,
    /// What the gates and the comparison with the source said.
    pub quality: QualityView,
    /// The evidence documents; null if none was written.
    pub evidence: Option<EvidenceRefs>,
    /// What an operator should know of the delivery and that is no failure.
    pub notes: Vec<&'static str>,
    /// The journal that the run is in.
    pub journal: String,
    /// The command to run next; null if there is nothing to do.
    pub next: Option<String>,
}

/// One range of a [`RunResult`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RangeResult {
    /// Its id in documents and messages.
    pub id: String,
    /// Its position in the plan, from 0.
    pub ordinal: u32,
    /// Rows read; 0 before its end.
    pub rows: u64,
    /// Bytes of its objects.
    pub bytes: u64,
    /// How many objects it has.
    pub chunks: usize,
    /// How many times reading it was begun, over all attempts.
    pub attempts: u32,
    /// Keyed digest of the profile (nulls, extremes, row checksum) of what was read, as in evidence; null before its end.
    pub checksum: Option<String>,
}

/// Concurrency of a [`RunResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConcurrencyResult {
    /// What the manifest asks for.
    pub requested: Concurrency,
    /// The most that the journal shows in flight at one time.
    pub observed: Concurrency,
}

/// The budget of a [`RunResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BudgetResult {
    /// The byte budget.
    pub configured: u64,
    /// The most bytes that this runner had reserved at one time; null if no runner worked on the run just now.
    pub reserved_peak: Option<u64>,
    /// The row budget.
    pub configured_rows: u64,
    /// The most rows that this runner had reserved at one time; null if no runner worked on the run just now.
    pub reserved_peak_rows: Option<u64>,
}

/// The evidence documents of the present attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EvidenceRefs {
    /// What was done.
    pub sealed: Option<DocumentRef>,
    /// What became of everything that the run owned.
    pub cleanup: Option<DocumentRef>,
}

/// A written document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DocumentRef {
    /// Where it is.
    pub path: String,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
}

/// What the caller knows besides the run.
#[derive(Clone, Copy, Debug)]
pub struct Extras<'a> {
    /// The manifest file, as the operator named it.
    pub manifest_file: &'a str,
    /// The journal file.
    pub journal: &'a str,
    /// The journal's digest key.
    pub key: &'a [u8; 32],
    /// What the driver measured, if one ran: it is not in the journal.
    pub observed: Option<Observed>,
}

/// How a runner's work ended, or that there was none.
#[derive(Clone, Copy, Debug)]
pub enum Work<'a> {
    /// The run had been delivered before and is settled.
    NothingToDo,
    /// A driver ended.
    Finished(&'a Finish),
    /// No driver of this process: the log, and the process that works on the run now.
    Recorded {
        /// That process; `None` if there is none.
        runner: Option<u32>,
    },
}

/// The receipt of a run.
pub fn run_result(plan: &Plan, run: &Run, entries: &[Entry], work: Work<'_>, extras: &Extras<'_>) -> RunResult {
    let log = Log::read(entries);
    let key = run_key(extras.key, &run.id);
    let why = why(work, run);
    let outcome = outcome(work, run);
    let document = |document| {
        run.evidence.get(&document).map(|(path, sha256)| DocumentRef { path: path.clone(), sha256: sha256.clone() })
    };
    let (sealed, cleanup) = (document(Document::Sealed), document(Document::Cleanup));
    let ranges: Vec<RangeResult> = (0..)
        .zip(&run.units)
        .map(|(ordinal, unit)| {
            let read = unit.read.as_ref();
            let objects = read.map(|read| read.objects.as_slice()).unwrap_or_default();
            RangeResult {
                id: format!("r{ordinal}"),
                ordinal,
                rows: read.map_or(0, |read| read.profile.rows),
                bytes: objects.iter().map(|o| o.facts.bytes).sum(),
                chunks: objects.len(),
                attempts: log.reads.get(&ordinal).copied().unwrap_or(0),
                checksum: read.map(|read| digest(&key, &read.profile)),
            }
        })
        .collect();
    let rows = ranges.iter().map(|range| range.rows).sum();
    RunResult {
        run_id: run.id.to_string(),
        manifest: run.plan.manifest.clone(),
        state: run.state.name(),
        outcome,
        published: published(run),
        code: why.as_ref().map(|why| why.code.to_string()),
        detail: match work {
            Work::Recorded { runner: Some(pid) } => Some(format!("process {pid} is working on it")),
            _ => why.as_ref().map(|why| told(run, &log, why)),
        },
        fix: why.as_ref().and_then(|why| remedy(why.code, &anew(plan, extras))),
        failure_class: why.as_ref().map(|why| why.code.class()),
        rows,
        bytes: ranges.iter().map(|range| range.bytes).sum(),
        ranges,
        target: run.plan.target.clone(),
        consistency: plan.manifest.ranges.consistency,
        concurrency: ConcurrencyResult { requested: plan.requested, observed: log.observed(plan.concurrency.readers) },
        budget: BudgetResult {
            configured: plan.budget.bytes,
            reserved_peak: extras.observed.map(|o| o.reserved_peak.bytes),
            configured_rows: plan.budget.rows,
            reserved_peak_rows: extras.observed.map(|o| o.reserved_peak.rows),
        },
        quality: quality(plan, run),
        evidence: (sealed.is_some() || cleanup.is_some()).then_some(EvidenceRefs { sealed, cleanup }),
        notes: notes(plan, run, rows),
        journal: extras.journal.to_owned(),
        next: next(outcome, plan, run, why.as_ref(), extras),
    }
}

/// A cause in words; it begins with the range that it came up in, if it came up in one.
fn told(run: &Run, log: &Log, why: &Why) -> String {
    let halted = run.halted.as_ref() == Some(why);
    match halted.then(|| cause(run, log, why)).flatten().and_then(|incident| incident.range) {
        Some(range) => format!("r{range}: {}", why.detail),
        None => why.detail.clone(),
    }
}

fn notes(plan: &Plan, run: &Run, rows: u64) -> Vec<&'static str> {
    let replaces_partitions = plan.manifest.sink.strategy.mode == StrategyMode::PartitionReplace;
    match run.published.is_some() && rows == 0 && replaces_partitions {
        true => vec!["no row was read, so no partition was replaced"],
        false => Vec::new(),
    }
}

/// The exit code of a runner whose machine had nothing left to do.
pub fn exit_code(ending: &Ending) -> u8 {
    match ending {
        Ending::Delivered => 0,
        Ending::DeliveredUncleaned(_) => 6,
        Ending::Failed(why) | Ending::FailedUncleaned(why) => match why.code {
            Code::InternalError => 1,
            Code::TargetClaimedElsewhere | Code::LeaseLost | Code::RunAlreadyActive => 5,
            _ => 3,
        },
        Ending::Unknown(why) if why.code == Code::InternalError => 1,
        Ending::Unknown(_) => 4,
    }
}

/// The exit code of a runner. `signal` is the number of the signal that it was stopped by, if one was.
pub fn finish_code(finish: &Finish, run: &Run, signal: Option<u8>) -> u8 {
    match finish {
        Finish::Ended(ending) => exit_code(ending),
        // Without a signal nobody can ask to stop; 15 is what a supervisor would send.
        Finish::Suspended => 128 + signal.unwrap_or(15).min(127),
        Finish::Lost { code: Code::LeaseLost | Code::RunAlreadyActive, .. } => 5,
        Finish::Lost { code: Code::JournalCorrupt | Code::InternalError, .. } | Finish::Illegal(_) => 1,
        Finish::Lost { .. } => match published(run) {
            // The journal stopped taking facts after the publication, so the cleanup is what is left.
            Some(true) => 6,
            Some(false) => 3,
            None => 4,
        },
    }
}

/// Whether the target holds the run's rows; `None` if an announced publication is not settled.
pub fn published(run: &Run) -> Option<bool> {
    match (run.published.is_some(), run.open_publication().is_some()) {
        (true, _) => Some(true),
        (false, false) => Some(false),
        (false, true) => None,
    }
}

fn outcome(work: Work<'_>, run: &Run) -> RunOutcome {
    let ended = |ending: &Ending| match ending {
        Ending::Delivered | Ending::DeliveredUncleaned(_) => RunOutcome::Delivered,
        Ending::Failed(_) | Ending::FailedUncleaned(_) => RunOutcome::Failed,
        Ending::Unknown(_) => RunOutcome::Unknown,
    };
    let standing = || match published(run) {
        Some(true) => RunOutcome::Delivered,
        Some(false) => RunOutcome::Suspended,
        None => RunOutcome::Unknown,
    };
    match work {
        Work::NothingToDo => RunOutcome::NothingToDo,
        Work::Recorded { runner: Some(_) } => RunOutcome::Running,
        Work::Recorded { runner: None } => recorded(run).as_ref().map_or(RunOutcome::Interrupted, ended),
        Work::Finished(Finish::Ended(ending)) => ended(ending),
        // A suspended run is simply the journal's last state.
        Work::Finished(Finish::Suspended) => RunOutcome::Suspended,
        Work::Finished(Finish::Lost { .. } | Finish::Illegal(_)) => standing(),
    }
}

fn why(work: Work<'_>, run: &Run) -> Option<Why> {
    let ended = |ending: &Ending| match ending {
        Ending::Delivered => None,
        Ending::DeliveredUncleaned(why) | Ending::Failed(why) | Ending::FailedUncleaned(why) | Ending::Unknown(why) => {
            Some(why.clone())
        }
    };
    let finish = match work {
        Work::Finished(finish) => finish,
        Work::NothingToDo | Work::Recorded { runner: Some(_) } => return None,
        Work::Recorded { runner: None } => {
            let left = || Some(Why::fatal(Code::Suspended, "nobody is working on it: its runner was stopped, or died"));
            return recorded(run).as_ref().map_or_else(left, ended);
        }
    };
    match finish {
        Finish::Ended(ending) => ended(ending),
        Finish::Suspended => Some(Why::fatal(Code::Suspended, "the runner was asked to stop")),
        Finish::Lost { code, detail } => Some(Why::fatal(*code, detail.clone())),
        Finish::Illegal(illegal) => Some(Why::fatal(Code::InternalError, illegal.to_string())),
    }
}

/// The option that names the journal, where a command would take another one without a word about it: `run` takes the
/// manifest's, and a command without a manifest the default one.
fn stated(extras: &Extras<'_>, unstated: &str) -> String {
    match extras.journal == unstated {
        true => String::new(),
        false => format!(" --journal {}", quoted(extras.journal)),
    }
}

/// The command that starts a new run.
fn anew(plan: &Plan, extras: &Extras<'_>) -> String {
    format!("dpone run {}{}", quoted(extras.manifest_file), stated(extras, &plan.manifest.runtime.journal))
}

fn next(outcome: RunOutcome, plan: &Plan, run: &Run, why: Option<&Why>, extras: &Extras<'_>) -> Option<String> {
    let resume = || Some(format!("{} --resume {}", anew(plan, extras), quoted(&run.id)));
    let reconcile = || Some(format!("dpone reconcile{} {}", stated(extras, DEFAULT_JOURNAL), quoted(&run.id)));
    match outcome {
        RunOutcome::NothingToDo | RunOutcome::Running => None,
        RunOutcome::Delivered if why.is_none() => None,
        RunOutcome::Delivered => resume(),
        RunOutcome::Failed if why.is_some_and(|why| begins_anew(why.code)) => Some(anew(plan, extras)),
        RunOutcome::Failed => resume(),
        // A stopped runner's publication in doubt is settled by resuming: that probes it first.
        RunOutcome::Suspended | RunOutcome::Interrupted => resume(),
        RunOutcome::Unknown => reconcile(),
    }
}

/// Whether a failed run's next attempt would be in vain, so that a new run must follow: it was given up, or what it was
/// planned from, or to replace, is not there any more.
const fn begins_anew(code: Code) -> bool {
    matches!(code, Code::RunAbandoned | Code::PublicationBaseChanged | Code::SourceSchemaChanged)
}

/// An argument as a shell takes it.
pub fn quoted(text: &str) -> String {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@=+,".contains(c));
    if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// How a run ended as its log alone tells it; `None` if it is not at an end.
fn recorded(run: &Run) -> Option<Ending> {
    (run.settled() || run.state.is_past_publication()).then(|| ending(run))
}

/// How a run stands, for lists; `runner` is the process that works on it now.
pub fn standing(run: &Run, runner: Option<u32>) -> RunOutcome {
    outcome(Work::Recorded { runner }, run)
}
