//! What a runner is at, in words.

use dpone_engine::report::units::count;
use dpone_engine::run::{Effect, Event, Receipt, State};

/// What is worked on in a state, to get to the next one.
pub(super) const fn work(state: State) -> &'static str {
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    state: State,
    units: u32,
    loaded: u32,
}

impl Stage {
    pub(super) fn new(units: u32) -> Self {
        Self { state: State::Planned, units, loaded: 0 }
    }

    /// Takes a fact in. Answers with a line if there is something new to say.
    pub(super) fn fact(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Moved { to } => {
                self.state = *to;
                Some(work(*to).to_owned())
            }
            Event::AttemptStarted { attempt, adopted } => {
                self.state = State::Planned;
                self.loaded = 0;
                let kept = match adopted.len() {
                    0 => String::new(),
                    n => format!(", {n} of {} ranges are kept", self.units),
                };
                (*attempt > 1).then(|| format!("attempt {attempt}{kept}"))
            }
            Event::Halted { why, .. } => Some(format!("stopping: {}", why.code)),
            Event::NotDone { why, .. } if why.transient && why.code != dpone_engine::run::event::ABANDONED => {
                Some(format!("will try again: {}", why.code))
            }
            Event::Doubted { why, .. } => Some(format!("in doubt: {}", why.code)),
            _ => None,
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
