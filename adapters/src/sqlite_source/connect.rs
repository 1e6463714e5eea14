//! Opening the file, and what SQLite's errors mean.

use std::path::Path;
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::Why;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

/// How long one statement waits for a lock. Opening a snapshot tries again by itself.
const BUSY: Duration = Duration::from_millis(100);

/// Opens the file for reading. It is never created.
pub(super) fn connect(path: &Path) -> Result<Connection, Error> {
    // Each connection is used by one thread at a time, so SQLite's own mutex would only cost.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

/// Opens the file in preflight and makes sure that it is a database.
pub(super) fn connect_checked(path: &Path) -> Result<Connection, Refusal> {
    let refuse = |error: Error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Refusal::new(Code::SourceLocked, "another process holds the SQLite database's lock")
                .at(path.display().to_string())
                .fix("Wait until the other process has committed, or end it.")
        }
        _ => Refusal::new(Code::SourceNotFound, format!("the SQLite database cannot be opened: {}", reason(&error)))
            .at(path.display().to_string())
            .fix("Check `source.path`: it must name an existing SQLite database that this user may read."),
    };
    if !path.is_file() {
        let missing = if path.exists() { "it is not a file" } else { "there is no such file" };
        return Err(Refusal::new(Code::SourceNotFound, format!("the SQLite database cannot be opened: {missing}"))
            .at(std::path::absolute(path).as_deref().unwrap_or(path).display().to_string())
            .fix("Correct `source.path`; relative paths start at the current directory."));
    }
    let connection = connect(path).map_err(refuse)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(refuse)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(refuse)?;
    Ok(connection)
}

/// What an error of reading means for the run.
pub(super) fn why(error: &Error) -> Why {
    let detail = format!("SQLite: {}", reason(error));
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => Why::transient(Code::EffectAbandoned, "the read was cancelled"),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::SystemIoFailure) => {
            Why::transient(Code::SourceReadFailed, detail)
        }
        _ => Why::fatal(Code::SourceReadFailed, detail),
    }
}

/// SQLite's kind of error in words. Its message is not shown: it may quote a value.
pub(super) fn reason(error: &Error) -> String {
    let Some(code) = error.sqlite_error_code() else { return "the answer was not understood".into() };
    let text = match code {
        ErrorCode::NotADatabase => "the file is not a database",
        ErrorCode::CannotOpen => "the file cannot be opened",
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => "permission was denied",
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => "another process holds a lock",
        ErrorCode::DatabaseCorrupt => "the database is damaged",
        ErrorCode::ReadOnly => "an unfinished transaction must first be rolled back by a writer",
        ErrorCode::SystemIoFailure => "reading the file failed",
        ErrorCode::OutOfMemory => "out of memory",
        ErrorCode::TooBig => "a value is too large",
        ErrorCode::OperationInterrupted => "interrupted",
        ErrorCode::SchemaChanged => "the schema changed",
        _ => "the statement failed",
    };
    let number = error.sqlite_error().map_or(0, |e| e.extended_code);
    format!("{text} (code {number})")
}
