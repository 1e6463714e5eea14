//! A run's log as a timeline: what happened, what was known, what was open and what would have been decided next, at any
//! of its facts.

mod describe;
mod text;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

pub use text::{table, text};

use crate::codes::Code;
use crate::driver::Entry;
use crate::evidence::log::unit_of;
use crate::plan::{Plan, default_policy};
use crate::refusal::Refusal;
use crate::report::plan::rows_with;
use crate::report::units::time;
use crate::run::{Effect, Event, EventKind, Key, Policy, Run, State, decide, recover};
use describe::{action, effect_text, event_text};

/// A run's log up to one of its facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Timeline {
    /// The run.
    pub run_id: String,
    /// The manifest's name.
    pub manifest: String,
    /// The target.
    pub target: String,
    /// The fact that this view ends with.
    pub at_seq: u64,
    /// How many facts the log has.
    pub facts: u64,
    /// Every fact up to there.
    pub events: Vec<Fact>,
    /// What was known then.
    pub known: Known,
    /// What was announced and not settled.
    pub open: Vec<OpenView>,
    /// What the runner would have done next.
    pub next: Vec<String>,
    /// What a runner that took the run over at that point would do first.
    pub next_on_resume: Vec<String>,
    /// The planned ranges; boundaries are shown only if asked for.
    pub ranges: Vec<PlannedRange>,
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fact {
    /// Its sequence number.
    pub seq: u64,
    /// Its wall time, UTC.
    pub at: String,
    /// Milliseconds since the fact before it; 0 if the clock went back.
    pub since_ms: u64,
    /// Its kind.
    #[schemars(with = "String")]
    pub kind: EventKind,
    /// The effect's key, if it is about one.
    pub key: Option<u32>,
    /// The range that it is about.
    pub range: Option<u32>,
    /// Milliseconds from the effect's announcement to this fact, if it settles one.
    pub took_ms: Option<u64>,
    /// What it says.
    pub text: String,
    /// Whether something did not go as intended.
    pub trouble: bool,
    /// Whether it announces an effect that is settled further down.
    #[serde(skip)]
    pub(crate) settled_below: bool,
}

/// What was known at that point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Known {
    /// The state.
    pub state: &'static str,
    /// The attempt.
    pub attempt: u32,
    /// The runner's epoch.
    pub epoch: u64,
    /// Whether the target's claim is held under that epoch.
    pub claim_held: bool,
    /// Whether a source state is open.
    pub source_open: bool,
    /// Rows counted in it.
    pub counted_rows: Option<u64>,
    /// Planned ranges.
    pub ranges: u32,
    /// Ranges read to their end.
    pub ranges_read: usize,
    /// Rows in them.
    pub rows_read: u64,
    /// Whether every object was verified.
    pub objects_verified: bool,
    /// Ranges confirmed in staging.
    pub ranges_staged: usize,
    /// Rows in them.
    pub rows_staged: u64,
    /// Whether the gates ran.
    pub gates_ran: bool,
    /// Whether the rows are the target's; null if an announced publication is not settled.
    pub published: Option<bool>,
    /// The primary error of the attempt.
    pub halted: Option<String>,
    /// Names that are the run's to remove.
    pub owned: usize,
}

/// An announced, unsettled effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenView {
    /// Its key.
    pub key: u32,
    /// What it is.
    pub effect: String,
    /// Where it was announced.
    pub since_seq: u64,
    /// Whether nobody is working on it any more.
    pub doubted: bool,
    /// Why it is in doubt.
    pub why: Option<String>,
    /// Probes that could not settle it.
    pub probes: u32,
}

/// A planned range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedRange {
    /// Its id.
    pub id: String,
    /// Which rows it holds.
    pub rows_with: String,
}

/// The view of a log at a fact; at its last one if none is named.
///
/// # Errors
/// `journal_corrupt` if the log does not fold, `run_not_found` if it is empty, `manifest_invalid_value` if it has no
/// such fact.
pub fn timeline(entries: &[Entry], at: Option<u64>, show_values: bool) -> Result<Timeline, Refusal> {
    let facts = entries.len() as u64;
    let at_seq = at.unwrap_or(facts);
    let shown = usize::try_from(at_seq).ok().filter(|n| *n >= 1).and_then(|n| entries.get(..n)).ok_or_else(|| {
        if facts == 0 {
            return Refusal::new(Code::RunNotFound, "the run has no facts");
        }
        Refusal::new(Code::ManifestInvalidValue, format!("the run has {facts} facts, and no fact {at_seq}"))
            .at("--at")
            .fix(format!("Name a fact from 1 to {facts}."))
    })?;
    let run = recover(shown.iter().map(|entry| &entry.event)).map_err(|illegal| {
        Refusal::new(Code::JournalCorrupt, format!("the run's log does not fold: {illegal}"))
            .fix("Check the journal with `dpone journal verify`.")
    })?;
    let plan = Plan::from_document(&run.plan.document).ok();
    let now = shown.last().map_or(0, |entry| entry.at);
    let policy = Policy { now, ..plan.as_ref().map_or(default_policy(1, 1), Plan::policy) };
    let ranges = plan.as_ref().map(|plan| {
        let planned = plan.ranges.iter().map(|range| PlannedRange {
            id: format!("r{}", range.ordinal),
            rows_with: rows_with(range, plan.key.as_ref(), show_values),
        });
        planned.collect()
    });
    Ok(Timeline {
        run_id: run.id.to_string(),
        manifest: run.plan.manifest.clone(),
        target: run.plan.target.clone(),
        at_seq,
        facts,
        events: events(shown),
        known: known(&run),
        open: open(&run, shown),
        next: decide(&run, &policy).iter().map(|a| action(a, &run)).collect(),
        next_on_resume: on_resume(&run, &policy),
        ranges: ranges.unwrap_or_default(),
    })
}

fn events(entries: &[Entry]) -> Vec<Fact> {
    let mut announced: BTreeMap<Key, (usize, u64, &Effect)> = BTreeMap::new();
    let mut facts: Vec<Fact> = Vec::with_capacity(entries.len());
    let mut before = entries.first().map_or(0, |entry| entry.at);
    for (i, entry) in entries.iter().enumerate() {
        let key = key_of(&entry.event);
        if let Event::Intended { key, effect } = &entry.event {
            announced.insert(*key, (i, entry.at, effect));
        }
        let found = key.and_then(|key| announced.get(&key).copied());
        let settles = matches!(
            entry.event,
            Event::Confirmed { .. } | Event::NotDone { .. } | Event::Doubted { .. } | Event::Poisoned { .. }
        );
        if let (true, Some((line, ..))) = (settles, found) {
            facts[line].settled_below = true;
        }
        facts.push(Fact {
            seq: entry.seq,
            at: time(entry.at),
            since_ms: entry.at.saturating_sub(before),
            kind: entry.event.kind(),
            key: key.map(|key| key.0),
            range: found.and_then(|(_, _, effect)| unit_of(effect)),
            took_ms: found.filter(|_| settles).map(|(_, at, _)| entry.at.saturating_sub(at)),
            text: event_text(&entry.event, found.map(|(_, _, effect)| effect)),
            trouble: matches!(
                entry.event.kind(),
                EventKind::NotDone | EventKind::Doubted | EventKind::Probed | EventKind::Poisoned | EventKind::Halted
            ) || matches!(entry.event, Event::Moved { to: State::OutcomeUnknown }),
            settled_below: false,
        });
        before = entry.at;
    }
    facts
}

fn key_of(event: &Event) -> Option<Key> {
    match event {
        Event::Intended { key, .. }
        | Event::Confirmed { key, .. }
        | Event::NotDone { key, .. }
        | Event::Doubted { key, .. }
        | Event::Probed { key, .. }
        | Event::Poisoned { key } => Some(*key),
        Event::Halted { key, .. } => *key,
        Event::Planned { .. }
        | Event::AttemptStarted { .. }
        | Event::TakenOver { .. }
        | Event::Moved { .. }
        | Event::Deferred { .. }
        | Event::Closed => None,
    }
}

fn known(run: &Run) -> Known {
    Known {
        state: run.state.name(),
        attempt: run.attempt,
        epoch: run.epoch,
        claim_held: run.claim.is_some(),
        source_open: run.authority.is_some(),
        counted_rows: run.counted,
        ranges: run.plan.units,
        ranges_read: run.units.iter().filter(|unit| unit.read.is_some()).count(),
        rows_read: run.rows_read(),
        objects_verified: run.verified,
        ranges_staged: run.units.iter().filter(|unit| unit.loaded.is_some()).count(),
        rows_staged: run.rows_loaded(),
        gates_ran: run.checked.is_some(),
        published: super::run_result::published(run),
        halted: run.halted.as_ref().map(|why| format!("{}: {}", why.code, why.detail)),
        owned: run.owned.values().filter(|owned| owned.fate == crate::run::run::Fate::Live).count(),
    }
}

fn open(run: &Run, entries: &[Entry]) -> Vec<OpenView> {
    let since = |wanted: Key| {
        let announced = entries
            .iter()
            .find(|entry| matches!(&entry.event, Event::Intended { key, .. } if *key == wanted))
            .map(|entry| entry.seq);
        announced.unwrap_or(0)
    };
    run.open
        .iter()
        .map(|(key, open)| OpenView {
            key: key.0,
            effect: effect_text(&open.effect),
            since_seq: since(*key),
            doubted: open.doubted,
            why: open.why.as_ref().map(|why| format!("{}: {}", why.code, why.detail)),
            probes: open.probes,
        })
        .collect()
}

/// What the next runner would do first. A failed run at rest is followed by its next attempt, unless it was given up; a
/// delivered one is not resumed.
fn on_resume(run: &Run, policy: &Policy) -> Vec<String> {
    let given_up = run.halted.as_ref().is_some_and(|why| why.code == Code::RunAbandoned);
    if run.settled() && (run.delivered() || given_up) {
        return Vec::new();
    }
    let policy = Policy { restart_from: run.closed.then_some(run.attempt), ..policy.clone() };
    let mut resumed = run.clone();
    match resumed.absorb(&Event::TakenOver { epoch: run.epoch + 1 }) {
        Ok(()) => decide(&resumed, &policy).iter().map(|a| action(a, &resumed)).collect(),
        Err(_) => Vec::new(),
    }
}
