//! What a disk, a lock or a permission does to a journal, and the code it is told by.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::ports::RunLog;
use dpone_journal::lock;
use dpone_journal::log::SqliteLog;
use dpone_journal::sqlite::{Journal, Opening};
use futures_executor::block_on;
use rusqlite::Connection;

use super::samples::{numbered, planned};

const SHORT: Duration = Duration::from_millis(20);

struct Place {
    folder: tempfile::TempDir,
    path: std::path::PathBuf,
}

/// A journal with one run, closed.
fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal ?%#.db");
    Journal::open(&path).unwrap().create_run(&planned("a", "t"), 1).unwrap();
    Place { folder, path }
}

fn log(path: &Path, run: &str) -> SqliteLog {
    let epoch = Journal::open_existing(path).unwrap().raise_epoch(run).unwrap();
    let locks = lock::take(path, "m", "t").unwrap();
    let journal = Opening::at(path).wait(SHORT).existing().unwrap();
    SqliteLog::start(journal, run.to_owned(), epoch, locks).unwrap()
}

#[test]
fn a_journal_that_another_process_locks_is_opened_and_read_and_not_written() {
    let place = place();
    let log = log(&place.path, "a");
    let other = Connection::open(&place.path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();

    for journal in [Opening::at(&place.path).wait(SHORT).to_read(), Opening::at(&place.path).wait(SHORT).to_verify()] {
        let journal = journal.unwrap();
        assert_eq!(journal.entries("a").unwrap().len(), 1);
        assert!(journal.verify().unwrap().whole());
    }
    let mut journal = Opening::at(&place.path).wait(SHORT).create().unwrap();
    assert_eq!(journal.entries("a").unwrap().len(), 1);
    assert_eq!(journal.create_run(&planned("b", "u"), 1).unwrap_err().code, Code::JournalLocked);
    assert_eq!(journal.raise_epoch("a").unwrap_err().code, Code::JournalLocked);
    assert_eq!(block_on(log.append(1, &[numbered(1)])).unwrap_err().code, Code::JournalLocked);

    // The lock is gone, and the log that failed stays failed, for the reason it failed for.
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(block_on(log.append(2, &[numbered(2)])).unwrap_err().code, Code::JournalLocked);
    assert_eq!(journal.entries("a").unwrap().len(), 1);
    journal.create_run(&planned("b", "u"), 1).unwrap();
}

#[test]
fn a_journal_that_another_process_holds_alone_is_locked() {
    let place = place();
    let other = Connection::open(&place.path).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT").unwrap();
    let check = |opened: Result<Journal, dpone_engine::refusal::Refusal>| {
        let refusal = opened.unwrap_err();
        assert_eq!(refusal.code, Code::JournalLocked, "{refusal:?}");
        assert!(refusal.fix.is_some());
    };
    check(Opening::at(&place.path).wait(SHORT).create());
    check(Opening::at(&place.path).wait(SHORT).existing());
    check(Opening::at(&place.path).wait(SHORT).to_read());
    check(Opening::at(&place.path).wait(SHORT).to_verify());
}

#[test]
fn a_lost_lease_stays_lost() {
    let place = place();
    let log = log(&place.path, "a");
    Journal::open_existing(&place.path).unwrap().raise_epoch("a").unwrap();
    for n in 0..3 {
        assert_eq!(block_on(log.append(n, &[numbered(n)])).unwrap_err().code, Code::LeaseLost);
    }
    assert_eq!(Journal::open_to_read(&place.path).unwrap().entries("a").unwrap().len(), 1);
}

#[test]
fn a_log_gives_its_locks_back_when_it_ends() {
    let place = place();
    let log = log(&place.path, "a");
    block_on(log.append(1, &[numbered(1)])).unwrap();
    assert_eq!(lock::take(&place.path, "m", "t").unwrap_err().code, Code::RunAlreadyActive);
    drop(log);
    lock::take(&place.path, "m", "t").unwrap();
}

/// Runs as a user for whom permission bits count, on a thread of its own.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|s| {
        let work = s.spawn(|| {
            if rustix::process::geteuid().is_root() {
                rustix::thread::set_thread_uid(rustix::thread::Uid::from_raw(65_534)).unwrap();
            }
            work()
        });
        work.join().unwrap()
    })
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_journal_that_cannot_be_written_is_read_and_nothing_else() {
    let place = place();
    permit(&place.path, 0o444);
    permit(place.folder.path(), 0o555);
    as_nobody(|| {
        for opened in [Journal::open(&place.path), Journal::open_existing(&place.path)] {
            let refusal = opened.unwrap_err();
            assert_eq!(refusal.code, Code::JournalReadOnly, "{refusal:?}");
        }
        for opened in [Journal::open_to_read(&place.path), Journal::open_to_verify(&place.path)] {
            let mut journal = opened.unwrap();
            assert_eq!(journal.entries("a").unwrap().len(), 1);
            assert!(journal.verify().unwrap().whole());
            assert_eq!(journal.create_run(&planned("b", "u"), 1).unwrap_err().code, Code::JournalReadOnly);
            assert_eq!(journal.raise_epoch("a").unwrap_err().code, Code::JournalReadOnly);
        }
        let refusal = lock::take(&place.path, "m", "t").unwrap_err();
        assert_eq!(refusal.code, Code::JournalReadOnly, "{refusal:?}");
    });
    permit(place.folder.path(), 0o755);
}

#[test]
fn a_folder_that_cannot_be_written_gets_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    permit(folder.path(), 0o555);
    as_nobody(|| {
        for path in [folder.path().join("journal.db"), folder.path().join("new/journal.db")] {
            let refusal = Journal::open(&path).unwrap_err();
            assert_eq!(refusal.code, Code::JournalReadOnly, "{refusal:?}");
        }
    });
    permit(folder.path(), 0o755);
}

/// Without shared memory SQLite cannot read a `-wal`: the operator is told what to do, and never shown less.
#[test]
fn a_wal_in_a_folder_that_cannot_be_written_is_refused() {
    let place = place();
    let copies = tempfile::tempdir().unwrap();
    let copy = copies.path().join("journal.db");
    {
        let mut journal = Journal::open(&place.path).unwrap();
        journal.create_run(&planned("b", "u"), 1).unwrap();
        fs::copy(&place.path, &copy).unwrap();
        let wal = format!("{}-wal", place.path.display());
        fs::copy(wal, copies.path().join("journal.db-wal")).unwrap();
    }
    permit(&copy, 0o444);
    permit(&copies.path().join("journal.db-wal"), 0o444);
    permit(copies.path(), 0o555);
    as_nobody(|| {
        let refusal = Journal::open_to_read(&copy).unwrap_err();
        assert_eq!(refusal.code, Code::JournalReadOnly, "{refusal:?}");
        assert!(refusal.fix.unwrap().contains("-wal"));
    });
    permit(copies.path(), 0o755);
    assert_eq!(Journal::open_to_read(&copy).unwrap().runs().unwrap().len(), 2);
}
