//! `dpone runs`, `runs show`, `runs abandon`.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::grid::Grid;
use dpone_engine::report::run_result::{Extras, RunOutcome, Work, published, run_result, standing};
use dpone_engine::report::{receipt::receipt, units};
use dpone_engine::run::{Run, State};
use dpone_journal::lock;
use dpone_journal::sqlite::{Journal, RunRow};
use serde_json::json;

use super::execute::{Job, execute};
use super::find::{find, runner};
use super::{Answer, journal_path, manifest_file, one, planned};
use crate::args::{Format, Global, RunsCommand};
use crate::exit;
use crate::output::Output;

/// Lists runs, shows one, or gives one up.
pub(crate) fn runs(global: &Global, command: Option<&RunsCommand>, output: &Output) -> Answer {
    let path = journal_path(global.journal.as_deref());
    let to_read = || Journal::open_to_read(&path).map_err(one);
    match command {
        None => list(&to_read()?, output),
        Some(RunsCommand::Show { run }) => show(&to_read()?, run, output),
        Some(RunsCommand::Abandon { run }) => abandon(global, Journal::open_existing(&path).map_err(one)?, run, output),
    }
}

/// What is printed of one run.
struct Listed {
    state: State,
    outcome: RunOutcome,
    runner: Option<u32>,
    attempt: u32,
    settled: bool,
    published: Option<bool>,
    rows: u64,
}

impl Listed {
    fn of(run: &Run, runner: Option<u32>) -> Self {
        Self {
            state: run.state,
            outcome: standing(run, runner),
            runner,
            attempt: run.attempt,
            settled: run.settled(),
            published: published(run),
            rows: run.rows_read(),
        }
    }
}

impl Listed {
    fn standing(&self) -> String {
        let name = self.outcome.name();
        self.runner.map_or_else(|| name.to_owned(), |pid| format!("{name} ({pid})"))
    }
}

fn list(journal: &Journal, output: &Output) -> Answer {
    // One run at a time is folded, and of it only what is printed is kept.
    let rows: Vec<(RunRow, Option<Listed>)> = journal
        .runs()
        .map_err(one)?
        .into_iter()
        .map(|row| {
            // A run whose log is broken is still listed: `journal verify` says what is wrong with it.
            let listed = journal.fold(&row.run).ok().map(|(run, _)| Listed::of(&run, runner(journal, &row)));
            (row, listed)
        })
        .collect();
    match output.format {
        Format::Json => {
            let runs: Vec<_> = rows
                .iter()
                .map(|(row, run)| {
                    json!({
                        "run_id": row.run,
                        "manifest": row.manifest,
                        "target": row.target,
                        "planned_at": units::time(row.created),
                        "state": run.as_ref().map(|r| r.state.name()),
                        "outcome": run.as_ref().map(|r| r.outcome),
                        "runner": run.as_ref().and_then(|r| r.runner),
                        "attempt": run.as_ref().map(|r| r.attempt),
                        "settled": run.as_ref().map(|r| r.settled),
                        "published": run.as_ref().and_then(|r| r.published),
                        "rows": run.as_ref().map(|r| r.rows),
                    })
                })
                .collect();
            output.json(&json!({ "journal_id": journal.id(), "runs": runs }));
        }
        Format::Text | Format::Md => {
            let mut grid = Grid::new(&["run", "manifest", "planned", "outcome", "state", ">attempt", ">rows"]);
            for (row, run) in &rows {
                let of = |f: fn(&Listed) -> String| run.as_ref().map_or_else(|| "damaged".to_owned(), f);
                grid.row([
                    row.run.clone(),
                    row.manifest.clone(),
                    to_the_second(row.created),
                    of(Listed::standing),
                    of(|r| r.state.to_string()),
                    of(|r| r.attempt.to_string()),
                    of(|r| units::count(r.rows)),
                ]);
            }
            let markdown = output.format == Format::Md;
            output.result(&if markdown { grid.markdown() } else { grid.text() });
        }
    }
    Ok(exit::DELIVERED)
}

/// Milliseconds tell no two runs apart for a reader; JSON has them.
fn to_the_second(unix_ms: u64) -> String {
    units::time(unix_ms - unix_ms % 1000).replace(".000Z", "Z")
}

fn show(journal: &Journal, run: &str, output: &Output) -> Answer {
    let row = find(journal, run).map_err(one)?;
    let (folded, entries) = journal.fold(&row.run).map_err(one)?;
    let plan = planned(&folded.plan.document)?;
    let path = journal.path().display().to_string();
    let extras =
        Extras { manifest_file: manifest_file(&plan), journal: &path, key: journal.digest_key(), observed: None };
    let work = Work::Recorded { runner: runner(journal, &row) };
    let result = run_result(&plan, &folded, &entries, work, &extras);
    match output.format {
        Format::Json => output.value(&result),
        Format::Text => output.result(&receipt(&result, &entries, false)),
        Format::Md => output.result(&receipt(&result, &entries, true)),
    }
    Ok(exit::DELIVERED)
}

fn abandon(global: &Global, journal: Journal, run: &str, output: &Output) -> Answer {
    let row = find(&journal, run).map_err(one)?;
    let locks = lock::take(journal.path(), &row.manifest, &row.target).map_err(one)?;
    let (folded, _) = journal.fold(&row.run).map_err(one)?;
    // A failed run that is at rest may have kept objects for its next attempt.
    let given_up = folded.halted.as_ref().is_some_and(|why| why.code == Code::RunAbandoned);
    let over = folded.settled() && (folded.delivered() || given_up);
    if over || folded.is_beyond_reading() {
        let text = format!("run {} is in {} and can no longer be given up", row.run, folded.state);
        let fix = match over {
            true => "Nothing needs to be done: the run is settled.".to_owned(),
            false => format!("Its publication was announced: settle it with `dpone reconcile {}`.", row.run),
        };
        return Err(one(Refusal::new(Code::OptionConflict, text).fix(fix)));
    }
    let plan = planned(&folded.plan.document)?;
    let (manifest, locks) = (manifest_file(&plan).to_owned(), Some(locks));
    let job = Job { manifest: &manifest, journal, locks, sides: None, plan, run: row.run, abandon: true };
    execute(global, job, output)
}
