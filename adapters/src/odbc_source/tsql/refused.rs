//! What a statement of preflight means to the operator when it fails.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use crate::odbc::OdbcError;

/// The refusal for a statement that failed while `doing` something; `place` is what it was about.
pub(super) fn refused(error: &OdbcError, doing: &str, place: &str) -> Refusal {
    let (code, fix) = match error.native {
        // Permission on an object, on a column, on a database, to execute, to see the server's state.
        229 | 230 | 300 | 297 | 262 | 371 | 916 | 15247 => {
            (Code::SourcePermissionDenied, "Grant SELECT on it to the connection's user.")
        }
        208 | 911 | 4060 if place == "source.table" => {
            (Code::SourceTableNotFound, "State the name of a table or view, its schema and its database.")
        }
        1033 => (Code::SourceQueryInvalid, "Remove ORDER BY: the order of rows is not delivered."),
        4060 | 18452 | 18456 => (Code::SourceNotFound, "Check the connection's database, user and password."),
        1204 | 1205 | 1222 => (Code::SourceLocked, "Wait until whoever changes the table is done, then run it again."),
        _ if error.is_connection_lost() => {
            (Code::SourceNotFound, "Check that the server can be reached and answers, then run it again.")
        }
        _ if error.is_transient() => (Code::SourceLocked, "Run it again once the server is less busy."),
        _ => (Code::SourceQueryInvalid, "Check that the statement runs in sqlcmd with this connection's user."),
    };
    Refusal::new(code, format!("{doing}: {error}")).at(place).fix(fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_server_have_codes() {
        let check = |native, sqlstate: &str, place: &str, expect| {
            let error = OdbcError { native, ..OdbcError::local(sqlstate, "said") };
            assert_eq!(refused(&error, "doing", place).code, expect, "{native} {sqlstate}");
        };
        check(229, "42000", "source.table", Code::SourcePermissionDenied);
        check(208, "42S02", "source.table", Code::SourceTableNotFound);
        check(208, "42S02", "source.query", Code::SourceQueryInvalid);
        check(1033, "42000", "source.query", Code::SourceQueryInvalid);
        check(18456, "28000", "source", Code::SourceNotFound);
        check(1222, "HY000", "source.table", Code::SourceLocked);
        check(0, "08S01", "source.table", Code::SourceNotFound);
        check(0, "HYT00", "source.table", Code::SourceLocked);
    }
}
