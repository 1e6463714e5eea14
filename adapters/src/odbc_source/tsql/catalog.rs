//! A table or view and its columns, as the server's catalog has them.

use dpone_engine::codes::Code;
use dpone_engine::manifest::TableRef;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;

use super::facts::{Catalog, CatalogColumn, CatalogTable, CatalogType, Sought, sys};
use super::quote::{ident, text};
use super::refused::refused;
use super::relation::qualified;
use super::views::views_below;
use super::{Ask, Row};
use crate::nearest::nearest;
use crate::odbc::OdbcError;

const TABLE: &str = "source.table";

/// What is read of a table besides its rows.
pub(super) struct Found {
    pub(super) kind: RelationKind,
    pub(super) table: CatalogTable,
}

/// Finds the table or view; `database` stands in for the one that the manifest names.
pub(super) fn find(ask: &mut impl Ask, asked: &TableRef, database: Option<&str>) -> Result<Found, Refusal> {
    let failed = |e: OdbcError| refused(&e, "the catalog cannot be read", TABLE);
    let database = database.or(asked.database.as_deref());
    let name = qualified(database, asked.schema.as_deref(), &asked.name);
    let sql = format!(
        "SELECT o.object_id, s.name, o.name, o.type FROM {} AS o JOIN {} AS s ON s.schema_id = o.schema_id \
         WHERE o.object_id = OBJECT_ID({})",
        sys(database, "objects"),
        sys(database, "schemas"),
        text(&name)
    );
    let rows = ask.ask(&sql).map_err(failed)?;
    let read = |row: &Row| {
        let cell = |i: usize| row.get(i)?.as_deref();
        let kind = match cell(3)?.trim() {
            "U" => RelationKind::Table,
            "V" => RelationKind::View,
            _ => return None,
        };
        let table = CatalogTable {
            id: cell(0)?.parse().ok()?,
            database: database.map(str::to_owned),
            schema: cell(1)?.to_owned(),
            name: cell(2)?.to_owned(),
        };
        Some(Found { kind, table })
    };
    match rows.first().map(read) {
        Some(Some(found)) => Ok(found),
        Some(None) => {
            let text = format!("\"{}\" is neither a table nor a view", asked.name);
            Err(Refusal::new(Code::SourceTableNotFound, text)
                .at("source.table.name")
                .fix("Name the table or view itself: what a synonym stands for, or state a query."))
        }
        None => Err(missing(ask, asked, database)),
    }
}

fn missing(ask: &mut impl Ask, asked: &TableRef, database: Option<&str>) -> Refusal {
    let sql = format!(
        "SELECT TOP (10000) s.name, o.name FROM {} AS o JOIN {} AS s ON s.schema_id = o.schema_id \
         WHERE o.type IN ('U', 'V')",
        sys(database, "objects"),
        sys(database, "schemas")
    );
    let found = ask.ask(&sql).unwrap_or_default();
    let cell = |row: &Row, i: usize| row.get(i).cloned().flatten().unwrap_or_default();
    let elsewhere = found.iter().find(|row| cell(row, 1).eq_ignore_ascii_case(&asked.name)).map(|row| cell(row, 0));
    let here = found.iter().filter(|row| asked.schema.as_ref().is_none_or(|schema| cell(row, 0) == *schema));
    let names: Vec<String> = here.map(|row| cell(row, 1)).collect();
    let fix = match (elsewhere, nearest(&asked.name, names.iter().map(String::as_str))) {
        (Some(schema), _) => format!("Did you mean the one in schema \"{schema}\"? State it in source.table.schema."),
        (None, Some(near)) => format!("Did you mean \"{near}\"?"),
        (None, None) => {
            "State the name of a table or view, its schema and its database, and grant SELECT on it.".to_owned()
        }
    };
    let schema = asked.schema.as_ref().map(|schema| format!(" in schema \"{schema}\"")).unwrap_or_default();
    let text = format!("the database has no table or view \"{}\"{schema} that the user may see", asked.name);
    Refusal::new(Code::SourceTableNotFound, text).at("source.table.name").fix(fix)
}

/// Reads what the catalog has of it.
pub(super) fn look_up(ask: &mut impl Ask, found: Found) -> Result<Catalog, Refusal> {
    let failed = |e: OdbcError| refused(&e, "the catalog cannot be read", TABLE);
    let Found { kind, table } = found;
    let mut columns = columns_of(ask, &table).map_err(failed)?;
    // What a view's columns allow is what they allowed when it was last compiled.
    if kind == RelationKind::View {
        columns.iter_mut().for_each(|column| column.not_null = false);
    }
    let rows = match kind {
        RelationKind::Table => rows_of(ask, &table).map_err(failed)?,
        _ => None,
    };
    let views = match kind {
        RelationKind::View => views_below(ask, table.database.as_deref(), &table.qualified()).map_err(failed)?,
        _ => Vec::new(),
    };
    let from = format!("{} AS t", table.qualified());
    let mut warnings = Vec::new();
    if is_filtered(ask, &table).map_err(failed)? {
        warnings.push("row-level security may show this user only some of the rows".to_owned());
    }
    Ok(Catalog { kind, columns, prefix: String::new(), from, rows, views, warnings })
}

fn columns_of(ask: &mut impl Ask, table: &CatalogTable) -> Result<Vec<CatalogColumn>, OdbcError> {
    let database = table.database.as_deref();
    // The row of a system type carries its own id twice; types of the CLR share one system type.
    let sql = format!(
        "SELECT c.column_id, c.name, b.name, u.name, c.max_length, c.precision, c.scale, c.is_nullable, \
         c.collation_name, c.is_hidden, c.is_masked, c.encryption_type FROM {} AS c \
         JOIN {types} AS u ON u.user_type_id = c.user_type_id \
         LEFT JOIN {types} AS b ON b.user_type_id = c.system_type_id \
         WHERE c.object_id = {} ORDER BY c.column_id",
        sys(database, "columns"),
        table.id,
        types = sys(database, "types"),
    );
    let rows = ask.ask(&sql)?;
    let indexes = indexes_of(ask, table)?;
    let read = |row: &Row| {
        let cell = |i: usize| row.get(i)?.as_deref();
        let is = |i: usize| is_true(cell(i));
        let (id, name, alias) = (cell(0)?, cell(1)?, cell(3)?);
        let ty = CatalogType::new(
            cell(2).unwrap_or(alias),
            alias,
            cell(4)?.parse().ok()?,
            cell(5)?.parse().ok()?,
            cell(6)?.parse().ok()?,
            cell(8).map(str::to_owned),
        );
        Some(CatalogColumn {
            name: name.to_owned(),
            ty,
            not_null: !is(7),
            hidden: is(9),
            masked: is(10),
            encrypted: cell(11).is_some(),
            expression: format!("t.{}", ident(name)),
            sought: indexes
                .iter()
                .filter(|(column, _)| column == id)
                .map(|(_, sought)| *sought)
                .max()
                .unwrap_or_default(),
        })
    };
    rows.iter().map(|row| read(row).ok_or_else(strange)).collect()
}

/// The columns that lead an index, or that the rows are partitioned by.
fn indexes_of(ask: &mut impl Ask, table: &CatalogTable) -> Result<Vec<(String, Sought)>, OdbcError> {
    let database = table.database.as_deref();
    let sql = format!(
        "SELECT c.column_id, i.type, c.key_ordinal, c.partition_ordinal FROM {} AS i \
         JOIN {} AS c ON c.object_id = i.object_id AND c.index_id = i.index_id \
         WHERE i.object_id = {} AND i.is_disabled = 0 AND i.is_hypothetical = 0 AND i.has_filter = 0",
        sys(database, "indexes"),
        sys(database, "index_columns"),
        table.id
    );
    let read = |row: &Row| {
        let cell = |i: usize| row.get(i)?.as_deref();
        let sought = match (cell(1)?, cell(2)?, cell(3)?) {
            // 1 is the clustered index; partitions of any index without rows of its own would be of no use.
            ("1", "1", _) | ("0" | "1" | "5", _, "1") => Sought::InPlace,
            ("2", "1", _) => Sought::Aside,
            _ => Sought::Nowhere,
        };
        Some((cell(0)?.to_owned(), sought))
    };
    ask.ask(&sql)?.iter().map(|row| read(row).ok_or_else(strange)).collect()
}

/// The rows of the heap or of the clustered index, as the catalog counts them.
fn rows_of(ask: &mut impl Ask, table: &CatalogTable) -> Result<Option<u64>, OdbcError> {
    let sql = format!(
        "SELECT SUM(p.rows) FROM {} AS p WHERE p.object_id = {} AND p.index_id IN (0, 1)",
        sys(table.database.as_deref(), "partitions"),
        table.id
    );
    let rows = ask.ask(&sql)?;
    Ok(rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok()))
}

/// Whether a policy decides which rows a user sees.
fn is_filtered(ask: &mut impl Ask, table: &CatalogTable) -> Result<bool, OdbcError> {
    let database = table.database.as_deref();
    let sql = format!(
        "SELECT COUNT(*) FROM {} AS p JOIN {} AS s ON s.object_id = p.object_id \
         WHERE p.target_object_id = {} AND s.is_enabled = 1",
        sys(database, "security_predicates"),
        sys(database, "security_policies"),
        table.id
    );
    let rows = ask.ask(&sql)?;
    Ok(rows.first().and_then(|row| row.first()?.as_deref()).is_some_and(|count| count != "0"))
}

/// A `bit` as drivers write it.
pub(super) fn is_true(cell: Option<&str>) -> bool {
    matches!(cell.map(str::trim), Some("1" | "true" | "True"))
}

pub(super) fn strange() -> OdbcError {
    OdbcError::local("HY000", "the catalog's answer is not understood")
}
