//! One unit into staging: one transaction, with the row that says so.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::ports::{Body as _, LoadOrder};
use dpone_engine::run::Why;
use dpone_engine::schema::Schema;
use rusqlite::{Connection, params, params_from_iter};

use super::cell::{stored, unexpected};
use super::database::{Step, held, open, uncommitted, why};
use super::ddl::{columns, quote, rowid};
use crate::body::Body;
use crate::columnar::decode::{File, InMemory, Unreadable};

/// What a row takes whatever is in it: its cells here, and their registers in SQLite. The page cache of a connection, 2 MB, is
/// not the run's budget's.
const STATEMENT: u64 = 16 << 10;

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

    /// Adds the rows of one object, within `granted` bytes, the object's own included.
    pub(super) fn object(&mut self, body: &Body, granted: u64) -> Step<()> {
        let unreadable = |e: Unreadable| Why::fatal(Code::LoadFailed, format!("an object cannot be read: {e}"));
        let mut rows = File::open(InMemory::from(body), &self.schema).and_then(File::into_rows).map_err(unreadable)?;
        let taken = body.size() + rows.peak() + STATEMENT;
        let mut insert = self.db.prepare_cached(&self.sql).map_err(|e| why(&e))?;
        admitted(taken, granted)?;
        while let Some(window) = rows.next().map_err(unreadable)? {
            for row in 0..window.rows() {
                let mut cells = Vec::with_capacity(self.schema.columns.len());
                let mut bytes = 0;
                for (at, column) in self.schema.columns.iter().enumerate() {
                    let cell = window.cell(at, row).ok_or_else(|| unexpected(&column.name))?;
                    bytes += cell.variable_bytes();
                    cells.push(stored(cell, &column.ty, &column.name)?);
                }
                // SQLite copies a value that is bound, and all of them into the row's record.
                admitted(taken + 2 * bytes, granted)?;
                insert.execute(params_from_iter(cells)).map_err(|e| why(&e))?;
                self.rows += 1;
            }
        }
        // What was bound last is not kept until the next object.
        insert.clear_bindings();
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

fn admitted(bytes: u64, granted: u64) -> Step<()> {
    if bytes <= granted {
        return Ok(());
    }
    let detail = format!("loading an object takes {bytes} bytes and {granted} are granted");
    Err(Why::fatal(Code::BudgetTooSmall, detail))
}

pub(super) fn no_rowid() -> Why {
    Why::fatal(Code::TargetColumnsMismatch, "columns of the names rowid, _rowid_ and oid hide SQLite's row numbers")
}
