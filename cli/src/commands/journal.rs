//! `dpone journal inspect|verify`.

use dpone_engine::report::timeline::{table, text, timeline};
use dpone_journal::sqlite::Journal;
use serde_json::json;

use super::{Answer, journal_path, one};
use crate::args::{Format, Global, JournalCommand};
use crate::exit;
use crate::output::Output;

/// Reads the journal.
pub(crate) fn journal(global: &Global, command: &JournalCommand, output: &Output) -> Answer {
    let journal = Journal::open_existing(&journal_path(global.journal.as_deref())).map_err(one)?;
    match command {
        JournalCommand::Inspect { run, at, show_values } => inspect(&journal, run, *at, *show_values, output),
        JournalCommand::Verify => verify(&journal, output),
    }
}

fn inspect(journal: &Journal, run: &str, at: Option<u64>, show_values: bool, output: &Output) -> Answer {
    let row = journal.run(run).map_err(one)?;
    let entries = journal.entries(&row.run).map_err(one)?;
    let shown = timeline(&entries, at, show_values).map_err(one)?;
    match output.format {
        Format::Json => output.value(&shown),
        Format::Text => output.result(&text(&shown)),
        Format::Md => output.result(&table(&shown, true)),
    }
    Ok(exit::DELIVERED)
}

fn verify(journal: &Journal, output: &Output) -> Answer {
    let mut broken = Vec::new();
    let runs = journal.runs().map_err(one)?;
    let mut checked = Vec::new();
    for row in &runs {
        let found = journal.broken(&row.run).map_err(one)?;
        checked.push(json!({ "run_id": row.run, "whole": found.is_none(), "code": found.as_ref().map(|r| r.code) }));
        broken.extend(found);
    }
    match output.format {
        Format::Json => output.json(&json!({ "runs": checked, "broken": broken.len() })),
        Format::Text | Format::Md => {
            output.result(&format!("{} runs, {} broken", runs.len(), broken.len()));
        }
    }
    output.refusals(&broken);
    Ok(if broken.is_empty() { exit::DELIVERED } else { exit::INTERNAL })
}
