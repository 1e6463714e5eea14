//! A run of one empty unit, told fact by fact.

use super::found::plan;
use crate::manifest::OnAuthorityLost;
use crate::profile::UnitProfile;
use crate::run::apply::begin;
use crate::run::effect::{ChunkFacts, Document, Receipt};
use crate::run::facts::PlanFacts;
use crate::run::{Action, Draft, Event, Key, Policy, Run, State, Why, decide, names};

/// A log in the making.
pub(super) struct Story {
    pub(super) run: Run,
}

/// What a runner works under. One try of everything.
pub(super) fn policy() -> Policy {
    Policy {
        now: 1,
        readers: 1,
        ranges: 1,
        loaders: 1,
        droppers: 1,
        max_tries: 1,
        max_probes: 1,
        max_attempts: 3,
        on_authority_lost: OnAuthorityLost::Reread,
        restart_from: None,
        superseded_grace: 0,
        stopping: false,
        abandon: false,
    }
}

impl Story {
    pub(super) fn of(plan: PlanFacts) -> Self {
        let run = begin(&Event::Planned { run: "r".to_owned(), plan }).unwrap();
        let mut story = Self { run };
        story.fact(Event::TakenOver { epoch: 1 });
        story.fact(Event::AttemptStarted { attempt: 1, adopted: Vec::new() });
        story
    }

    pub(super) fn begun() -> Self {
        Self::of(plan())
    }

    #[track_caller]
    pub(super) fn fact(&mut self, event: Event) -> &mut Self {
        self.run.absorb(&event).unwrap_or_else(|illegal| panic!("{illegal}: {event:?}"));
        self
    }

    #[track_caller]
    pub(super) fn intend(&mut self, draft: &Draft) -> Key {
        let key = self.run.next_key;
        let effect = names::name(&self.run, draft, u64::from(key.0));
        self.fact(Event::Intended { key, effect });
        key
    }

    #[track_caller]
    pub(super) fn done(&mut self, draft: &Draft, receipt: Receipt) -> &mut Self {
        let key = self.intend(draft);
        self.fact(Event::Confirmed { key, receipt })
    }

    #[track_caller]
    pub(super) fn failed(&mut self, draft: &Draft, why: Why) -> &mut Self {
        let key = self.intend(draft);
        self.fact(Event::NotDone { key, why, not_before: 0 })
    }

    #[track_caller]
    pub(super) fn moved(&mut self, to: State) -> &mut Self {
        self.fact(Event::Moved { to })
    }

    /// Claimed, and read to its end into one object.
    #[track_caller]
    pub(super) fn read_one_object(&mut self, persistent: bool) -> &mut Self {
        self.done(&Draft::Claim, Receipt::Claimed);
        self.done(&Draft::Open, Receipt::Opened { authority: "state".into(), persistent });
        self.moved(State::Reading);
        let read = self.intend(&Draft::Read { unit: 0 });
        let key = self.run.next_key;
        let facts = ChunkFacts { rows: 1, bytes: 1, sha256: [0; 32] };
        let effect = names::put(&self.run, read, 0, 1, 0, facts, u64::from(key.0));
        self.fact(Event::Intended { key, effect });
        self.fact(Event::Confirmed { key, receipt: Receipt::Put { checked_by: "read_back".into() } });
        let profile = UnitProfile { rows: 1, ..UnitProfile::default() };
        self.fact(Event::Confirmed { key: read, receipt: Receipt::Read { chunks: 1, source_bytes: 1, profile } });
        self.moved(State::RangeEof)
    }

    /// Claimed, read and verified.
    #[track_caller]
    pub(super) fn read(&mut self, persistent: bool) -> &mut Self {
        self.done(&Draft::Claim, Receipt::Claimed);
        self.done(&Draft::Open, Receipt::Opened { authority: "state".into(), persistent });
        self.moved(State::Reading);
        let profile = UnitProfile::default();
        self.done(&Draft::Read { unit: 0 }, Receipt::Read { chunks: 0, source_bytes: 0, profile });
        self.moved(State::RangeEof);
        self.done(&Draft::Verify, Receipt::Verified);
        self.moved(State::StageComplete)
    }

    /// Read, staged, loaded and checked.
    #[track_caller]
    pub(super) fn passed(&mut self) -> &mut Self {
        self.read(false);
        self.done(&Draft::Stage { unit: None }, Receipt::Staged);
        self.done(&Draft::Load { unit: 0 }, Receipt::Loaded { rows: 0 });
        self.moved(State::LoadConfirmed);
        self.done(&Draft::Check, Receipt::Checked { gates: Vec::new(), units: Vec::new() });
        self.moved(State::QualityPassed)
    }

    /// What is begun next under that policy.
    pub(super) fn begins(&self, policy: &Policy) -> Vec<Draft> {
        let begun = |action| if let Action::Begin(draft) = action { Some(draft) } else { None };
        decide(&self.run, policy).into_iter().filter_map(begun).collect()
    }

    /// What is recorded next under that policy.
    pub(super) fn records(&self, policy: &Policy) -> Vec<Event> {
        let recorded = |action| if let Action::Record(event) = action { Some(event) } else { None };
        decide(&self.run, policy).into_iter().filter_map(recorded).collect()
    }
}

pub(super) const SEALED: Draft = Draft::Evidence { document: Document::Sealed };
pub(super) const CLEANUP: Draft = Draft::Evidence { document: Document::Cleanup };

pub(super) fn written() -> Receipt {
    Receipt::Written { sha256: "ab".repeat(32), path: "e.json".into() }
}
