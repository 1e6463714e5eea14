//! Facts, effects and decisions in one sentence each. No source value appears in any of them.

use crate::report::units::{bytes, count, time};
use crate::run::effect::{Document, OwnedKind};
use crate::run::policy::Draft;
use crate::run::{Action, Effect, Event, Receipt, Run, Seen, State, Why};

/// What a fact says; `effect` is the one that it is about.
pub(super) fn event_text(event: &Event, effect: Option<&Effect>) -> String {
    let what = || effect.map_or_else(|| "an effect".to_owned(), effect_text);
    match event {
        Event::Planned { plan, .. } => {
            format!("planned {} range(s) into {} (plan {:.12}…)", plan.units, plan.target, plan.fingerprint)
        }
        Event::AttemptStarted { attempt, adopted } if adopted.is_empty() => format!("attempt {attempt} begins"),
        Event::AttemptStarted { attempt, adopted } => {
            format!("attempt {attempt} begins and keeps {} range(s) of the one before", adopted.len())
        }
        Event::TakenOver { epoch: 1 } => "a runner begins (epoch 1)".to_owned(),
        Event::TakenOver { epoch } => format!("a runner takes the run over (epoch {epoch})"),
        Event::Intended { effect, .. } => format!("about to {}", effect_text(effect)),
        Event::Confirmed { receipt, .. } => receipt_text(receipt, effect),
        Event::NotDone { why, not_before, .. } => {
            let again = match (why.transient, *not_before) {
                (true, 0) => ". It may be tried again".to_owned(),
                (true, at) => format!(". It may be tried again from {}", time(at)),
                (false, _) => String::new(),
            };
            format!("did not {}: {}{again}", what(), why_text(why))
        }
        Event::Doubted { why, .. } => format!("it is not known whether it did {}: {}", what(), why_text(why)),
        Event::Probed { seen, not_before, .. } => {
            let seen = match seen {
                Seen::Nothing => "nothing of it is there",
                Seen::Ours => "it is there, and more could not be told",
                Seen::Foreign => "something else stands in its place",
                Seen::BaseChanged => "the target is no longer what it was to replace",
                Seen::Superseded => "a later publication has replaced it",
                Seen::CannotTell => "the probe itself failed",
            };
            let again = if *not_before == 0 { String::new() } else { format!(", from {}", time(*not_before)) };
            format!("looked whether it did {}: {seen}. It may look again{again}", what())
        }
        Event::Poisoned { .. } => format!("gave up the staging place of: {}", what()),
        Event::Moved { to } => format!("{to}: {}", state_text(*to)),
        Event::Halted { why, .. } => format!("the attempt is stopped: {}", why_text(why)),
        Event::Deferred { name, not_before } => {
            format!("leaves {name} to the target's next run, not before {}", time(*not_before))
        }
        Event::Closed => "the failed attempt is cleaned up and at rest".to_owned(),
    }
}

fn why_text(why: &Why) -> String {
    format!("{}: {}", why.code, why.detail)
}

const fn state_text(state: State) -> &'static str {
    match state {
        State::Planned => "nothing was read yet",
        State::Reading => "ranges are being read",
        State::RangeEof => "every range was read to its end",
        State::StageComplete => "every object was verified",
        State::LoadConfirmed => "every range is confirmed in staging",
        State::QualityPassed => "every gate passed",
        State::OutcomeUnknown => "it is not known whether the publication happened",
        State::Published => "the target holds the run's rows",
        State::EvidenceComplete => "the evidence is written",
        State::CleanupComplete => "nothing owned is left",
        State::FailedPrepublication => "the target is as it was",
    }
}

/// What an effect does, as an infinitive.
pub(super) fn effect_text(effect: &Effect) -> String {
    match effect {
        Effect::Claim { epoch } => format!("claim the target (epoch {epoch})"),
        Effect::Open => "open the source state".to_owned(),
        Effect::Count => "count the source's rows".to_owned(),
        Effect::Read { unit, try_no } => format!("read r{unit} (try {try_no})"),
        Effect::Put { unit, chunk, object, facts, .. } => {
            format!("write chunk {chunk} of r{unit} ({} rows, {}) as {object}", count(facts.rows), bytes(facts.bytes))
        }
        Effect::Verify => "verify every object".to_owned(),
        Effect::Stage { staging, unit: None } => format!("create staging {staging}"),
        Effect::Stage { staging, unit: Some(unit) } => format!("create staging {staging} of r{unit}"),
        Effect::Load { unit, staging, .. } => format!("load r{unit} into {staging}"),
        Effect::Check => "check staging".to_owned(),
        Effect::Publish { publication } => format!("publish as {publication}"),
        Effect::Fence { fence, .. } => format!("fence the publication in doubt ({fence})"),
        Effect::Evidence { document: Document::Sealed } => "write the evidence".to_owned(),
        Effect::Evidence { document: Document::Cleanup } => "record the cleanup".to_owned(),
        Effect::Drop { kind, name } => format!("remove {} {name}", kind_text(*kind)),
        Effect::Release { epoch } => format!("give the claim back (epoch {epoch})"),
    }
}

const fn kind_text(kind: OwnedKind) -> &'static str {
    match kind {
        OwnedKind::Object => "object",
        OwnedKind::Staging => "staging",
        OwnedKind::Load => "load",
        OwnedKind::Superseded => "the superseded publication",
    }
}

fn receipt_text(receipt: &Receipt, effect: Option<&Effect>) -> String {
    match (receipt, effect) {
        (Receipt::Claimed, _) => "the target is claimed".to_owned(),
        (Receipt::Opened { persistent, .. }, _) => {
            let life = if *persistent { "it outlives the process" } else { "it ends with the process" };
            format!("the source state is open; {life}")
        }
        (Receipt::Counted { rows }, _) => format!("the source holds {} rows", count(*rows)),
        (Receipt::Read { chunks, source_bytes, profile }, Some(Effect::Read { unit, .. })) => format!(
            "read r{unit} to its end: {} rows in {chunks} chunk(s), {} of values",
            count(profile.rows),
            bytes(*source_bytes)
        ),
        (Receipt::Put { checked_by }, Some(Effect::Put { unit, chunk, facts, .. })) => format!(
            "wrote chunk {chunk} of r{unit}: {} rows, {} (known by {checked_by})",
            count(facts.rows),
            bytes(facts.bytes)
        ),
        (Receipt::Verified, _) => "every object is there, whole".to_owned(),
        (Receipt::Loaded { rows }, Some(Effect::Load { unit, .. })) => {
            format!("loaded r{unit}: {} rows counted in staging", count(*rows))
        }
        (Receipt::Checked { gates, units }, _) => {
            let failed = gates.iter().filter(|gate| gate.failed.is_some()).count();
            let profiled = if units.is_empty() { "staging was not profiled" } else { "staging was profiled" };
            format!("{} gate(s) ran, {failed} failed; {profiled}", gates.len())
        }
        (Receipt::Published { identity, rows }, _) => format!("published {} rows as {identity}", count(*rows)),
        (Receipt::Fenced, _) => "the publication in doubt can no longer happen, or has happened".to_owned(),
        (Receipt::Written { path, .. }, _) => format!("wrote {path}"),
        (Receipt::Released, _) => "the claim is given back".to_owned(),
        (Receipt::Staged, Some(Effect::Stage { staging, .. })) => format!("created staging {staging}"),
        (Receipt::Dropped, Some(Effect::Drop { kind, name })) => format!("removed {} {name}", kind_text(*kind)),
        (_, Some(effect)) => format!("did {}", effect_text(effect)),
        (_, None) => "an effect is confirmed".to_owned(),
    }
}

/// What a decision is.
pub(super) fn action(action: &Action, run: &Run) -> String {
    match action {
        Action::Begin(draft) => draft_text(draft),
        Action::Probe(key) => {
            let what = run.open.get(key).map_or_else(String::new, |open| effect_text(&open.effect));
            format!("look whether it did {what}")
        }
        Action::Record(event) => format!("record: {}", event_text(event, None)),
        Action::WaitUntil(at) => format!("wait until {}", time(*at)),
    }
}

fn draft_text(draft: &Draft) -> String {
    match draft {
        Draft::Claim => "claim the target".to_owned(),
        Draft::Open => "open the source state".to_owned(),
        Draft::Count => "count the source's rows".to_owned(),
        Draft::Read { unit } => format!("read r{unit}"),
        Draft::Verify => "verify every object".to_owned(),
        Draft::Stage { unit: None } => "create staging".to_owned(),
        Draft::Stage { unit: Some(unit) } => format!("create staging of r{unit}"),
        Draft::Load { unit } => format!("load r{unit}"),
        Draft::Check => "check staging".to_owned(),
        Draft::Publish => "publish".to_owned(),
        Draft::Fence { .. } => "fence the publication in doubt".to_owned(),
        Draft::Evidence { document: Document::Sealed } => "write the evidence".to_owned(),
        Draft::Evidence { document: Document::Cleanup } => "record the cleanup".to_owned(),
        Draft::Drop { kind, name } => format!("remove {} {name}", kind_text(*kind)),
        Draft::Release => "give the claim back".to_owned(),
    }
}
