#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dpone_engine::codes::Code;
use dpone_engine::run::Event;

use super::Journal;
use crate::record::{Record, decode};
use crate::rule::Stored;

/// A plan in the bytes of version 1: everything empty or the first of its kind, but for one unit.
fn planned(run: &str) -> Event {
    let text = |s: &str| [&(s.len() as u64).to_le_bytes(), s.as_bytes()].concat();
    let payload = [text(run), text("m"), text(""), 1_u32.to_le_bytes().to_vec(), vec![0; 6]].concat();
    let payload = [payload, text(""), vec![0], text(run), vec![0; 2], text("{}")].concat();
    decode(&Record { kind: "planned".to_owned(), version: 1, payload }).unwrap()
}

fn large(number: u64) -> Event {
    Event::Deferred { name: "x".repeat(10_000), not_before: number }
}

/// SQLite's own limit stands for a full disk: it fails at the same place, with the same code.
fn full(journal: &Journal, more_pages: i64) {
    let pages: i64 = journal.db.query_row("PRAGMA page_count", [], |r| r.get(0)).unwrap();
    journal.db.query_row(&format!("PRAGMA max_page_count = {}", pages + more_pages), [], |_| Ok(())).unwrap();
}

#[test]
fn a_full_disk_is_a_failed_write_and_nothing_is_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut journal = Journal::open(&path).unwrap();
    journal.create_run(&planned("a"), 1).unwrap();
    let epoch = journal.raise_epoch("a").unwrap();
    let seqs = |journal: &Journal| journal.stored("a").unwrap().iter().map(|s: &Stored| s.seq).collect::<Vec<_>>();

    full(&journal, 2);
    // The first events of the batch would fit; the batch does not.
    let batch: Vec<_> = (0..10).map(large).collect();
    let error = journal.append("a", epoch, &[(1, vec![Event::Closed]), (2, batch.clone())]).unwrap_err();
    assert_eq!(error.code, Code::JournalWriteFailed, "{error}");
    assert_eq!(seqs(&journal), [1]);
    let refusal = journal.create_run(&planned(&"long".repeat(5_000)), 1).unwrap_err();
    assert_eq!(refusal.code, Code::JournalWriteFailed, "{refusal:?}");
    assert_eq!(journal.runs().unwrap().len(), 1);
    assert_eq!(seqs(&Journal::open_to_read(&path).unwrap()), [1]);

    // Space is free again.
    full(&journal, 1_000_000);
    journal.append("a", epoch, &[(3, batch)]).unwrap();
    assert_eq!(seqs(&journal).len(), 11);
}

#[test]
fn a_time_that_the_file_cannot_hold_is_a_failed_write() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("journal.db")).unwrap();
    assert_eq!(journal.create_run(&planned("a"), u64::MAX).unwrap_err().code, Code::JournalWriteFailed);
    journal.create_run(&planned("a"), 1).unwrap();
    let error = journal.append("a", 0, &[(u64::MAX, vec![Event::Closed])]).unwrap_err();
    assert_eq!(error.code, Code::JournalWriteFailed, "{error}");
    assert_eq!(journal.stored("a").unwrap().len(), 1);
}

/// A runner that takes over while the journal is verified does no damage to it.
#[test]
fn take_overs_meanwhile_are_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut journal = Journal::open(&path).unwrap();
    journal.create_run(&planned("a"), 1).unwrap();
    let read = Journal::open_to_verify(&path).unwrap();
    let verified = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| {
            while !verified.load(Ordering::Relaxed) {
                let epoch = journal.raise_epoch("a").unwrap();
                journal.append("a", epoch, &[(2, vec![Event::TakenOver { epoch }])]).unwrap();
            }
        });
        let found: Vec<_> = (0..300).map(|_| read.verify().unwrap()).filter(|verdict| !verdict.whole()).collect();
        verified.store(true, Ordering::Relaxed);
        assert_eq!(found, []);
    });
}

/// The check of the pages takes as long as the file is large: a process makes it once.
#[test]
fn a_second_connection_checks_no_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut journal = Journal::open(&path).unwrap();
    journal.create_run(&planned("a"), 1).unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch(
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;
         INSERT INTO events VALUES ('x', 1, 0, 0, 0, 'closed', 1, x'00', x'00', x'00');",
    )
    .unwrap();
    assert_eq!(Journal::open_existing(&path).unwrap_err().code, Code::JournalCorrupt);
    let again = journal.reopen().unwrap();
    assert_eq!((again.id(), again.runs().unwrap()), (journal.id(), journal.runs().unwrap()));
}

#[test]
fn durability_is_switched_on() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.db")).unwrap();
    let check = |pragma: &str, expect: &str| {
        let sql = format!("SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}");
        let value: String = journal.db.query_row(&sql, [], |r| r.get(0)).unwrap();
        assert_eq!(value, expect, "{pragma}");
    };
    check("journal_mode", "wal");
    check("synchronous", "2");
    check("foreign_keys", "1");
    check("user_version", "1");
}
