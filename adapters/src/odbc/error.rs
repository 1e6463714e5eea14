//! What a driver says when something fails.

use odbc_api::Error;
use odbc_api::handles::Record;

/// A failed call.
///
/// The message is the driver's own. It can quote what it was given, so what a statement's literals hold is cut out of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (SQLSTATE {sqlstate}, {native})")]
pub struct OdbcError {
    /// The five characters of the SQLSTATE; `HY000` where a driver gives none.
    pub sqlstate: String,
    /// The server's or driver's own number.
    pub native: i32,
    /// What it says, without the texts in quotes and without the names of the layers that passed it on.
    pub message: String,
    /// The column of the result, from 0, that it is about, where that is known.
    pub column: Option<usize>,
}

impl OdbcError {
    /// An error that is found here and not by the driver.
    pub fn local(sqlstate: &str, message: impl Into<String>) -> Self {
        Self { sqlstate: sqlstate.to_owned(), native: 0, message: message.into(), column: None }
    }

    /// An error that the server gives as a row of a result.
    pub(crate) fn told(native: i32, message: &str) -> Self {
        Self { sqlstate: "42000".to_owned(), native, message: redacted(message), column: None }
    }

    /// What the library reports.
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Diagnostics { record, .. }
            | Error::UnsupportedOdbcApiVersion(record)
            | Error::InvalidRowArraySize { record, .. }
            | Error::UnableToRepresentNull(record)
            | Error::OracleOdbcDriverDoesNotSupport64Bit(record) => Self::of_record(record),
            other => Self::local("HY000", redacted(&other.to_string())),
        }
    }

    /// What a driver left behind.
    pub(crate) fn of_record(record: &Record) -> Self {
        Self {
            sqlstate: record.state.as_str().to_owned(),
            native: record.native_error,
            message: redacted(&String::from_utf16_lossy(&record.message)),
            column: None,
        }
    }

    /// Whether the connection is gone.
    ///
    /// Drivers do not agree: Microsoft's says `08S01`, FreeTDS `01000` with 20017 or 20006 or 20003.
    pub fn is_connection_lost(&self) -> bool {
        self.sqlstate.starts_with("08")
            || matches!(self.sqlstate.as_str(), "57P01" | "57P02" | "57P03" | "25P03")
            || matches!(self.native, 20_002..=20_009 | 20_017 | 20_047 | 2006 | 2013)
    }

    /// Whether trying again in a new session can help: a closed list of classes.
    pub fn is_transient(&self) -> bool {
        self.is_connection_lost()
            // Deadlock victim, serialization failure, timeouts.
            || matches!(self.sqlstate.as_str(), "40001" | "40P01" | "HYT00" | "HYT01" | "55P03")
            // SQL Server: deadlock, lock timeout, out of workers or memory, failover in progress.
            || matches!(self.native, 1205 | 1222 | 701 | 8645 | 8651 | 10_928 | 10_929 | 40_197 | 40_501 | 40_613)
            // MySQL: deadlock, lock wait timeout.
            || matches!(self.native, 1213)
    }

    /// Whether the read was cancelled from here.
    pub fn is_cancelled(&self) -> bool {
        self.sqlstate == "HY008"
    }
}

/// A driver's message without what stands between single quotes and without the layers' names in brackets.
fn redacted(message: &str) -> String {
    let mut rest = message.trim();
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        rest = after.trim_start();
    }
    let mut text = String::with_capacity(rest.len().min(512));
    let mut quoted = false;
    for character in rest.chars().take(512) {
        if character == '\'' {
            quoted = !quoted;
            text.push_str(if quoted { "'…" } else { "'" });
        } else if !quoted {
            text.push(if character.is_control() { ' ' } else { character });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_quoted_texts_and_layers() {
        for (message, expect) in [
            (
                "[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]Invalid object name 'dbo.x'.",
                "Invalid object name '…'.",
            ),
            ("[FreeTDS][SQL Server]Unexpected EOF", "Unexpected EOF"),
            ("no 'end", "no '…"),
            ("two\nlines", "two lines"),
        ] {
            assert_eq!(redacted(message), expect);
        }
    }
}
