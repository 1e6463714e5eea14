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
    _connection: PhantomData<&'c mut ()>,
}

/// A statement's handle, freed when it is dropped.
struct Raw(HStmt);

// SAFETY: a handle may be used by any thread, one at a time, which having it alone makes sure of.
#[expect(unsafe_code, reason = "rows are fetched by another thread than the one that sent the statement")]
unsafe impl Send for Raw {}

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
        Self { _guard: guard, raw: Raw(handle), _connection: PhantomData }
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

    /// Fills the buffers with the next rows, as many as they have room for; whether there were any.
    ///
    /// The buffers are the driver's for the time of this call only, so that others can be filled while these are read.
    ///
    /// # Errors
    /// As the driver says; `01004` with the column if a value did not fit.
    pub fn fill(&mut self, buffer: &mut ColumnarDynBuffer) -> Result<bool, OdbcError> {
        let filled = self.bind(buffer).and_then(|()| {
            // SAFETY: what is bound is in `buffer`, which nobody else has meanwhile.
            #[expect(unsafe_code, reason = "fetching writes to what is bound")]
            let result = unsafe { self.raw.fetch() };
            self.there(result).map(|there| there.is_some())
        });
        // Whatever became of it: the driver must not know of the buffers any longer than they are here.
        self.unbind()?;
        if !filled? {
            return Ok(false);
        }
        match buffer.find_truncation() {
            None => Ok(true),
            Some(cut) => {
                let error = OdbcError::local("01004", "the driver delivered only a part of a value");
                Err(OdbcError { column: Some(cut.buffer_index), ..error })
            }
        }
    }

    fn bind(&mut self, buffer: &mut ColumnarDynBuffer) -> Result<(), OdbcError> {
        let mut statement = self.raw.as_stmt_ref();
        // SAFETY: `fill` unbinds the buffer before it gives it back, and its memory does not move meanwhile.
        #[expect(unsafe_code, reason = "drivers write to memory that they are given")]
        unsafe {
            let result = statement.set_row_bind_type(buffer.bind_type());
            done(&statement, result)?;
            let result = statement.set_row_array_size(buffer.row_array_size());
            done(&statement, result)?;
            let result = statement.set_num_rows_fetched(buffer.mut_num_fetch_rows());
            done(&statement, result)?;
            buffer.bind_colmuns_to_cursor(statement).map_err(|e| OdbcError::of(&e))
        }
    }

    fn unbind(&mut self) -> Result<(), OdbcError> {
        let result = self.raw.unbind_cols();
        self.there(result)?;
        let result = self.raw.unset_num_rows_fetched();
        self.there(result)?;
        Ok(())
    }

    /// Goes to the next row; false after the last.
    ///
    /// # Errors
    /// As the driver says.
    pub fn row(&mut self) -> Result<bool, OdbcError> {
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
