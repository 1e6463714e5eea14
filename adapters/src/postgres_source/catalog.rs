//! The relation and its columns, as the server's catalog has them.

use std::collections::BTreeMap;

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Relation, TableRef};
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;

use super::facts::{Catalog, CatalogColumn, CatalogTable};
use super::literal::{ident, text};
use super::query::single_select;
use super::refused::refused;
use super::types::{CatalogType, Database};
use crate::nearest::nearest;
use crate::postgres::{PgError, Session};

const TABLE: &str = "source.table";
const QUERY: &str = "source.query";

/// A column before its type is known.
struct Bare {
    name: String,
    oid: u32,
    typmod: i32,
    not_null: bool,
    collation: Option<String>,
}

/// Reads the catalog.
pub(super) fn look_up(session: &mut Session, relation: &Relation) -> Result<Catalog, Refusal> {
    match relation {
        Relation::Table(table) => look_up_table(session, table),
        Relation::Query(query) => look_up_query(session, query),
    }
}

fn look_up_table(session: &mut Session, asked: &TableRef) -> Result<Catalog, Refusal> {
    let failed = |e: PgError| refused(&e, "the catalog cannot be read", TABLE);
    database_is(session, asked)?;
    let schema = match &asked.schema {
        Some(schema) => format!("n.nspname = {}", text(schema)),
        None => "pg_catalog.pg_table_is_visible(c.oid)".to_owned(),
    };
    let sql = format!(
        "SELECT c.oid, n.nspname, c.relname, c.relkind, \
         EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relname = {} AND {schema} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        text(&asked.name)
    );
    let rows = session.query(&sql).map_err(failed)?;
    let Some(found) = rows.first().and_then(|row| table(row)) else { return Err(missing(session, asked)) };
    let mut columns = columns_of(session, &found).map_err(failed)?;
    // Nothing enforces what a foreign table says of its columns.
    if found.kind == 'f' {
        columns.iter_mut().for_each(|column| column.not_null = false);
    }
    let kind = if found.kind == 'v' { RelationKind::View } else { RelationKind::Table };
    let expressions = columns.iter().map(|c| format!("t.{}", ident(&c.name))).collect();
    let from = format!("{}.{} AS t", ident(&found.schema), ident(&found.name));
    let columns = typed(session, columns, expressions).map_err(failed)?;
    let database = database(session).map_err(failed)?;
    Ok(Catalog { kind, table: Some(found), columns, from, database })
}

/// A connection has one database.
fn database_is(session: &mut Session, asked: &TableRef) -> Result<(), Refusal> {
    let Some(database) = &asked.database else { return Ok(()) };
    let failed = |e: PgError| refused(&e, "the catalog cannot be read", TABLE);
    let rows = session.query("SELECT pg_catalog.current_database()").map_err(failed)?;
    if rows.first().and_then(|row| row.first()?.as_deref()) == Some(database) {
        return Ok(());
    }
    let text = "the connection's database is not the one that the table is said to be in";
    Err(Refusal::new(Code::SourceTableNotFound, text)
        .at("source.table.database")
        .fix("Remove `database`, or connect to that database."))
}

fn table(row: &[Option<String>]) -> Option<CatalogTable> {
    let cell = |i: usize| row.get(i)?.as_deref();
    Some(CatalogTable {
        oid: cell(0)?.parse().ok()?,
        schema: cell(1)?.to_owned(),
        name: cell(2)?.to_owned(),
        kind: cell(3)?.chars().next()?,
        has_children: cell(4)? == "t",
    })
}

fn missing(session: &mut Session, asked: &TableRef) -> Refusal {
    let sql = "SELECT n.nspname, c.relname, pg_catalog.pg_table_is_visible(c.oid), \
               pg_catalog.has_schema_privilege(n.oid, 'USAGE') FROM pg_catalog.pg_class c \
               JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') \
               AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') LIMIT 10000";
    let found = session.query(sql).unwrap_or_default();
    let cell = |row: &[Option<String>], i: usize| row.get(i).cloned().flatten().unwrap_or_default();
    let named = found.iter().filter(|row| cell(row, 1) == asked.name);
    let named = named.filter(|row| asked.schema.as_ref().is_none_or(|schema| cell(row, 0) == *schema));
    let (usable, closed): (Vec<_>, Vec<_>) = named.partition(|row| cell(row, 3) == "t");
    if let ([], [row, ..]) = (usable.as_slice(), closed.as_slice()) {
        let text = format!("the user may not use schema \"{}\", where \"{}\" is", cell(row, 0), asked.name);
        return Refusal::new(Code::SourcePermissionDenied, text)
            .at("source.table")
            .fix("Grant USAGE on the schema, and SELECT on the table, to the connection's user.");
    }
    let elsewhere = found.iter().find(|row| cell(row, 1) == asked.name).map(|row| cell(row, 0));
    let here = found.iter().filter(|row| match &asked.schema {
        Some(schema) => cell(row, 0) == *schema,
        None => cell(row, 2) == "t",
    });
    let names: Vec<String> = here.map(|row| cell(row, 1)).collect();
    let fix = match (elsewhere, nearest(&asked.name, names.iter().map(String::as_str))) {
        (Some(schema), _) => format!("Did you mean the one in schema \"{schema}\"? State it in source.table.schema."),
        (None, Some(near)) => format!("Did you mean \"{near}\"? Names are taken as the catalog spells them."),
        (None, None) => "State the name of a table or view of this database, and its schema.".to_owned(),
    };
    let schema = asked.schema.as_ref().map(|schema| format!(" in schema \"{schema}\"")).unwrap_or_default();
    let text = format!("the database has no table or view \"{}\"{schema}", asked.name);
    Refusal::new(Code::SourceTableNotFound, text).at("source.table.name").fix(fix)
}

fn columns_of(session: &mut Session, table: &CatalogTable) -> Result<Vec<Bare>, PgError> {
    let sql = format!(
        "SELECT a.attname, a.atttypid, a.atttypmod, a.attnotnull, \
         CASE WHEN l.oid IS NOT NULL THEN pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(l.collname) END \
         FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation \
         LEFT JOIN pg_catalog.pg_namespace n ON n.oid = l.collnamespace \
         WHERE a.attrelid = {} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        table.oid
    );
    let rows = session.query(&sql)?;
    let read = |row: &Vec<Option<String>>| {
        let cell = |i: usize| row.get(i)?.as_deref();
        Some(Bare {
            name: cell(0)?.to_owned(),
            oid: cell(1)?.parse().ok()?,
            typmod: cell(2)?.parse().ok()?,
            not_null: cell(3)? == "t",
            collation: cell(4).map(str::to_owned),
        })
    };
    rows.iter().map(|row| read(row).ok_or_else(strange)).collect()
}

fn look_up_query(session: &mut Session, query: &str) -> Result<Catalog, Refusal> {
    let failed = |e: PgError| refused(&e, "the query cannot be prepared", QUERY);
    let body = single_select(query)?;
    // The closing parenthesis stands on a line of its own because the query may end in a comment.
    let fields = session.describe(&format!("SELECT * FROM (\n{body}\n) AS t LIMIT 0")).map_err(failed)?;
    // Own names for the columns: two of the same name could not be told apart otherwise.
    let names: Vec<String> = (0..fields.len()).map(|i| format!("c{i}")).collect();
    let expressions = names.iter().map(|name| format!("t.{name}")).collect();
    let columns = fields.into_iter().map(|field| Bare {
        name: field.name,
        oid: field.oid,
        typmod: field.typmod,
        not_null: false,
        collation: None,
    });
    let columns = typed(session, columns.collect(), expressions).map_err(failed)?;
    let from = format!("(\n{body}\n) AS t({})", names.join(", "));
    let database = database(session).map_err(failed)?;
    Ok(Catalog { kind: RelationKind::Query, table: None, columns, from, database })
}

/// Adds the types, domains resolved.
fn typed(session: &mut Session, columns: Vec<Bare>, expressions: Vec<String>) -> Result<Vec<CatalogColumn>, PgError> {
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let pairs: Vec<String> = columns.iter().map(|c| format!("({}::pg_catalog.oid, {})", c.oid, c.typmod)).collect();
    // A modifier of a domain is that of the innermost one, which alone can have it.
    let sql = format!(
        "WITH RECURSIVE asked(root, given) AS (SELECT DISTINCT * FROM (VALUES {}) AS v), \
         step(root, given, oid, typmod) AS (SELECT root, given, root, given FROM asked UNION ALL \
         SELECT s.root, s.given, t.typbasetype, t.typtypmod FROM step s JOIN pg_catalog.pg_type t ON t.oid = s.oid \
         WHERE t.typtype = 'd') \
         SELECT s.root, s.given, t.oid, s.typmod, t.typtype, t.typcategory, t.typname, \
         pg_catalog.format_type(s.root, s.given), pg_catalog.format_type(t.oid, s.typmod) \
         FROM step s JOIN pg_catalog.pg_type t ON t.oid = s.oid WHERE t.typtype <> 'd'",
        pairs.join(", ")
    );
    let mut types: BTreeMap<(u32, i32), CatalogType> = BTreeMap::new();
    for row in session.query(&sql)? {
        let read = || {
            let cell = |i: usize| row.get(i)?.as_deref();
            let key = (cell(0)?.parse().ok()?, cell(1)?.parse().ok()?);
            let (declared, base) = (cell(7)?, cell(8)?);
            let oid = cell(2)?.parse().ok()?;
            let ty = CatalogType {
                oid,
                typmod: cell(3)?.parse().ok()?,
                declared: if key.0 == oid { declared.to_owned() } else { format!("{declared} ({base})") },
                kind: cell(4)?.chars().next()?,
                array: cell(5)? == "A",
                name: cell(6)?.to_owned(),
            };
            Some((key, ty))
        };
        let (key, ty) = read().ok_or_else(strange)?;
        types.insert(key, ty);
    }
    let columns = columns.into_iter().zip(expressions).map(|(column, expression)| {
        let ty = types.get(&(column.oid, column.typmod)).cloned().ok_or_else(strange)?;
        let Bare { name, not_null, collation, .. } = column;
        Ok(CatalogColumn { name, ty, not_null, expression, collation })
    });
    columns.collect()
}

fn database(session: &mut Session) -> Result<Database, PgError> {
    // Zero units of money have as many fractional digits as the session's locale gives it.
    let rows = session.query("SELECT pg_catalog.scale(0::pg_catalog.money::pg_catalog.numeric)")?;
    let money_scale = rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok()).ok_or_else(strange)?;
    Ok(Database { encoding: session.server_encoding().to_owned(), money_scale })
}

fn strange() -> PgError {
    PgError::protocol("the catalog's answer is not understood")
}
