//! What a statement of preflight means to the operator when it fails.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use crate::postgres::{PgError, PgErrorKind};

/// The refusal for a statement that failed while `doing` something; `place` is what it was about.
pub(super) fn refused(error: &PgError, doing: &str, place: &str) -> Refusal {
    let (code, fix) = match (&error.kind, error.sqlstate()) {
        (_, Some("42501")) => {
            (Code::SourcePermissionDenied, "Grant SELECT on it, and USAGE on its schema, to the connection's user.")
        }
        // Where there is no statement yet, it is the session's own settings that are refused.
        (_, Some(_)) if place == "source" && error.kind != PgErrorKind::Auth && !error.transient() => {
            (Code::SourceNotFound, "Check the connection's database, user and `_OPTIONS`, and the server itself.")
        }
        (_, Some("25006")) => {
            (Code::SourceQueryInvalid, "Read what changes nothing: dpone reads in transactions that cannot write.")
        }
        (_, Some("42P01" | "3F000")) if place == "source.table" => {
            (Code::SourceTableNotFound, "State the name of a table or view of this database.")
        }
        (_, Some(state)) if state.starts_with("42") || state.starts_with("0A") => {
            (Code::SourceQueryInvalid, "Check that the statement runs in psql with this connection's user.")
        }
        // A lock that was not given up in `_LOCK_TIMEOUT`, or one that two sessions waited for crosswise.
        (_, Some("55P03" | "40P01")) => {
            (Code::SourceLocked, "Wait until whoever rewrites or locks the table is done, or raise `_LOCK_TIMEOUT`.")
        }
        (PgErrorKind::Auth, _) => (Code::SourceNotFound, "Check the connection's user, password and TLS settings."),
        _ => (Code::SourceNotFound, "Check that the server can be reached and answers, then run it again."),
    };
    Refusal::new(code, format!("{doing}: {}", error.message)).at(place).fix(fix)
}
