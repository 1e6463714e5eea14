//! `dpone plan MANIFEST`.

use std::path::Path;

use dpone_engine::plan::Blocked;
use dpone_engine::report::plan as report;
use dpone_journal::sqlite::Journal;

use super::Answer;
use crate::args::{Format, Global};
use crate::compose::{load, preflight, published};
use crate::exit;
use crate::output::Output;

/// Shows what a run would do. Nothing is created, not even a journal.
pub(crate) fn plan(global: &Global, path: &Path, show_values: bool, output: &Output) -> Answer {
    let loaded = match load(path, global.journal.as_deref()) {
        Ok(loaded) => loaded,
        Err(refusals) => return Ok(blocked(&Blocked::by(refusals), output)),
    };
    // Digests are keyed by the journal; before there is one, by zeros, and the first run's differ.
    let journal =
        if loaded.journal.exists() { Some(Journal::open_to_read(&loaded.journal).map_err(|r| vec![r])?) } else { None };
    let key = journal.as_ref().map_or([0; 32], |j| *j.digest_key());
    match preflight(&loaded, key, |run, identity| published(journal.as_ref(), run, identity)) {
        Ok(plan) => {
            match output.format {
                Format::Json => output.value(&report::document(&plan, &key, show_values)),
                Format::Text => output.result(&report::text(&plan, show_values)),
                Format::Md => output.result(&report::markdown(&plan, show_values)),
            }
            Ok(exit::DELIVERED)
        }
        Err(why) => Ok(blocked(&why, output)),
    }
}

fn blocked(why: &Blocked, output: &Output) -> u8 {
    match output.format {
        Format::Json => output.value(&report::blocked(why)),
        Format::Text => {}
        Format::Md => output.result(&report::blocked_markdown(why)),
    }
    output.refusals(&why.blockers);
    exit::REFUSED
}
