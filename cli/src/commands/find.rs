//! Which run is meant.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use dpone_journal::lock::holder;
use dpone_journal::sqlite::{Journal, RunRow};

/// The run of that id, or the only one whose id begins so.
pub(crate) fn find(journal: &Journal, text: &str) -> Result<RunRow, Refusal> {
    let unknown = match journal.run(text) {
        Err(refusal) if refusal.code == Code::RunNotFound && !text.is_empty() => refusal,
        found => return found,
    };
    let mut rows = journal.runs()?;
    rows.retain(|row| row.run.starts_with(text));
    match rows.len() {
        0 => Err(unknown),
        1 => Ok(rows.remove(0)),
        n => Err(Refusal::new(Code::RunNotFound, format!("{n} runs begin with {text}")).fix("Name more of its id.")),
    }
}

/// The process that works on a run now.
pub(crate) fn runner(journal: &Journal, row: &RunRow) -> Option<u32> {
    let holder = holder(journal.path(), &row.manifest)?;
    (holder.run.as_deref() == Some(&row.run)).then_some(holder.pid)
}
