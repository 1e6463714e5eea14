//! From what SQLite and the file system say to the codes an operator knows.

use std::io;
use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::ports::AppendError;
use dpone_engine::refusal::Refusal;
use rusqlite::ErrorCode;

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

/// The same for an append.
pub(crate) fn append_error(error: &rusqlite::Error) -> AppendError {
    AppendError { code: code_of(error), detail: sentence(error) }
}

/// The refusal for a file system error at the journal's folder.
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

fn code_of(error: &rusqlite::Error) -> Code {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            Code::JournalLocked
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => Code::JournalReadOnly,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Code::JournalCorrupt,
        Some(_) => Code::JournalWriteFailed,
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
