//! What stands in a new run's way on its target.

use dpone_adapters::any::AnyTarget;
use dpone_engine::codes::Code;
use dpone_engine::manifest::DEFAULT_JOURNAL;
use dpone_engine::plan::Plan;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::run_result::quoted;
use dpone_journal::sqlite::Journal;

use super::{manifest_file, one, planned};
use crate::compose::Loaded;

/// Refuses a new run while an earlier one on its target is not settled.
pub(super) fn settled(loaded: &Loaded, journal: &Journal, plan: &Plan) -> Result<(), Vec<Refusal>> {
    // Settled runs are believed by their last fact alone; the one that this run follows is read in full.
    if let Some(former) = journal.newest_of(&plan.manifest.name).map_err(one)? {
        journal.fold(&former.run).map_err(one)?;
    }
    let unsettled = journal.unsettled_on(&plan.target.target).map_err(one)?;
    let Some(other) = unsettled.first() else { return Ok(()) };
    let (run, _) = journal.fold(&other.run).map_err(one)?;
    let others = planned(&run.plan.document)?;
    let manifest = if other.manifest == plan.manifest.name { loaded.name.as_str() } else { manifest_file(&others) };
    let (manifest, stated, id) = (quoted(manifest), stated(journal), quoted(&other.run));
    let otherwise = match run.is_beyond_reading() {
        true => format!("settle it with `dpone reconcile{stated} {id}`"),
        false => format!("give it up with `dpone runs abandon{stated} {id}`"),
    };
    let text =
        format!("run {} of {} on {} is not settled: it is in {}", other.run, other.manifest, other.target, run.state);
    Err(one(Refusal::new(Code::RunUnsettled, text)
        .fix(format!("Continue it with `dpone run {manifest}{stated} --resume {id}`, or {otherwise}."))))
}

/// Refuses a new run while another journal's run holds the target's claim; `journal` is this one's identity.
pub(super) fn unclaimed(loaded: &Loaded, journal: Option<&str>) -> Result<(), Vec<Refusal>> {
    let target = AnyTarget::of(&loaded.manifest.sink).map_err(one)?;
    let Some(claimant) = target.claimed().map_err(one)?.filter(|claimant| journal != Some(&claimant.journal)) else {
        return Ok(());
    };
    let text = format!("run {} of journal {} has claimed the target", claimant.run, claimant.journal);
    Err(one(Refusal::new(Code::TargetClaimedElsewhere, text).fix(format!(
        "Wait for that run, or settle it with its own journal. If that journal is gone for good: \
         `dpone claim release {} --run {} --journal-is-gone`.",
        quoted(&loaded.name),
        quoted(&claimant.run)
    ))))
}

/// The option that names the journal, for commands that have no manifest to name it.
pub(super) fn stated(journal: &Journal) -> String {
    match journal.path().as_os_str() == DEFAULT_JOURNAL {
        true => String::new(),
        false => format!(" --journal {}", quoted(&journal.path().display().to_string())),
    }
}
