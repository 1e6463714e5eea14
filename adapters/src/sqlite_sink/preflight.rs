//! What the target is now and whether it can hold every value exactly. Creates nothing.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode;
use dpone_engine::plan::TargetFacts;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::facts::{LoadIsolation, PublicationKind, StagingFate, Topology};
use dpone_engine::schema::{Column, LogicalType, Schema};
use rusqlite::{Connection, OpenFlags};

use super::SqliteTarget;
use super::ddl::{create, declared};
use super::publish::base;

/// Bytes that reading one row at a time takes at most, beside the row.
const CHECK_GRANT: u64 = 4 << 20;

/// A column of an existing target.
struct Existing {
    name: String,
    declared: String,
    not_null: bool,
}

/// Describes the target.
///
/// # Errors
/// Every reason why what is read cannot be published there exactly.
pub(super) fn describe(target: &SqliteTarget, schema: &Schema) -> Result<TargetFacts, Vec<Refusal>> {
    let mut blockers = Vec::new();
    if target.mode == StrategyMode::PartitionReplace {
        blockers.push(
            Refusal::new(Code::StrategyUnsupported, "the sqlite sink has no partitions to replace")
                .at("sink.strategy.mode")
                .fix("Use full_refresh, append or merge."),
        );
    }
    for column in schema.columns.iter().filter(|c| c.ty == LogicalType::UInt { bits: 64 }) {
        let text = format!("column {:?} is uint64 and SQLite's integers are signed", column.name);
        blockers.push(Refusal::new(Code::TargetTypeNarrowerThanSource, text).at("sink.table"));
    }
    let mut found = (false, String::new());
    if target.path.exists() {
        match existing(&target.path, &target.table, &target.identity()) {
            Ok(Some((columns, triggers, identity))) => {
                found = (true, identity);
                compare(schema, &columns, &mut blockers);
                if triggers > 0 {
                    blockers.push(
                        Refusal::new(
                            Code::TargetTriggerUnsupported,
                            format!("table {:?} has {triggers} triggers", target.table),
                        )
                        .at("sink.table")
                        .fix("Publish into a table without triggers."),
                    );
                }
            }
            Ok(None) => {}
            Err(refusal) => blockers.push(refusal),
        }
    }
    if !blockers.is_empty() {
        return Err(blockers);
    }
    Ok(TargetFacts {
        target: target.identity(),
        exists: found.0,
        base: found.1,
        base_run: None,
        ddl: vec![create(&target.table, schema, target.merge_key())],
        column_types: schema.columns.iter().map(|c| declared(&c.ty)).collect(),
        publication: PublicationKind::LedgerTransaction,
        load_isolation: LoadIsolation::Fenced,
        staging_fate: StagingFate::Removed,
        topologies: vec![Topology::SharedPerRun, Topology::PerPartition],
        atomicity: "transaction: readers see the former rows or the new ones, never a mixture",
        check_grant: CHECK_GRANT,
        warnings: Vec::new(),
    })
}

type Found = Option<(Vec<Existing>, u64, String)>;

fn existing(path: &Path, table: &str, target: &str) -> Result<Found, Refusal> {
    let fail = |e: rusqlite::Error| {
        Refusal::new(Code::TargetNotReachable, format!("the target database says: {}", super::database::why(&e).detail))
            .at(path.display().to_string())
            .fix("Name a SQLite database file that can be opened, or one that does not exist yet.")
    };
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(fail)?;
    let kind = db.query_row("SELECT type FROM sqlite_schema WHERE name = ?1", [table], |r| r.get::<_, String>(0));
    match kind {
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(None),
        Err(e) => return Err(fail(e)),
        Ok(kind) if kind != "table" => {
            return Err(Refusal::new(Code::StrategyUnsupported, format!("{table:?} is a {kind}, not a table"))
                .at("sink.table")
                .fix("Publish into a table."));
        }
        Ok(_) => {}
    }
    let mut statement =
        db.prepare("SELECT name, type, \"notnull\" OR pk > 0 FROM pragma_table_info(?1)").map_err(fail)?;
    let columns = statement
        .query_map([table], |r| Ok(Existing { name: r.get(0)?, declared: r.get(1)?, not_null: r.get(2)? }))
        .and_then(Iterator::collect)
        .map_err(fail)?;
    let triggers = db
        .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1", [table], |r| r.get(0))
        .map_err(fail)?;
    let identity = base(&db, target, table).map_err(|w| Refusal::new(w.code, w.detail))?;
    Ok(Some((columns, triggers, identity)))
}

fn compare(schema: &Schema, existing: &[Existing], blockers: &mut Vec<Refusal>) {
    for column in &schema.columns {
        let Some(there) = existing.iter().find(|e| e.name == column.name) else {
            let text = format!("the target has no column {:?}", column.name);
            blockers.push(
                Refusal::new(Code::TargetColumnsMismatch, text)
                    .at("sink.table")
                    .fix("Add the column to the target, or leave it out with source.options.columns."),
            );
            continue;
        };
        if !holds(&column.ty, &there.declared) {
            let text = format!(
                "column {:?} is {} and the target declares {:?}, which would change values",
                column.name, column.ty, there.declared
            );
            blockers.push(
                Refusal::new(Code::TargetTypeNarrowerThanSource, text)
                    .at("sink.table")
                    .fix(format!("Declare it {} in the target.", declared(&column.ty))),
            );
        }
        if column.nullable && there.not_null {
            let text = format!("column {:?} can be NULL and the target refuses NULL", column.name);
            blockers.push(
                Refusal::new(Code::NullableSourceIntoNonNullableTarget, text)
                    .at("sink.table")
                    .fix("Allow NULL in the target, or read the column from a source that declares it NOT NULL."),
            );
        }
    }
    for extra in existing.iter().filter(|e| !schema.columns.iter().any(|c: &Column| c.name == e.name)) {
        let text = format!("the target has a column {:?} that is not read", extra.name);
        blockers.push(
            Refusal::new(Code::TargetColumnsMismatch, text)
                .at("sink.table")
                .fix("Read the column as well, or remove it from the target: it would be filled with its default."),
        );
    }
}

/// Whether a declared type's affinity leaves every value of a logical type as it is.
fn holds(ty: &LogicalType, declared: &str) -> bool {
    let affinity = affinity(declared);
    match ty {
        LogicalType::Bool | LogicalType::Int { .. } | LogicalType::UInt { .. } => {
            matches!(affinity, Affinity::Integer | Affinity::Numeric | Affinity::Blob)
        }
        LogicalType::Float { .. } => matches!(affinity, Affinity::Real | Affinity::Blob),
        // Text under a numeric affinity becomes a number wherever it looks like one.
        LogicalType::Text | LogicalType::Decimal { .. } | LogicalType::Uuid => {
            matches!(affinity, Affinity::Text | Affinity::Blob)
        }
        // ISO dates and times never look like numbers.
        LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. } => true,
        LogicalType::Binary => true,
    }
}

enum Affinity {
    Integer,
    Text,
    Blob,
    Real,
    Numeric,
}

/// SQLite's own rules for the affinity of a declared type, in their order.
fn affinity(declared: &str) -> Affinity {
    let upper = declared.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|w| upper.contains(w));
    if has(&["INT"]) {
        Affinity::Integer
    } else if has(&["CHAR", "CLOB", "TEXT"]) {
        Affinity::Text
    } else if has(&["BLOB"]) || upper.trim().is_empty() {
        Affinity::Blob
    } else if has(&["REAL", "FLOA", "DOUB"]) {
        Affinity::Real
    } else {
        Affinity::Numeric
    }
}
