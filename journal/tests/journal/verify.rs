//! Verifying a whole journal: every damage is found, named, and does not hide the rest.

use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;
use dpone_engine::run::Event;
use dpone_journal::rule::{self, Head};
use dpone_journal::sqlite::{Journal, Verdict};
use rusqlite::{Connection, params};

use super::story;

/// Three whole runs: `b` is the one that things are done to.
fn journal() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut journal = Journal::open(&path).unwrap();
    for (run, target) in [("a", "t1"), ("b", "t2"), ("c", "t3")] {
        let story = if run == "b" { story::delivered(run, target) } else { story::failed(run, target) };
        story.write(&mut journal, story.events.len());
    }
    drop(journal);
    (folder, path)
}

fn verdict(path: &Path) -> Verdict {
    Journal::open_to_verify(path).unwrap().verify().unwrap()
}

fn tampered(sql: &str) -> Verdict {
    let (_folder, path) = journal();
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;
         DROP TRIGGER events_follow; DROP TRIGGER events_are_not_changed; DROP TRIGGER events_are_not_removed;
         DROP TRIGGER epochs_only_grow; DROP TRIGGER runs_are_not_removed;",
    )
    .unwrap();
    raw.execute_batch(sql).unwrap();
    drop(raw);
    verdict(&path)
}

#[test]
fn a_whole_journal_is_whole() {
    let (_folder, path) = journal();
    let verdict = verdict(&path);
    assert!(verdict.whole(), "{verdict:?}");
    assert_eq!(verdict.runs.iter().map(|r| &*r.run).collect::<Vec<_>>(), ["c", "b", "a"]);
    let journal = Journal::open_to_read(&path).unwrap();
    for check in &verdict.runs {
        let stored = journal.stored(&check.run).unwrap();
        assert_eq!(check.events, stored.len() as u64);
        assert_eq!(check.head, stored.last().map(|s| s.hash));
        assert_eq!(check.head_hex().unwrap().len(), 64);
        assert_eq!(journal.broken(&check.run).unwrap(), None);
    }
}

#[test]
fn a_change_of_any_stored_field_is_found_where_it_is() {
    let check = |set: &str, code: Code| {
        let verdict = tampered(&format!("UPDATE events SET {set} WHERE run_id = 'b' AND seq = 7"));
        let broken: Vec<_> = verdict.runs.iter().filter(|r| r.broken.is_some()).collect();
        assert_eq!(broken.len(), 1, "{set}: {verdict:?}");
        let found = broken[0].broken.as_ref().unwrap();
        assert_eq!((broken[0].run.as_str(), broken[0].events, found.code), ("b", 6, code), "{set}: {found:?}");
        assert!(found.place.as_ref().unwrap().ends_with("run b, event 7"), "{set}: {found:?}");
        assert!(broken[0].head.is_some() && found.fix.is_some());
    };
    check("attempt = attempt + 1", Code::JournalCorrupt);
    check("epoch = epoch + 1", Code::JournalCorrupt);
    check("at = at + 1", Code::JournalCorrupt);
    check("at = -1", Code::JournalCorrupt);
    check("kind = 'closed'", Code::JournalCorrupt);
    check("version = 2", Code::JournalCorrupt);
    check("payload = CAST(payload || x'00' AS BLOB)", Code::JournalCorrupt);
    check("payload = x''", Code::JournalCorrupt);
    check("previous = zeroblob(32)", Code::JournalCorrupt);
    check("previous = x'00'", Code::JournalCorrupt);
    check("hash = zeroblob(32)", Code::JournalCorrupt);
    check("hash = x''", Code::JournalCorrupt);
}

#[test]
fn missing_events_and_another_list_are_found() {
    let check = |sql: &str, run: &str, events: Option<u64>| {
        let verdict = tampered(sql);
        assert_eq!(verdict.broken(), 1, "{sql}: {verdict:?}");
        let broken = verdict.runs.iter().find(|r| r.broken.is_some()).unwrap();
        assert_eq!(broken.run, run, "{sql}");
        assert_eq!(broken.broken.as_ref().unwrap().code, Code::JournalCorrupt, "{sql}");
        if let Some(events) = events {
            assert_eq!(broken.events, events, "{sql}");
        }
    };
    check("DELETE FROM events WHERE run_id = 'b' AND seq = 1", "b", Some(0));
    check("DELETE FROM events WHERE run_id = 'b' AND seq = 9", "b", Some(8));
    check("DELETE FROM events WHERE run_id = 'b'", "b", Some(0));
    check("UPDATE events SET seq = seq + 100 WHERE run_id = 'b' AND seq > 9", "b", Some(9));
    check("DELETE FROM runs WHERE run_id = 'b'", "b", Some(0));
    check("UPDATE runs SET target = 't9' WHERE run_id = 'b'", "b", None);
    check("UPDATE runs SET manifest = 'm9' WHERE run_id = 'b'", "b", None);
    check("UPDATE runs SET epoch = 1 WHERE run_id = 'b'", "b", None);
}

#[test]
fn every_broken_run_is_reported() {
    let verdict = tampered("UPDATE events SET at = 0 WHERE seq = 3");
    assert_eq!(verdict.broken(), 3);
    assert!(!verdict.whole());
}

/// Someone who can compute hashes writes a record that is chained as it should be.
fn forged(kind: &str, version: u32, payload: &[u8]) -> Verdict {
    let (_folder, path) = journal();
    let mut next = Journal::open_to_read(&path).unwrap().stored("b").unwrap().pop().unwrap();
    let (head, _) = rule::append("b", Head::EMPTY, 0, 0, &[]).unwrap();
    assert_eq!(head, Head::EMPTY);
    next.previous = next.hash;
    next.seq += 1;
    next.record.kind = kind.to_owned();
    next.record.version = version;
    next.record.payload = payload.to_vec();
    next.hash = rule::hash("b", &next);
    let raw = Connection::open(&path).unwrap();
    raw.execute(
        "INSERT INTO events VALUES ('b', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![next.seq, next.attempt, next.epoch, next.at, kind, version, payload, next.previous, next.hash],
    )
    .unwrap();
    drop(raw);
    let refusal = Journal::open_existing(&path).unwrap().entries("b");
    let verdict = verdict(&path);
    let broken = verdict.runs.iter().find(|r| r.run == "b").unwrap();
    if let Err(refusal) = refusal {
        assert_eq!(broken.broken.as_ref(), Some(&refusal));
    }
    assert_eq!(broken.events, next.seq - 1);
    assert_eq!(verdict.broken(), 1);
    verdict
}

#[test]
fn records_that_cannot_be_read_and_facts_that_cannot_follow_are_found() {
    let check = |kind: &str, version: u32, payload: &[u8], code: Code, says: &str| {
        let verdict = forged(kind, version, payload);
        let broken = verdict.runs.iter().find_map(|r| r.broken.clone()).unwrap();
        assert_eq!(broken.code, code, "{broken:?}");
        assert!(broken.message.contains(says), "{broken:?}");
    };
    check("teleported", 1, b"", Code::JournalNewer, "teleported version 1");
    check("closed", 9, b"", Code::JournalNewer, "closed version 9");
    check("closed", 1, b"", Code::JournalCorrupt, "not a record");
    let closed = dpone_journal::record::encode(&Event::Closed).unwrap();
    check("closed", 1, &closed.payload, Code::JournalCorrupt, "cannot follow");
}

#[test]
fn tables_that_dpone_did_not_make_are_found() {
    let (_folder, path) = journal();
    Connection::open(&path).unwrap().execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    let verdict = verdict(&path);
    assert!(!verdict.whole());
    assert_eq!(verdict.broken(), 0);
    assert!(verdict.pages[0].contains("events_are_not_changed"), "{verdict:?}");
}
