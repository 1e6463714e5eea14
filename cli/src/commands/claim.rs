//! `dpone claim show|release`.

use std::path::Path;

use dpone_adapters::any::AnyTarget;
use dpone_engine::codes::Code;
use dpone_engine::ports::Claimant;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::run_result::quoted;
use dpone_engine::run::Outcome;
use dpone_journal::sqlite::Journal;
use serde_json::json;

use super::{Answer, one};
use crate::args::{ClaimCommand, Format, Global};
use crate::compose::load;
use crate::exit;
use crate::output::Output;

/// Later than every runner's epoch, so that no runner of that run takes the claim again.
const LAST_EPOCH: u64 = i64::MAX as u64;

/// Shows who holds a target's claim, or gives it back for a run whose journal is gone.
pub(crate) fn claim(global: &Global, command: &ClaimCommand, output: &Output) -> Answer {
    match command {
        ClaimCommand::Show { manifest } => show(&Claimed::look(global, manifest)?, output),
        ClaimCommand::Release { manifest, run, journal_is_gone: _ } => {
            release(&Claimed::look(global, manifest)?, run, output)
        }
    }
}

/// A target and who has claimed it.
struct Claimed {
    target: AnyTarget,
    claimant: Option<Claimant>,
    /// Whether the claim is of the journal that this command would use.
    ours: bool,
}

impl Claimed {
    fn look(global: &Global, manifest: &Path) -> Result<Self, Vec<Refusal>> {
        let loaded = load(manifest, global.journal.as_deref())?;
        let target = AnyTarget::of(&loaded.manifest.sink).map_err(one)?;
        let claimant = target.claimed().map_err(one)?;
        let journal =
            if loaded.journal.exists() { Some(Journal::open_to_read(&loaded.journal).map_err(one)?) } else { None };
        let ours = claimant.as_ref().zip(journal.as_ref()).is_some_and(|(c, j)| c.journal == j.id());
        Ok(Self { target, claimant, ours })
    }
}

fn show(claimed: &Claimed, output: &Output) -> Answer {
    match output.format {
        Format::Json => {
            let claim = claimed
                .claimant
                .as_ref()
                .map(|c| json!({ "run_id": c.run, "journal_id": c.journal, "epoch": c.epoch, "ours": claimed.ours }));
            output.json(&json!({ "claim": claim }));
        }
        Format::Text | Format::Md => output.result(&match &claimed.claimant {
            None => "nobody has claimed the target".to_owned(),
            Some(c) => {
                let whose = if claimed.ours { "this journal" } else { "another journal" };
                format!("run {} of {whose} ({}) has claimed the target", c.run, c.journal)
            }
        }),
    }
    Ok(exit::DELIVERED)
}

/// Every step of a run checks its claim together with what it does, so a run whose claim was given back can neither
/// load nor publish any more.
fn release(claimed: &Claimed, run: &str, output: &Output) -> Answer {
    let refuse = |text: String, fix: String| Err(one(Refusal::new(Code::OptionConflict, text).fix(fix)));
    let Some(claimant) = claimed.claimant.as_ref().filter(|claimant| claimant.run == run) else {
        let fix = "`dpone claim show MANIFEST` says who has claimed it.";
        return refuse(format!("run {run} has not claimed the target"), fix.to_owned());
    };
    if claimed.ours {
        let fix = format!("Resume it, or give it up with `dpone runs abandon {}`.", quoted(run));
        return refuse(format!("run {run} is in this journal"), fix);
    }
    match claimed.target.release(&Claimant { epoch: LAST_EPOCH, ..claimant.clone() }) {
        Outcome::Done(_) => {
            match output.format {
                Format::Json => output.json(&json!({ "released": run })),
                Format::Text | Format::Md => output.result(&format!("the claim of run {run} is given back")),
            }
            Ok(exit::DELIVERED)
        }
        Outcome::NotDone(why) | Outcome::Unknown(why) => Err(one(Refusal::new(why.code, why.detail))),
    }
}
