//! One connection per step, and what its errors mean.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::ports::Claimant;
use dpone_engine::run::Why;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};

use super::claim::{Standing, standing};
use crate::durable;

/// How long another process's lock is waited for.
const BUSY: Duration = Duration::from_secs(5);

/// What a step answers before it is an outcome.
pub(super) type Step<T> = Result<T, Why>;

/// Opens the target database. Only a claim brings the file into being.
pub(super) fn open(path: &Path) -> Step<Connection> {
    connect(path, OpenFlags::empty())
}

/// Opens the target database, creating the file and the folders above it if there are none.
pub(super) fn create(path: &Path) -> Step<Connection> {
    let folder = durable::parent(path);
    durable::create_dirs(folder)
        .map_err(|e| Why::fatal(Code::TargetNotReachable, format!("{}: {e}", folder.display())))?;
    connect(path, OpenFlags::SQLITE_OPEN_CREATE)
}

fn connect(path: &Path, create: OpenFlags) -> Step<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
    let db = Connection::open_with_flags(path, flags).map_err(|e| why(&e))?;
    db.busy_timeout(BUSY).map_err(|e| why(&e))?;
    // EXTRA: in rollback-journal mode a commit is durable once the journal's removal is.
    db.execute_batch("PRAGMA synchronous = EXTRA").map_err(|e| why(&e))?;
    Ok(db)
}

/// A transaction that holds the write lock from its start.
pub(super) fn write(db: &mut Connection) -> Step<Transaction<'_>> {
    db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|e| why(&e))
}

/// Makes what is committed outlive a power failure: a process may have been killed between its commit and the sync of it.
/// The database file itself was synced before that. It is not opened here: closing it would give up SQLite's locks.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-journal"] {
        let mut name = path.as_os_str().to_os_string();
        name.push(suffix);
        match File::open(&name) {
            Ok(file) => file.sync_all()?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    durable::sync_dir(durable::parent(path))
}

/// Whether a commit that failed is known to have changed nothing: its transaction is still open, or SQLite had no room, which
/// it finds out while it writes what the commit then makes count.
pub(super) fn uncommitted(db: &Connection, error: &rusqlite::Error) -> bool {
    !db.is_autocommit() || error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Refuses unless the target's claim is that runner's.
pub(super) fn held(tx: &Connection, target: &str, claimant: &Claimant) -> Step<()> {
    match standing(tx, target)? {
        Some(Standing { claimant: holder, held: true }) if holder == *claimant => Ok(()),
        _ => Err(Why::fatal(Code::LeaseLost, "the target's claim is not this runner's any more")),
    }
}

/// Whether a table of that name exists; SQLite's names have no case.
pub(super) fn table_exists(db: &Connection, name: &str) -> Step<bool> {
    db.query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE", [name], |_| Ok(()))
        .optional()
        .map(|found| found.is_some())
        .map_err(|e| why(&e))
}

/// The cause that an SQLite error stands for. Its sentence never holds a bound value.
pub(super) fn why(error: &rusqlite::Error) -> Why {
    let detail = match error {
        rusqlite::Error::SqliteFailure(failure, text) => text.clone().unwrap_or_else(|| failure.to_string()),
        other => other.to_string(),
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Why::transient(Code::TargetLocked, detail),
        Some(ErrorCode::DiskFull) => Why::fatal(Code::TargetDiskFull, detail),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::NotADatabase) => {
            Why::fatal(Code::TargetNotReachable, detail)
        }
        _ => Why::fatal(Code::LoadFailed, detail),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn errors_of_a_real_database_have_their_codes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        let db = create(&path).unwrap();
        db.execute_batch("CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES (1); PRAGMA max_page_count = 4").unwrap();
        db.busy_timeout(Duration::ZERO).unwrap();
        let run = |db: &Connection, sql: &str| why(&db.execute_batch(sql).unwrap_err());
        let full = run(&db, "INSERT INTO t VALUES (zeroblob(100000))");
        assert_eq!((full.code, full.transient), (Code::TargetDiskFull, false));
        let secret = run(&db, "INSERT INTO t VALUES ('hunter2'), ('hunter2')");
        assert_eq!((secret.code, secret.detail.contains("hunter2")), (Code::LoadFailed, false));
        let other = open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let locked = run(&db, "INSERT INTO t VALUES (2)");
        assert_eq!((locked.code, locked.transient), (Code::TargetLocked, true));
        let none = open(&dir.path().join("none.db")).unwrap_err();
        assert_eq!((none.code, dir.path().join("none.db").exists()), (Code::TargetNotReachable, false));
    }
}
