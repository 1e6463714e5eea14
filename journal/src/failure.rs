//! From what SQLite and the file system say to the codes an operator knows.

use std::io;
use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::ports::AppendError;
use dpone_engine::refusal::Refusal;
use rusqlite::{ErrorCode, ffi};

use crate::record::Unreadable;

/// The refusal for an SQLite error at the journal.
pub(crate) fn refusal(path: &Path, error: &rusqlite::Error) -> Refusal {
    let code = code_of(error);
    let fix = match code {
        Code::JournalLocked => "Wait for the process that holds the lock, or end it; then run the same command again.",
        Code::JournalReadOnly => "Make the journal and its folder writable for this user.",
        Code::JournalWriteFailed => "Free space on the journal's disk, then resume the run.",
        _ => "Keep the file as it is and run `dpone journal verify`; restore it from a copy, never start over it.",
    };
    Refusal::new(code, format!("the journal says: {}", sentence(error))).at(path.display().to_string()).fix(fix)
}

/// The refusal where no file can be made for lack of room.
pub(crate) fn no_room(path: &Path) -> Refusal {
    Refusal::new(Code::JournalWriteFailed, "the file system of the journal has no files (inodes) left")
        .at(path.display().to_string())
        .fix("Remove files there, or put the journal on another file system with `--journal`.")
}

/// The same for an append.
pub(crate) fn append_error(error: &rusqlite::Error) -> AppendError {
    AppendError { code: code_of(error), detail: sentence(error) }
}

/// The refusal for a file system error at the journal or its folder.
pub(crate) fn io_refusal(path: &Path, error: &io::Error) -> Refusal {
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Code::JournalReadOnly,
        io::ErrorKind::NotFound => Code::JournalNotFound,
        _ => Code::JournalWriteFailed,
    };
    Refusal::new(code, format!("the journal's folder says: {error}"))
        .at(path.display().to_string())
        .fix("Make the folder exist and writable for this user, with free space.")
}

/// A journal that is not what dpone wrote.
pub(crate) fn corrupt(path: &Path, what: &str) -> Refusal {
    Refusal::new(Code::JournalCorrupt, format!("the journal is damaged: {what}"))
        .at(path.display().to_string())
        .fix("Keep the file as it is and restore it from a copy; nothing is started over a damaged journal.")
}

/// Something in it that a newer dpone wrote.
pub(crate) fn newer(detail: String) -> Refusal {
    Refusal::new(Code::JournalNewer, detail).fix("Use the dpone that wrote it, or a newer one.")
}

/// A record that cannot be read.
pub(crate) fn unreadable(error: &Unreadable) -> Refusal {
    match error {
        Unreadable::Newer { .. } | Unreadable::NewerCode(_) => newer(error.to_string()),
        Unreadable::Malformed(_) => Refusal::new(Code::JournalCorrupt, error.to_string())
            .fix("Keep the file as it is and restore it from a copy; nothing is started over a damaged journal."),
    }
}

fn code_of(error: &rusqlite::Error) -> Code {
    if let Some(failure) = error.sqlite_error()
        && [ffi::SQLITE_IOERR_SHORT_READ, ffi::SQLITE_IOERR_READ, ffi::SQLITE_IOERR_CORRUPTFS, ffi::SQLITE_IOERR_DATA]
            .contains(&failure.extended_code)
    {
        return Code::JournalCorrupt;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            Code::JournalLocked
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => Code::JournalReadOnly,
        // A value too big for a record, a table or column that is not there: not what a dpone wrote.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TooBig | ErrorCode::Unknown) => {
            Code::JournalCorrupt
        }
        Some(_) => Code::JournalWriteFailed,
        // What could not be converted on its way in was never in the journal; what could not on its way out is damage.
        None if matches!(error, rusqlite::Error::ToSqlConversionFailure(_)) => Code::JournalWriteFailed,
        None => Code::JournalCorrupt,
    }
}

/// SQLite's own sentence; it never holds a bound value.
fn sentence(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(failure, text) => text.clone().unwrap_or_else(|| format!("{failure}")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_of_sqlite_has_its_code() {
        let check = |extended: i32, expect: Code| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(extended), None);
            assert_eq!(code_of(&error), expect, "{extended}");
            assert_eq!(append_error(&error).code, expect, "{extended}");
            let told = refusal(Path::new("j.db"), &error);
            assert!(told.fix.is_some() && told.place.as_deref() == Some("j.db"), "{told:?}");
        };
        check(ffi::SQLITE_BUSY, Code::JournalLocked);
        check(ffi::SQLITE_BUSY_RECOVERY, Code::JournalLocked);
        check(ffi::SQLITE_BUSY_SNAPSHOT, Code::JournalLocked);
        check(ffi::SQLITE_LOCKED, Code::JournalLocked);
        check(ffi::SQLITE_PROTOCOL, Code::JournalLocked);
        check(ffi::SQLITE_READONLY, Code::JournalReadOnly);
        check(ffi::SQLITE_READONLY_DIRECTORY, Code::JournalReadOnly);
        check(ffi::SQLITE_CANTOPEN, Code::JournalReadOnly);
        check(ffi::SQLITE_PERM, Code::JournalReadOnly);
        check(ffi::SQLITE_FULL, Code::JournalWriteFailed);
        check(ffi::SQLITE_IOERR_WRITE, Code::JournalWriteFailed);
        check(ffi::SQLITE_IOERR_FSYNC, Code::JournalWriteFailed);
        check(ffi::SQLITE_IOERR_READ, Code::JournalCorrupt);
        check(ffi::SQLITE_IOERR_SHORT_READ, Code::JournalCorrupt);
        check(ffi::SQLITE_CORRUPT, Code::JournalCorrupt);
        check(ffi::SQLITE_CORRUPT_VTAB, Code::JournalCorrupt);
        check(ffi::SQLITE_NOTADB, Code::JournalCorrupt);
        check(ffi::SQLITE_TOOBIG, Code::JournalCorrupt);
    }

    #[test]
    fn file_system_errors_have_their_code() {
        let check = |kind: io::ErrorKind, expect: Code| {
            assert_eq!(io_refusal(Path::new("j"), &kind.into()).code, expect, "{kind}");
        };
        check(io::ErrorKind::PermissionDenied, Code::JournalReadOnly);
        check(io::ErrorKind::ReadOnlyFilesystem, Code::JournalReadOnly);
        check(io::ErrorKind::NotFound, Code::JournalNotFound);
        check(io::ErrorKind::StorageFull, Code::JournalWriteFailed);
    }
}
