//! The relation and its columns, as SQLite's catalog has them.

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Relation, TableRef};
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;
use rusqlite::{Connection, Error, OptionalExtension as _};

use super::relation::quoted;

/// One column of the relation, before the manifest has its say.
#[derive(Clone, Debug)]
pub(super) struct CatalogColumn {
    pub(super) name: String,
    /// The type as declared; empty if nothing is.
    pub(super) declared: String,
    pub(super) not_null: bool,
    /// Part of a virtual table that `SELECT *` leaves out.
    pub(super) hidden: bool,
    /// How it is named in a statement.
    pub(super) expression: String,
}

/// The relation.
#[derive(Clone, Debug)]
pub(super) struct CatalogRelation {
    pub(super) kind: RelationKind,
    pub(super) columns: Vec<CatalogColumn>,
    pub(super) with: String,
    pub(super) from: String,
    /// A name for the row's number, where rows have one.
    pub(super) rowid: Option<String>,
    /// Columns that lead an index of the whole table.
    pub(super) indexed: Vec<String>,
}

/// Reads the catalog.
pub(super) fn look_up(connection: &Connection, relation: &Relation) -> Result<CatalogRelation, Refusal> {
    match relation {
        Relation::Table(table) => look_up_table(connection, table),
        Relation::Query(query) => look_up_query(connection, query),
    }
}

fn unreadable(error: &Error) -> Refusal {
    let reason = super::connect::reason(error);
    Refusal::new(Code::SourceNotFound, format!("the catalog of the SQLite database cannot be read: {reason}"))
        .fix("Check the database with `PRAGMA integrity_check`.")
}

fn look_up_table(connection: &Connection, table: &TableRef) -> Result<CatalogRelation, Refusal> {
    let schema = table.schema.as_deref().or(table.database.as_deref()).unwrap_or("main");
    let name = &table.name;
    let missing = || {
        let candidates = names(connection).unwrap_or_default();
        let near = crate::nearest::nearest(name, candidates.iter().map(String::as_str));
        Refusal::new(Code::SourceTableNotFound, format!("the database has no table or view \"{name}\""))
            .at("source.table.name")
            .fix(near.map_or_else(
                || "State the name of a table or view of this database.".to_owned(),
                |near| format!("Did you mean \"{near}\"?"),
            ))
    };
    if !schema.eq_ignore_ascii_case("main") {
        return Err(missing());
    }
    let find = "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1 COLLATE NOCASE";
    let found = connection
        .query_row(find, [name], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?)))
        .optional()
        .map_err(|e| unreadable(&e))?;
    let Some((name, kind, without_rowid)) = found else { return Err(missing()) };
    let columns = table_columns(connection, &name).map_err(|e| view_error(&e, &name))?;
    let is_table = kind != "view";
    // A column may carry one of the row number's names.
    let free = |alias: &&str| !columns.iter().any(|c| c.name.eq_ignore_ascii_case(alias));
    let rowid = ["rowid", "_rowid_", "oid"].into_iter().find(free);
    let rowid = rowid.filter(|_| is_table && kind == "table" && !without_rowid).map(|alias| format!("t.{alias}"));
    let (rowid_column, indexed) = if is_table {
        indexes(connection, &name, rowid.is_some()).map_err(|e| unreadable(&e))?
    } else {
        (None, Vec::new())
    };
    let from = format!("{} AS t", quoted(&name));
    let kind = if is_table { RelationKind::Table } else { RelationKind::View };
    let mut columns = columns;
    for column in &mut columns {
        column.not_null |= rowid_column.as_deref() == Some(&column.name);
    }
    Ok(CatalogRelation { kind, columns, with: String::new(), from, rowid, indexed })
}

fn view_error(error: &Error, name: &str) -> Refusal {
    let reason = super::connect::reason(error);
    Refusal::new(Code::SourceQueryInvalid, format!("the columns of \"{name}\" cannot be read: {reason}"))
        .at("source.table.name")
        .fix("Check that the view itself can be queried.")
}

fn names(connection: &Connection) -> Result<Vec<String>, Error> {
    let sql = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') LIMIT 10000";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

fn table_columns(connection: &Connection, table: &str) -> Result<Vec<CatalogColumn>, Error> {
    let sql = "SELECT name, type, \"notnull\", hidden FROM pragma_table_xinfo(?1) ORDER BY cid";
    let mut statement = connection.prepare(sql)?;
    let columns = statement.query_map([table], |row| {
        let name: String = row.get(0)?;
        let expression = format!("t.{}", quoted(&name));
        let declared = row.get::<_, Option<String>>(1)?.unwrap_or_default();
        Ok(CatalogColumn { name, declared, not_null: row.get(2)?, hidden: row.get::<_, i64>(3)? == 1, expression })
    })?;
    columns.collect()
}

/// The column that is the row's number, and the columns that lead an index over all rows.
fn indexes(connection: &Connection, table: &str, has_rowid: bool) -> Result<(Option<String>, Vec<String>), Error> {
    let mut indexed: Vec<String> = connection
        .prepare(
            "SELECT i.name FROM pragma_index_list(?1) AS l JOIN pragma_index_info(l.name) AS i
             WHERE l.partial = 0 AND i.seqno = 0 AND i.name IS NOT NULL",
        )?
        .query_map([table], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let primary: Vec<String> = connection
        .prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE pk > 0 ORDER BY pk")?
        .query_map([table], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let has_own_index: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk')",
        [table],
        |row| row.get(0),
    )?;
    // A primary key of a table with row numbers that needs no index of its own is the row number.
    let rowid_column = (has_rowid && !has_own_index && primary.len() == 1).then(|| primary.first().cloned()).flatten();
    indexed.extend(rowid_column.clone());
    if !has_rowid {
        indexed.extend(primary.into_iter().next());
    }
    Ok((rowid_column, indexed))
}

fn look_up_query(connection: &Connection, query: &str) -> Result<CatalogRelation, Refusal> {
    let invalid = |text: String| {
        Refusal::new(Code::SourceQueryInvalid, text)
            .at("source.query")
            .fix("State one SELECT that SQLite can prepare on this database, without parameters.")
    };
    let statement = connection.prepare(query).map_err(|e| invalid(prepare_message(&e)))?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(invalid("the query is not a SELECT".into()));
    }
    if statement.parameter_count() > 0 {
        return Err(invalid("the query has parameters".into()));
    }
    let columns: Vec<CatalogColumn> = statement
        .columns()
        .enumerate()
        .map(|(i, c)| CatalogColumn {
            name: c.name().to_owned(),
            declared: c.decl_type().unwrap_or_default().to_owned(),
            not_null: false,
            hidden: false,
            expression: format!("t.c{i}"),
        })
        .collect();
    // Without what may follow the statement: white space and comments.
    let text = statement.expanded_sql().unwrap_or_else(|| query.to_owned());
    drop(statement);
    // Own names for the columns: two that differ in case only could not be told apart otherwise. The closing parenthesis
    // stands on a line of its own because the query may end in a comment.
    let body = text.trim_end().trim_end_matches(';');
    let names: Vec<String> = (0..columns.len()).map(|i| format!("c{i}")).collect();
    let with = format!("WITH \"dpone query\"({}) AS (\n{body}\n) ", names.join(", "));
    let relation = CatalogRelation {
        kind: RelationKind::Query,
        columns,
        with,
        from: "\"dpone query\" AS t".into(),
        rowid: None,
        indexed: Vec::new(),
    };
    let probe = format!("{}SELECT count(*) FROM {}", relation.with, relation.from);
    match connection.prepare(&probe) {
        Ok(statement) if statement.readonly() => Ok(relation),
        Ok(_) => Err(invalid("the query is not a SELECT".into())),
        Err(e) => Err(invalid(prepare_message(&e))),
    }
}

/// What SQLite says of a statement: it speaks of the statement's own words, never of rows.
fn prepare_message(error: &Error) -> String {
    match error {
        Error::MultipleStatement => "the query is more than one statement".into(),
        Error::SqlInputError { msg, .. } | Error::SqliteFailure(_, Some(msg)) => {
            format!("SQLite cannot prepare the query: {}", msg.chars().take(200).collect::<String>())
        }
        _ => "SQLite cannot prepare the query".into(),
    }
}
