//! What a runner is at, in words.

use std::collections::BTreeMap;

use dpone_engine::codes::Code;
use dpone_engine::manifest::Consistency;
use dpone_engine::plan::Plan;
use dpone_engine::report::units::{count, duration};
use dpone_engine::run::event::ABANDONED;
use dpone_engine::run::{Effect, Event, Receipt, State};

use crate::stderr::now;

/// What is worked on in a state, to get to the next one.
const fn work(state: State) -> &'static str {
    match state {
        State::Planned => "opening the source",
        State::Reading => "reading",
        State::RangeEof => "verifying objects",
        State::StageComplete => "loading into staging",
        State::LoadConfirmed => "checking what staging holds",
        State::QualityPassed => "publishing",
        State::OutcomeUnknown => "finding out whether the publication happened",
        State::Published => "writing evidence",
        State::EvidenceComplete => "cleaning up",
        State::CleanupComplete => "delivered",
        State::FailedPrepublication => "cleaning up after the failure",
    }
}

/// How far a runner is, from the facts it has recorded.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    state: State,
    units: u32,
    loaded: u32,
    immutable: bool,
    /// Whether the run is given up, so that nothing is read.
    abandon: bool,
    /// Failed tries in this state, by code.
    failed: BTreeMap<Code, u32>,
}

impl Stage {
    /// Before the first fact of a runner of that plan.
    pub(super) fn of(plan: &Plan, abandon: bool) -> Self {
        Self {
            state: State::Planned,
            units: u32::try_from(plan.ranges.len()).unwrap_or(u32::MAX),
            loaded: 0,
            immutable: plan.manifest.ranges.consistency == Consistency::Immutable,
            abandon,
            failed: BTreeMap::new(),
        }
    }

    /// What is worked on.
    pub(super) fn step(&self) -> &'static str {
        work(self.state)
    }

    /// Takes a fact in. Answers with a line if there is something new to say.
    pub(super) fn fact(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Moved { to } => {
                self.state = *to;
                self.failed.clear();
                Some(work(*to).to_owned())
            }
            Event::AttemptStarted { attempt, adopted } => {
                self.state = State::Planned;
                self.loaded = 0;
                (*attempt > 1 && !self.abandon).then(|| self.again(*attempt, adopted.len()))
            }
            Event::Halted { why, .. } => Some(format!("stopping: {}", why.code)),
            Event::NotDone { why, not_before, .. } if why.transient && why.code != ABANDONED => {
                let failed = self.failed.entry(why.code).or_default();
                *failed += 1;
                let wait = duration(not_before.saturating_sub(now()));
                Some(format!("{}: {}; failed {failed} time(s), again in {wait}", why.code, why.detail))
            }
            Event::Doubted { why, .. } => Some(format!("in doubt: {}: {}", why.code, why.detail)),
            _ => None,
        }
    }

    fn again(&self, attempt: u32, kept: usize) -> String {
        let units = self.units;
        match (kept, self.immutable) {
            (0, true) => format!("attempt {attempt}: everything is read again"),
            // Only a source that never changes has a state to come back to.
            (0, false) => format!(
                "attempt {attempt}: the source state that was read is gone, so everything is read again \
                 (a source that never changes: `consistency: immutable` keeps what was read)"
            ),
            (kept, _) => format!("attempt {attempt}: {kept} of {units} ranges are kept"),
        }
    }

    /// How many units are in staging, once one more is.
    pub(super) fn loads(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Intended { effect: Effect::Stage { unit: None, .. }, .. } => {
                self.loaded = 0;
                None
            }
            Event::Confirmed { receipt: Receipt::Loaded { .. }, .. } => {
                self.loaded += 1;
                Some(format!("{}, {} of {} ranges", work(State::StageComplete), self.loaded, self.units))
            }
            _ => None,
        }
    }
}

/// `1 234 of 5 678 rows`, or without the second number if it is not known.
pub(super) fn rows(read: u64, all: Option<u64>) -> String {
    match all {
        Some(all) => format!("{} of {} rows", count(read), count(all)),
        None => format!("{} rows", count(read)),
    }
}
