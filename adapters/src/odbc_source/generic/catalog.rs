//! What catalogs say of a relation.

use dpone_engine::codes::Code;
use dpone_engine::manifest::TableRef;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;

use super::{CatalogColumn, Server};
use crate::odbc::{Connection, OdbcError, Row};

/// A table or view.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) kind: RelationKind,
    /// What follows `FROM`, under the alias `t`.
    pub(super) from: String,
    pub(super) columns: Vec<CatalogColumn>,
    pub(super) rows: Option<u64>,
    /// The view's own text.
    pub(super) view_sql: Vec<String>,
    /// Columns that lead an index.
    pub(super) indexed: Vec<String>,
}

/// Looks a table up.
pub(super) fn find(server: Server, connection: &mut Connection, table: &TableRef) -> Result<Found, Refusal> {
    let failed = |e: OdbcError| {
        Refusal::new(Code::SourceNotFound, format!("the catalog cannot be read: {e}"))
            .at("source.table")
            .fix("Check that the connection's user may read the catalog.")
    };
    let sql = statements(server, table);
    let rows = connection.query(&sql.columns).map_err(failed)?;
    if rows.is_empty() {
        let text = format!("there is no table or view \"{}\" that this user can see", table.name);
        return Err(Refusal::new(Code::SourceTableNotFound, text)
            .at("source.table")
            .fix("State its name, and its schema or database, exactly as the server spells them."));
    }
    let about = connection.query(&sql.about).map_err(failed)?;
    let about = about.first();
    let cell = |i: usize| about.and_then(|row| row.get(i)?.as_deref());
    let kind = if cell(0).is_some_and(|k| k.eq_ignore_ascii_case("VIEW") || k == "v") {
        RelationKind::View
    } else {
        RelationKind::Table
    };
    let indexed = connection.query(&sql.indexes).map_err(failed)?;
    let name = |part: &Option<String>| part.as_ref().map(|p| format!("{}.", server.quote(p))).unwrap_or_default();
    let container = if server == Server::MariaDb {
        name(&table.database.clone().or(table.schema.clone()))
    } else {
        name(&table.schema)
    };
    Ok(Found {
        kind,
        from: format!("{container}{} AS t", server.quote(&table.name)),
        columns: rows.iter().filter_map(|row| column(server, row)).collect(),
        rows: cell(1).and_then(|rows| rows.parse::<f64>().ok()).filter(|r| *r >= 0.0).map(|r| r as u64),
        view_sql: cell(2).map(str::to_owned).into_iter().collect(),
        indexed: indexed.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect(),
    })
}

struct Statements {
    /// name, declared, base, nullable, length, precision, scale, digits
    columns: String,
    /// kind, rows, the view's text
    about: String,
    /// leading columns
    indexes: String,
}

fn statements(server: Server, table: &TableRef) -> Statements {
    let text = |t: &str| server.text_literal(t);
    match server {
        Server::MariaDb | Server::Other => {
            let schema = table.database.as_ref().or(table.schema.as_ref()).map_or("DATABASE()".to_owned(), |s| text(s));
            let of = format!("TABLE_SCHEMA = {schema} AND TABLE_NAME = {}", text(&table.name));
            Statements {
                columns: format!(
                    "SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, IS_NULLABLE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, \
                     NUMERIC_SCALE, DATETIME_PRECISION FROM information_schema.COLUMNS WHERE {of} ORDER BY ORDINAL_POSITION"
                ),
                about: format!(
                    "SELECT t.TABLE_TYPE, t.TABLE_ROWS, v.VIEW_DEFINITION FROM information_schema.TABLES t \
                     LEFT JOIN information_schema.VIEWS v ON v.TABLE_SCHEMA = t.TABLE_SCHEMA AND v.TABLE_NAME = t.TABLE_NAME \
                     WHERE t.TABLE_SCHEMA = {schema} AND t.TABLE_NAME = {}",
                    text(&table.name)
                ),
                indexes: format!(
                    "SELECT DISTINCT COLUMN_NAME FROM information_schema.STATISTICS WHERE {of} AND SEQ_IN_INDEX = 1"
                ),
            }
        }
        Server::Postgres => {
            let schema = table.schema.as_ref().map_or("current_schema()".to_owned(), |s| text(s));
            let of = format!(
                "c.relname = {} AND c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = {schema}) \
                 AND c.relkind IN ('r', 'v', 'm', 'p', 'f')",
                text(&table.name)
            );
            Statements {
                columns: format!(
                    "SELECT a.attname::text, pg_catalog.format_type(b.oid, m.mod)::text, b.typname::text, \
                     CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END::text, \
                     CASE WHEN b.typname IN ('varchar', 'bpchar') AND m.mod > 4 THEN m.mod - 4 END::text, \
                     CASE WHEN b.typname = 'numeric' AND m.mod > 4 THEN ((m.mod - 4) >> 16) & 65535 END::text, \
                     CASE WHEN b.typname = 'numeric' AND m.mod > 4 THEN (((m.mod - 4) & 2047) # 1024) - 1024 END::text, \
                     CASE WHEN b.typname IN ('time', 'timestamp', 'timestamptz') AND m.mod >= 0 THEN m.mod END::text \
                     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid \
                     JOIN pg_catalog.pg_type y ON y.oid = a.atttypid \
                     JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN y.typtype = 'd' THEN y.typbasetype ELSE y.oid END \
                     CROSS JOIN LATERAL (SELECT CASE WHEN y.typtype = 'd' THEN y.typtypmod ELSE a.atttypmod END AS mod) m \
                     WHERE {of} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
                ),
                about: format!(
                    "SELECT c.relkind::text, c.reltuples::int8::text, \
                     CASE WHEN c.relkind = 'v' THEN pg_catalog.pg_get_viewdef(c.oid) END::text FROM pg_catalog.pg_class c WHERE {of}"
                ),
                indexes: format!(
                    "SELECT DISTINCT a.attname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_index i ON i.indrelid = c.oid \
                     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] \
                     WHERE {of} AND i.indisvalid AND i.indpred IS NULL"
                ),
            }
        }
    }
}

fn column(server: Server, row: &Row) -> Option<CatalogColumn> {
    let cell = |i: usize| row.get(i).and_then(|c| c.as_deref());
    let name = cell(0)?.to_owned();
    Some(CatalogColumn {
        quoted: format!("t.{}", server.quote(&name)),
        name,
        declared: cell(1)?.to_owned(),
        base: cell(2)?.to_ascii_lowercase(),
        nullable: cell(3) != Some("NO"),
        length: cell(4).and_then(|v| v.parse().ok()),
        precision: cell(5).and_then(|v| v.parse().ok()),
        scale: cell(6).and_then(|v| v.parse().ok()),
        digits: cell(7).and_then(|v| v.parse().ok()),
    })
}

/// What the server says it is, as far as it says so.
pub(super) fn identity(server: Server, connection: &mut Connection) -> String {
    let sql = match server {
        Server::MariaDb => "SELECT CONCAT(@@hostname, ':', @@port, '/', COALESCE(DATABASE(), ''))",
        Server::Postgres => "SELECT (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())::text",
        Server::Other => return "unknown".to_owned(),
    };
    let rows = connection.query(sql).unwrap_or_default();
    rows.into_iter().next().and_then(|row| row.into_iter().next()).flatten().unwrap_or_else(|| "unknown".to_owned())
}
