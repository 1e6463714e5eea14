//! One statement and its rows.
//!
//! The library's own cursors panic when a driver fails to close one, which drivers do once their connection is gone; these
//! end without a word. Everything that a driver can write to outlives what it is bound to.

use std::marker::PhantomData;

use odbc_api::buffers::{ColumnarDynBuffer, Indicator};
use odbc_api::handles::{
    AnyHandle, AsStatementRef as _, CDataMut, Record, SqlResult, SqlText, Statement as Calls, StatementRef,
};
use odbc_api::parameter::VarWCharBox;
use odbc_api::sys::{HStmt, Handle, HandleType, SQLFreeHandle};
use odbc_api::{ColumnDescription, DataType, Nullability, RowSetBuffer as _};

use super::cancel::{Canceller, Guard};
use super::error::OdbcError;

/// Units of UTF-16 that a text of unknown length is read by.
const PIECE: usize = 2048;

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

/// A statement that can be cancelled, and its result. Fields are dropped in this order.
pub struct Statement<'c> {
    _guard: Guard,
    raw: Raw,
    /// What the driver writes blocks of rows to.
    buffer: Option<ColumnarDynBuffer>,
    _connection: PhantomData<&'c mut ()>,
}

/// A statement's handle, freed when it is dropped.
struct Raw(HStmt);

// SAFETY: the handle is a statement's, allocated by the driver manager, and valid until `Raw` is dropped.
#[expect(unsafe_code, reason = "the library's own statement panics where a driver cannot free it")]
unsafe impl AnyHandle for Raw {
    fn as_handle(&self) -> Handle {
        self.0.as_handle()
    }

    fn handle_type(&self) -> HandleType {
        HandleType::Stmt
    }
}

impl Calls for Raw {
    fn as_sys(&self) -> HStmt {
        self.0
    }

    fn end_cursor_scope(&mut self) -> SqlResult<()> {
        self.close_cursor()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handle; a driver that cannot free it keeps it until its connection ends.
        #[expect(unsafe_code, reason = "the library's own call panics where this one fails")]
        let _ = unsafe { SQLFreeHandle(HandleType::Stmt, self.0.as_handle()) };
    }
}

impl Statement<'_> {
    /// Takes a handle that nobody else has.
    pub(super) fn new(handle: HStmt, canceller: &Canceller) -> Self {
        let guard = canceller.enter(handle);
        Self { _guard: guard, raw: Raw(handle), buffer: None, _connection: PhantomData }
    }

    /// Sends it; whether it has rows.
    ///
    /// # Errors
    /// As the driver says.
    pub fn run(&mut self, sql: &str) -> Result<bool, OdbcError> {
        // SAFETY: the statement has no parameters, so none is dereferenced.
        #[expect(unsafe_code, reason = "sending a statement dereferences its parameters")]
        let result = unsafe { self.raw.exec_direct(&SqlText::new(sql)) };
        if self.there(result)?.is_none() {
            return Ok(false);
        }
        let columns = self.raw.num_result_cols();
        Ok(self.there(columns)?.is_some_and(|columns| columns > 0))
    }

    /// The columns of the result.
    ///
    /// # Errors
    /// As the driver says.
    pub fn columns(&mut self) -> Result<Vec<Described>, OdbcError> {
        let count = self.raw.num_result_cols();
        let count = self.there(count)?.unwrap_or(0);
        let mut columns = Vec::new();
        for number in 1..=u16::try_from(count).unwrap_or(0) {
            let mut described = ColumnDescription::default();
            let result = self.raw.describe_col(number, &mut described);
            self.there(result)?;
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

    /// Gives the driver buffers to write the next blocks of rows to, in place of any that it has.
    ///
    /// # Errors
    /// As the driver says.
    pub fn bind(&mut self, mut buffer: ColumnarDynBuffer) -> Result<(), OdbcError> {
        self.unbind()?;
        let mut statement = self.raw.as_stmt_ref();
        // SAFETY: the buffer's memory does not move with it, and it is kept until it is unbound or the statement is freed.
        #[expect(unsafe_code, reason = "drivers write to memory that they are given")]
        unsafe {
            let result = statement.set_row_bind_type(buffer.bind_type());
            done(&statement, result)?;
            let result = statement.set_row_array_size(buffer.row_array_size());
            done(&statement, result)?;
            let result = statement.set_num_rows_fetched(buffer.mut_num_fetch_rows());
            done(&statement, result)?;
            let bound = buffer.bind_colmuns_to_cursor(statement);
            self.buffer = Some(buffer);
            bound.map_err(|e| OdbcError::of(&e))
        }
    }

    /// Takes the buffers back.
    ///
    /// # Errors
    /// As the driver says; the buffers are then kept until the statement ends.
    pub fn unbind(&mut self) -> Result<(), OdbcError> {
        if self.buffer.is_none() {
            return Ok(());
        }
        let result = self.raw.unbind_cols();
        self.there(result)?;
        let result = self.raw.unset_num_rows_fetched();
        self.there(result)?;
        // SAFETY: nothing is bound that one row would be too many for.
        #[expect(unsafe_code, reason = "how many rows a fetch writes is part of what makes it safe")]
        let result = unsafe { self.raw.set_row_array_size(1) };
        self.there(result)?;
        self.buffer = None;
        Ok(())
    }

    /// The next block of rows; `None` after the last.
    ///
    /// # Errors
    /// As the driver says; `01004` with the column if a value did not fit.
    pub fn block(&mut self) -> Result<Option<&ColumnarDynBuffer>, OdbcError> {
        // SAFETY: what is bound is in `self.buffer`.
        #[expect(unsafe_code, reason = "fetching writes to what is bound")]
        let result = unsafe { self.raw.fetch() };
        if self.there(result)?.is_none() {
            return Ok(None);
        }
        let buffer = self.buffer.as_ref().ok_or_else(|| OdbcError::local("HY000", "nothing is bound"))?;
        if let Some(cut) = buffer.find_truncation() {
            let column = Some(cut.buffer_index);
            return Err(OdbcError {
                column,
                ..OdbcError::local("01004", "the driver delivered only a part of a value")
            });
        }
        Ok(Some(buffer))
    }

    /// Goes to the next row; false after the last. Nothing may be bound.
    ///
    /// # Errors
    /// As the driver says.
    pub fn row(&mut self) -> Result<bool, OdbcError> {
        self.unbind()?;
        // SAFETY: nothing is bound.
        #[expect(unsafe_code, reason = "fetching writes to what is bound")]
        let result = unsafe { self.raw.fetch() };
        Ok(self.there(result)?.is_some())
    }

    /// Copies the row's field in that column, from 1, to where it is wanted.
    ///
    /// # Errors
    /// As the driver says.
    pub fn field(&mut self, column: u16, target: &mut impl CDataMut) -> Result<(), OdbcError> {
        let result = self.raw.get_data(column, target);
        self.there(result).map(|_| ())
    }

    /// The row's field in that column as text, of at most so many bytes.
    pub(super) fn text(&mut self, column: u16, most: usize) -> Result<Option<String>, OdbcError> {
        let mut units: Vec<u16> = Vec::new();
        loop {
            let room = vec![0; PIECE + 1].into_boxed_slice();
            let mut piece = VarWCharBox::from_buffer(room, Indicator::NoTotal);
            let result = self.raw.get_data(column, &mut piece);
            // A driver may find out only now that there is no more.
            if self.there(result)?.is_none() {
                break;
            }
            let Some(part) = piece.as_slice() else { return Ok(None) };
            units.extend_from_slice(part);
            if piece.is_complete() {
                break;
            }
            if units.len() > most {
                return Err(OdbcError::local("HY000", "a text is longer than any catalog's"));
            }
        }
        String::from_utf16(&units)
            .map(Some)
            .map_err(|_| OdbcError::local("22018", "a text of the catalog is not UTF-16"))
    }

    fn there<T>(&self, result: SqlResult<T>) -> Result<Option<T>, OdbcError> {
        answer(&self.raw, result)
    }
}

fn done(statement: &StatementRef<'_>, result: SqlResult<()>) -> Result<(), OdbcError> {
    answer(statement, result).map(|_| ())
}

/// What a call answered; `None` if there is nothing, or nothing more.
fn answer<T>(handle: &impl AnyHandle, result: SqlResult<T>) -> Result<Option<T>, OdbcError> {
    match result {
        SqlResult::Success(answer) | SqlResult::SuccessWithInfo(answer) => Ok(Some(answer)),
        SqlResult::NoData => Ok(None),
        SqlResult::Error { .. } => {
            let mut record = Record::default();
            if record.fill_from(handle, 1) {
                Err(OdbcError::of_record(&record))
            } else {
                Err(OdbcError::local("HY000", "the driver failed without saying why"))
            }
        }
        SqlResult::NeedData | SqlResult::StillExecuting => {
            Err(OdbcError::local("HY000", "the driver gave an unexpected answer"))
        }
    }
}
