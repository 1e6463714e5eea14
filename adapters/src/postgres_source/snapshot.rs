//! One state of the database: a session exports its snapshot and holds it, every other joins it.
//!
//! The holder first locks what is read against `TRUNCATE` and rewriting changes of the table, which no snapshot protects
//! from, and exports only then; joining sessions take the same lock at once.

use std::sync::{Mutex, PoisonError};

use crate::postgres::{Config, PgError, Session, quote_literal};

/// The session that keeps a state alive, and what joins it.
pub(super) struct Holder {
    config: Config,
    /// What to select from to lock everything that is read.
    from: String,
    /// The exported snapshot; `None` for a source that does not change.
    snapshot: Option<String>,
    session: Mutex<Session>,
}

impl Holder {
    /// Makes a session that is connected and in a transaction ([`begin`]) the holder of a state.
    pub(super) fn new(config: Config, from: String, mut session: Session, shared: bool) -> Result<Self, PgError> {
        lock(&mut session, &from)?;
        let snapshot = if shared { Some(cell(&mut session, "SELECT pg_catalog.pg_export_snapshot()")?) } else { None };
        Ok(Self { config, from, snapshot, session: Mutex::new(session) })
    }

    /// The snapshot's name.
    pub(super) fn snapshot(&self) -> Option<&str> {
        self.snapshot.as_deref()
    }

    /// A new session on the state.
    pub(super) fn join(&self) -> Result<Session, PgError> {
        let mut session = Session::connect(&self.config)?;
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        if let Some(snapshot) = &self.snapshot {
            session.execute(&format!("SET TRANSACTION SNAPSHOT {}", quote_literal(snapshot)))?;
        }
        lock(&mut session, &self.from)?;
        Ok(session)
    }

    /// Whether the state is still held. A source that does not change needs no holder.
    pub(super) fn check(&self) -> Result<(), PgError> {
        if self.snapshot.is_none() {
            return Ok(());
        }
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.query("SELECT 1").map(|_| ())
    }
}

/// Connects the session that is to hold a state. It reads committed rows until it exports, so that what it exports is
/// younger than its locks.
pub(super) fn begin(config: &Config) -> Result<Session, PgError> {
    let mut session = Session::connect(config)?;
    session.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY")?;
    Ok(session)
}

/// Locks whatever a relation reads against changes of its form, without reading a row.
pub(super) fn lock(session: &mut Session, from: &str) -> Result<(), PgError> {
    session.execute(&format!("SELECT 1 FROM {from} LIMIT 0")).map(|_| ())
}

/// Which database it is: the cluster's number, its timeline, the database's number. Where the server does not let the user
/// see the first two they are 0.
pub(super) fn database_identity(session: &mut Session) -> Result<String, PgError> {
    let may = "SELECT pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') \
               AND pg_catalog.has_function_privilege('pg_catalog.pg_control_checkpoint()', 'EXECUTE')";
    let cluster = if cell(session, may)? == "t" {
        cell(
            session,
            "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()) || '.' || \
             (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint())",
        )?
    } else {
        "0.0".to_owned()
    };
    let database =
        cell(session, "SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()")?;
    Ok(format!("{cluster}.{database}"))
}

fn cell(session: &mut Session, sql: &str) -> Result<String, PgError> {
    let rows = session.query(sql)?;
    let cell = rows.into_iter().next().and_then(|row| row.into_iter().next()).flatten();
    cell.ok_or_else(|| PgError::protocol("a statement that must have an answer has none"))
}
