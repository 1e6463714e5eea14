//! Logs written by hand, each fact checked as it is written: the machine would write them so.

use dpone_engine::codes::Code;
use dpone_engine::profile::{ColumnProfile, UnitProfile};
use dpone_engine::run::effect::{ChunkFacts, Document, GateResult, OwnedKind};
use dpone_engine::run::run::Fate;
use dpone_engine::run::{Draft, Event, Key, Receipt, Run, Seen, State, Why, names, recover};
use dpone_engine::value::Value;
use dpone_journal::lock;
use dpone_journal::log::SqliteLog;
use dpone_journal::sqlite::Journal;
use futures_executor::block_on;

use super::samples;

/// 2026-01-31T12:00:00Z.
const START: u64 = 1_769_860_800_000;

/// A log in the making, and the run that it folds to.
pub(crate) struct Story {
    pub(crate) run: Run,
    pub(crate) events: Vec<(u64, Event)>,
    now: u64,
}

impl Story {
    pub(crate) fn begin(run: &str, target: &str) -> Self {
        let event = samples::planned(run, target);
        let run = recover([&event]).unwrap();
        let mut story = Self { run, events: vec![(START, event)], now: START };
        story.fact(Event::TakenOver { epoch: 1 });
        story.fact(Event::AttemptStarted { attempt: 1, adopted: Vec::new() });
        story
    }

    #[track_caller]
    pub(crate) fn fact(&mut self, event: Event) {
        self.run.absorb(&event).unwrap_or_else(|illegal| panic!("{illegal}: {event:?}"));
        self.now += 5;
        self.events.push((self.now, event));
    }

    #[track_caller]
    fn intend(&mut self, draft: &Draft) -> Key {
        let key = self.run.next_key;
        let effect = names::name(&self.run, draft, u64::from(key.0));
        self.fact(Event::Intended { key, effect });
        key
    }

    #[track_caller]
    fn done(&mut self, draft: &Draft, receipt: Receipt) {
        let key = self.intend(draft);
        self.now += 10;
        self.fact(Event::Confirmed { key, receipt });
    }

    #[track_caller]
    fn moved(&mut self, to: State) {
        self.fact(Event::Moved { to });
    }

    #[track_caller]
    fn open(&mut self) {
        self.done(&Draft::Claim, Receipt::Claimed);
        self.done(&Draft::Open, Receipt::Opened { authority: "sqlite-state-42".into(), persistent: false });
        self.moved(State::Reading);
    }

    #[track_caller]
    fn put(&mut self, read: Key, unit: u32, chunk: u32, rows: u64) -> Key {
        let key = self.run.next_key;
        let facts = ChunkFacts { rows, bytes: rows * 100, sha256: [unit as u8 + 1; 32] };
        let effect = names::put(&self.run, read, unit, 1, chunk, facts, u64::from(key.0));
        self.fact(Event::Intended { key, effect });
        key
    }

    #[track_caller]
    fn stored(&mut self, key: Key) {
        self.fact(Event::Confirmed { key, receipt: Receipt::Put { checked_by: "read_back".into() } });
    }

    /// Both units at the same time; the second one's object is written at the second try.
    #[track_caller]
    fn read(&mut self) {
        let (first, second) = (self.intend(&Draft::Read { unit: 0 }), self.intend(&Draft::Read { unit: 1 }));
        let (a, b) = (self.put(first, 0, 0, 300), self.put(second, 1, 0, 400));
        self.stored(a);
        let why = Why::transient(Code::ObjectUploadFailed, "the store did not answer");
        self.fact(Event::NotDone { key: b, why, not_before: 0 });
        for (read, unit, rows) in [(first, 0, 300), (second, 1, 400)] {
            if unit == 1 {
                let again = self.put(read, unit, 0, rows);
                self.stored(again);
            }
            let receipt = Receipt::Read { chunks: 1, source_bytes: rows * 40, profile: profile(unit, rows) };
            self.fact(Event::Confirmed { key: read, receipt });
        }
        self.done(&Draft::Count, Receipt::Counted { rows: 700 });
        self.moved(State::RangeEof);
    }

    /// Everything between reading and the passed gates; the second unit's load with a runner's death in it.
    #[track_caller]
    fn stage(&mut self) {
        self.done(&Draft::Verify, Receipt::Verified);
        self.moved(State::StageComplete);
        self.done(&Draft::Stage { unit: None }, Receipt::Staged);
        self.done(&Draft::Load { unit: 0 }, Receipt::Loaded { rows: 300 });
        let load = self.intend(&Draft::Load { unit: 1 });
        self.now += 65_000;
        self.fact(Event::TakenOver { epoch: self.run.epoch + 1 });
        self.fact(Event::Probed { key: load, seen: Seen::CannotTell, not_before: self.now + 200 });
        self.fact(Event::Confirmed { key: load, receipt: Receipt::Loaded { rows: 400 } });
        self.done(&Draft::Claim, Receipt::Claimed);
        self.moved(State::LoadConfirmed);
        let gates = ["min_rows", "not_null(id)"].map(|gate| GateResult { gate: gate.into(), failed: None }).to_vec();
        self.done(&Draft::Check, Receipt::Checked { gates, units: vec![profile(0, 300), profile(1, 400)] });
        self.moved(State::QualityPassed);
    }

    #[track_caller]
    fn seal(&mut self) {
        let receipt = Receipt::Written { sha256: "ab".repeat(32), path: "evidence/sealed.json".into() };
        self.done(&Draft::Evidence { document: Document::Sealed }, receipt);
    }

    #[track_caller]
    fn clean(&mut self) {
        self.remove();
        self.done(&Draft::Release, Receipt::Released);
        self.record_cleanup();
    }

    #[track_caller]
    fn remove(&mut self) {
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
    }

    #[track_caller]
    fn record_cleanup(&mut self) {
        let receipt = Receipt::Written { sha256: "cd".repeat(32), path: "evidence/cleanup.json".into() };
        self.done(&Draft::Evidence { document: Document::Cleanup }, receipt);
    }

    /// Writes the first `facts` of it into a journal, each under the epoch that wrote it.
    pub(crate) fn write(&self, journal: &mut Journal, facts: usize) {
        let (at, planned) = &self.events[0];
        journal.create_run(planned, *at).unwrap();
        let run = self.run.id.to_string();
        let mut log: Option<SqliteLog> = None;
        for (at, event) in &self.events[1..facts] {
            if let Event::TakenOver { epoch } = event {
                // A log gives its locks back when it is dropped.
                drop(log.take());
                assert_eq!(journal.raise_epoch(&run).unwrap(), *epoch);
                let locks = lock::take(journal.path(), "m", &run).unwrap();
                let own = Journal::open_existing(journal.path()).unwrap();
                log = Some(SqliteLog::start(own, run.clone(), *epoch, locks).unwrap());
            }
            let log = log.as_ref().unwrap();
            block_on(dpone_engine::ports::RunLog::append(log, *at, std::slice::from_ref(event))).unwrap();
        }
    }
}

fn profile(unit: u32, rows: u64) -> UnitProfile {
    let id = ColumnProfile {
        nulls: 0,
        min: Some(Value::Int(i128::from(unit) * 1_000)),
        max: Some(Value::Int(i128::from(unit) * 1_000 + i128::from(rows))),
    };
    let note = ColumnProfile { nulls: u64::from(unit), min: Some(Value::Bytes(b"a".to_vec())), max: None };
    UnitProfile { rows, checksum: u128::from(unit) + (12_345 << 70), columns: vec![id, note] }
}

/// A publication whose answer was lost, fenced, found, sealed, cleaned up.
pub(crate) fn delivered(run: &str, target: &str) -> Story {
    let mut s = Story::begin(run, target);
    s.open();
    s.read();
    s.stage();
    let publish = s.intend(&Draft::Publish);
    let why = Why::transient(Code::TargetLocked, "the target did not answer in time");
    s.fact(Event::Doubted { key: publish, why });
    s.moved(State::OutcomeUnknown);
    s.done(&Draft::Fence { publish }, Receipt::Fenced);
    s.fact(Event::Confirmed { key: publish, receipt: Receipt::Published { identity: "pub-1".into(), rows: 700 } });
    s.moved(State::Published);
    s.seal();
    s.moved(State::EvidenceComplete);
    s.clean();
    s.moved(State::CleanupComplete);
    s
}

/// The second unit cannot be read: halted, cleaned up, closed; then a second attempt begins and is given up.
pub(crate) fn failed(run: &str, target: &str) -> Story {
    let mut s = Story::begin(run, target);
    s.open();
    let (first, second) = (s.intend(&Draft::Read { unit: 0 }), s.intend(&Draft::Read { unit: 1 }));
    let a = s.put(first, 0, 0, 300);
    let why = Why::fatal(Code::InvalidTextEncoding, "a cell of column \"note\" is not UTF-8");
    s.fact(Event::NotDone { key: second, why: why.clone(), not_before: 0 });
    s.fact(Event::Halted { why, key: Some(second) });
    s.stored(a);
    let cancelled = Why::transient(Code::EffectAbandoned, "the read was cancelled");
    s.fact(Event::NotDone { key: first, why: cancelled, not_before: 0 });
    s.seal();
    s.clean();
    s.fact(Event::Closed);
    s.fact(Event::TakenOver { epoch: 2 });
    s.fact(Event::AttemptStarted { attempt: 2, adopted: Vec::new() });
    s.fact(Event::Halted { why: Why::fatal(Code::RunAbandoned, "an operator gave the run up"), key: None });
    s.seal();
    // The object was kept for the next attempt, and a run that is given up keeps nothing.
    s.remove();
    s.record_cleanup();
    s.fact(Event::Closed);
    s
}
