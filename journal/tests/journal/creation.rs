//! Creating and opening: what is a journal, what is none, what was one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;

use dpone_engine::codes::Code;
use dpone_journal::sqlite::Journal;
use rusqlite::Connection;

use super::samples::planned;

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

type Open = fn(&Path) -> Result<Journal, dpone_engine::refusal::Refusal>;

const TO_USE: [(&str, Open); 3] =
    [("existing", Journal::open_existing), ("read", Journal::open_to_read), ("verify", Journal::open_to_verify)];

fn refused(path: &Path, expect: Code) {
    for (how, open) in TO_USE.into_iter().chain([("create", Journal::open as Open)]) {
        let refusal = open(path).unwrap_err();
        assert_eq!(refusal.code, expect, "{how}: {refusal:?}");
        assert!(refusal.fix.is_some(), "{how}: {refusal:?}");
    }
}

#[test]
fn a_journal_is_created_with_its_folder_and_keeps_its_identity() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/journal.db");
    let (id, key) = {
        let mut journal = Journal::open(&path).unwrap();
        journal.create_run(&planned("a", "t"), 1).unwrap();
        (journal.id().to_owned(), *journal.digest_key())
    };
    assert_eq!(id.len(), 32);
    for (how, open) in TO_USE.into_iter().chain([("create", Journal::open as Open)]) {
        let journal = open(&path).unwrap();
        assert_eq!((journal.id(), journal.digest_key()), (id.as_str(), &key), "{how}");
        assert_eq!(journal.runs().unwrap().len(), 1, "{how}");
    }
    let other = Journal::open(&folder.path().join("other.db")).unwrap();
    assert_ne!(other.id(), id);
    assert_ne!(other.digest_key(), &key);
}

#[test]
fn a_missing_journal_is_not_found_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    for (how, open) in TO_USE {
        assert_eq!(open(&folder.path().join("journal.db")).unwrap_err().code, Code::JournalNotFound, "{how}");
        assert_eq!(open(&folder.path().join("no/folder.db")).unwrap_err().code, Code::JournalNotFound, "{how}");
    }
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn an_empty_file_is_new_only_if_nothing_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let wal = folder.path().join("journal.db-wal");
    fs::write(&path, b"").unwrap();
    for (how, open) in TO_USE {
        assert_eq!(open(&path).unwrap_err().code, Code::JournalNotFound, "{how}");
    }
    // Its -wal holds what the file lost.
    fs::write(&wal, b"pages").unwrap();
    refused(&path, Code::JournalCorrupt);
    fs::remove_file(&path).unwrap();
    refused(&path, Code::JournalCorrupt);
    fs::remove_file(&wal).unwrap();
    // Runners have worked with it.
    fs::write(&path, b"").unwrap();
    fs::create_dir(folder.path().join("journal.db.locks")).unwrap();
    refused(&path, Code::JournalCorrupt);
    fs::remove_dir(folder.path().join("journal.db.locks")).unwrap();
    assert_eq!(Journal::open(&path).unwrap().runs().unwrap(), []);
}

#[test]
fn what_is_no_journal_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let check = |content: &[u8], expect: Code| {
        fs::write(&path, content).unwrap();
        refused(&path, expect);
        assert!(fs::read(&path).unwrap() == content);
    };
    check(b"name: orders\nsource:\n", Code::JournalCorrupt);
    check(&[0; 4096], Code::JournalCorrupt);
    check(&[0; 1], Code::JournalCorrupt);
    check(b"SQLite format 3\0", Code::JournalCorrupt);

    let database = |sql: &str| {
        let path = folder.path().join("other.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let content = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        content
    };
    check(&database("CREATE TABLE t (a)"), Code::JournalCorrupt);
    check(&database("CREATE TABLE events (a); PRAGMA user_version = 1"), Code::JournalCorrupt);
    check(&database("CREATE TABLE t (a); DROP TABLE t"), Code::JournalCorrupt);
    let ours = 0x6470_6F6E;
    check(&database(&format!("PRAGMA application_id = {ours}; CREATE TABLE t (a)")), Code::JournalCorrupt);
    check(
        &database(&format!("PRAGMA application_id = {ours}; PRAGMA user_version = 1; CREATE TABLE t (a)")),
        Code::JournalCorrupt,
    );
    check(
        &database(&format!("PRAGMA application_id = {ours}; PRAGMA user_version = 2; CREATE TABLE t (a)")),
        Code::JournalNewer,
    );

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused(&path, Code::JournalCorrupt);
}

#[test]
fn a_creation_that_was_killed_is_undone_and_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let (from, path) = (folder.path().join("killed.db"), folder.path().join("journal.db"));
    let copy = |suffix: &str| {
        let name = |p: &Path| p.with_file_name(format!("{}{suffix}", p.file_name().unwrap().to_str().unwrap()));
        fs::copy(name(&from), name(&path)).unwrap()
    };
    // A transaction that is not committed and whose pages are partly written, as a kill leaves it.
    let killed = Connection::open(&from).unwrap();
    killed.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN EXCLUSIVE").unwrap();
    for n in 0..50 {
        killed.execute_batch(&format!("CREATE TABLE t{n} (a TEXT PRIMARY KEY)")).unwrap();
    }
    assert!(copy("") > 0 && copy("-journal") > 0);
    for (how, open) in TO_USE {
        let refusal = open(&path).unwrap_err();
        assert_eq!(refusal.code, Code::JournalNotFound, "{how}: {refusal:?}");
    }
    copy("");
    copy("-journal");
    assert_eq!(Journal::open(&path).unwrap().runs().unwrap(), []);
}

#[test]
fn many_at_once_create_one_journal() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let ids: BTreeSet<String> = thread::scope(|s| {
            let all: Vec<_> = (0..6).map(|_| s.spawn(|| Journal::open(&path).unwrap().id().to_owned())).collect();
            all.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!(ids.len(), 1, "{ids:?}");
    }
}

#[test]
fn events_and_runs_cannot_be_changed_or_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    Journal::open(&path).unwrap().create_run(&planned("a", "t"), 1).unwrap();
    let raw = Connection::open(&path).unwrap();
    let check = |sql: &str| {
        let error = raw.execute(sql, []).unwrap_err().to_string();
        assert!(
            error.contains("append-only") || error.contains("epoch") || error.contains("identity"),
            "{sql}: {error}"
        );
    };
    let again = "SELECT run_id, seq, attempt, epoch, at, 'closed', version, payload, previous, hash FROM events";
    check("UPDATE events SET at = at + 1");
    check("UPDATE events SET payload = x''");
    check("DELETE FROM events");
    check(&format!("INSERT INTO events {again}"));
    check(&format!("INSERT OR REPLACE INTO events {again}"));
    check(&format!("REPLACE INTO events {again}"));
    check(
        "INSERT INTO events SELECT run_id, 3, attempt, epoch, at, kind, version, payload, previous, hash FROM events",
    );
    check("DELETE FROM runs");
    check("INSERT OR REPLACE INTO runs VALUES ('a', 'm', 'other', 1, 9)");
    check(
        "INSERT OR REPLACE INTO runs (rowid, run_id, manifest, target, created) SELECT rowid, 'z', 'm', 't', 1 FROM runs",
    );
    check("UPDATE runs SET target = 'other', epoch = epoch + 1");
    check("UPDATE runs SET manifest = 'other', epoch = epoch + 1");
    check("UPDATE runs SET run_id = 'b', epoch = epoch + 1");
    check("UPDATE runs SET created = 2, epoch = epoch + 1");
    check("UPDATE runs SET rowid = 9, epoch = epoch + 1");
    check("UPDATE runs SET epoch = epoch");
    check("UPDATE runs SET epoch = epoch - 1");
    check("UPDATE meta SET value = x'00'");
    check("DELETE FROM meta");
    check("INSERT OR REPLACE INTO meta VALUES ('digest_key', zeroblob(32))");
    assert_eq!(Journal::open(&path).unwrap().entries("a").unwrap().len(), 1);
}
