//! Reading beside a runner, after one, and on copies: it works, and it changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dpone_engine::ports::RunLog;
use dpone_journal::lock;
use dpone_journal::log::SqliteLog;
use dpone_journal::sqlite::Journal;
use futures_executor::block_on;

use super::samples::{attempt, planned};

/// Every file of a folder but the shared memory, which readers write their marks into.
fn content(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    entries
        .filter(|e| e.file_type().unwrap().is_file())
        .map(|e| {
            let name = e.file_name().into_string().unwrap();
            let bytes = (!name.ends_with("-shm")).then(|| fs::read(e.path()).unwrap());
            (name, bytes)
        })
        .collect()
}

fn names(folder: &Path) -> Vec<String> {
    content(folder).into_keys().collect()
}

fn read(path: &Path) -> usize {
    let verifying = Journal::open_to_verify(path).unwrap();
    assert!(verifying.verify().unwrap().whole());
    let journal = Journal::open_to_read(path).unwrap();
    assert_eq!(journal.runs().unwrap().len(), 1);
    journal.fold("a").unwrap().1.len()
}

#[test]
fn readers_work_beside_a_runner_and_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut journal = Journal::open(&path).unwrap();
    journal.create_run(&planned("a", "t"), 1).unwrap();
    drop(journal);
    assert_eq!(names(folder.path()), ["journal.db"], "a journal at rest is one file");

    let before = content(folder.path());
    assert_eq!(read(&path), 1);
    assert_eq!(content(folder.path()), before, "at rest");

    let mut journal = Journal::open_existing(&path).unwrap();
    let epoch = journal.raise_epoch("a").unwrap();
    drop(journal);
    let own = Journal::open_existing(&path).unwrap();
    let log = SqliteLog::start(own, "a".to_owned(), epoch, lock::take(&path, "m", "t").unwrap()).unwrap();
    for n in 1..=5 {
        block_on(log.append(n, &[attempt(n)])).unwrap();
        let before = content(folder.path());
        assert_eq!(read(&path), 1 + n as usize);
        assert_eq!(content(folder.path()), before, "beside a runner");
    }

    // What a kill leaves, and what a copy of that brings along.
    let check = |suffixes: &[&str]| {
        let copies = tempfile::tempdir().unwrap();
        for suffix in suffixes {
            let name = format!("journal.db{suffix}");
            fs::copy(folder.path().join(&name), copies.path().join(&name)).unwrap();
        }
        let copy = copies.path().join("journal.db");
        let before = content(copies.path());
        assert_eq!(read(&copy), 6, "{suffixes:?}");
        let mut after = content(copies.path());
        after.retain(|name, _| before.contains_key(name) || !name.ends_with("-shm"));
        assert_eq!(after, before, "{suffixes:?}");
    };
    check(&["", "-wal", "-shm"]);
    check(&["", "-wal"]);

    drop(log);
    assert_eq!(names(folder.path()), ["journal.db"]);
    assert_eq!(read(&path), 6);
}

/// Many readers and a writer at the same time: each sees a whole prefix of the log.
#[test]
fn readers_see_whole_prefixes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut journal = Journal::open(&path).unwrap();
    journal.create_run(&planned("a", "t"), 1).unwrap();
    let epoch = journal.raise_epoch("a").unwrap();
    let log = SqliteLog::start(journal, "a".to_owned(), epoch, lock::take(&path, "m", "t").unwrap()).unwrap();
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let mut seen = 0;
                while seen < 81 {
                    let entries = Journal::open_to_read(&path).unwrap().entries("a").unwrap();
                    assert!(entries.len() >= seen && entries.len() % 2 == 1, "{} after {seen}", entries.len());
                    seen = entries.len();
                }
            });
        }
        for n in 0..40 {
            block_on(log.append(n, &[attempt(2 * n + 1), attempt(2 * n + 2)])).unwrap();
        }
    });
}
