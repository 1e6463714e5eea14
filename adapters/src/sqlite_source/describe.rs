//! Preflight: what the source is, before a run exists.

use dpone_engine::codes::Code;
use dpone_engine::manifest::Relation;
use dpone_engine::plan::facts::{RelationKind, SourceFacts};
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use rusqlite::Connection;

use super::connect::connect_checked;
use super::key::key_facts;
use super::limits::min_grant;
use super::request::SqliteRequest;
use super::resolve::resolve;

/// Readers that may be open on one state. SQLite has no limit of its own; each is a thread and a page cache.
const MAX_SESSIONS: u32 = 64;

/// What timestamps of more than 6 digits are restricted to.
const NANOSECONDS: &str = "only moments from 1677-09-21 00:12:43.145224192 to 2262-04-11 23:47:16.854775807 can be \
delivered, others end the run; up to 6 digits (`source.options.types`) reach from year 1 to 9999";

/// Looks at the source: its columns and their exact types, and what the range column holds.
///
/// # Errors
/// Everything that stands against reading it, never empty: `source_not_found`, `source_table_not_found`,
/// `source_column_not_found`, `source_query_invalid`, `duplicate_column_name`, `unnamed_column`,
/// `column_type_undeclared`, `unconstrained_numeric_requires_type`, `unsupported_type`, `unsupported_boundary_type`,
/// `source_value_type_mismatch`.
pub fn describe(request: &SqliteRequest) -> Result<SourceFacts, Vec<Refusal>> {
    let connection = connect_checked(&request.path).map_err(|refusal| vec![refusal])?;
    let resolved = resolve(&connection, request)?;
    let mut warnings = resolved.warnings.clone();
    let (key, key_indexed, key_refused) = match &resolved.key {
        None => (None, false, None),
        Some(key) => match key_facts(&connection, &resolved, key) {
            Ok((facts, indexed)) => (Some(facts), indexed, None),
            // Whether ranges are needed is for the plan to say.
            Err(refusal) if refusal.code == Code::UnsupportedBoundaryType => (None, false, Some(refusal)),
            Err(refusal) => return Err(vec![refusal]),
        },
    };
    let key_column = resolved.key.as_ref().map(|key| key.column.clone());
    for column in &resolved.schema.columns {
        if let LogicalType::Timestamp { digits: 7.., .. } = column.ty {
            let text = format!("column {:?} is {} and is stored in nanoseconds: {NANOSECONDS}", column.name, column.ty);
            warnings.push(text);
        }
    }
    if resolved.kind == RelationKind::Query {
        warnings.push("memory that SQLite takes inside the query (sorting, grouping) is not part of the budget".into());
    }
    let view_sql = views_below(&connection, &request.relation, resolved.kind).map_err(|refusal| vec![refusal])?;
    Ok(SourceFacts {
        view_sql,
        as_target: as_target(request, resolved.kind),
        same_as: None,
        key_column,
        key_refused,
        min_grant: min_grant(&resolved.schema),
        schema: resolved.schema,
        relation: resolved.kind,
        key,
        key_indexed,
        max_sessions: MAX_SESSIONS,
        warnings,
    })
}

/// The table as the SQLite sink names it.
fn as_target(request: &SqliteRequest, kind: RelationKind) -> Option<String> {
    match (&request.relation, kind) {
        (Relation::Table(table), RelationKind::Table) => {
            Some(crate::sqlite_sink::identity(&crate::sqlite_sink::file(&request.path), &table.name))
        }
        _ => None,
    }
}

/// The texts of the view and of every view whose name occurs in it, and so on down. A name that occurs as something else
/// only adds a text.
fn views_below(connection: &Connection, relation: &Relation, kind: RelationKind) -> Result<Vec<String>, Refusal> {
    let read = || -> Result<Vec<(String, String)>, rusqlite::Error> {
        let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'view' AND sql IS NOT NULL";
        connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let mut left = read().map_err(|e| unreadable(&e))?;
    let mut texts: Vec<String> = match (relation, kind) {
        (_, RelationKind::Table) => return Ok(Vec::new()),
        (Relation::Query(query), _) => vec![query.to_lowercase()],
        (Relation::Table(table), _) => vec![table.name.to_lowercase()],
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(text) = texts.get(at).cloned() {
        at += 1;
        let (below, rest) = left.into_iter().partition(|(name, _)| text.contains(&name.to_lowercase()));
        left = rest;
        for (_, sql) in below {
            texts.push(sql.to_lowercase());
            found.push(sql);
        }
    }
    Ok(found)
}

fn unreadable(error: &rusqlite::Error) -> Refusal {
    let reason = super::connect::reason(error);
    Refusal::new(Code::SourceNotFound, format!("the SQLite database cannot be read: {reason}"))
        .fix("Check the database with `PRAGMA integrity_check`.")
}
