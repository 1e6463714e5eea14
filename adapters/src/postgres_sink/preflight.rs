//! What the target is now and whether it can hold every value exactly. Creates nothing.

use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode;
use dpone_engine::plan::TargetFacts;
use dpone_engine::ports::Claimant;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::Why;
use dpone_engine::run::facts::{LoadIsolation, PublicationKind, StagingFate, Topology};
use dpone_engine::schema::{Column, LogicalType, Schema};

use super::PostgresTarget;
use super::books;
use super::catalog::{
    Existing, Relation, base, columns, followers, has_key, is_type, lacks_replica_identity, relation,
};
use super::claim::{has_books, holder};
use super::ddl::{NAME_BYTES, create, declared};
use super::holds::holds;
use super::session::{Step, cell, connect, is_true, run, why};
use crate::postgres::{Config, Session, quote_literal};

/// Bytes that reading staging takes at least: four times what is read at a time.
const CHECK_GRANT: u64 = 4 << 20;
/// The oldest server whose catalog is understood.
const OLDEST: u32 = 120_000;
/// The most columns of a table.
const MAX_COLUMNS: usize = 1600;
/// What every table has already.
const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// Describes the target.
///
/// # Errors
/// Every reason why what is read cannot be published there exactly.
pub(super) fn describe(target: &PostgresTarget, schema: &Schema) -> Result<TargetFacts, Vec<Refusal>> {
    let mut blockers = Vec::new();
    names(schema, &mut blockers);
    types(schema, &mut blockers);
    let mut found = Found::default();
    match look(target, schema, &mut blockers) {
        Ok(seen) => found = seen,
        Err(why) => blockers.push(says(&why)),
    }
    if !blockers.is_empty() {
        return Err(blockers);
    }
    Ok(TargetFacts {
        target: target.identity(),
        same_as: found.same_as,
        exists: found.exists,
        base: found.base,
        base_run: None,
        former: None,
        ddl: vec![create(&target.place.target(), schema, target.merge_key())],
        column_types: schema.columns.iter().map(|c| declared(&c.ty).unwrap_or_default()).collect(),
        publication: PublicationKind::LedgerTransaction,
        load_isolation: LoadIsolation::Fenced,
        staging_fate: StagingFate::Removed,
        topologies: vec![Topology::SharedPerRun, Topology::PerPartition],
        atomicity: "transaction: readers see the former rows or the new ones, never a mixture",
        check_grant: CHECK_GRANT,
        warnings: found.warnings,
    })
}

pub(super) fn says(why: &Why) -> Refusal {
    let (code, fix) = match why.code {
        Code::TargetLocked => {
            (why.code, "Wait until the other program's transaction on the target has ended, or end it.")
        }
        _ => (Code::TargetNotReachable, "Look at the connection's settings, and at the server."),
    };
    Refusal::new(code, format!("the target's server says: {}", why.detail)).at("sink").fix(fix)
}

/// Who has claimed the target.
pub(super) fn claimed(target: &PostgresTarget) -> Step<Option<Claimant>> {
    let mut session = connect(&target.config)?;
    run(&mut session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
    if !has_books(&mut session, &target.place)? {
        return Ok(None);
    }
    holder(&mut session, &target.place)
}

/// What the server was found to have.
#[derive(Default)]
struct Found {
    exists: bool,
    same_as: Option<String>,
    base: String,
    warnings: Vec<String>,
}

fn look(target: &PostgresTarget, schema: &Schema, blockers: &mut Vec<Refusal>) -> Step<Found> {
    let mut session = connect(&target.config)?;
    if session.server_version() < OLDEST {
        return Err(Why::fatal(Code::TargetNotReachable, "it is older than PostgreSQL 12"));
    }
    run(&mut session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
    if is_true(&mut session, "SELECT pg_is_in_recovery()")? {
        return Err(Why::fatal(Code::TargetNotReachable, "it is a standby, which cannot be written"));
    }
    let place = &target.place;
    let name = quote_literal(&place.schema);
    if !is_true(&mut session, &format!("SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = {name})"))? {
        blockers.push(
            Refusal::new(Code::TargetNotReachable, format!("the target's database has no schema {:?}", place.schema))
                .at("sink.table.schema")
                .fix("Create the schema; dpone creates tables only."),
        );
        return Ok(Found::default());
    }
    if !is_true(
        &mut session,
        &format!("SELECT has_schema_privilege({name}, 'USAGE') AND has_schema_privilege({name}, 'CREATE')"),
    )? {
        let text = format!("the user may not create tables in schema {:?}", place.schema);
        blockers.push(
            Refusal::new(Code::TargetNotReachable, text)
                .at("sink.table.schema")
                .fix("Grant USAGE and CREATE on the schema: staging and dpone's books are tables beside the target."),
        );
        return Ok(Found::default());
    }
    if let Some(refusal) = books::refused(&mut session, place)? {
        blockers.push(refusal);
        return Ok(Found::default());
    }
    let pooled = session.pooled().map_err(|e| why(&e))?.map(str::to_owned);
    let mut found = match relation(&mut session, place, &place.table)? {
        Some(there) => existing(&mut session, target, schema, &there, blockers)?,
        None => {
            if is_type(&mut session, place)? {
                let text = format!("{:?} is a type there, and a table needs a type of its own name", place.table);
                blockers
                    .push(Refusal::new(Code::StrategyUnsupported, text).at("sink.table").fix("Choose another name."));
            }
            Found::default()
        }
    };
    found.warnings.extend(pooled);
    Ok(found)
}

fn existing(
    session: &mut Session,
    target: &PostgresTarget,
    schema: &Schema,
    there: &Relation,
    blockers: &mut Vec<Refusal>,
) -> Step<Found> {
    let table = &target.place.table;
    let mut refuse = |code, text: String, fix: &str| {
        blockers.push(Refusal::new(code, text).at("sink.table").fix(fix));
    };
    if there.kind != "r" {
        let kind = match there.kind.as_str() {
            "v" | "m" => "a view",
            "p" => "a partitioned table",
            "f" => "a foreign table",
            "i" | "I" => "an index",
            "S" => "a sequence",
            _ => "no table",
        };
        refuse(Code::StrategyUnsupported, format!("{table:?} is {kind}"), "Publish into an ordinary table.");
        return Ok(Found::default());
    }
    if there.inherits {
        let text = format!("{table:?} is a partition, inherits, or is inherited from");
        refuse(Code::StrategyUnsupported, text, "Publish into a table that stands alone.");
    }
    if there.hides_rows {
        let text = format!("row-level security hides rows of {table:?} from the user");
        refuse(Code::StrategyUnsupported, text, "Publish as a user that sees every row, such as the table's owner.");
    }
    let privileges = match target.mode {
        StrategyMode::Append => &["INSERT", "SELECT"][..],
        StrategyMode::FullRefresh | StrategyMode::PartitionReplace => &["INSERT", "SELECT", "DELETE"],
        StrategyMode::Merge => &["INSERT", "SELECT", "DELETE", "UPDATE"],
    };
    let wanted: Vec<String> =
        privileges.iter().map(|p| format!("has_table_privilege({}::oid, '{p}')", there.oid)).collect();
    if !is_true(session, &format!("SELECT {}", wanted.join(" AND ")))? {
        let text = format!("the user lacks a privilege on {table:?}");
        refuse(Code::TargetNotReachable, text, &format!("Grant {} on the table.", privileges.join(", ")));
    }
    let columns = columns(session, there.oid)?;
    let merge_key = target.merge_key();
    // By an index of the table, a merge changes rows in place and their keys not at all.
    let in_place = !merge_key.is_empty() && has_key(session, there.oid, merge_key)?;
    let followers = match target.mode {
        // New rows cannot change what refers to others.
        StrategyMode::Append => {
            let all: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
            followers(session, there.oid, &all)?
        }
        _ => followers(session, there.oid, if in_place { merge_key } else { &[] })?,
    };
    if !followers.is_empty() {
        let text = format!("a publication into {table:?} would set off its {}", followers.join(", "));
        let fix = "Publish into a table without triggers and rules, which no foreign key refers to.";
        refuse(Code::TargetTriggerUnsupported, text, fix);
    }
    let (updates, deletes) = match target.mode {
        StrategyMode::Append => (false, false),
        StrategyMode::FullRefresh | StrategyMode::PartitionReplace => (false, true),
        StrategyMode::Merge => (in_place, !in_place),
    };
    if lacks_replica_identity(session, there.oid, updates, deletes)? {
        let text = format!(
            "{table:?} is in a logical publication and has no replica identity: no row of it can be deleted or changed"
        );
        refuse(Code::StrategyUnsupported, text, "Give it a primary key or another REPLICA IDENTITY.");
    }
    compare(schema, merge_key, &columns, blockers);
    let mut warnings = Vec::new();
    if there.unlogged {
        warnings.push(format!("the target {table:?} is unlogged: a crash of the server empties it"));
    }
    let same_as = cell(session, &Config::same_table(there.oid))?;
    Ok(Found { exists: true, same_as, base: base(session, &target.place)?, warnings })
}

/// Names that the server cuts, or has taken.
fn names(schema: &Schema, blockers: &mut Vec<Refusal>) {
    let mut refuse = |text: String| {
        let fix = "Leave it out with source.options.columns, or rename it in a query.";
        blockers.push(Refusal::new(Code::TargetColumnsMismatch, text).at("source.options.columns").fix(fix));
    };
    for column in &schema.columns {
        if column.name.len() > NAME_BYTES {
            refuse(format!("the name of column {:?} is longer than PostgreSQL's {NAME_BYTES} bytes", column.name));
        }
        if SYSTEM_COLUMNS.contains(&column.name.as_str()) {
            refuse(format!("every table of PostgreSQL has a column {:?} of its own", column.name));
        }
    }
    if schema.columns.len() > MAX_COLUMNS {
        refuse(format!("{} columns are more than PostgreSQL's {MAX_COLUMNS}", schema.columns.len()));
    }
}

fn types(schema: &Schema, blockers: &mut Vec<Refusal>) {
    for column in schema.columns.iter().filter(|c| declared(&c.ty).is_none()) {
        let text = format!("column {:?} is {} and PostgreSQL keeps 6 fractional digits", column.name, column.ty);
        blockers.push(Refusal::new(Code::TargetTypeNarrowerThanSource, text).at("sink.table"));
    }
}

fn compare(schema: &Schema, merge_key: &[String], existing: &[Existing], blockers: &mut Vec<Refusal>) {
    let mut refuse = |code, text: String, fix: &str| {
        blockers.push(Refusal::new(code, text).at("sink.table").fix(fix));
    };
    for column in &schema.columns {
        let name = &column.name;
        let Some(there) = existing.iter().find(|e| e.name == *name) else {
            let near = existing.iter().find(|e| e.name.to_lowercase() == name.to_lowercase());
            let near = near.map(|e| format!("; it has {:?}, which is another name", e.name)).unwrap_or_default();
            refuse(
                Code::TargetColumnsMismatch,
                format!("the target has no column {name:?}{near}"),
                "Add the column to the target, or leave it out with source.options.columns.",
            );
            continue;
        };
        if there.generated || there.always_identity {
            refuse(
                Code::TargetColumnsMismatch,
                format!("the target computes its column {name:?} itself"),
                "Leave the column out with source.options.columns, or make it an ordinary one.",
            );
        } else if !holds(&column.ty, there) {
            refuse(
                Code::TargetTypeNarrowerThanSource,
                narrower(column, there),
                "Change the column's type in the target.",
            );
        }
        // A merge key with NULL fails its gate before anything is published.
        if column.nullable && there.not_null && !merge_key.contains(name) {
            refuse(
                Code::NullableSourceIntoNonNullableTarget,
                format!("column {name:?} can be NULL and the target refuses NULL"),
                "Allow NULL in the target, or read the column from a source that declares it NOT NULL.",
            );
        }
    }
    for extra in existing.iter().filter(|e| !e.generated && schema.column(&e.name).is_none()) {
        refuse(
            Code::TargetColumnsMismatch,
            format!("the target has a column {:?} that is not read", extra.name),
            "Read the column as well, or remove it from the target: it would be filled with its default.",
        );
    }
}

fn narrower(column: &Column, there: &Existing) -> String {
    let wanted = declared(&column.ty).unwrap_or_default();
    let text = format!(
        "column {:?} is {} and the target's {} does not keep each of its values; {wanted} does",
        column.name, column.ty, there.declared
    );
    match column.ty {
        LogicalType::Text => format!("{text} (char pads, varchar(n) has an end)"),
        _ => text,
    }
}
