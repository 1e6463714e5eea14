//! `dpone reconcile RUN`.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::run_result::quoted;
use dpone_journal::lock;
use dpone_journal::sqlite::Journal;

use super::execute::{Job, execute};
use super::find::find;
use super::{Answer, journal_path, manifest_file, one, planned};
use crate::args::Global;
use crate::output::Output;
use crate::report;

/// Finds out whether an announced publication happened and works on from the answer, by the plan in the journal.
pub(crate) fn reconcile(global: &Global, run: &str, output: &Output) -> Answer {
    let journal = Journal::open_existing(&journal_path(global.journal.as_deref())).map_err(one)?;
    let row = find(&journal, run).map_err(one)?;
    let locks = lock::take(journal.path(), &row.manifest, &row.target).map_err(one)?;
    let (folded, entries) = journal.fold(&row.run).map_err(one)?;
    let plan = planned(&folded.plan.document)?;
    let manifest = manifest_file(&plan).to_owned();
    if folded.delivered() && folded.settled() {
        return Ok(report::nothing_to_do(&manifest, &journal, &plan, &folded, &entries, output));
    }
    if !folded.is_beyond_reading() {
        let text = format!("run {} is in {} and has announced no publication", row.run, folded.state);
        return Err(one(Refusal::new(Code::OptionConflict, text).fix(format!(
            "Nothing is in doubt. Continue the run with `dpone run {} --resume {}`.",
            quoted(&manifest),
            row.run
        ))));
    }
    let locks = Some(locks);
    let job = Job { manifest: &manifest, journal, locks, sides: None, plan, run: row.run, abandon: false };
    execute(global, job, output)
}
