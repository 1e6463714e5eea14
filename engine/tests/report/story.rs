//! Logs written by hand.

use dpone_engine::budget::Amount;
use dpone_engine::codes::Code;
use dpone_engine::driver::{Entry, Observed};
use dpone_engine::plan::Plan;
use dpone_engine::profile::{ColumnProfile, UnitProfile};
use dpone_engine::run::effect::{ChunkFacts, Document, GateResult, OwnedKind, Receipt};
use dpone_engine::run::policy::Draft;
use dpone_engine::run::run::Fate;
use dpone_engine::run::{Event, Key, Run, Seen, State, Why, names, recover};

use super::world::World;

pub(crate) const RUN: &str = "0197e6a4-run";
pub(crate) const JOURNAL_KEY: [u8; 32] = [7; 32];
/// 2026-01-31T12:00:00Z.
const START: u64 = 1_769_860_800_000;

/// A log in the making, and the run that it folds to.
pub(crate) struct Story {
    pub(crate) plan: Plan,
    pub(crate) run: Run,
    pub(crate) entries: Vec<Entry>,
    now: u64,
}

impl Story {
    /// A run of two ranges, planned and begun.
    pub(crate) fn begin() -> Self {
        let world =
            World::with(&[("num_partitions: 4", "num_partitions: 2"), ("reader_workers: 3", "reader_workers: 2")]);
        Self::of(world.plan())
    }

    pub(crate) fn of(plan: Plan) -> Self {
        let event = Event::Planned { run: RUN.to_owned(), plan: plan.facts().unwrap() };
        let run = recover([&event]).unwrap();
        let mut story = Self { plan, run, entries: vec![Entry { seq: 1, at: START, event }], now: START };
        story.fact(Event::TakenOver { epoch: 1 });
        story.fact(Event::AttemptStarted { attempt: 1, adopted: Vec::new() });
        story
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.now += ms;
    }

    #[track_caller]
    pub(crate) fn fact(&mut self, event: Event) {
        self.run.absorb(&event).unwrap_or_else(|illegal| panic!("{illegal}: {event:?}"));
        self.now += 5;
        self.entries.push(Entry { seq: self.entries.len() as u64 + 1, at: self.now, event });
    }

    #[track_caller]
    pub(crate) fn intend(&mut self, draft: &Draft) -> Key {
        let key = self.run.next_key;
        let effect = names::name(&self.run, draft, u64::from(key.0));
        self.fact(Event::Intended { key, effect });
        key
    }

    #[track_caller]
    pub(crate) fn done(&mut self, draft: &Draft, receipt: Receipt) {
        let key = self.intend(draft);
        self.pass(10);
        self.fact(Event::Confirmed { key, receipt });
    }

    #[track_caller]
    pub(crate) fn moved(&mut self, to: State) {
        self.fact(Event::Moved { to });
    }

    #[track_caller]
    pub(crate) fn open(&mut self) {
        self.done(&Draft::Claim, Receipt::Claimed);
        self.done(&Draft::Open, Receipt::Opened { authority: "sqlite-state-42".into(), persistent: false });
        self.moved(State::Reading);
    }

    #[track_caller]
    pub(crate) fn put(&mut self, read: Key, unit: u32, chunk: u32, rows: u64) -> Key {
        let key = self.run.next_key;
        let facts = ChunkFacts { rows, bytes: rows * 100, sha256: [unit as u8 + 1; 32] };
        let effect = names::put(&self.run, read, unit, 1, chunk, facts, u64::from(key.0));
        self.fact(Event::Intended { key, effect });
        key
    }

    #[track_caller]
    pub(crate) fn stored(&mut self, key: Key) {
        self.fact(Event::Confirmed { key, receipt: Receipt::Put { checked_by: "read_back".into() } });
    }

    #[track_caller]
    pub(crate) fn read_to_end(&mut self, key: Key, unit: u32, chunks: u32, rows: u64) {
        let receipt = Receipt::Read { chunks, source_bytes: rows * 40, profile: profile(unit, rows) };
        self.fact(Event::Confirmed { key, receipt });
    }

    /// Both ranges are read at the same time; the second one's object is written at the second try.
    #[track_caller]
    pub(crate) fn read_both(&mut self) {
        let first = self.intend(&Draft::Read { unit: 0 });
        let second = self.intend(&Draft::Read { unit: 1 });
        let (a, b) = (self.put(first, 0, 0, 300), self.put(second, 1, 0, 400));
        self.pass(120);
        self.stored(a);
        let why = Why::transient(Code::ObjectUploadFailed, "the store did not answer");
        self.fact(Event::NotDone { key: b, why, not_before: 0 });
        let c = self.put(first, 0, 1, 200);
        self.stored(c);
        self.read_to_end(first, 0, 2, 500);
        let b = self.put(second, 1, 0, 400);
        self.stored(b);
        self.read_to_end(second, 1, 1, 400);
        self.done(&Draft::Count, Receipt::Counted { rows: 900 });
        self.moved(State::RangeEof);
    }

    #[track_caller]
    pub(crate) fn stage(&mut self) {
        self.done(&Draft::Verify, Receipt::Verified);
        self.moved(State::StageComplete);
        self.done(&Draft::Stage { unit: None }, Receipt::Staged);
        self.done(&Draft::Load { unit: 0 }, Receipt::Loaded { rows: 500 });
    }

    #[track_caller]
    pub(crate) fn load_second(&mut self) {
        self.done(&Draft::Load { unit: 1 }, Receipt::Loaded { rows: 400 });
    }

    #[track_caller]
    pub(crate) fn check(&mut self) {
        self.moved(State::LoadConfirmed);
        let gates = ["min_rows", "not_null(id)", "unique(id)"];
        let gates = gates.map(|gate| GateResult { gate: gate.into(), failed: None }).to_vec();
        self.done(&Draft::Check, Receipt::Checked { gates, units: vec![profile(0, 500), profile(1, 400)] });
        self.moved(State::QualityPassed);
    }

    #[track_caller]
    pub(crate) fn publish(&mut self) {
        self.done(&Draft::Publish, Receipt::Published { identity: "pub-1".into(), rows: 900 });
        self.moved(State::Published);
    }

    #[track_caller]
    pub(crate) fn seal(&mut self) {
        let receipt = Receipt::Written { sha256: "ab".repeat(32), path: "evidence/sealed.json".into() };
        self.done(&Draft::Evidence { document: Document::Sealed }, receipt);
    }

    #[track_caller]
    pub(crate) fn clean(&mut self) {
        let live: Vec<(OwnedKind, String)> = self
            .run
            .owned
            .iter()
            .filter(|(_, owned)| owned.fate == Fate::Live)
            .map(|(name, owned)| (owned.kind, name.clone()))
            .collect();
        for (kind, name) in live {
            self.done(&Draft::Drop { kind, name }, Receipt::Dropped);
        }
        self.done(&Draft::Release, Receipt::Released);
        let receipt = Receipt::Written { sha256: "cd".repeat(32), path: "evidence/cleanup.json".into() };
        self.done(&Draft::Evidence { document: Document::Cleanup }, receipt);
    }

    pub(crate) fn observed(&self) -> Observed {
        let configured = self.plan.budget.total();
        Observed { configured, reserved_peak: Amount { bytes: 50_000_000, rows: 30_000 } }
    }
}

fn profile(unit: u32, rows: u64) -> UnitProfile {
    let column = ColumnProfile { nulls: u64::from(unit), min: None, max: None };
    UnitProfile { rows, checksum: u128::from(unit) + 12_345, columns: vec![column; 3] }
}

/// Delivered and cleaned up.
pub(crate) fn delivered() -> Story {
    let mut s = published();
    s.seal();
    s.moved(State::EvidenceComplete);
    s.clean();
    s.moved(State::CleanupComplete);
    s
}

/// Published, the evidence about to be sealed.
pub(crate) fn published() -> Story {
    let mut s = Story::begin();
    s.open();
    s.read_both();
    s.stage();
    s.load_second();
    s.check();
    s.publish();
    s
}

/// The second range cannot be read; the first is given up with an object on its way. Not cleaned up yet.
pub(crate) fn failed() -> Story {
    let mut s = Story::begin();
    s.open();
    let first = s.intend(&Draft::Read { unit: 0 });
    let second = s.intend(&Draft::Read { unit: 1 });
    let a = s.put(first, 0, 0, 300);
    let why = Why::fatal(Code::InvalidTextEncoding, "a cell of column \"note\" is not UTF-8");
    s.fact(Event::NotDone { key: second, why: why.clone(), not_before: 0 });
    s.fact(Event::Halted { why, key: None });
    s.stored(a);
    s.fact(Event::NotDone {
        key: first,
        why: Why::transient(Code::EffectAbandoned, "the read was cancelled"),
        not_before: 0,
    });
    s
}

/// The runner died during a load; the next one finds that it landed, and delivers.
pub(crate) fn resumed() -> Story {
    let mut s = Story::begin();
    s.open();
    s.read_both();
    s.stage();
    let load = s.intend(&Draft::Load { unit: 1 });
    s.pass(65_000);
    s.fact(Event::TakenOver { epoch: 2 });
    s.fact(Event::Probed { key: load, seen: Seen::CannotTell, not_before: 0 });
    s.fact(Event::Confirmed { key: load, receipt: Receipt::Loaded { rows: 400 } });
    s.done(&Draft::Claim, Receipt::Claimed);
    s.check();
    s.publish();
    s.seal();
    s.moved(State::EvidenceComplete);
    s.clean();
    s.moved(State::CleanupComplete);
    s
}

/// The publication's outcome cannot be found out.
pub(crate) fn unknown() -> Story {
    let mut s = Story::begin();
    s.open();
    s.read_both();
    s.stage();
    s.load_second();
    s.check();
    let publish = s.intend(&Draft::Publish);
    s.pass(30_000);
    let why = Why::transient(Code::TargetLocked, "the target did not answer in time");
    s.fact(Event::Doubted { key: publish, why });
    s.moved(State::OutcomeUnknown);
    s.done(&Draft::Fence { publish }, Receipt::Fenced);
    s.fact(Event::Probed { key: publish, seen: Seen::CannotTell, not_before: 0 });
    s
}
