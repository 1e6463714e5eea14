//! The target's own terms: names, types, and dpone's bookkeeping tables beside it.

use dpone_engine::schema::{Column, LogicalType, Schema};

/// A name as SQL text.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The declared type that holds every value of a column exactly.
///
/// A decimal is text: SQLite would turn `1.10` into a float under any declared type whose affinity is numeric.
pub(super) fn declared(ty: &LogicalType) -> String {
    match ty {
        LogicalType::Bool => "BOOLEAN".to_owned(),
        LogicalType::Int { .. } | LogicalType::UInt { .. } => "INTEGER".to_owned(),
        LogicalType::Float { .. } => "REAL".to_owned(),
        LogicalType::Decimal { precision, scale } => format!("DECIMAL_TEXT({precision},{scale})"),
        LogicalType::Date => "DATE".to_owned(),
        LogicalType::Time { digits } => format!("TIME({digits})"),
        LogicalType::Timestamp { utc: false, digits } => format!("TIMESTAMP({digits})"),
        LogicalType::Timestamp { utc: true, digits } => format!("TIMESTAMP_UTC({digits})"),
        LogicalType::Text => "TEXT".to_owned(),
        LogicalType::Binary => "BLOB".to_owned(),
        LogicalType::Uuid => "UUID".to_owned(),
    }
}

fn definition(column: &Column, key: &[String]) -> String {
    // SQLite alone lets a primary key be NULL; the merge key's gate does not.
    let not_null = if column.nullable && !key.contains(&column.name) { "" } else { " NOT NULL" };
    format!("{} {}{not_null}", quote(&column.name), declared(&column.ty))
}

/// The statement that creates a table for that schema; `key` becomes its primary key.
pub(super) fn create(table: &str, schema: &Schema, key: &[String]) -> String {
    let mut parts: Vec<String> = schema.columns.iter().map(|c| definition(c, key)).collect();
    if !key.is_empty() {
        let columns: Vec<String> = key.iter().map(|k| quote(k)).collect();
        parts.push(format!("PRIMARY KEY ({})", columns.join(", ")));
    }
    format!("CREATE TABLE {} ({})", quote(table), parts.join(", "))
}

/// The columns of a schema as SQL text.
pub(super) fn columns(schema: &Schema) -> String {
    let names: Vec<String> = schema.columns.iter().map(|c| quote(&c.name)).collect();
    names.join(", ")
}

/// The name under which a table of that schema shows its row numbers: the first that is not one of its columns.
pub(super) fn rowid(schema: &Schema) -> Option<&'static str> {
    let taken = |name: &str| schema.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
    ["rowid", "_rowid_", "oid"].into_iter().find(|name| !taken(name))
}

/// dpone's bookkeeping in the target database. It stays: it is what a later run recognises an earlier one by.
pub(super) const BOOKS: &str = "
CREATE TABLE IF NOT EXISTS __dpone_claim (
    target TEXT PRIMARY KEY, run TEXT NOT NULL, epoch INTEGER NOT NULL, journal TEXT NOT NULL, held INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS __dpone_load (
    load TEXT PRIMARY KEY, staging TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, rows INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS __dpone_ledger (
    number INTEGER PRIMARY KEY, publication TEXT NOT NULL UNIQUE, target TEXT NOT NULL, journal TEXT NOT NULL,
    run TEXT NOT NULL, identity TEXT NOT NULL, rows INTEGER NOT NULL, published INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS __dpone_once ON __dpone_ledger (target, journal, run) WHERE published = 1;
";
