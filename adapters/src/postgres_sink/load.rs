//! One unit into staging: one transaction, with the row that says so.

use dpone_engine::codes::Code;
use dpone_engine::ports::{Body as _, LoadOrder};
use dpone_engine::run::{Outcome, Receipt, Why};
use dpone_engine::schema::Schema;

use super::binary::{HEADER, TRAILER, field, unexpected};
use super::claim::{Lock, held};
use super::ddl::{Place, columns};
use super::session::{BEGIN, DURABLE, Step, commit, connect, run, why};
use crate::body::Body;
use crate::columnar::decode::{File, InMemory, Unreadable};
use crate::postgres::{Config, CopyIn, Session, quote_literal};

/// Bytes of encoded rows that are sent at a time.
const BUFFER: usize = 256 << 10;
/// What is taken whatever is in the object: that buffer with one row's fixed part, and the connection's own.
const BASE: u64 = 2 * BUFFER as u64 + (128 << 10);
/// A text or binary value from this length on is sent from where it lies.
const LONG: usize = 16 << 10;

/// A load in progress: an open transaction that nothing else sees.
pub(super) struct Loading {
    session: Session,
    copy: String,
    schema: Schema,
    rows: u64,
}

impl Loading {
    /// Checks the claim and begins.
    pub(super) fn begin(config: &Config, place: &Place, schema: &Schema, order: &LoadOrder) -> Step<Self> {
        let mut session = connect(config)?;
        // Not held on to: another runner of this run can take the claim over while this one waits for objects, and is then
        // met by the check before the commit.
        run(&mut session, BEGIN)?;
        held(&mut session, place, &order.claimant, Lock::Shared)?;
        run(&mut session, "ROLLBACK")?;
        run(&mut session, &format!("{BEGIN}; {DURABLE}"))?;
        let copy = format!("COPY {} ({}) FROM STDIN (FORMAT binary)", place.beside(&order.staging), columns(schema));
        Ok(Self { session, copy, schema: schema.clone(), rows: 0 })
    }

    /// Adds the rows of one object, within `granted` bytes, the object's own included.
    pub(super) fn object(&mut self, body: &Body, granted: u64) -> Step<()> {
        let unreadable = |e: Unreadable| Why::fatal(Code::LoadFailed, format!("an object cannot be read: {e}"));
        let mut rows = File::open(InMemory::from(body), &self.schema).and_then(File::into_rows).map_err(unreadable)?;
        let taken = body.size() + rows.peak() + BASE;
        if taken > granted {
            let detail = format!("loading an object takes {taken} bytes and {granted} are granted");
            return Err(Why::fatal(Code::BudgetTooSmall, detail));
        }
        let count = i16::try_from(self.schema.columns.len()).map_err(|_| unexpected("…"))?;
        let mut sent = 0;
        let mut copy = self.session.copy_in(&self.copy).map_err(|e| why(&e))?;
        let mut buffer = Vec::with_capacity(BUFFER + LONG);
        buffer.extend(HEADER);
        while let Some(window) = rows.next().map_err(unreadable)? {
            for row in 0..window.rows() {
                buffer.extend(count.to_be_bytes());
                for (at, column) in self.schema.columns.iter().enumerate() {
                    let cell = window.cell(at, row).ok_or_else(|| unexpected(&column.name))?;
                    match field(cell, column, &mut buffer)? {
                        Some(long) if long.len() < LONG => buffer.extend(long),
                        Some(long) => {
                            flush(&mut copy, &mut buffer)?;
                            copy.send(long).map_err(|e| why(&e))?;
                        }
                        None => {}
                    }
                    if buffer.len() >= BUFFER {
                        flush(&mut copy, &mut buffer)?;
                    }
                }
                sent += 1;
            }
        }
        buffer.extend(TRAILER);
        flush(&mut copy, &mut buffer)?;
        // The server's own count of what it stored.
        let stored = copy.finish().map_err(|e| why(&e))?;
        counted(sent, stored)?;
        self.rows += stored;
        Ok(())
    }

    /// Writes the load's row under the claim and commits.
    pub(super) fn finish(mut self, place: &Place, order: &LoadOrder) -> Outcome {
        let session = &mut self.session;
        let written = counted(order.rows, self.rows).and_then(|()| {
            run(session, "SET LOCAL idle_in_transaction_session_timeout = '60s'")?;
            held(session, place, &order.claimant, Lock::Shared)?;
            let [load, staging] = [&order.load, &order.staging].map(|text| quote_literal(text));
            let sql = format!(
                "INSERT INTO {} (load, staging, rows) VALUES ({load}, {staging}, {})",
                place.loads(),
                self.rows
            );
            run(session, &sql)
        });
        match written {
            Ok(_) => commit(session, Receipt::Loaded { rows: self.rows }, Code::LoadOutcomeUnknown),
            Err(why) => Outcome::NotDone(why),
        }
    }
}

fn flush(copy: &mut CopyIn<'_>, buffer: &mut Vec<u8>) -> Step<()> {
    copy.send(buffer).map_err(|e| why(&e))?;
    buffer.clear();
    Ok(())
}

fn counted(sent: u64, stored: u64) -> Step<()> {
    if sent == stored {
        return Ok(());
    }
    Err(Why::fatal(Code::LoadCountMismatch, format!("{sent} rows were sent and {stored} arrived")))
}
