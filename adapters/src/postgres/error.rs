//! What goes wrong with a session, and which of it may pass.

use std::io;

use super::message::public_message;

/// The kind of a [`PgError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PgErrorKind {
    /// The connection could not be made, or was cut.
    Network,
    /// The server was silent for longer than is allowed, and does not work on the statement.
    Deadline,
    /// The server refused the user, or its certificate was refused.
    Auth,
    /// The server reported an error.
    Server {
        /// Five characters; see the server's manual, appendix A.
        sqlstate: String,
    },
    /// The server's answer was not understood.
    Protocol,
    /// The statement ended because it was cancelled here.
    Cancelled,
}

/// A failed call. After `Network`, `Deadline` and `Protocol` the session is good for nothing.
///
/// Invariant: the message holds neither a secret nor a value of the database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PgError {
    /// What kind.
    pub kind: PgErrorKind,
    /// One sentence, of bounded length.
    pub message: String,
}

impl PgError {
    pub(super) fn new(kind: PgErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn protocol(message: impl Into<String>) -> Self {
        Self::new(PgErrorKind::Protocol, message)
    }

    pub(super) fn network(doing: &str, error: &io::Error) -> Self {
        Self::new(PgErrorKind::Network, format!("{doing}: {}", error.kind()))
    }

    /// The server's SQLSTATE, if the server reported an error.
    pub fn sqlstate(&self) -> Option<&str> {
        match &self.kind {
            PgErrorKind::Server { sqlstate } => Some(sqlstate),
            _ => None,
        }
    }

    /// Whether trying again, in a new session and under a bound, can help. The list is closed.
    pub fn transient(&self) -> bool {
        match &self.kind {
            PgErrorKind::Network | PgErrorKind::Deadline => true,
            PgErrorKind::Auth | PgErrorKind::Protocol | PgErrorKind::Cancelled => false,
            PgErrorKind::Server { sqlstate } => is_transient(sqlstate),
        }
    }

    /// The error that an `ErrorResponse` reports, and whether the session ended with it. `cancelled` says whether this
    /// side asked for it.
    pub(super) fn of_response(body: &[u8], cancelled: bool) -> (Self, bool) {
        let mut fields = Fields::default();
        for field in body.split(|b| *b == 0) {
            let Some((kind, value)) = field.split_first() else { break };
            let value = String::from_utf8_lossy(value);
            match kind {
                b'S' if fields.severity.is_empty() => fields.severity = value.into_owned(),
                b'V' => fields.severity = value.into_owned(),
                b'C' => fields.sqlstate = value.into_owned(),
                b'M' => fields.message = value.into_owned(),
                b't' => fields.table = Some(value.into_owned()),
                b'c' => fields.column = Some(value.into_owned()),
                b'n' => fields.constraint = Some(value.into_owned()),
                _ => {}
            }
        }
        let named = fields.named();
        let Fields { severity, sqlstate, message, .. } = fields;
        if sqlstate.len() != 5 || !sqlstate.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return (Self::protocol("the server reported an error without an SQLSTATE"), true);
        }
        let ended = matches!(severity.as_str(), "FATAL" | "PANIC");
        let severity: String = severity.chars().filter(char::is_ascii_alphabetic).take(16).collect();
        let text = format!("{severity} {sqlstate}: {}{named}", public_message(&sqlstate, &message));
        let kind = match sqlstate.as_str() {
            "57014" if cancelled => PgErrorKind::Cancelled,
            state if state.starts_with("28") => PgErrorKind::Auth,
            _ => PgErrorKind::Server { sqlstate },
        };
        (Self::new(kind, text), ended)
    }
}

#[derive(Default)]
struct Fields {
    severity: String,
    sqlstate: String,
    message: String,
    table: Option<String>,
    column: Option<String>,
    constraint: Option<String>,
}

impl Fields {
    /// What a violated constraint is called: names that the server gives beside its message, which may quote values.
    fn named(&self) -> String {
        if !self.sqlstate.starts_with("23") {
            return String::new();
        }
        let parts = [("constraint", &self.constraint), ("column", &self.column), ("table", &self.table)];
        let parts: Vec<String> = parts
            .into_iter()
            .filter_map(|(what, name)| {
                Some(format!("{what} {:?}", name.as_ref()?.chars().take(63).collect::<String>()))
            })
            .collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

/// A statement that was cancelled from here is not among them: 57014 is then [`PgErrorKind::Cancelled`], and otherwise a
/// timeout of the server or its operator's doing.
fn is_transient(sqlstate: &str) -> bool {
    matches!(
        sqlstate,
        "57P01" | "57P02" | "57P03" | "57P05" | "57014" | "40001" | "40P01" | "55P03" | "25P03" | "25P04"
    ) || sqlstate.starts_with("53")
        || sqlstate.starts_with("08")
}

#[cfg(test)]
mod tests {
    use super::{PgError, PgErrorKind};

    fn response(fields: &[(u8, &str)]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, value) in fields {
            body.push(*kind);
            body.extend_from_slice(value.as_bytes());
            body.push(0);
        }
        body.push(0);
        body
    }

    #[test]
    fn what_a_response_means() {
        let check = |state: &str, cancelled: bool, kind: Option<PgErrorKind>, transient: bool| {
            let body = response(&[(b'S', "ERREUR"), (b'V', "ERROR"), (b'C', state), (b'M', "m"), (b'D', "detail")]);
            let (error, ended) = PgError::of_response(&body, cancelled);
            assert_eq!(error.kind, kind.unwrap_or(PgErrorKind::Server { sqlstate: state.to_owned() }), "{state}");
            assert_eq!((error.transient(), ended), (transient, false), "{state}");
            assert_eq!(error.message, format!("ERROR {state}: m"));
        };
        for state in ["57P01", "57P02", "57P03", "57014", "40001", "40P01", "55P03", "53100", "53300", "08006"] {
            check(state, false, None, true);
        }
        for state in ["42P01", "22021", "0A000", "XX000", "25006", "58030"] {
            check(state, false, None, false);
        }
        check("57014", true, Some(PgErrorKind::Cancelled), false);
        check("28P01", false, Some(PgErrorKind::Auth), false);
    }

    #[test]
    fn a_violated_constraint_is_named_and_no_value_is() {
        let check = |state: &str, shown: &str| {
            let message = "value \"secret\" violates it";
            let body = response(&[
                (b'V', "ERROR"),
                (b'C', state),
                (b'M', message),
                (b'D', "Key (id)=(secret)"),
                (b'n', "t_\"id"),
                (b't', "t"),
            ]);
            assert_eq!(
                PgError::of_response(&body, false).0.message,
                format!("ERROR {state}: value \"…\" violates it{shown}")
            );
        };
        check("23505", " (constraint \"t_\\\"id\", table \"t\")");
        check("42501", "");
    }

    #[test]
    fn a_fatal_error_ends_the_session_and_garbage_too() {
        let body = response(&[(b'S', "FATAL"), (b'V', "FATAL"), (b'C', "57P01"), (b'M', "terminating connection")]);
        assert!(PgError::of_response(&body, false).1);
        for body in [b"".as_slice(), b"\0", b"C\0", b"Cxx\0Mm\0\0", b"\xff\xff\xff"] {
            let (error, ended) = PgError::of_response(body, false);
            assert_eq!((error.kind, ended), (PgErrorKind::Protocol, true));
        }
    }
}
