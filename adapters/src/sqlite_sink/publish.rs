//! The publication: claim, base, rows and ledger row in one transaction.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode;
use dpone_engine::ports::{Claimant, PublishOrder};
use dpone_engine::run::{Outcome, Receipt, Why};
use dpone_engine::schema::Schema;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::database::{Step, held, open, sync, table_exists, why, write};
use super::ddl::{columns, create, quote};

/// What a publication changes.
pub(super) struct Change<'a> {
    pub(super) target: &'a str,
    pub(super) table: &'a str,
    pub(super) schema: &'a Schema,
    pub(super) mode: StrategyMode,
    /// The merge key; empty for other strategies.
    pub(super) key: &'a [String],
    /// The columns that make a partition; empty for other strategies.
    pub(super) partition_key: &'a [String],
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
        // What stops the statements of a publication stops the publication.
        Err(why) if why.code == Code::LoadFailed => {
            return Outcome::NotDone(Why { code: Code::PublicationFailed, ..why });
        }
        Err(why) => return Outcome::NotDone(why),
    };
    match tx.commit() {
        // It may have been an earlier process that published, and was killed before it had synced.
        Ok(()) => match sync(path) {
            Ok(()) => Outcome::Done(receipt),
            Err(e) => Outcome::Unknown(Why::transient(Code::PublicationOutcomeUnknown, e.to_string())),
        },
        // A commit that could not begin because of a reader's lock, or had no room for what it would make count, has
        // changed nothing.
        Err(e) if [Code::TargetLocked, Code::TargetDiskFull].contains(&why(&e).code) => Outcome::NotDone(why(&e)),
        Err(e) => Outcome::Unknown(Why::transient(Code::PublicationOutcomeUnknown, why(&e).detail)),
    }
}

/// Makes a publication of that name impossible, unless it has happened.
pub(super) fn fence(path: &Path, target: &str, claimant: &Claimant, publication: &str) -> Step<Receipt> {
    let mut db = open(path)?;
    let tx = write(&mut db)?;
    held(&tx, target, claimant)?;
    tx.execute(
        "INSERT INTO __dpone_ledger (publication, target, journal, run, identity, rows, published)
         VALUES (?1, ?2, ?3, ?4, '', 0, 0) ON CONFLICT (publication) DO NOTHING",
        params![publication, target, claimant.journal, claimant.run],
    )
    .map_err(|e| why(&e))?;
    tx.commit().map_err(|e| why(&e))?;
    Ok(Receipt::Fenced)
}

/// The publication of that run, if it happened. A run of another journal is another run, whatever its id.
pub(super) fn published(db: &Connection, target: &str, claimant: &Claimant) -> Step<Option<Receipt>> {
    db.query_row(
        "SELECT identity, rows FROM __dpone_ledger WHERE target = ?1 AND journal = ?2 AND run = ?3 AND published = 1",
        [target, &claimant.journal, &claimant.run],
        |r| Ok(Receipt::Published { identity: r.get(0)?, rows: r.get(1)? }),
    )
    .optional()
    .map_err(|e| why(&e))
}

/// The identity of the target's present content: its newest publication, and its definition.
pub(super) fn base(db: &Connection, target: &str, table: &str) -> Step<String> {
    if !table_exists(db, table)? {
        return Ok(String::new());
    }
    // With its indexes and triggers: a publication under others than the planned ones could change other things.
    let mut parts = db
        .prepare("SELECT coalesce(sql, '') FROM sqlite_schema WHERE tbl_name = ?1 COLLATE NOCASE ORDER BY type, name")
        .map_err(|e| why(&e))?;
    let parts: Vec<String> = parts.query_map([table], |r| r.get(0)).and_then(Iterator::collect).map_err(|e| why(&e))?;
    let definition = &blake3::hash(parts.join("\n").as_bytes()).to_hex()[..16];
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
    Ok(format!("{}@{definition}", newest.unwrap_or_default()))
}

fn fill(tx: &Transaction<'_>, change: &Change<'_>, order: &PublishOrder) -> Step<Receipt> {
    let claimant = &order.staged.claimant;
    if let Some(done) = published(tx, change.target, claimant)? {
        return Ok(done);
    }
    let fenced: Option<i64> = tx
        .query_row("SELECT 1 FROM __dpone_ledger WHERE publication = ?1", [&order.publication], |r| r.get(0))
        .optional()
        .map_err(|e| why(&e))?;
    if fenced.is_some() {
        return Err(Why::transient(Code::PublicationFailed, "this publication was given up"));
    }
    held(tx, change.target, claimant)?;
    if base(tx, change.target, change.table)? != order.base {
        let detail = format!("{} is not what it was when the run was planned", change.target);
        return Err(Why::fatal(Code::PublicationBaseChanged, detail));
    }
    let rows = rows(tx, change, order)?;
    tx.execute(
        "INSERT INTO __dpone_ledger (publication, target, journal, run, identity, rows, published)
         VALUES (?1, ?2, ?3, ?4, '', ?5, 1)",
        params![order.publication, change.target, claimant.journal, claimant.run, rows],
    )
    .map_err(|e| why(&e))?;
    // What the next run's preflight will find.
    let identity = base(tx, change.target, change.table)?;
    tx.execute("UPDATE __dpone_ledger SET identity = ?2 WHERE publication = ?1", params![order.publication, identity])
        .map_err(|e| why(&e))?;
    Ok(Receipt::Published { identity, rows })
}

/// Whether another publication of the target came after the run's own.
pub(super) fn superseded(db: &Connection, target: &str, claimant: &Claimant) -> Step<bool> {
    db.query_row(
        "SELECT EXISTS (SELECT 1 FROM __dpone_ledger AS later JOIN __dpone_ledger AS own USING (target)
         WHERE own.target = ?1 AND own.journal = ?2 AND own.run = ?3 AND own.published = 1 AND later.published = 1
         AND later.number > own.number)",
        [target, &claimant.journal, &claimant.run],
        |r| r.get(0),
    )
    .map_err(|e| why(&e))
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
    let count = || -> Step<u64> {
        tx.query_row(&format!("SELECT count(*) FROM {table}"), [], |r| r.get(0)).map_err(|e| why(&e))
    };
    let kept = match change.mode {
        StrategyMode::FullRefresh => {
            run(&format!("DELETE FROM {table}"))?;
            0
        }
        StrategyMode::Merge => {
            let before = count()?;
            let mut replaced = 0;
            for staging in &order.staged.staging {
                let present = has_key_of(&change.key.iter().collect::<Vec<_>>(), &quote(staging), "");
                replaced += run(&format!("DELETE FROM {table} WHERE {present}"))?;
            }
            before.saturating_sub(replaced)
        }
        StrategyMode::PartitionReplace => {
            let before = count()?;
            let mut replaced = 0;
            for staging in &order.staged.staging {
                for partitions in partitions_of(tx, change.partition_key, &quote(staging))? {
                    replaced += run(&format!("DELETE FROM {table} WHERE {partitions}"))?;
                }
            }
            before.saturating_sub(replaced)
        }
        StrategyMode::Append => count()?,
    };
    let columns = columns(change.schema);
    let mut moved = 0;
    for staging in &order.staged.staging {
        moved += run(&format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM {}", quote(staging)))?;
    }
    counted(expected, moved)?;
    // A constraint with a conflict clause of its own removes or leaves out rows without an error.
    let (held, wanted) = (count()?, kept + moved);
    if held != wanted {
        let detail = format!("the target would hold {held} rows and not {wanted}: a constraint of it drops rows");
        return Err(Why::fatal(Code::PublicationFailed, detail));
    }
    Ok(moved)
}

/// The condition that a row's key is one of those in staging. Keys are equal byte by byte, whatever collation the target
/// gives them, and none with a NULL in it equals another.
fn has_key_of(key: &[&String], staging: &str, filter: &str) -> String {
    let own: Vec<String> = key.iter().map(|k| format!("{} COLLATE BINARY", quote(k))).collect();
    let new: Vec<String> = key.iter().map(|k| quote(k)).collect();
    format!("({}) IN (SELECT {} FROM {staging}{filter})", own.join(", "), new.join(", "))
}

/// Conditions that together hold for the rows whose partition occurs in staging, none of which twice. NULL is a value here,
/// which `IN` never finds: so there is one for every set of partition columns that are NULL together.
fn partitions_of(tx: &Transaction<'_>, key: &[String], staging: &str) -> Step<Vec<String>> {
    let absent: Vec<String> = key.iter().map(|k| format!("{} IS NULL", quote(k))).collect();
    let sql = format!("SELECT DISTINCT {} FROM {staging}", absent.join(", "));
    let mut shapes = tx.prepare(&sql).map_err(|e| why(&e))?;
    let shapes = shapes.query_map([], |row| {
        let is_null: Vec<bool> = (0..key.len()).map(|at| row.get(at)).collect::<Result<_, _>>()?;
        let columns = || key.iter().zip(&is_null);
        let present: Vec<&String> = columns().filter(|(_, null)| !**null).map(|(k, _)| k).collect();
        let absent: Vec<String> =
            columns().filter(|(_, null)| **null).map(|(k, _)| format!("{} IS NULL", quote(k))).collect();
        let absent = absent.join(" AND ");
        Ok(match (present.is_empty(), absent.is_empty()) {
            (true, _) => absent,
            (false, true) => has_key_of(&present, staging, ""),
            (false, false) => {
                format!("{absent} AND {}", has_key_of(&present, staging, &format!(" WHERE {absent}")))
            }
        })
    });
    shapes.and_then(Iterator::collect).map_err(|e| why(&e))
}

fn counted(expected: u64, found: u64) -> Step<()> {
    if expected == found {
        return Ok(());
    }
    Err(Why::fatal(Code::LoadCountMismatch, format!("{expected} rows were confirmed and staging holds {found}")))
}
