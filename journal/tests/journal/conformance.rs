//! What every store of runs must do, by one suite for all of them.

use std::rc::Rc;

use dpone_engine::codes::Code;
use dpone_engine::driver::Entry;
use dpone_engine::ports::RunLog;
use dpone_engine::run::Event;
use dpone_journal::lock;
use dpone_journal::log::SqliteLog;
use dpone_journal::memory::{Fate, MemoryJournal, MemoryLog};
use dpone_journal::rule::Stored;
use dpone_journal::sqlite::Journal;
use futures_executor::block_on;
use futures_util::future::join_all;

use super::samples::{numbered, planned};

/// What the suite needs of a store.
trait Store {
    type Log: RunLog;
    fn create(&mut self, planned: &Event) -> Result<(), Code>;
    /// A new runner, under the next epoch.
    fn take(&mut self, run: &str) -> (u64, Self::Log);
    fn entries(&self, run: &str) -> Vec<Entry>;
    fn stored(&self, run: &str) -> Vec<Stored>;
}

impl Store for MemoryJournal {
    type Log = MemoryLog;
    fn create(&mut self, planned: &Event) -> Result<(), Code> {
        self.create_run(planned, 1).map_err(|e| e.code)
    }
    fn take(&mut self, run: &str) -> (u64, MemoryLog) {
        MemoryJournal::take(self, run).unwrap()
    }
    fn entries(&self, run: &str) -> Vec<Entry> {
        MemoryJournal::entries(self, run).unwrap()
    }
    fn stored(&self, run: &str) -> Vec<Stored> {
        MemoryJournal::stored(self, run)
    }
}

struct Sqlite {
    folder: tempfile::TempDir,
    journal: Journal,
    runners: u32,
}

impl Sqlite {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db")).unwrap();
        Self { folder, journal, runners: 0 }
    }
}

impl Store for Sqlite {
    type Log = SqliteLog;
    fn create(&mut self, planned: &Event) -> Result<(), Code> {
        self.journal.create_run(planned, 1).map_err(|r| r.code)
    }
    fn take(&mut self, run: &str) -> (u64, SqliteLog) {
        let epoch = self.journal.raise_epoch(run).unwrap();
        // Locks of its own: the rival is a runner on another host, or one that was given up for dead.
        self.runners += 1;
        let elsewhere = self.folder.path().join(format!("host{}", self.runners));
        let locks = lock::take(&elsewhere, "m", "t").unwrap();
        let own = Journal::open_existing(self.journal.path()).unwrap();
        (epoch, SqliteLog::start(own, run.to_owned(), epoch, locks).unwrap())
    }
    fn entries(&self, run: &str) -> Vec<Entry> {
        self.journal.entries(run).unwrap()
    }
    fn stored(&self, run: &str) -> Vec<Stored> {
        self.journal.stored(run).unwrap()
    }
}

fn appended(log: &impl RunLog, at: u64, events: &[Event]) -> Result<(), Code> {
    block_on(log.append(at, events)).map_err(|e| e.code)
}

fn numbers(entries: &[Entry]) -> Vec<u64> {
    let number = |e: &Entry| match e.event {
        Event::TakenOver { epoch } => Some(epoch),
        _ => None,
    };
    entries.iter().filter_map(number).collect()
}

fn suite<S: Store>(mut store: S) {
    // A run is created once, with its plan as its first event.
    store.create(&planned("a", "t1")).unwrap();
    store.create(&planned("b", "t2")).unwrap();
    assert_eq!(store.create(&planned("a", "t3")), Err(Code::OptionConflict));
    assert_eq!(store.create(&Event::Closed), Err(Code::InternalError));
    let entries = store.entries("a");
    assert_eq!(entries, [Entry { seq: 1, at: 1, event: planned("a", "t1") }]);

    // Appends are in order, stamped with time, epoch and attempt; runs do not touch each other.
    let (first, old) = store.take("a");
    assert_eq!(first, 1);
    appended(&old, 10, &[numbered(1), Event::AttemptStarted { attempt: 1, adopted: vec![] }, numbered(2)]).unwrap();
    appended(&old, 9, &[numbered(3)]).unwrap();
    appended(&old, 11, &[]).unwrap();
    let entries = store.entries("a");
    assert_eq!(numbers(&entries), [1, 2, 3]);
    assert_eq!(entries.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(entries.iter().map(|e| e.at).collect::<Vec<_>>(), [1, 10, 10, 10, 9]);
    let stored = store.stored("a");
    assert_eq!(stored.iter().map(|s| s.epoch).collect::<Vec<_>>(), [0, 1, 1, 1, 1]);
    assert_eq!(stored.iter().map(|s| s.attempt).collect::<Vec<_>>(), [0, 0, 1, 1, 1]);
    assert_eq!(store.entries("b").len(), 1);

    // Events of concurrent calls are all there, each call's together and in the order of the calls.
    block_on(join_all((0..50_u64).map(|n| {
        let old = &old;
        async move { old.append(20, &[numbered(100 + 2 * n), numbered(101 + 2 * n)]).await.unwrap() }
    })));
    assert_eq!(numbers(&store.entries("a"))[3..], (100..200).collect::<Vec<_>>());

    // A rival takes over: the older runner appends nothing any more, whatever it tries; the newer one goes on.
    let (second, new) = store.take("a");
    assert_eq!(second, 2);
    let before = store.entries("a");
    assert_eq!(appended(&old, 30, &[numbered(900)]), Err(Code::LeaseLost));
    assert_eq!(store.entries("a"), before);
    appended(&new, 31, &[numbered(200)]).unwrap();
    assert_eq!(appended(&old, 32, &[numbered(901)]), Err(Code::LeaseLost));
    assert_eq!(appended(&old, 32, &[]), Err(Code::LeaseLost), "not even an empty append says that all is well");
    appended(&new, 33, &[numbered(201)]).unwrap();
    assert_eq!(numbers(&store.entries("a"))[103..], [200, 201]);

    // Two rivals that append at the same time: only the newest epoch's events are there.
    let (_, newest) = store.take("a");
    let results =
        block_on(join_all(
            (0..20_u64).map(|n| {
                let (new, newest) = (&new, &newest);
                async move {
                    (new.append(40, &[numbered(999)]).await.is_err(), newest.append(40, &[numbered(300 + n)]).await)
                }
            }),
        ));
    assert!(results.iter().all(|(lost, appended)| *lost && appended.is_ok()));
    assert_eq!(numbers(&store.entries("a"))[105..], (300..320).collect::<Vec<_>>());

    // Another run's epoch has nothing to do with this one's.
    let (epoch, other) = store.take("b");
    assert_eq!(epoch, 1);
    appended(&other, 50, &[numbered(1)]).unwrap();
    appended(&newest, 50, &[numbered(400)]).unwrap();
}

#[test]
fn sqlite_conforms() {
    suite(Sqlite::new());
}

#[test]
fn memory_conforms() {
    suite(MemoryJournal::default());
}

/// The same calls leave the same bytes and hashes in both.
#[test]
fn both_stores_write_the_same_log() {
    fn write<S: Store>(store: &mut S) -> Vec<Stored> {
        store.create(&planned("a", "t")).unwrap();
        let (_, log) = store.take("a");
        for (at, (_, event)) in super::samples::events().into_iter().enumerate() {
            appended(&log, at as u64, &[event]).unwrap();
        }
        store.stored("a")
    }
    assert_eq!(write(&mut Sqlite::new()), write(&mut MemoryJournal::default()));
}

#[test]
fn faults_of_the_memory_store_are_what_they_say() {
    let check = |fate: Fate, told: bool, there: bool| {
        let mut journal = MemoryJournal::default();
        journal.create(&planned("a", "t")).unwrap();
        let (_, log) = Store::take(&mut journal, "a");
        journal.on_append(Rc::new(move |n| if n == 2 { fate } else { Fate::Durable }));
        appended(&log, 1, &[numbered(1)]).unwrap();
        assert_eq!(appended(&log, 2, &[numbered(2)]).is_ok(), told, "{fate:?}");
        assert_eq!(numbers(&Store::entries(&journal, "a")).contains(&2), there, "{fate:?}");
        assert_eq!(journal.appends(), 2);
    };
    check(Fate::Durable, true, true);
    check(Fate::Lost, false, false);
    check(Fate::DurableUntold, false, true);
}
