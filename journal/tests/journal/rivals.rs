//! Rivals on one journal file, each with a connection of its own, at the same time.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use dpone_engine::codes::Code;
use dpone_engine::ports::RunLog;
use dpone_engine::run::Event;
use dpone_journal::lock;
use dpone_journal::log::SqliteLog;
use dpone_journal::sqlite::Journal;
use futures_executor::block_on;

use super::samples::{numbered, planned};

#[test]
fn epochs_are_never_given_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    Journal::open(&path).unwrap().create_run(&planned("a", "t"), 1).unwrap();
    let epochs: Vec<u64> = thread::scope(|s| {
        let raise = || {
            let mut journal = Journal::open_existing(&path).unwrap();
            (0..10).map(|_| journal.raise_epoch("a").unwrap()).collect::<Vec<_>>()
        };
        let rivals: Vec<_> = (0..4).map(|_| s.spawn(raise)).collect();
        rivals.into_iter().flat_map(|r| r.join().unwrap()).collect()
    });
    assert_eq!(epochs.iter().collect::<BTreeSet<_>>().len(), 40);
    assert_eq!(epochs.iter().max(), Some(&40));
}

#[test]
fn of_rival_runs_on_one_target_one_is_created() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        drop(Journal::open(&path).unwrap());
        let start = Barrier::new(4);
        let create = |n: usize| {
            let mut journal = Journal::open_existing(&path).unwrap();
            start.wait();
            journal.create_run(&planned(&format!("r{n}"), "t"), 1).map_err(|r| r.code)
        };
        let create = &create;
        let results: Vec<_> = thread::scope(|s| {
            let rivals: Vec<_> = (0..4).map(|n| s.spawn(move || create(n))).collect();
            rivals.into_iter().map(|r| r.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 1, "{results:?}");
        assert_eq!(results.iter().filter(|r| **r == Err(Code::RunUnsettled)).count(), 3, "{results:?}");
    }
}

/// While runners append, newer ones take over: the log stays one chain, and no runner appends behind its successor.
#[test]
fn takeovers_in_the_middle_of_appends_leave_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    Journal::open(&path).unwrap().create_run(&planned("a", "t"), 1).unwrap();
    let start = Barrier::new(3);
    let work = |host: u64| {
        let mut journal = Journal::open_existing(&path).unwrap();
        start.wait();
        let epoch = journal.raise_epoch("a").unwrap();
        let locks = lock::take(&folder.path().join(format!("host{host}")), "m", "t").unwrap();
        let log = SqliteLog::start(journal, "a".to_owned(), epoch, locks).unwrap();
        let mut durable = 0;
        for n in 0..30 {
            match block_on(log.append(n, &[numbered(epoch), numbered(epoch)])) {
                Ok(()) => durable += 2,
                Err(error) => {
                    assert_eq!(error.code, Code::LeaseLost);
                    break;
                }
            }
        }
        (epoch, durable)
    };
    let work = &work;
    let told: Vec<(u64, u64)> = thread::scope(|s| {
        let rivals: Vec<_> = (0..3).map(|host| s.spawn(move || work(host))).collect();
        rivals.into_iter().map(|r| r.join().unwrap()).collect()
    });
    let entries = Journal::open_to_read(&path).unwrap().entries("a").unwrap();
    let epochs: Vec<u64> = entries[1..]
        .iter()
        .map(|e| match e.event {
            Event::TakenOver { epoch } => epoch,
            _ => panic!("{e:?}"),
        })
        .collect();
    assert!(epochs.is_sorted(), "{epochs:?}");
    for (epoch, durable) in told {
        assert_eq!(epochs.iter().filter(|e| **e == epoch).count() as u64, durable, "epoch {epoch}");
    }
}
