//! `dpone run MANIFEST`, and with `--resume`.

use dpone_engine::codes::Code;
use dpone_engine::plan::{Blocked, Plan};
use dpone_engine::refusal::Refusal;
use dpone_engine::report::run_result::{published, quoted};
use dpone_engine::run::{Event, Run, State};
use dpone_journal::lock;
use dpone_journal::sqlite::{Journal, RunRow};
use uuid::Uuid;

use super::execute::{Job, execute};
use super::unsettled::{settled, stated};
use super::{Answer, find, one, planned};
use crate::args::{Global, NEWEST, RunArgs};
use crate::compose::preflight::source;
use crate::compose::{Loaded, Sides, load, preflight, published_here, storage};
use crate::output::Output;
use crate::report::{self, Known};
use crate::stderr::now;

/// Runs a manifest to the end, or continues a run.
pub(crate) fn run(global: &Global, args: &RunArgs, output: &Output) -> Answer {
    // A run that does not exist has published nothing. What one did that is to be resumed, its log must say.
    let mut known = Known { published: args.resume.is_none().then_some(false), ..Known::default() };
    let loaded = match load(&args.manifest, global.journal.as_deref()) {
        Ok(loaded) => loaded,
        Err(refusals) => return Ok(report::refused(&known, &refusals, output)),
    };
    known.manifest = Some(loaded.manifest.name.clone());
    known.journal = Some(loaded.journal.display().to_string());
    let answer = match &args.resume {
        None => fresh(global, &loaded, args.run_id.clone(), &mut known, output),
        Some(run) => resume(global, &loaded, Some(run.as_str()).filter(|r| *r != NEWEST), &mut known, output),
    };
    match answer {
        Ok(code) => Ok(code),
        Err(refusals) => Ok(report::refused(&known, &refusals, output)),
    }
}

fn fresh(global: &Global, loaded: &Loaded, run_id: Option<String>, known: &mut Known, output: &Output) -> Answer {
    // Before anything is created: what the manifest and both sides say.
    let first = plan(loaded, None)?;
    known.target = Some(first.target.target.clone());
    let mut journal = Journal::open(&loaded.journal).map_err(one)?;
    let locks = lock::take(&loaded.journal, &first.manifest.name, &first.target.target).map_err(one)?;
    // Again, now that no other runner of this journal can change the target.
    let plan = plan(loaded, Some(&journal))?;
    settled(loaded, &journal, &plan)?;
    storage::prepare(&plan.manifest.runtime.storage).map_err(one)?;
    let run = run_id.unwrap_or_else(|| Uuid::now_v7().to_string());
    let sides = Some(Sides::of(&plan, &run)?);
    let facts = plan.facts().map_err(one)?;
    journal.create_run(&Event::Planned { run: run.clone(), plan: facts }, now()).map_err(one)?;
    known.run = Some(run.clone());
    known.state = Some(State::Planned.name());
    let job = Job { manifest: &loaded.name, journal, locks: Some(locks), sides, plan, run, abandon: false };
    execute(global, job, output)
}

fn resume(global: &Global, loaded: &Loaded, run: Option<&str>, known: &mut Known, output: &Output) -> Answer {
    let journal = Journal::open_existing(&loaded.journal).map_err(one)?;
    let row = meant(&journal, loaded, run).map_err(one)?;
    known.run = Some(row.run.clone());
    known.target = Some(row.target.clone());
    let locks = lock::take(&loaded.journal, &row.manifest, &row.target).map_err(one)?;
    let (folded, entries) = journal.fold(&row.run).map_err(one)?;
    known.state = Some(folded.state.name());
    known.published = published(&folded);
    let planned = planned(&folded.plan.document)?;
    if folded.state == State::CleanupComplete {
        let changed = planned.manifest.differences(&loaded.manifest);
        if !changed.is_empty() {
            let text =
                format!("run {} is delivered, and the manifest has changed since: {}", row.run, changed.join("; "));
            let fix = format!("Start a new run: `{}`.", anew(loaded, &journal));
            return Err(one(Refusal::new(Code::ResumePlanMismatch, text).at(loaded.name.clone()).fix(fix)));
        }
        return Ok(report::nothing_to_do(&loaded.name, &journal, &planned, &folded, &entries, output));
    }
    if folded.settled() && folded.halted.as_ref().is_some_and(|why| why.code == Code::RunAbandoned) {
        let text = format!("run {} was given up; what it had read is gone", row.run);
        return Err(one(
            Refusal::new(Code::RunAbandoned, text).fix(format!("Start anew: `{}`.", anew(loaded, &journal)))
        ));
    }
    let plan = match folded.is_beyond_reading() {
        // Nothing is read any more: what is left is to find out, to write down and to clean up.
        true => planned,
        false => unchanged(loaded, &journal, planned, &folded)?,
    };
    storage::prepare(&plan.manifest.runtime.storage).map_err(one)?;
    let locks = Some(locks);
    let job = Job { manifest: &loaded.name, journal, locks, sides: None, plan, run: row.run, abandon: false };
    execute(global, job, output)
}

/// The plan of a run that has not announced its publication, if it is still the plan: what was read once is read the same
/// way again, so both sides must be what they were, and the target must hold what the run is to replace or add to.
fn unchanged(loaded: &Loaded, journal: &Journal, planned: Plan, run: &Run) -> Result<Plan, Vec<Refusal>> {
    let id = &run.id;
    // A failed run at rest stands in no new one's way.
    let otherwise = match run.settled() {
        true => format!("start a new run: `{}`", anew(loaded, journal)),
        false => format!("give the run up with `dpone runs abandon{} {id}` and start a new one", stated(journal)),
    };
    let mismatch = |differences: Vec<String>| {
        let text = format!("run {id} was planned otherwise: {}", differences.join("; "));
        let fix = format!("Undo the change and resume, or {otherwise}.");
        one(Refusal::new(Code::ResumePlanMismatch, text).at(loaded.name.clone()).fix(fix))
    };
    let newer = plan(loaded, Some(journal)).map_err(|blockers| {
        // What changed may be why there is no plan any more: it is told first.
        let source = source(loaded);
        let changes = planned.changes(&loaded.manifest, source.as_ref().map(|s| (&s.schema, s.relation)));
        if changes.is_empty() { blockers } else { mismatch(changes) }
    })?;
    let differences = planned.differences(&newer);
    if !differences.is_empty() {
        return Err(mismatch(differences));
    }
    if planned.target.base != newer.target.base {
        let text = format!(
            "{} is not what it was when run {id} was planned, and the run must not replace it",
            run.plan.target
        );
        let fix = format!("What it has read is of no use any more: {otherwise}.");
        return Err(one(Refusal::new(Code::PublicationBaseChanged, text).at(loaded.name.clone()).fix(fix)));
    }
    Ok(planned.resumed_with(&newer))
}

/// The command that starts a new run of this manifest in that journal.
fn anew(loaded: &Loaded, journal: &Journal) -> String {
    let stated = match journal.path().as_os_str() == loaded.manifest.runtime.journal.as_str() {
        true => String::new(),
        false => format!(" --journal {}", quoted(&journal.path().display().to_string())),
    };
    format!("dpone run {}{stated}", quoted(&loaded.name))
}

fn meant(journal: &Journal, loaded: &Loaded, run: Option<&str>) -> Result<RunRow, Refusal> {
    let name = &loaded.manifest.name;
    match run {
        Some(run) => {
            let row = find::find(journal, run)?;
            if row.manifest == *name {
                return Ok(row);
            }
            Err(Refusal::new(
                Code::ResumePlanMismatch,
                format!("run {run} is of manifest {:?}, not {name:?}", row.manifest),
            )
            .fix("Resume it with its own manifest."))
        }
        None => journal.newest_of(name)?.ok_or_else(|| {
            Refusal::new(Code::RunNotFound, format!("the journal has no run of manifest {name:?}"))
                .at(journal.path().display().to_string())
                .fix("Run it without --resume.")
        }),
    }
}

fn plan(loaded: &Loaded, journal: Option<&Journal>) -> Result<Plan, Vec<Refusal>> {
    let key = journal.map_or([0; 32], |j| *j.digest_key());
    preflight(loaded, key, |run, identity| published_here(journal, run, identity)).map_err(|blocked| {
        let Blocked { blockers, .. } = *blocked;
        blockers
    })
}
