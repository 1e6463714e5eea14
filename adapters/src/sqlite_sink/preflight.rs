//! What the target is now and whether it can hold every value exactly. Creates nothing.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::plan::TargetFacts;
use dpone_engine::ports::Claimant;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::Why;
use dpone_engine::run::facts::{LoadIsolation, PublicationKind, StagingFate, Topology};
use dpone_engine::schema::{Column, LogicalType, Schema};
use rusqlite::{Connection, OpenFlags};

use super::SqliteTarget;
use super::claim::standing;
use super::ddl::{create, declared, rowid};
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
    for column in schema.columns.iter().filter(|c| c.ty == LogicalType::UInt { bits: 64 }) {
        let text = format!("column {:?} is uint64 and SQLite's integers are signed", column.name);
        blockers.push(Refusal::new(Code::TargetTypeNarrowerThanSource, text).at("sink.table"));
    }
    for column in schema.columns.iter().filter(|c| matches!(c.ty, LogicalType::Decimal { precision: 39.., .. })) {
        let text = format!("column {:?} is {} and the sqlite sink keeps 38 digits", column.name, column.ty);
        blockers.push(
            Refusal::new(Code::TargetTypeNarrowerThanSource, text)
                .at("sink.table")
                .fix("Deliver the column as text: state it in source.options.types."),
        );
    }
    names(schema, &mut blockers);
    let mut found = (false, String::new());
    if target.path.exists() {
        match existing(&target.path, &target.table, &target.identity()) {
            Ok(Some(table)) => {
                compare(schema, target.merge_key(), &table, &mut blockers);
                if !table.followers.is_empty() {
                    let text = format!(
                        "a publication into {:?} would set off its {}",
                        target.table,
                        table.followers.join(", ")
                    );
                    let fix = "Publish into a table without triggers, which no foreign key refers to.";
                    blockers.push(Refusal::new(Code::TargetTriggerUnsupported, text).at("sink.table").fix(fix));
                }
                found = (true, table.identity);
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
        same_as: None,
        exists: found.0,
        base: found.1,
        base_run: None,
        former: None,
        ddl: vec![create(&target.table, schema, target.merge_key())],
        column_types: schema.columns.iter().map(|c| declared(&c.ty)).collect(),
        publication: PublicationKind::LedgerTransaction,
        load_isolation: LoadIsolation::Fenced,
        staging_fate: StagingFate::Removed,
        topologies: vec![Topology::SharedPerRun, Topology::PerPartition],
        atomicity: "transaction: readers see the former rows or the new ones, never a mixture",
        check_grant: CHECK_GRANT,
        warnings: decimals(schema),
    })
}

/// What a reader of the table must know of its decimals.
fn decimals(schema: &Schema) -> Vec<String> {
    let names: Vec<String> = schema
        .columns
        .iter()
        .filter(|c| matches!(c.ty, LogicalType::Decimal { .. }))
        .map(|c| format!("{:?}", c.name))
        .collect();
    match names.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "decimals are kept as text, because SQLite has no exact ones: compare {} with a cast, not as they are",
            names.join(", ")
        )],
    }
}

/// An existing target table.
struct Table {
    columns: Vec<Existing>,
    strict: bool,
    /// What acts on its own when the table changes: triggers, and foreign keys of other tables.
    followers: Vec<String>,
    identity: String,
}

fn unreachable(path: &Path, why: &Why) -> Refusal {
    let (code, fix) = match why.code {
        Code::TargetLocked => (why.code, "Wait until the other process has committed, or end it."),
        _ => {
            let fix = "Name a SQLite database file that can be opened, or one that does not exist yet.";
            (Code::TargetNotReachable, fix)
        }
    };
    Refusal::new(code, format!("the target database says: {}", why.detail)).at(path.display().to_string()).fix(fix)
}

/// Who has claimed the target.
pub(super) fn claimed(path: &Path, target: &str) -> Result<Option<Claimant>, Refusal> {
    if !path.exists() {
        return Ok(None);
    }
    let found = look(path).map_err(|e| super::database::why(&e)).and_then(|db| {
        if !super::database::table_exists(&db, "__dpone_claim")? {
            return Ok(None);
        }
        standing(&db, target)
    });
    let standing = found.map_err(|why| unreachable(path, &why))?;
    Ok(standing.filter(|standing| standing.held).map(|standing| standing.claimant))
}

fn existing(path: &Path, table: &str, target: &str) -> Result<Option<Table>, Refusal> {
    let fail = |e: rusqlite::Error| unreachable(path, &super::database::why(&e));
    let db = look(path).map_err(fail)?;
    let kind = "SELECT type, strict FROM pragma_table_list(?1) WHERE schema = 'main'";
    let strict = match db.query_row(kind, [table], |r| Ok((r.get::<_, String>(0)?, r.get(1)?))) {
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(None),
        Err(e) => return Err(fail(e)),
        Ok((kind, strict)) if kind == "table" => strict,
        Ok((kind, _)) => {
            return Err(Refusal::new(Code::StrategyUnsupported, format!("{table:?} is a {kind}, not a table"))
                .at("sink.table")
                .fix("Publish into a table."));
        }
    };
    let texts =
        |sql: &str| -> rusqlite::Result<Vec<String>> { db.prepare(sql)?.query_map([table], |r| r.get(0))?.collect() };
    let mut followers = texts(
        "SELECT 'trigger \"' || name || '\"' FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE",
    )
    .map_err(fail)?;
    // Rows of the other table would be deleted or changed, or would forbid the publication.
    let children = texts(
        "SELECT DISTINCT 'foreign key of table \"' || t.name || '\"' FROM sqlite_schema AS t
         JOIN pragma_foreign_key_list(t.name) AS f ON f.\"table\" = ?1 COLLATE NOCASE WHERE t.type = 'table'",
    );
    followers.extend(children.map_err(fail)?);
    let mut statement =
        db.prepare("SELECT name, type, \"notnull\" OR pk > 0 FROM pragma_table_info(?1)").map_err(fail)?;
    let columns = statement
        .query_map([table], |r| Ok(Existing { name: r.get(0)?, declared: r.get(1)?, not_null: r.get(2)? }))
        .and_then(Iterator::collect)
        .map_err(fail)?;
    let identity = base(&db, target, table).map_err(|w| Refusal::new(w.code, w.detail))?;
    Ok(Some(Table { columns, strict, followers, identity }))
}

/// Opens the file without leaving anything beside it. A database in WAL mode would get its `-wal` and `-shm` files from
/// any reader; one without them is read as the immutable file that it is for this moment, and the publication compares
/// what was found here once more.
fn look(path: &Path) -> rusqlite::Result<Connection> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_os_string();
        name.push(suffix);
        Path::new(&name).exists()
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let text = path.to_str().filter(|_| !beside("-wal") && !beside("-journal"));
    let Some(text) = text else { return Connection::open_with_flags(path, flags) };
    let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags | OpenFlags::SQLITE_OPEN_URI)
}

/// Names that SQLite cannot keep apart.
fn names(schema: &Schema, blockers: &mut Vec<Refusal>) {
    for (at, column) in schema.columns.iter().enumerate() {
        let earlier = schema.columns.iter().take(at).find(|c| c.name.eq_ignore_ascii_case(&column.name));
        if let Some(earlier) = earlier {
            let text = format!("columns {:?} and {:?} are one name to SQLite", earlier.name, column.name);
            let fix = "Leave one of them out with source.options.columns, or rename it in a query.";
            blockers.push(Refusal::new(Code::DuplicateColumnName, text).at("source.options.columns").fix(fix));
        }
    }
    if rowid(schema).is_none() {
        let why = super::load::no_rowid();
        blockers.push(
            Refusal::new(why.code, why.detail).at("source.options.columns").fix("Rename one of them in a query."),
        );
    }
}

fn compare(schema: &Schema, merge_key: &[String], table: &Table, blockers: &mut Vec<Refusal>) {
    let existing = &table.columns;
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
        if !holds(&column.ty, &there.declared, table.strict) {
            let text = format!(
                "column {:?} is {} and the target declares {:?}: {}",
                column.name,
                column.ty,
                there.declared,
                reason(&there.declared, table.strict)
            );
            blockers.push(
                Refusal::new(Code::TargetTypeNarrowerThanSource, text)
                    .at("sink.table")
                    .fix(format!("Declare it {} in the target.", declared(&column.ty))),
            );
        }
        // A merge key with NULL fails its gate before anything is published.
        if column.nullable && there.not_null && !merge_key.contains(&column.name) {
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

/// Whether a declared type leaves every value of a logical type as it is.
fn holds(ty: &LogicalType, declared: &str, strict: bool) -> bool {
    if strict {
        // A strict table takes one storage class and refuses the others.
        let needed: &[&str] = match ty {
            LogicalType::Bool | LogicalType::Int { .. } | LogicalType::UInt { .. } => &["INT", "INTEGER", "ANY"],
            LogicalType::Float { .. } => &["REAL", "ANY"],
            LogicalType::Binary => &["BLOB", "ANY"],
            LogicalType::Text
            | LogicalType::Decimal { .. }
            | LogicalType::Uuid
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. } => &["TEXT", "ANY"],
        };
        return needed.iter().any(|n| declared.eq_ignore_ascii_case(n));
    }
    let affinity = affinity(declared);
    match ty {
        LogicalType::Bool | LogicalType::Int { .. } | LogicalType::UInt { .. } => {
            matches!(affinity, Affinity::Integer | Affinity::Numeric | Affinity::Blob)
        }
        LogicalType::Float { .. } => matches!(affinity, Affinity::Real | Affinity::Blob),
        // Text under a numeric affinity becomes a number wherever it looks like one.
        LogicalType::Text | LogicalType::Decimal { .. } => matches!(affinity, Affinity::Text | Affinity::Blob),
        // ISO dates and times and UUIDs never look like numbers.
        LogicalType::Uuid | LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. } => true,
        LogicalType::Binary => true,
    }
}

/// Why a declared type does not hold what it seems to.
fn reason(declared: &str, strict: bool) -> &'static str {
    if strict {
        return "a strict table refuses values of another storage class";
    }
    match affinity(declared) {
        Affinity::Integer | Affinity::Numeric => {
            "under that name SQLite makes numbers of texts, and floats of decimals, which changes values"
        }
        Affinity::Real => "under that name SQLite makes floats of numbers, which changes values",
        Affinity::Text => "under that name SQLite makes texts of numbers, which changes values",
        Affinity::Blob => "SQLite would change values",
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
