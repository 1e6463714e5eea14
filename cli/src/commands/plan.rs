//! `dpone plan MANIFEST`.

use std::path::Path;

use dpone_adapters::system::SystemEntropy;
use dpone_engine::plan::{Blocked, Plan};
use dpone_engine::ports::Entropy as _;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::plan as report;
use dpone_journal::sqlite::Journal;

use super::Answer;
use super::unsettled::{settled, unclaimed};
use crate::args::{Format, Global};
use crate::compose::{Loaded, load, preflight, published_here};
use crate::exit;
use crate::output::Output;

/// Shows what a run would do. Nothing is created, not even a journal.
pub(crate) fn plan(global: &Global, path: &Path, show_values: bool, output: &Output) -> Answer {
    let loaded = match load(path, global.journal.as_deref()) {
        Ok(loaded) => loaded,
        Err(refusals) => return Ok(blocked(&Blocked::by(refusals), output)),
    };
    let journal =
        if loaded.journal.exists() { Some(Journal::open_to_read(&loaded.journal).map_err(|r| vec![r])?) } else { None };
    // Digests are keyed by the journal. Before there is one, by a key that no one ever has: with a known one, boundaries
    // could be guessed from their digests.
    let key = journal.as_ref().map_or_else(drawn, |j| *j.digest_key());
    match preflight(&loaded, key, |run, identity| published_here(journal.as_ref(), run, identity)) {
        Ok(plan) => {
            let why = in_the_way(&loaded, journal.as_ref(), &plan);
            if !why.is_empty() {
                let (manifest, policy) = (Some(plan.manifest.name.clone()), Some(plan.manifest.ranges.clone()));
                return Ok(blocked(&Blocked { manifest, policy, blockers: why, warnings: plan.warnings }, output));
            }
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

/// What the manifest and both sides do not know of: earlier runs on the target.
fn in_the_way(loaded: &Loaded, journal: Option<&Journal>, plan: &Plan) -> Vec<Refusal> {
    let settled = journal.map_or(Ok(()), |journal| settled(loaded, journal, plan));
    let unclaimed = unclaimed(loaded, journal.map(Journal::id));
    [settled, unclaimed].into_iter().filter_map(Result::err).flatten().collect()
}

/// A key for one invocation.
fn drawn() -> [u8; 32] {
    let mut key = [0; 32];
    for part in key.chunks_exact_mut(8) {
        part.copy_from_slice(&SystemEntropy.nonce().to_le_bytes());
    }
    key
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
