//! One connection: statements, small results as text, and statements that are streamed.

use odbc_api::handles::{AsStatementRef, Statement as _, StatementImpl};
use odbc_api::{
    Connection as Handle, ConnectionOptions, Cursor, CursorImpl, DataType, Nullability, Preallocated,
    ResultSetMetadata, environment,
};
use secrecy::ExposeSecret as _;

use super::cancel::{Canceller, Guard};
use super::config::Config;
use super::error::OdbcError;
use super::profile::Family;

/// Rows of a small result, at most.
const MOST_ROWS: usize = 200_000;
/// Bytes of a small result, at most.
const MOST_BYTES: usize = 64 << 20;

/// A row of a small result, each field as text.
pub type Row = Vec<Option<String>>;

/// A column of a result, as the driver describes it. Drivers guess: this is for sources that have no catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// Its SQL type.
    pub data_type: DataType,
    /// Whether it can be NULL; true if the driver does not know.
    pub nullable: bool,
}

/// An open connection.
pub struct Connection {
    handle: Handle<'static>,
    canceller: Canceller,
    family: Family,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("family", &self.family).finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects, to another database of the server if one is named, as `application`.
    ///
    /// # Errors
    /// What the driver or its manager says; `IM…` states are the manager's.
    pub fn open(config: &Config, database: Option<&str>, application: &str) -> Result<Self, OdbcError> {
        let environment = environment().map_err(|e| OdbcError::of(&e))?;
        let seconds = u32::try_from(config.connect_timeout.as_secs()).unwrap_or(u32::MAX);
        // sqliteodbc answers to a login timeout with an error, and has nobody to wait for.
        let login = (config.family != Family::Sqlite).then_some(seconds);
        let options = ConnectionOptions { login_timeout_sec: login, packet_size: None };
        let string = config.session(database, application);
        let handle = environment
            .connect_with_connection_string(string.expose_secret(), options)
            .map_err(|e| OdbcError::of(&e))?;
        Ok(Self { handle, canceller: Canceller::default(), family: config.family })
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
        let mut statement = self.handle.preallocate().map_err(|e| OdbcError::of(&e))?;
        let guard = self.canceller.enter(statement.as_stmt_ref().as_sys());
        if self.canceller.is_cut() {
            return Err(OdbcError::local("HY008", "the connection was given up"));
        }
        Ok(Statement { _guard: guard, statement })
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
        let Some(mut cursor) = statement.run(sql)? else { return Ok(Vec::new()) };
        let columns = cursor.num_result_cols().map_err(|e| OdbcError::of(&e))?;
        let columns = u16::try_from(columns).unwrap_or(0);
        let (mut rows, mut bytes) = (Vec::new(), 0_usize);
        let mut units: Vec<u16> = Vec::new();
        while let Some(mut row) = cursor.next_row().map_err(|e| OdbcError::of(&e))? {
            let mut cells = Vec::with_capacity(columns.into());
            for column in 1..=columns {
                units.clear();
                let there = row.get_wide_text(column, &mut units).map_err(|e| OdbcError::of(&e))?;
                let text = there.then(|| String::from_utf16(&units)).transpose();
                let text = text.map_err(|_| OdbcError::local("22018", "a text of the catalog is not UTF-16"))?;
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
        let Some(mut cursor) = statement.run(sql)? else { return Ok(Vec::new()) };
        let count = cursor.num_result_cols().map_err(|e| OdbcError::of(&e))?;
        let mut columns = Vec::new();
        for number in 1..=u16::try_from(count).unwrap_or(0) {
            let mut described = odbc_api::ColumnDescription::default();
            cursor.describe_col(number, &mut described).map_err(|e| OdbcError::of(&e))?;
            columns.push(Described {
                name: described
                    .name_to_string()
                    .map_err(|_| OdbcError::local("22018", "a column's name is not UTF-16"))?,
                data_type: described.data_type,
                nullable: described.nullability != Nullability::NoNulls,
            });
        }
        Ok(columns)
    }
}

/// A statement that can be cancelled. Fields are dropped in this order.
pub struct Statement<'c> {
    _guard: Guard,
    statement: Preallocated<StatementImpl<'c>>,
}

/// The rows of a statement under way.
pub type Rows<'s> = CursorImpl<odbc_api::handles::StatementRef<'s>>;

impl Statement<'_> {
    /// Sends it; its rows, if it has some.
    ///
    /// # Errors
    /// As the driver says.
    pub fn run(&mut self, sql: &str) -> Result<Option<Rows<'_>>, OdbcError> {
        self.statement.execute(sql, ()).map_err(|e| OdbcError::of(&e))
    }
}
