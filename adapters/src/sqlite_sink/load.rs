//! One unit into staging: one transaction, with the row that says so.

use std::path::Path;

use arrow::array::RecordBatch;
use dpone_engine::codes::Code;
use dpone_engine::ports::LoadOrder;
use dpone_engine::run::Why;
use dpone_engine::schema::Schema;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rusqlite::{Connection, params, params_from_iter};

use super::cell::cell;
use super::database::{Step, held, open, uncommitted, why};
use super::ddl::{columns, quote, rowid};
use crate::body::Body;

/// Rows decoded at a time.
const BATCH: usize = 2048;

/// A load in progress: an open transaction that nothing else sees.
pub(super) struct Loading {
    db: Connection,
    sql: String,
    schema: Schema,
    rowid: &'static str,
    first: i64,
    rows: u64,
    expected: u64,
}

impl Loading {
    /// Takes the write lock, checks the claim, finds where the unit's rows will begin.
    pub(super) fn begin(path: &Path, target: &str, schema: &Schema, order: &LoadOrder) -> Step<Self> {
        let db = open(path)?;
        // Ends with `finish`, or is rolled back with the connection.
        db.execute_batch("BEGIN IMMEDIATE").map_err(|e| why(&e))?;
        held(&db, target, &order.claimant)?;
        let staging = quote(&order.staging);
        let rowid = rowid(schema).ok_or_else(no_rowid)?;
        let first: i64 = db
            .query_row(&format!("SELECT coalesce(max({rowid}), 0) + 1 FROM {staging}"), [], |r| r.get(0))
            .map_err(|e| why(&e))?;
        let marks = vec!["?"; schema.columns.len()].join(", ");
        let sql = format!("INSERT INTO {staging} ({}) VALUES ({marks})", columns(schema));
        Ok(Self { db, sql, schema: schema.clone(), rowid, first, rows: 0, expected: order.rows })
    }

    /// Adds the rows of one object.
    pub(super) fn object(&mut self, body: &Body) -> Step<()> {
        let bytes = match body.segments() {
            [one] => one.clone(),
            many => many.concat().into(),
        };
        let unreadable =
            |e: parquet::errors::ParquetError| Why::fatal(Code::LoadFailed, format!("an object is not readable: {e}"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).map_err(unreadable)?;
        let reader = reader.with_batch_size(BATCH).build().map_err(unreadable)?;
        for batch in reader {
            let batch = batch.map_err(|e| Why::fatal(Code::LoadFailed, format!("an object is not readable: {e}")))?;
            self.batch(&batch)?;
        }
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Step<()> {
        let mut insert = self.db.prepare_cached(&self.sql).map_err(|e| why(&e))?;
        for row in 0..batch.num_rows() {
            let cells: Result<Vec<_>, Why> = self
                .schema
                .columns
                .iter()
                .zip(batch.columns())
                .map(|(column, array)| cell(array.as_ref(), row, &column.ty, &column.name))
                .collect();
            insert.execute(params_from_iter(cells?)).map_err(|e| why(&e))?;
            self.rows += 1;
        }
        Ok(())
    }

    /// Writes the load's row and commits. An inner error is for the caller to call unknown.
    pub(super) fn finish(self, order: &LoadOrder) -> Step<Result<u64, Why>> {
        let last = self.first + self.rows as i64 - 1;
        let counted: u64 = self
            .db
            .query_row(
                &format!("SELECT count(*) FROM {} WHERE {} BETWEEN ?1 AND ?2", quote(&order.staging), self.rowid),
                params![self.first, last],
                |r| r.get(0),
            )
            .map_err(|e| why(&e))?;
        if self.rows != self.expected {
            let detail = format!("{} rows were sent and {} arrived", self.expected, self.rows);
            return Err(Why::fatal(Code::LoadCountMismatch, detail));
        }
        if counted != self.rows {
            return Err(Why::fatal(
                Code::LoadCountMismatch,
                format!("{} rows were inserted and {counted} are there", self.rows),
            ));
        }
        self.db
            .execute(
                "INSERT INTO __dpone_load (load, staging, first, last, rows) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![order.load, order.staging, self.first, last, counted],
            )
            .map_err(|e| why(&e))?;
        match self.db.execute_batch("COMMIT") {
            Err(e) if uncommitted(&self.db, &e) => Err(why(&e)),
            committed => Ok(committed.map(|()| counted).map_err(|e| why(&e))),
        }
    }
}

pub(super) fn no_rowid() -> Why {
    Why::fatal(Code::TargetColumnsMismatch, "columns of the names rowid, _rowid_ and oid hide SQLite's row numbers")
}
