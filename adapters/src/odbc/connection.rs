//! One connection: statements, small results as text, and statements that are streamed.

use std::mem::ManuallyDrop;

use odbc_api::handles::SqlResult;
use odbc_api::sys::{HandleType, SQLFreeHandle};
use odbc_api::{Connection as Handle, ConnectionOptions, environment};
use secrecy::ExposeSecret as _;

use super::cancel::Canceller;
use super::config::{Config, Session};
use super::error::OdbcError;
use super::profile::Family;
use super::statement::{Described, Statement};

/// Rows of a small result, at most.
const MOST_ROWS: usize = 200_000;
/// Bytes of a small result, at most.
const MOST_BYTES: usize = 64 << 20;

/// A row of a small result, each field as text.
pub type Row = Vec<Option<String>>;

/// An open connection.
pub struct Connection {
    handle: ManuallyDrop<Handle<'static>>,
    canceller: Canceller,
    family: Family,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("family", &self.family).finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// What the driver or its manager says; `IM…` states are the manager's.
    pub fn open(config: &Config, session: &Session<'_>) -> Result<Self, OdbcError> {
        let environment = environment().map_err(|e| OdbcError::of(&e))?;
        let seconds = u32::try_from(config.connect_timeout.as_secs()).unwrap_or(u32::MAX);
        // sqliteodbc answers to a login timeout with an error, and has nobody to wait for.
        let login = (config.family != Family::Sqlite).then_some(seconds);
        let options = ConnectionOptions { login_timeout_sec: login, packet_size: None };
        let string = config.session(session);
        let handle = environment
            .connect_with_connection_string(string.expose_secret(), options)
            .map_err(|e| OdbcError::of(&e))?;
        Ok(Self { handle: ManuallyDrop::new(handle), canceller: Canceller::default(), family: config.family })
    }

    /// What cancels this connection's statements.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Which family its driver is of.
    pub fn family(&self) -> Family {
        self.family
    }

    /// What the server calls itself.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn server_name(&self) -> Result<String, OdbcError> {
        self.handle.database_management_system_name().map_err(|e| OdbcError::of(&e))
    }

    /// Begins a statement.
    ///
    /// # Errors
    /// If the driver has no room for another, or the connection was cut.
    pub fn statement(&mut self) -> Result<Statement<'_>, OdbcError> {
        let statement = self.handle.preallocate().map_err(|e| OdbcError::of(&e))?;
        let statement = Statement::new(statement.into_handle().into_sys(), &self.canceller);
        if self.canceller.is_cut() {
            return Err(OdbcError::local("HY008", "the connection was given up"));
        }
        Ok(statement)
    }

    /// Runs a statement whose result, if it has one, is of no interest.
    ///
    /// # Errors
    /// As the driver says.
    pub fn execute(&mut self, sql: &str) -> Result<(), OdbcError> {
        self.statement()?.run(sql).map(|_| ())
    }

    /// A small result, every field as text.
    ///
    /// # Errors
    /// As the driver says; if the result is larger than catalogs are.
    pub fn query(&mut self, sql: &str) -> Result<Vec<Row>, OdbcError> {
        let mut statement = self.statement()?;
        if !statement.run(sql)? {
            return Ok(Vec::new());
        }
        let columns = u16::try_from(statement.columns()?.len()).unwrap_or(0);
        let (mut rows, mut bytes) = (Vec::new(), 0_usize);
        while statement.row()? {
            let mut cells = Vec::with_capacity(columns.into());
            for column in 1..=columns {
                let text = statement.text(column, MOST_BYTES)?;
                bytes += text.as_ref().map_or(1, String::len);
                cells.push(text);
            }
            rows.push(cells);
            if rows.len() > MOST_ROWS || bytes > MOST_BYTES {
                return Err(OdbcError::local("HY000", "a result is larger than any catalog's"));
            }
        }
        Ok(rows)
    }

    /// The columns of a statement's result. The statement is run: give one that has no rows.
    ///
    /// # Errors
    /// As the driver says.
    pub fn describe(&mut self, sql: &str) -> Result<Vec<Described>, OdbcError> {
        let mut statement = self.statement()?;
        if statement.run(sql)? { statement.columns() } else { Ok(Vec::new()) }
    }
}

/// Disconnects. Whatever a driver answers once its connection is gone, nothing more can be done about it.
impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: it is taken once, here.
        #[expect(unsafe_code, reason = "the library's own connection panics where it cannot disconnect")]
        let handle = unsafe { ManuallyDrop::take(&mut self.handle) };
        let mut handle = ManuallyDrop::new(handle.into_handle());
        let gone = |result: &SqlResult<()>| matches!(result, SqlResult::Success(()) | SqlResult::SuccessWithInfo(()));
        let mut disconnected = handle.disconnect();
        if !gone(&disconnected) {
            // A transaction under way is in the way.
            let _ = handle.rollback();
            disconnected = handle.disconnect();
        }
        if gone(&disconnected) {
            // SAFETY: nobody else has the handle, and its statements are freed.
            #[expect(unsafe_code, reason = "the library's own call panics where this one fails")]
            let _ = unsafe { SQLFreeHandle(HandleType::Dbc, handle.as_sys().as_handle()) };
        }
    }
}
