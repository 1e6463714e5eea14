//! The publication: claim, base, rows and ledger row in one transaction.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode;
use dpone_engine::ports::{Claimant, PublishOrder};
use dpone_engine::run::{Outcome, Receipt, Why};
use dpone_engine::schema::Schema;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::database::{Step, held, open, table_exists, why, write};
use super::ddl::{columns, create, quote};

/// What a publication changes.
pub(super) struct Change<'a> {
    pub(super) target: &'a str,
    pub(super) table: &'a str,
    pub(super) schema: &'a Schema,
    pub(super) mode: StrategyMode,
    pub(super) key: &'a [String],
}

/// Publishes once, whatever name it is asked under.
pub(super) fn publish(path: &Path, change: &Change<'_>, order: &PublishOrder) -> Outcome {
    let mut db = match open(path) {
        Ok(db) => db,
        Err(why) => return Outcome::NotDone(why),
    };
    // Whatever fails before the commit is rolled back with the transaction: it is not done.
    let tx = match write(&mut db) {
        Ok(tx) => tx,
        Err(why) => return Outcome::NotDone(why),
    };
    let receipt = match fill(&tx, change, order) {
        Ok(receipt) => receipt,
        Err(why) => return Outcome::NotDone(why),
    };
    match tx.commit() {
        Ok(()) => Outcome::Done(receipt),
        // A commit that could not begin because of a reader's lock has changed nothing.
        Err(e) if why(&e).code == Code::TargetLocked => Outcome::NotDone(why(&e)),
        Err(e) => Outcome::Unknown(Why::transient(Code::PublicationOutcomeUnknown, why(&e).detail)),
    }
}

/// Makes a publication of that name impossible, unless it has happened.
pub(super) fn fence(path: &Path, target: &str, claimant: &Claimant, publication: &str) -> Step<Receipt> {
    let mut db = open(path)?;
    let tx = write(&mut db)?;
    held(&tx, target, claimant)?;
    tx.execute(
        "INSERT INTO __dpone_ledger (publication, target, run, rows, published) VALUES (?1, ?2, ?3, 0, 0)
         ON CONFLICT (publication) DO NOTHING",
        params![publication, target, claimant.run],
    )
    .map_err(|e| why(&e))?;
    tx.commit().map_err(|e| why(&e))?;
    Ok(Receipt::Fenced)
}

/// The publication of that run, if it happened.
pub(super) fn published(db: &Connection, target: &str, run: &str) -> Step<Option<Receipt>> {
    db.query_row(
        "SELECT publication, rows FROM __dpone_ledger WHERE target = ?1 AND run = ?2 AND published = 1",
        [target, run],
        |r| Ok(Receipt::Published { identity: r.get(0)?, rows: r.get(1)? }),
    )
    .optional()
    .map_err(|e| why(&e))
}

/// The identity of the target's present content: its newest publication, and its definition.
pub(super) fn base(db: &Connection, target: &str, table: &str) -> Step<String> {
    let sql: Option<String> = db
        .query_row("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1", [table], |r| r.get(0))
        .optional()
        .map_err(|e| why(&e))?;
    let Some(sql) = sql else { return Ok(String::new()) };
    let newest: Option<String> = if table_exists(db, "__dpone_ledger")? {
        db.query_row(
            "SELECT publication FROM __dpone_ledger WHERE target = ?1 AND published = 1 ORDER BY number DESC LIMIT 1",
            [target],
            |r| r.get(0),
        )
        .optional()
        .map_err(|e| why(&e))?
    } else {
        None
    };
    let definition = &blake3::hash(sql.as_bytes()).to_hex()[..16];
    Ok(format!("{}@{definition}", newest.unwrap_or_default()))
}

fn fill(tx: &Transaction<'_>, change: &Change<'_>, order: &PublishOrder) -> Step<Receipt> {
    let run = &order.staged.claimant.run;
    if let Some(done) = published(tx, change.target, run)? {
        return Ok(done);
    }
    let fenced: Option<i64> = tx
        .query_row("SELECT 1 FROM __dpone_ledger WHERE publication = ?1", [&order.publication], |r| r.get(0))
        .optional()
        .map_err(|e| why(&e))?;
    if fenced.is_some() {
        return Err(Why::transient(Code::PublicationFailed, "this publication was given up"));
    }
    held(tx, change.target, &order.staged.claimant)?;
    if base(tx, change.target, change.table)? != order.base {
        let detail = format!("{} is not what it was when the run was planned", change.target);
        return Err(Why::fatal(Code::PublicationBaseChanged, detail));
    }
    let rows = rows(tx, change, order)?;
    tx.execute(
        "INSERT INTO __dpone_ledger (publication, target, run, rows, published) VALUES (?1, ?2, ?3, ?4, 1)",
        params![order.publication, change.target, run, rows],
    )
    .map_err(|e| why(&e))?;
    Ok(Receipt::Published { identity: order.publication.clone(), rows })
}

/// Changes the target's rows; answers how many the run brought.
fn rows(tx: &Transaction<'_>, change: &Change<'_>, order: &PublishOrder) -> Step<u64> {
    let expected: u64 = order.staged.units.iter().map(|u| u.rows).sum();
    let table = quote(change.table);
    let exists = table_exists(tx, change.table)?;
    let run = |sql: &str| tx.execute(sql, []).map(|n| n as u64).map_err(|e| why(&e));
    // A new table without a key is the one staging table itself: no row is written twice.
    if let ([staging], false, []) = (order.staged.staging.as_slice(), exists, change.key) {
        let held: u64 =
            tx.query_row(&format!("SELECT count(*) FROM {}", quote(staging)), [], |r| r.get(0)).map_err(|e| why(&e))?;
        counted(expected, held)?;
        run(&format!("ALTER TABLE {} RENAME TO {table}", quote(staging)))?;
        return Ok(held);
    }
    if !exists {
        run(&create(change.table, change.schema, change.key))?;
    }
    match change.mode {
        StrategyMode::FullRefresh => {
            run(&format!("DELETE FROM {table}"))?;
        }
        StrategyMode::Merge => {
            for staging in &order.staged.staging {
                let same: Vec<String> = change.key.iter().map(|k| format!("s.{0} = {table}.{0}", quote(k))).collect();
                let (staging, same) = (quote(staging), same.join(" AND "));
                run(&format!("DELETE FROM {table} WHERE EXISTS (SELECT 1 FROM {staging} AS s WHERE {same})"))?;
            }
        }
        StrategyMode::Append | StrategyMode::PartitionReplace => {}
    }
    let columns = columns(change.schema);
    let mut moved = 0;
    for staging in &order.staged.staging {
        moved += run(&format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM {}", quote(staging)))?;
    }
    counted(expected, moved)?;
    Ok(moved)
}

fn counted(expected: u64, found: u64) -> Step<()> {
    if expected == found {
        return Ok(());
    }
    Err(Why::fatal(Code::LoadCountMismatch, format!("{expected} rows were confirmed and staging holds {found}")))
}
