//! What a run's end looks like: the receipt for people, one JSON object for scripts, an exit code for both.

use dpone_engine::codes::Code;
use dpone_engine::driver::{Entry, Finish, Observed};
use dpone_engine::plan::Plan;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::receipt::receipt;
use dpone_engine::report::run_result::{Extras, RunOutcome, Work, finish_code, run_result};
use dpone_engine::run::{Ending, Run};
use dpone_journal::sqlite::Journal;
use serde_json::{Value, json};

use crate::args::Format;
use crate::exit;
use crate::output::Output;

/// What there is to tell.
pub(crate) struct Told<'a> {
    pub(crate) manifest: &'a str,
    pub(crate) journal: &'a Journal,
    pub(crate) plan: &'a Plan,
    pub(crate) run: &'a Run,
    pub(crate) entries: &'a [Entry],
    /// `None` if the run was delivered before and nothing was done.
    pub(crate) finish: Option<&'a Finish>,
    /// What the driver measured, if one ran.
    pub(crate) observed: Option<Observed>,
    /// The signal that asked to stop.
    pub(crate) signal: Option<i32>,
    /// Whether an operator asked to give the run up.
    pub(crate) abandon: bool,
}

impl Told<'_> {
    fn given_up(&self) -> bool {
        let ended = matches!(self.finish, Some(Finish::Ended(Ending::Failed(why))) if why.code == Code::RunAbandoned);
        self.abandon && ended
    }
}

/// Prints it, and answers with the exit code.
pub(crate) fn tell(told: &Told<'_>, output: &Output) -> u8 {
    let journal = told.journal.path().display().to_string();
    let extras = Extras {
        manifest_file: told.manifest,
        journal: &journal,
        key: told.journal.digest_key(),
        observed: told.observed,
    };
    let work = told.finish.map_or(Work::NothingToDo, Work::Finished);
    let result = run_result(told.plan, told.run, told.entries, work, &extras);
    match output.format {
        Format::Json => output.value(&result),
        Format::Text if output.quiet && (result.code.is_none() || told.given_up()) => {}
        Format::Text => output.result(&receipt(&result, told.entries, false)),
        Format::Md => output.result(&receipt(&result, told.entries, true)),
    }
    if told.given_up() {
        // What the operator asked for has been done.
        return exit::DELIVERED;
    }
    if let (Some(code), Some(detail)) = (&result.code, &result.detail) {
        output.failure(code, detail, result.fix.as_deref(), result.next.as_deref());
    }
    let signal = told.signal.and_then(|number| u8::try_from(number).ok());
    told.finish.map_or(exit::DELIVERED, |finish| finish_code(finish, told.run, signal))
}

/// Says that a run was delivered already.
pub(crate) fn nothing_to_do(
    manifest: &str,
    journal: &Journal,
    plan: &Plan,
    run: &Run,
    entries: &[Entry],
    output: &Output,
) -> u8 {
    tell(
        &Told { manifest, journal, plan, run, entries, finish: None, observed: None, signal: None, abandon: false },
        output,
    )
}

/// What is known of a run that was refused.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) manifest: Option<String>,
    pub(crate) journal: Option<String>,
    pub(crate) target: Option<String>,
    /// The run, once it is in the journal.
    pub(crate) run: Option<String>,
    pub(crate) state: Option<&'static str>,
    /// Whether the target holds the run's rows; `None` while that is not known.
    pub(crate) published: Option<bool>,
}

/// A run that was refused before anything was done.
pub(crate) fn refused(known: &Known, refusals: &[Refusal], output: &Output) -> u8 {
    if output.format == Format::Json {
        output.json(&refused_json(known, refusals));
    }
    output.refusals(refusals);
    refusals.first().map_or(exit::INTERNAL, |r| exit::of_refusal(r.code))
}

/// The JSON keys of every run, with what is not known left null.
pub(crate) fn refused_json(known: &Known, refusals: &[Refusal]) -> Value {
    let first = refusals.first();
    let outcome = match known.published {
        Some(true) => RunOutcome::Delivered,
        Some(false) => RunOutcome::Failed,
        None => RunOutcome::Unknown,
    };
    json!({
        "run_id": known.run,
        "manifest": known.manifest,
        "state": known.state,
        "outcome": outcome.name(),
        "published": known.published,
        "code": first.map(|r| r.code),
        "detail": first.map(|r| &r.message),
        "fix": first.and_then(|r| r.fix.as_ref()),
        "failure_class": first.map(|r| r.code.class()),
        "rows": 0,
        "bytes": 0,
        "ranges": [],
        "target": known.target,
        "consistency": null,
        "concurrency": null,
        "budget": null,
        "quality": null,
        "evidence": null,
        "journal": known.journal,
        "next": first.map(|r| format!("dpone explain {}", r.code)),
        "errors": refusals.iter().map(|r| json!({
            "code": r.code, "message": r.message, "place": r.place, "fix": r.fix,
        })).collect::<Vec<_>>(),
    })
}
