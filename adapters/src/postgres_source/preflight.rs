//! Preflight: what the source is, before a run exists.

use dpone_engine::codes::Code;
use dpone_engine::manifest::Relation;
use dpone_engine::plan::facts::{RelationKind, SourceFacts};
use dpone_engine::ranges::Scope;
use dpone_engine::refusal::Refusal;

use super::describe::look;
use super::explain::explain;
use super::key::key_facts;
use super::refused::refused;
use super::request::PostgresRequest;
use super::resolve::Resolved;
use super::views::views_below;
use crate::postgres::{Config, PgError, Session};
use crate::reading::min_grant;

/// Readers that may be open on one snapshot: the server's limits are its own to state when they are met.
const MAX_SESSIONS: u32 = 64;

/// Looks at the source in one session and one read-only transaction: its columns and their exact types, and what the range
/// column holds.
///
/// # Errors
/// Everything that stands against reading it, never empty; see [`look`], and `source_not_found` if there is no server.
pub fn describe(config: &Config, request: &PostgresRequest) -> Result<SourceFacts, Vec<Refusal>> {
    let unreachable = |e: PgError| vec![refused(&e, "the PostgreSQL server cannot be used", "source")];
    let mut session = Session::connect(config).map_err(unreachable)?;
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").map_err(unreachable)?;
    let facts = facts(&mut session, config, request)?;
    session.execute("ROLLBACK").map_err(unreachable)?;
    Ok(facts)
}

fn facts(session: &mut Session, config: &Config, request: &PostgresRequest) -> Result<SourceFacts, Vec<Refusal>> {
    let resolved = look(session, request)?;
    let place = if resolved.kind == RelationKind::Query { "source.query" } else { "source.table" };
    let failed = |e: PgError| vec![refused(&e, "the source cannot be read", place)];
    let explained = explain(session, &resolved.sql.rows(&Scope::WholeTable)).map_err(failed)?;
    let mut warnings = resolved.warnings.clone();
    warnings.extend(conditions(session, &resolved).map_err(failed)?);
    if explained.foreign {
        warnings.push(
            "another server is read through a foreign table, which no snapshot covers: one session reads it".into(),
        );
    }
    let mut key_refused = resolved.key_refused.clone();
    let (key, key_indexed) = match &resolved.key {
        None => (None, false),
        Some(key) => match key_facts(session, &resolved, key, &request.planner, explained.rows) {
            Ok((facts, indexed)) => (Some(facts), indexed),
            // Whether ranges are needed is for the plan to say.
            Err(refusal) if matches!(refusal.code, Code::UnsupportedBoundaryType | Code::SourceStatsLowConfidence) => {
                key_refused = Some(refusal);
                (None, false)
            }
            Err(refusal) => return Err(vec![refusal]),
        },
    };
    if resolved.kind == RelationKind::Query {
        warnings
            .push("memory that the server takes inside the query (sorting, grouping) is not part of the budget".into());
    }
    let view_sql = match (&request.relation, resolved.kind) {
        (_, RelationKind::Table) => Vec::new(),
        (Relation::Query(query), _) => views_below(session, None, query, explained.window).map_err(failed)?,
        (Relation::Table(_), _) => {
            views_below(session, resolved.table.as_ref(), "", explained.window).map_err(failed)?
        }
    };
    let table = resolved.table.as_ref().filter(|_| resolved.kind == RelationKind::Table);
    let same_as = match table {
        Some(table) => {
            session.query(&Config::same_table(table.oid)).map_err(failed)?.into_iter().flatten().next().flatten()
        }
        None => None,
    };
    Ok(SourceFacts {
        as_target: table.map(|table| config.table_identity(&table.schema, &table.name)),
        same_as,
        view_sql,
        key_column: resolved.key.as_ref().map(|key| key.column.clone()),
        key_refused,
        min_grant: min_grant(&resolved.schema),
        schema: resolved.schema,
        relation: resolved.kind,
        key,
        key_indexed,
        max_sessions: if explained.foreign { 1 } else { MAX_SESSIONS },
        warnings,
    })
}

/// What the server does that the rows alone do not show.
fn conditions(session: &mut Session, resolved: &Resolved) -> Result<Vec<String>, PgError> {
    let mut found: Vec<String> = session.pooled()?.into_iter().map(str::to_owned).collect();
    let oid = resolved.table.as_ref().map_or("NULL".to_owned(), |table| table.oid.to_string());
    let sql = format!("SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.row_security_active({oid}::pg_catalog.oid)");
    let rows = session.query(&sql)?;
    let is = |i: usize| rows.first().and_then(|row| row.get(i)?.as_deref()) == Some("t");
    if is(0) {
        found.push("the server is a standby, which may cancel a read that holds its snapshot for long".into());
    }
    if is(1) {
        found.push("row-level security shows this user only some of the rows".into());
    }
    Ok(found)
}
