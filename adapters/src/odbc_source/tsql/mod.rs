//! The dialect of SQL Server: its catalog, its types, its literals and what it can say of its own consistency.
//!
//! What is written here is plain T-SQL of SQL Server 2016 and later, each name quoted. Nothing here reads a row: only
//! catalogs, keys of the range column, and what confirms an authority.

mod authority;
mod catalog;
mod described;
mod facts;
mod key;
mod keys;
mod literal;
mod quantiles;
mod query;
mod quote;
mod refused;
mod relation;
mod resolve;
mod stated;
mod statistics;
mod steps;
mod temporal;
mod types;
mod uuid_order;
mod views;

use dpone_engine::manifest::{Consistency, Relation};
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;

pub use self::authority::{authority, session_database};
pub use self::key::key_facts;

use self::authority::{Database, missing, no_table};
use self::facts::Catalog;
use self::refused::refused;
use super::{OdbcRequest, Resolved};
use crate::odbc::{Connection, Described, OdbcError, Row};

/// Whoever answers statements with small results.
pub trait Ask {
    /// The result, each field as text.
    ///
    /// # Errors
    /// As the driver says.
    fn ask(&mut self, sql: &str) -> Result<Vec<Row>, OdbcError>;

    /// The columns of a statement without rows, as the driver describes them.
    ///
    /// # Errors
    /// As the driver says.
    fn describe(&mut self, sql: &str) -> Result<Vec<Described>, OdbcError>;
}

impl Ask for Connection {
    fn ask(&mut self, sql: &str) -> Result<Vec<Row>, OdbcError> {
        self.query(sql)
    }

    fn describe(&mut self, sql: &str) -> Result<Vec<Described>, OdbcError> {
        Connection::describe(self, sql)
    }
}

/// Looks at the catalog: the columns with their exact types, and the SQL that reads them. Reads no row.
///
/// A session that reads a database snapshot must be connected to it; see [`session_database`].
///
/// # Errors
/// Everything that stands against reading it, never empty: `source_table_not_found`, `source_column_not_found`,
/// `source_query_invalid`, `source_permission_denied`, `duplicate_column_name`, `unnamed_column`, `unsupported_type`,
/// `range_invalid`, `consistency_authority_missing`.
pub fn look(ask: &mut impl Ask, request: &OdbcRequest) -> Result<Resolved, Vec<Refusal>> {
    let catalog = look_up(ask, request).map_err(|refusal| vec![refusal])?;
    let mut resolved = resolve::resolve(&catalog, request)?;
    readable(ask, &resolved).map_err(|refusal| vec![refusal])?;
    if request.ranges.consistency == Consistency::Statement {
        let named = match &request.relation {
            Relation::Table(table) => table.database.as_deref(),
            Relation::Query(_) => None,
        };
        if !Database::of(ask, named).map_err(|refusal| vec![refusal])?.is_still() {
            resolved.warnings.push(
                "the database keeps no row versions: rows that are changed while they are read can be missed or read twice. \
                 ALLOW_SNAPSHOT_ISOLATION or READ_COMMITTED_SNAPSHOT prevents it"
                    .to_owned(),
            );
        }
    }
    Ok(resolved)
}

fn look_up(ask: &mut impl Ask, request: &OdbcRequest) -> Result<Catalog, Refusal> {
    let ranges = &request.ranges;
    let snapshot = session_database(request);
    match &request.relation {
        Relation::Table(table) => {
            let found = catalog::find(ask, table, snapshot)?;
            if ranges.consistency != Consistency::TemporalAsOf {
                return catalog::look_up(ask, found);
            }
            if found.kind != RelationKind::Table {
                return Err(no_table());
            }
            let moment = temporal::as_of(ranges.consistency_authority.as_of.as_deref().unwrap_or_default())?;
            temporal::confirm(ask, &found.table, &moment)?;
            let from = relation::at(&found.table.qualified(), &moment);
            Ok(Catalog { from, ..catalog::look_up(ask, found)? })
        }
        Relation::Query(_) if ranges.consistency == Consistency::TemporalAsOf => Err(no_table()),
        Relation::Query(query) => {
            if let Some(snapshot) = snapshot {
                within(ask, snapshot)?;
            }
            described::look_up(ask, query)
        }
    }
}

/// A query's names are those of the database that its session is in.
fn within(ask: &mut impl Ask, snapshot: &str) -> Result<(), Refusal> {
    let rows = ask.ask("SELECT DB_NAME()").map_err(|e| refused(&e, "the session's database is not known", "source"))?;
    let here = rows.first().and_then(|row| row.first()?.as_deref());
    if here.is_some_and(|here| here.eq_ignore_ascii_case(snapshot)) {
        return Ok(());
    }
    let text = "the session is not in the database snapshot".to_owned();
    Err(missing("database_snapshot", text, "Let the connection's user connect to the snapshot."))
}

/// Has the server compile the statement that will read the rows, without reading one: every expression and every right is
/// checked before the run begins.
fn readable(ask: &mut impl Ask, resolved: &Resolved) -> Result<(), Refusal> {
    let place = if resolved.kind == RelationKind::Query { "source.query" } else { "source.table" };
    let expressions = resolved.columns.iter().flat_map(|c| c.length.iter().chain([&c.expression]));
    let expressions: Vec<&str> = expressions.map(String::as_str).collect();
    let sql = &resolved.sql;
    let asked = format!("{}SELECT TOP (0) {} FROM {}", sql.prefix, expressions.join(", "), sql.from);
    ask.ask(&asked).map(|_| ()).map_err(|e| refused(&e, "the source cannot be read", place))
}
