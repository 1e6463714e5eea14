//! `dpone journal inspect|verify`.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::grid::Grid;
use dpone_engine::report::timeline::{table, text, timeline};
use dpone_engine::report::units::count;
use dpone_journal::sqlite::{Journal, Verdict};
use serde_json::json;

use super::find::find;
use super::{Answer, journal_path, one};
use crate::args::{Format, Global, JournalCommand};
use crate::exit;
use crate::output::Output;

/// Reads the journal.
pub(crate) fn journal(global: &Global, command: &JournalCommand, output: &Output) -> Answer {
    let path = journal_path(global.journal.as_deref());
    match command {
        JournalCommand::Inspect { run, at, show_values } => {
            let journal = Journal::open_to_read(&path).map_err(one)?;
            inspect(&journal, run, *at, *show_values, output)
        }
        JournalCommand::Verify => verify(&Journal::open_to_verify(&path).map_err(one)?, output),
    }
}

fn inspect(journal: &Journal, run: &str, at: Option<u64>, show_values: bool, output: &Output) -> Answer {
    let row = find(journal, run).map_err(one)?;
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
    let verdict = journal.verify().map_err(one)?;
    match output.format {
        Format::Json => {
            let runs = verdict.runs.iter().map(|check| {
                json!({
                    "run_id": check.run,
                    "whole": check.broken.is_none(),
                    "events": check.events,
                    "head": check.head_hex(),
                    "code": check.broken.as_ref().map(|r| r.code),
                    "detail": check.broken.as_ref().map(|r| &r.message),
                })
            });
            output.json(&json!({
                "journal": journal.path(),
                "whole": verdict.whole(),
                "broken": verdict.broken(),
                "runs": runs.collect::<Vec<_>>(),
                "pages": verdict.pages,
            }));
        }
        Format::Text | Format::Md => output.result(&verdict_text(&verdict, output.format == Format::Md)),
    }
    let damaged =
        |line: &String| Refusal::new(Code::JournalCorrupt, line.clone()).at(journal.path().display().to_string());
    let mut broken: Vec<Refusal> = verdict.pages.iter().map(damaged).collect();
    broken.extend(verdict.runs.iter().filter_map(|check| check.broken.clone()));
    output.refusals(&broken);
    Ok(if verdict.whole() { exit::DELIVERED } else { exit::INTERNAL })
}

fn verdict_text(verdict: &Verdict, markdown: bool) -> String {
    let mut grid = Grid::new(&["run", ">events", "head", "verdict"]);
    for check in &verdict.runs {
        let head: String = check.head_hex().unwrap_or_default().chars().take(16).collect();
        let verdict = check.broken.as_ref().map_or_else(|| "whole".to_owned(), |r| r.code.to_string());
        grid.row([check.run.clone(), count(check.events), head, verdict]);
    }
    let table = if markdown { grid.markdown() } else { grid.text() };
    let file = if verdict.pages.is_empty() { "the file is whole" } else { "the file is damaged" };
    format!("{table}\n{} run(s), {} broken; {file}\n", verdict.runs.len(), verdict.broken())
}
