//! One session per step, its transaction, and what its errors mean.

use dpone_engine::codes::Code;
use dpone_engine::run::{Outcome, Receipt, Why};

use crate::postgres::{Config, PgError, PgErrorKind, Session};

/// What a step answers before it is an outcome.
pub(super) type Step<T> = Result<T, Why>;

/// Every name is written with its schema. A server that has lost this side must not keep its locks for hours.
const SETTINGS: &str = "SET search_path = pg_catalog; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; \
     SET tcp_keepalives_count = 6";

/// A transaction sees what others committed before each of its statements, so that what it reads under a lock is present.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// What makes a commit last is said in its own transaction: a pooler may have given the session's settings to another one.
pub(super) const DURABLE: &str = "SELECT pg_catalog.set_config('synchronous_commit', 'on', true) \
     WHERE pg_catalog.current_setting('synchronous_commit') <> 'remote_apply'";
const NOT_IDLE: &str = "SET LOCAL idle_in_transaction_session_timeout = '60s'";

/// Connects.
///
/// # Errors
/// Why there is no session.
pub(super) fn connect(config: &Config) -> Step<Session> {
    let mut session = Session::connect(config).map_err(|e| why(&e))?;
    run(&mut session, SETTINGS)?;
    // Where the server can: a statement whose client has gone is ended. A server that cannot says so and goes on.
    let watched =
        "SELECT set_config(name, '5s', false) FROM pg_settings WHERE name = 'client_connection_check_interval'";
    if let Err(error) = session.execute(watched)
        && !session.is_ready()
    {
        return Err(why(&error));
    }
    Ok(session)
}

/// Runs a statement; the number of rows that it says it affected.
///
/// # Errors
/// What the server reports.
pub(super) fn run(session: &mut Session, sql: &str) -> Step<u64> {
    session.execute(sql).map_err(|e| why(&e))
}

/// The rows of a statement.
///
/// # Errors
/// What the server reports.
pub(super) fn rows(session: &mut Session, sql: &str) -> Step<Vec<Vec<Option<String>>>> {
    session.query(sql).map_err(|e| why(&e))
}

/// The first cell of a statement's first row, if there is one and it is not NULL.
///
/// # Errors
/// What the server reports.
pub(super) fn cell(session: &mut Session, sql: &str) -> Step<Option<String>> {
    Ok(rows(session, sql)?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
}

/// Whether a statement's only cell is true.
///
/// # Errors
/// What the server reports.
pub(super) fn is_true(session: &mut Session, sql: &str) -> Step<bool> {
    Ok(cell(session, sql)?.as_deref() == Some("t"))
}

/// Begins a transaction that writes.
///
/// # Errors
/// What the server reports.
pub(super) fn begin(session: &mut Session) -> Step<()> {
    run(session, &format!("{BEGIN}; {NOT_IDLE}; {DURABLE}")).map(|_| ())
}

/// Does something in one transaction. What fails before the commit was asked for has not happened and will not.
pub(super) fn transact(
    config: &Config,
    doubt: Code,
    work: impl FnOnce(&mut Session) -> Step<Receipt>,
) -> Outcome<Receipt> {
    let begun = connect(config).and_then(|mut session| begin(&mut session).map(|()| session));
    let mut session = match begun {
        Ok(session) => session,
        Err(why) => return Outcome::NotDone(why),
    };
    match work(&mut session) {
        Ok(receipt) => commit(&mut session, receipt, doubt),
        Err(why) => Outcome::NotDone(why),
    }
}

/// Commits. An error after which the server goes on is its word that it rolled back; after any other it is not known.
pub(super) fn commit(session: &mut Session, receipt: Receipt, doubt: Code) -> Outcome<Receipt> {
    match session.execute("COMMIT") {
        Ok(_) => Outcome::Done(receipt),
        Err(error) if session.is_ready() => Outcome::NotDone(why(&error)),
        Err(error) => {
            Outcome::Unknown(Why::transient(doubt, format!("the connection was lost at the commit: {error}")))
        }
    }
}

/// The cause that an error stands for. Its sentence never holds a value of the database.
pub(super) fn why(error: &PgError) -> Why {
    let detail = error.message.clone();
    let code = match error.sqlstate() {
        Some("53100") => return Why::fatal(Code::TargetDiskFull, detail),
        Some("55P03" | "40P01" | "40001") => Code::TargetLocked,
        Some("22021" | "22P05") => Code::TextUnsupportedByTarget,
        Some("42501" | "25006") => Code::TargetNotReachable,
        _ if error.transient() || error.kind == PgErrorKind::Auth => Code::TargetNotReachable,
        _ => Code::LoadFailed,
    };
    Why { code, detail, transient: error.transient() }
}
