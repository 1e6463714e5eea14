//! The publication: claim, base, rows and ledger row in one transaction.

use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode;
use dpone_engine::ports::{Claimant, PublishOrder};
use dpone_engine::run::{Outcome, Receipt, Why};
use dpone_engine::schema::Schema;

use super::catalog::{self, Relation, base, has_key, relation};
use super::claim::{Lock, has_books, held, is_held, lost, own, standing};
use super::ddl::{Place, columns, create, names};
use super::session::{Step, cell, rows, run, transact};
use crate::postgres::{Config, Session, quote_ident, quote_literal};

/// What a publication changes.
pub(super) struct Change<'a> {
    pub(super) place: &'a Place,
    pub(super) schema: &'a Schema,
    pub(super) mode: StrategyMode,
    /// The merge key; empty for other strategies.
    pub(super) key: &'a [String],
    /// The columns that make a partition; empty for other strategies.
    pub(super) partition_key: &'a [String],
}

/// Publishes once, whatever name it is asked under.
pub(super) fn publish(config: &Config, change: &Change<'_>, order: &PublishOrder) -> Outcome {
    let published = transact(config, Code::PublicationOutcomeUnknown, |session| fill(session, change, order));
    match published {
        // What stops the statements of a publication stops the publication.
        Outcome::NotDone(why) if why.code == Code::LoadFailed => {
            Outcome::NotDone(Why { code: Code::PublicationFailed, ..why })
        }
        outcome => outcome,
    }
}

/// Makes a publication of that name impossible, unless it has happened: one under way is waited for.
pub(super) fn fence(session: &mut Session, place: &Place, claimant: &Claimant, publication: &str) -> Step<Receipt> {
    held(session, place, claimant, Lock::Alone)?;
    let row = Row { publication, rows: 0, published: false };
    write(session, place, claimant, &row, "ON CONFLICT (publication) DO NOTHING")?;
    Ok(Receipt::Fenced)
}

/// The publication of that run, if it happened. A run of another journal is another run, whatever its id.
pub(super) fn published(session: &mut Session, place: &Place, claimant: &Claimant) -> Step<Option<Receipt>> {
    let (ledger, own) = (place.ledger(), own(place, claimant));
    let found = rows(session, &format!("SELECT identity, rows FROM {ledger} WHERE {own} AND published"))?;
    Ok(found.into_iter().next().and_then(|row| match row.as_slice() {
        [Some(identity), Some(rows)] => {
            Some(Receipt::Published { identity: identity.clone(), rows: rows.parse().ok()? })
        }
        _ => None,
    }))
}

/// Whether another publication of the target came after the run's own.
pub(super) fn superseded(session: &mut Session, place: &Place, claimant: &Claimant) -> Step<bool> {
    let (ledger, own) = (place.ledger(), own(place, claimant));
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM {ledger} WHERE target = {} AND published
         AND number > (SELECT number FROM {ledger} WHERE {own} AND published))",
        quote_literal(&place.table)
    );
    Ok(cell(session, &sql)?.as_deref() == Some("t"))
}

struct Row<'a> {
    publication: &'a str,
    rows: u64,
    published: bool,
}

fn write(session: &mut Session, place: &Place, claimant: &Claimant, row: &Row<'_>, conflict: &str) -> Step<()> {
    let [publication, target, journal, name] =
        [row.publication, &place.table, &claimant.journal, &claimant.run].map(quote_literal);
    let (ledger, rows, published) = (place.ledger(), row.rows, row.published);
    let sql = format!(
        "INSERT INTO {ledger} (publication, target, journal, run, identity, rows, published)
         VALUES ({publication}, {target}, {journal}, {name}, '', {rows}, {published}) {conflict}"
    );
    run(session, &sql).map(|_| ())
}

fn fill(session: &mut Session, change: &Change<'_>, order: &PublishOrder) -> Step<Receipt> {
    let (place, claimant) = (change.place, &order.staged.claimant);
    if !has_books(session, place)? {
        return Err(lost());
    }
    // From here on nothing else of the run commits: another publication, a fence, a later runner's claim.
    let standing = standing(session, place, claimant, Lock::Alone)?;
    if let Some(done) = published(session, place, claimant)? {
        return Ok(done);
    }
    let publication = quote_literal(&order.publication);
    let ledger = place.ledger();
    if cell(session, &format!("SELECT 1 FROM {ledger} WHERE publication = {publication}"))?.is_some() {
        return Err(Why::transient(Code::PublicationFailed, "this publication was given up"));
    }
    is_held(standing, claimant)?;
    let there = relation(session, place, &place.table)?;
    if there.as_ref().is_some_and(|there| there.kind == "r") {
        // Readers go on; who writes, or changes the definition, waits.
        let mode = if change.mode == StrategyMode::Append { "ROW EXCLUSIVE" } else { "SHARE ROW EXCLUSIVE" };
        run(session, &format!("LOCK TABLE {} IN {mode} MODE", place.target()))?;
    }
    if base(session, place)? != order.base {
        let detail = format!("{} is not what it was when the run was planned", place.target());
        return Err(Why::fatal(Code::PublicationBaseChanged, detail));
    }
    let rows = fill_target(session, change, order, there.as_ref())?;
    let row = Row { publication: &order.publication, rows, published: true };
    write(session, place, claimant, &row, "")?;
    // What the next run's preflight will find.
    let identity = base(session, place)?;
    let update =
        format!("UPDATE {ledger} SET identity = {} WHERE publication = {publication}", quote_literal(&identity));
    run(session, &update)?;
    Ok(Receipt::Published { identity, rows })
}

/// Changes the target's rows; answers how many the run brought.
fn fill_target(
    session: &mut Session,
    change: &Change<'_>,
    order: &PublishOrder,
    there: Option<&Relation>,
) -> Step<u64> {
    let expected: u64 = order.staged.units.iter().map(|u| u.rows).sum();
    let (place, target) = (change.place, change.place.target());
    let staging: Vec<String> = order.staged.staging.iter().map(|name| place.beside(name)).collect();
    match (there, staging.as_slice()) {
        // A new table is the one staging table itself: no row is written twice.
        (None, [staging]) => {
            run(session, &format!("ALTER TABLE {staging} RENAME TO {}", quote_ident(&place.table)))?;
            if !change.key.is_empty() {
                run(session, &format!("ALTER TABLE {target} ADD PRIMARY KEY ({})", names(change.key.iter())))?;
            }
            let held = cell(session, &format!("SELECT count(*) FROM {target}"))?.and_then(|n| n.parse().ok());
            return counted(expected, held.unwrap_or(0));
        }
        (None, _) => run(session, &create(&target, change.schema, change.key)).map(|_| ())?,
        (Some(_), _) => {}
    }
    let mut conflict = String::new();
    match (change.mode, there) {
        // Not TRUNCATE: it would lock readers out, and empty the table for those that began before.
        (StrategyMode::FullRefresh, Some(_)) => run(session, &format!("DELETE FROM {target}")).map(|_| ())?,
        (StrategyMode::Merge, Some(there)) if has_key(session, there.oid, change.key)? => {
            conflict = in_place(change);
        }
        (StrategyMode::Merge, Some(there)) => {
            let same = same_key(session, change.key, there)?;
            for staging in &staging {
                run(session, &format!("DELETE FROM {target} AS t USING {staging} AS s WHERE {same}"))?;
            }
        }
        (StrategyMode::PartitionReplace, Some(there)) => {
            for staging in &staging {
                clear_partitions(session, change, there, staging)?;
            }
        }
        // A new table holds nothing.
        (StrategyMode::FullRefresh | StrategyMode::Merge | StrategyMode::PartitionReplace, None)
        | (StrategyMode::Append, _) => {}
    }
    let columns = columns(change.schema);
    let mut moved = 0;
    for staging in &staging {
        moved += run(session, &format!("INSERT INTO {target} ({columns}) SELECT {columns} FROM {staging} {conflict}"))?;
    }
    counted(expected, moved)
}

/// Rows whose key is there keep their place and their key, and get the other values.
fn in_place(change: &Change<'_>) -> String {
    let others: Vec<&String> =
        change.schema.columns.iter().map(|c| &c.name).filter(|name| !change.key.contains(name)).collect();
    // A row of a key alone is set to itself, so that it counts.
    let set = if others.is_empty() { change.key.iter().collect() } else { others };
    let set: Vec<String> = set.iter().map(|name| quote_ident(name)).map(|n| format!("{n} = EXCLUDED.{n}")).collect();
    format!("ON CONFLICT ({}) DO UPDATE SET {}", names(change.key.iter()), set.join(", "))
}

/// Deletes the target's rows whose partition occurs in that staging table. `=` never finds a NULL, and `IS NOT DISTINCT FROM`
/// finds nothing by an index or a hash: so there is one statement for every set of partition columns that are NULL together.
fn clear_partitions(session: &mut Session, change: &Change<'_>, there: &Relation, staging: &str) -> Step<()> {
    let target = change.place.target();
    let absent: Vec<String> = change.partition_key.iter().map(|k| format!("{} IS NULL", quote_ident(k))).collect();
    let shapes = rows(session, &format!("SELECT DISTINCT {} FROM {staging}", absent.join(", ")))?;
    for shape in shapes {
        let is_null = |at: usize| shape.get(at).is_some_and(|cell| cell.as_deref() == Some("t"));
        let named = || change.partition_key.iter().enumerate();
        let present: Vec<String> = named().filter(|(at, _)| !is_null(*at)).map(|(_, k)| k.clone()).collect();
        let absent: Vec<String> =
            named().filter(|(at, _)| is_null(*at)).map(|(_, k)| format!("{} IS NULL", quote_ident(k))).collect();
        let of_t = absent.iter().map(|condition| format!("t.{condition}"));
        let sql = match present.is_empty() {
            true => format!("DELETE FROM {target} AS t WHERE {}", of_t.collect::<Vec<_>>().join(" AND ")),
            false => {
                let filter = if absent.is_empty() { String::new() } else { format!(" WHERE {}", absent.join(" AND ")) };
                let same: Vec<String> = of_t.chain([same_key(session, &present, there)?]).collect();
                let staged = format!("SELECT DISTINCT {} FROM {staging}{filter}", names(present.iter()));
                format!("DELETE FROM {target} AS t USING ({staged}) AS s WHERE {}", same.join(" AND "))
            }
        };
        run(session, &sql)?;
    }
    Ok(())
}

/// The condition that a row of the target and one of staging have one key: texts are equal byte by byte, whatever the target's
/// collation says.
fn same_key(session: &mut Session, key: &[String], there: &Relation) -> Step<String> {
    let existing = catalog::columns(session, there.oid)?;
    let is_loose = |name: &String| existing.iter().any(|e| e.name == *name && e.loose);
    let same = key.iter().map(|name| {
        let bytes = if is_loose(name) { " COLLATE \"C\"" } else { "" };
        let name = quote_ident(name);
        format!("t.{name}{bytes} = s.{name}{bytes}")
    });
    Ok(same.collect::<Vec<_>>().join(" AND "))
}

fn counted(expected: u64, found: u64) -> Step<u64> {
    if expected == found {
        return Ok(found);
    }
    Err(Why::fatal(Code::LoadCountMismatch, format!("{expected} rows were confirmed and {found} were published")))
}
