//! One connection, used by one thread at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use postgres_protocol::message::frontend;

use super::authenticate::{SMALL, authenticate};
use super::cancel::{Canceller, Inner};
use super::config::Config;
use super::copy_in::CopyIn;
use super::copy_out::CopyOut;
use super::error::{PgError, PgErrorKind};
use super::quote::quote_literal;
use super::stream::{Socket, Stream};
use super::watch::Watch;
use super::wire::{Header, Wire};

/// The most bytes of an answer's values, and of rows.
const ANSWER_BYTES: usize = 64 << 20;
const ANSWER_ROWS: usize = 4 << 20;
/// The most bytes of an error or notice.
const REPORT: u32 = 1 << 20;
/// The most settings that are remembered.
const SETTINGS: usize = 256;

/// What an operator must know of a pooler.
const POOLED: &str = "a pooler stands before the server: it must pool sessions, not transactions, or dpone's settings may not \
     hold and stay behind for others";

/// Rows as text, NULL as `None`.
pub type Rows = Vec<Vec<Option<String>>>;

/// A session. It is ended by being dropped.
pub struct Session {
    pub(super) wire: Wire,
    settings: BTreeMap<String, String>,
    cancel: Arc<Inner>,
    pub(super) state: State,
}

/// What can be sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A statement.
    Ready,
    /// What belongs to a COPY that has not been ended.
    Copying,
    /// Nothing.
    Ended,
}

/// What the server says next, after what it may say at any time.
pub(super) enum Said {
    /// A message whose body has not been read.
    Message(Header),
    /// An error; the session is ready or has ended.
    Error(PgError),
}

impl Session {
    /// Connects, proves the password and settles everything that decides how values are written: texts in UTF-8 (as they
    /// are stored where the database is `SQL_ASCII`), ISO dates in UTC, floats with all their digits, no timeout but that of
    /// locks.
    ///
    /// # Errors
    /// If there is no connection, or the server refuses it.
    pub fn connect(config: &Config) -> Result<Self, PgError> {
        let mut session = Self::connect_unwatched(config)?;
        session.wire.watch(Watch::new(config, session.cancel.process));
        Ok(session)
    }

    pub(super) fn connect_unwatched(config: &Config) -> Result<Self, PgError> {
        let (socket, address) = Socket::connect(config)?;
        let stream = Stream::negotiate(socket, config)?;
        let encrypted = stream.is_encrypted();
        let handle = stream.handle().map_err(|e| PgError::network("connecting", &e))?;
        let mut wire = Wire::new(stream);
        authenticate(&mut wire, config)?;
        let cancel = Inner {
            config: config.clone(),
            address,
            encrypted,
            process: 0,
            secret: 0,
            socket: Some(handle),
            asked: AtomicBool::new(false),
        };
        let mut session = Self { wire, settings: BTreeMap::new(), cancel: Arc::new(cancel), state: State::Copying };
        session.start()?;
        session.wire.stream().set_timeout(config.read_deadline).map_err(|e| PgError::network("connecting", &e))?;
        session.settle(config)?;
        Ok(session)
    }

    /// Reads up to the first time that the server is ready.
    fn start(&mut self) -> Result<(), PgError> {
        loop {
            match self.said()? {
                Said::Error(error) => return Err(error),
                Said::Message(header) => {
                    let body = self.wire.body(header, SMALL)?;
                    match header.tag {
                        b'K' => {
                            let (process, rest) = body.split_first_chunk::<4>().ok_or_else(strange)?;
                            let secret = rest.first_chunk::<4>().ok_or_else(strange)?;
                            let cancel = Arc::get_mut(&mut self.cancel).ok_or_else(strange)?;
                            cancel.process = i32::from_be_bytes(*process);
                            cancel.secret = i32::from_be_bytes(*secret);
                        }
                        b'Z' => {
                            self.state = State::Ready;
                            return Ok(());
                        }
                        _ => return Err(strange()),
                    }
                }
            }
        }
    }

    fn settle(&mut self, config: &Config) -> Result<(), PgError> {
        // An operator who set one of these in the options wants it so.
        let options = config.options.as_deref().unwrap_or_default();
        if !options.contains("statement_timeout") {
            // By itself, so that it holds for what follows.
            self.execute("SET statement_timeout = 0")?;
        }
        let mut sql = String::new();
        if self.server_encoding() == "SQL_ASCII" {
            sql.push_str("SET client_encoding = 'SQL_ASCII'; ");
        }
        sql.push_str(
            "SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres'; SET TimeZone = 'UTC'; \
             SET extra_float_digits = 3; SET bytea_output = 'hex'; SET standard_conforming_strings = on; ",
        );
        if !options.contains("lock_timeout") {
            sql.push_str(&format!("SET lock_timeout = {}; ", config.lock_timeout.as_millis()));
        }
        let endless = ["idle_in_transaction_session_timeout", "idle_session_timeout", "transaction_timeout"];
        let endless: Vec<String> =
            endless.iter().filter(|name| !options.contains(**name)).map(|name| quote_literal(name)).collect();
        if !endless.is_empty() {
            sql.push_str(&format!(
                "SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN ({})",
                endless.join(", ")
            ));
        }
        self.query(&sql).map(|_| ())
    }

    /// Runs statements and gathers their rows.
    ///
    /// # Errors
    /// What the server reports; `Protocol` if the rows are more than 64 MiB or 4 million.
    pub fn query(&mut self, sql: &str) -> Result<Rows, PgError> {
        self.run(sql, true).map(|(rows, _)| rows)
    }

    /// Runs statements; the number of rows that the last one says it affected, 0 if it says none.
    ///
    /// # Errors
    /// What the server reports.
    pub fn execute(&mut self, sql: &str) -> Result<u64, PgError> {
        self.run(sql, false).map(|(_, rows)| rows)
    }

    fn run(&mut self, sql: &str, keep: bool) -> Result<(Rows, u64), PgError> {
        self.send(sql)?;
        let (mut rows, mut bytes, mut affected) = (Rows::new(), 0, 0);
        loop {
            let header = match self.said()? {
                Said::Error(error) => return Err(error),
                Said::Message(header) => header,
            };
            match header.tag {
                b'D' if keep => {
                    bytes += header.length as usize;
                    if bytes > ANSWER_BYTES || rows.len() >= ANSWER_ROWS {
                        return Err(self.end(PgError::protocol("an answer is larger than is allowed")));
                    }
                    let body = self.wire.body(header, i32::MAX as u32)?;
                    rows.push(row(&body).ok_or_else(|| self.end(strange()))?);
                }
                b'C' => affected = rows_of_tag(&self.wire.body(header, SMALL)?),
                b'Z' => {
                    self.wire.skip(header.length as usize)?;
                    self.state = State::Ready;
                    return Ok((rows, affected));
                }
                // A row nobody wants, a description of rows, an empty statement.
                b'D' | b'T' | b'I' => self.wire.skip(header.length as usize)?,
                _ => return Err(self.end(PgError::protocol("the statement is not one that can be run like this"))),
            }
        }
    }

    /// Starts a `COPY … TO STDOUT`.
    ///
    /// # Errors
    /// What the server reports.
    pub fn copy_out(&mut self, sql: &str) -> Result<CopyOut<'_>, PgError> {
        self.start_copy(sql, b'H')?;
        Ok(CopyOut::new(self))
    }

    /// Starts a `COPY … FROM STDIN`.
    ///
    /// # Errors
    /// What the server reports.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, PgError> {
        self.start_copy(sql, b'G')?;
        Ok(CopyIn::new(self))
    }

    fn start_copy(&mut self, sql: &str, tag: u8) -> Result<(), PgError> {
        self.send(sql)?;
        match self.said()? {
            Said::Error(error) => Err(error),
            Said::Message(header) if header.tag == tag => self.wire.skip(header.length as usize),
            Said::Message(_) => Err(self.end(PgError::protocol("the statement is not the COPY that it should be"))),
        }
    }

    /// Sends statements. From now on the session is only ready once the server says so.
    pub(super) fn send(&mut self, sql: &str) -> Result<(), PgError> {
        match self.state {
            State::Ready => {}
            State::Copying => return Err(self.end(PgError::protocol("an earlier COPY was not ended"))),
            State::Ended => return Err(PgError::new(PgErrorKind::Network, "the session has ended")),
        }
        self.cancel.asked.store(false, Ordering::SeqCst);
        // Looked for first: a message that fails half-way stays in the output.
        if sql.contains('\0') {
            return Err(PgError::protocol("a statement has a zero byte"));
        }
        frontend::query(sql, self.wire.output()).map_err(|_| PgError::protocol("a statement is too long"))?;
        self.state = State::Copying;
        self.wire.flush().map_err(|e| self.end(e))
    }

    /// The next message. Settings and notices are taken in on the way, and after an error the server is waited for.
    pub(super) fn said(&mut self) -> Result<Said, PgError> {
        self.listen().map_err(|e| self.end(e))
    }

    fn listen(&mut self) -> Result<Said, PgError> {
        loop {
            let header = self.wire.header()?;
            match header.tag {
                b'N' | b'A' => self.wire.skip(header.length as usize)?,
                b'S' => {
                    let body = self.wire.body(header, SMALL)?;
                    let mut parts = body.split(|b| *b == 0).map(String::from_utf8_lossy);
                    if let (Some(name), Some(value)) = (parts.next(), parts.next())
                        && self.settings.len() < SETTINGS
                    {
                        self.settings.insert(name.into_owned(), value.into_owned());
                    }
                }
                b'E' => return self.failed(header).map(Said::Error),
                _ => return Ok(Said::Message(header)),
            }
        }
    }

    /// Takes in an error and waits until the server is ready again, if it will be.
    fn failed(&mut self, header: Header) -> Result<PgError, PgError> {
        let body = self.wire.body(header, REPORT)?;
        let (error, ended) = PgError::of_response(&body, self.cancel.asked.load(Ordering::SeqCst));
        if ended {
            self.state = State::Ended;
            return Ok(error);
        }
        // The error is what is told, even if the connection then breaks.
        while let Ok(header) = self.wire.header() {
            if self.wire.skip(header.length as usize).is_err() {
                break;
            }
            if header.tag == b'Z' {
                self.state = State::Ready;
                return Ok(error);
            }
        }
        self.state = State::Ended;
        Ok(error)
    }

    /// Nothing can be asked of the session any more.
    pub(super) fn end(&mut self, error: PgError) -> PgError {
        self.state = State::Ended;
        // A connection that was cut from here broke because of that.
        if error.kind == PgErrorKind::Network && self.cancel.asked.load(Ordering::SeqCst) {
            return PgError::new(PgErrorKind::Cancelled, "the connection was cut");
        }
        error
    }

    /// What an operator must know if something between here and the server hands out its sessions: the process that was
    /// told at the start is then not the one that answers.
    ///
    /// # Errors
    /// What the server reports.
    pub fn pooled(&mut self) -> Result<Option<&'static str>, PgError> {
        let rows = self.query("SELECT pg_catalog.pg_backend_pid()")?;
        let told = self.process().to_string();
        let same = rows.first().and_then(|row| row.first()?.as_ref()).is_some_and(|process| *process == told);
        Ok((!same).then_some(POOLED))
    }

    /// Whether another statement can be sent.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// What stops this session's statements from another thread.
    pub fn canceller(&self) -> Canceller {
        Canceller { inner: Arc::clone(&self.cancel) }
    }

    /// A setting that the server reports by itself, such as `server_version`.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// The database's encoding. Where it is `SQL_ASCII`, texts arrive as they are stored, in whatever encoding that is.
    pub fn server_encoding(&self) -> &str {
        self.setting("server_encoding").unwrap_or("UTF8")
    }

    /// The server's version as `server_version_num` has it, such as 150020; 0 if it is not understood.
    pub fn server_version(&self) -> u32 {
        let text = self.setting("server_version").unwrap_or_default();
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse::<u32>().unwrap_or(0));
        let (major, minor, patch) =
            (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if major >= 10 { major * 10_000 + minor } else { major * 10_000 + minor * 100 + patch }
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.wire.stream().is_encrypted()
    }

    /// The server process that this session has, as `pg_stat_activity` lists it.
    pub fn process(&self) -> i32 {
        self.cancel.process
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.state == State::Ready {
            frontend::terminate(self.wire.output());
            // A server that does not listen any more notices the closed connection instead.
            let _ = self.wire.flush();
        } else if let Some(socket) = &self.cancel.socket {
            // A canceller may live longer than the session: its handle must not keep the connection.
            socket.shutdown();
        }
    }
}

/// The cells of a row; `None` if they are not whole.
fn row(body: &[u8]) -> Option<Vec<Option<String>>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut cells = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<4>()?;
        rest = after;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            cells.push(None);
            continue;
        };
        let (cell, after) = rest.split_at_checked(length)?;
        rest = after;
        cells.push(Some(String::from_utf8_lossy(cell).into_owned()));
    }
    Some(cells)
}

/// The number at the end of a command tag.
pub(super) fn rows_of_tag(tag: &[u8]) -> u64 {
    let text = std::str::from_utf8(tag).unwrap_or_default().trim_end_matches('\0');
    text.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

pub(super) fn strange() -> PgError {
    PgError::protocol("the server's answer is not understood")
}
