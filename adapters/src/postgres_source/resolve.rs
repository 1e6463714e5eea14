//! The manifest's wishes held against the catalog: the schema to deliver and the SQL that reads it.

use std::collections::{BTreeMap, BTreeSet};

use dpone_engine::codes::Code;
use dpone_engine::manifest::PlannerMode;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::{Column, LogicalType, Schema};

use super::facts::{Catalog, CatalogColumn, CatalogTable};
use super::relation::{KeyKind, KeySql, RelationSql};
use super::request::{PostgresRequest, Stated};
use super::types::{CatalogType, Database, PostgresColumn, map, oids};
use crate::nearest::nearest;

const KEY: &str = "source.options.partitioning.column";

/// The range key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Its name and the type that boundaries have.
    pub(super) column: Column,
    pub(super) sql: KeySql,
    /// Its base type.
    pub(super) oid: u32,
    /// Its collation as a statement names it.
    pub(super) collation: Option<String>,
}

/// What a request comes to on the catalog as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// What kind of thing is read.
    pub kind: RelationKind,
    /// The columns to deliver.
    pub schema: Schema,
    /// The same columns, and how they are read and travel.
    pub columns: Vec<PostgresColumn>,
    /// What reads them.
    pub sql: RelationSql,
    pub(super) table: Option<CatalogTable>,
    pub(super) key: Option<Key>,
    /// Why the named column cannot be cut, if so.
    pub(super) key_refused: Option<Refusal>,
    pub(super) database: Database,
    pub(super) warnings: Vec<String>,
}

/// Resolves a request.
///
/// # Errors
/// Everything that is wrong, never empty.
pub(super) fn resolve(catalog: Catalog, request: &PostgresRequest) -> Result<Resolved, Vec<Refusal>> {
    let mut problems = Vec::new();
    let chosen = choose(&catalog, request, &mut problems);
    for name in request.types.keys() {
        if !catalog.columns.iter().any(|c| &c.name == name) {
            problems.push(unknown(name, &catalog, "source.options.types"));
        }
    }
    let mut columns = Vec::new();
    for column in &chosen {
        match column_of(column, request, &catalog.database) {
            Ok(typed) => columns.push(typed),
            Err(refusal) => problems.push(refusal),
        }
    }
    if chosen.is_empty() && problems.is_empty() {
        let text = "the source has no column to deliver";
        problems.push(Refusal::new(Code::SourceColumnNotFound, text).at(place(catalog.kind)));
    }
    let mut key_refused = None;
    let key = match key(&catalog, request) {
        Ok(key) => key,
        Err(refusal) if refusal.code == Code::UnsupportedBoundaryType => {
            // Whether ranges are needed is for the plan to say.
            key_refused = Some(refusal);
            None
        }
        Err(refusal) => {
            problems.push(refusal);
            None
        }
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    let sql = RelationSql {
        from: catalog.from.clone(),
        columns: columns.iter().map(|c| c.expression.clone()).collect(),
        key: key.as_ref().map(|key| key.sql.clone()),
    };
    let schema = Schema { columns: columns.iter().map(|c| c.column.clone()).collect() };
    let mut warnings = alike(&schema.columns);
    let arrays: Vec<_> = chosen.iter().filter(|c| c.ty.array && !request.types.contains_key(&c.name)).collect();
    if let Some(first) = arrays.first() {
        let others = if arrays.len() > 1 { format!(" and {} more", arrays.len() - 1) } else { String::new() };
        warnings.push(format!(
            "arrays (\"{}\"{others}) are delivered as JSON text; lower bounds other than 1 are not part of it",
            first.name
        ));
    }
    Ok(Resolved {
        kind: catalog.kind,
        schema,
        columns,
        sql,
        table: catalog.table,
        key,
        key_refused,
        database: catalog.database,
        warnings,
    })
}

const fn place(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Query => "source.query",
        RelationKind::Table | RelationKind::View => "source.table",
    }
}

/// The delivered columns in order.
fn choose<'a>(catalog: &'a Catalog, request: &PostgresRequest, problems: &mut Vec<Refusal>) -> Vec<&'a CatalogColumn> {
    let place = place(catalog.kind);
    let mut seen = BTreeSet::new();
    for (i, column) in catalog.columns.iter().enumerate() {
        // What the server calls an expression that was given no name.
        if column.name.trim().is_empty() || (catalog.kind == RelationKind::Query && column.name == "?column?") {
            problems.push(
                Refusal::new(Code::UnnamedColumn, format!("column {} of the source has no name", i + 1))
                    .at(place)
                    .fix("Give every column of the query a name with AS."),
            );
        } else if !seen.insert(&column.name) {
            problems.push(
                Refusal::new(Code::DuplicateColumnName, format!("the source has two columns \"{}\"", column.name))
                    .at(place)
                    .fix("Give one of them another name with AS."),
            );
        }
    }
    let Some(names) = &request.columns else { return catalog.columns.iter().collect() };
    let mut chosen = Vec::new();
    for (i, name) in names.iter().enumerate() {
        match catalog.columns.iter().find(|c| &c.name == name) {
            Some(column) => chosen.push(column),
            None => problems.push(unknown(name, catalog, &format!("source.options.columns[{i}]"))),
        }
    }
    chosen
}

fn column_of(
    column: &CatalogColumn,
    request: &PostgresRequest,
    database: &Database,
) -> Result<PostgresColumn, Refusal> {
    let CatalogColumn { name, ty, not_null, expression, .. } = column;
    let mapped = map(name, expression, ty, request.types.get(name), database)?;
    let column = Column { name: name.clone(), ty: mapped.ty, nullable: !not_null, declared: ty.declared.clone() };
    Ok(PostgresColumn { column, wire: mapped.wire, oid: ty.oid, expression: mapped.expression })
}

fn key(catalog: &Catalog, request: &PostgresRequest) -> Result<Option<Key>, Refusal> {
    let Some(name) = &request.key else { return Ok(None) };
    if request.planner.mode == PlannerMode::Ctid {
        return blocks(catalog).map(Some);
    }
    let Some(found) = catalog.columns.iter().find(|c| &c.name == name) else {
        return Err(unknown(name, catalog, KEY));
    };
    let Some((ty, cast)) = boundary_type(&found.ty, request.types.get(name), &catalog.database) else {
        let text = format!("\"{name}\" is {}, which cannot be split into ranges", found.ty.declared);
        return Err(Refusal::new(Code::UnsupportedBoundaryType, text).at(KEY).fix(
            "Split by a number, date, timestamp, uuid or text column, or set planner.mode to ctid and name no column.",
        ));
    };
    let (oid, declared) = (found.ty.oid, found.ty.declared.clone());
    Ok(Some(Key {
        column: Column { name: name.clone(), ty: ty.clone(), nullable: !found.not_null, declared },
        sql: KeySql { expression: found.expression.clone(), kind: KeyKind::Column { cast: cast.to_owned(), ty } },
        oid,
        collation: found.collation.clone(),
    }))
}

/// The blocks of a table as the range key.
fn blocks(catalog: &Catalog) -> Result<Key, Refusal> {
    let whole = catalog.table.as_ref().is_some_and(|table| matches!(table.kind, 'r' | 'm') && !table.has_children);
    if !whole {
        let text = "only a table that is stored in one piece can be read by blocks, no view, query, partitioned or foreign table";
        return Err(Refusal::new(Code::UnsupportedBoundaryType, text)
            .at("source.options.partitioning.planner.mode")
            .fix("Name a column in source.options.partitioning.column, or read the source as one range."));
    }
    Ok(Key {
        column: Column {
            name: "ctid".to_owned(),
            ty: LogicalType::UInt { bits: 32 },
            nullable: false,
            declared: "block of tid".to_owned(),
        },
        sql: KeySql { expression: "t.ctid".to_owned(), kind: KeyKind::Block },
        oid: 0,
        collation: None,
    })
}

/// The type that boundaries of a column have, and the SQL type of their literals. It is the column's own whatever type it
/// is delivered in.
fn boundary_type(
    ty: &CatalogType,
    stated: Option<&Stated>,
    database: &Database,
) -> Option<(LogicalType, &'static str)> {
    if ty.array {
        return None;
    }
    let own = || map("", "", ty, None, database).ok().map(|mapped| mapped.ty);
    Some(match ty.oid {
        oids::INT2 => (own()?, "pg_catalog.int2"),
        oids::INT4 => (own()?, "pg_catalog.int4"),
        oids::INT8 => (own()?, "pg_catalog.int8"),
        oids::OID => (own()?, "pg_catalog.oid"),
        oids::FLOAT4 => (own()?, "pg_catalog.float4"),
        oids::FLOAT8 => (own()?, "pg_catalog.float8"),
        oids::NUMERIC => {
            // Boundaries have 38 digits at most. Without a scale the cuts are whole numbers; rows between them, and beyond
            // them, still lie in one range each.
            let narrow = |ty: &LogicalType| matches!(ty, LogicalType::Decimal { precision: ..=38, .. });
            let stated = stated.map(|stated| stated.ty.clone()).filter(narrow);
            let decimal = stated.or_else(|| own().filter(narrow));
            (decimal.unwrap_or(LogicalType::Decimal { precision: 38, scale: 0 }), "pg_catalog.numeric")
        }
        oids::MONEY => (own()?, "pg_catalog.numeric::pg_catalog.money"),
        oids::DATE => (own()?, "pg_catalog.date"),
        oids::TIMESTAMP => (own()?, "pg_catalog.timestamp"),
        oids::TIMESTAMPTZ => (own()?, "pg_catalog.timestamptz"),
        oids::UUID => (own()?, "pg_catalog.uuid"),
        oids::TEXT | oids::VARCHAR => (LogicalType::Text, "pg_catalog.text"),
        oids::BPCHAR => (LogicalType::Text, "pg_catalog.bpchar"),
        _ => return None,
    })
}

fn unknown(name: &str, catalog: &Catalog, place: &str) -> Refusal {
    let near = nearest(name, catalog.columns.iter().map(|c| c.name.as_str()));
    Refusal::new(Code::SourceColumnNotFound, format!("the source has no column \"{name}\"")).at(place).fix(
        near.map_or_else(
            || "State the column's name exactly as the source spells it.".to_owned(),
            |near| format!("Did you mean \"{near}\"?"),
        ),
    )
}

/// Names that differ only in case: some targets cannot hold both.
fn alike(columns: &[Column]) -> Vec<String> {
    let mut by_folded: BTreeMap<String, &str> = BTreeMap::new();
    let mut warnings = Vec::new();
    for column in columns {
        if let Some(earlier) = by_folded.insert(column.name.to_lowercase(), &column.name) {
            warnings.push(format!("columns \"{earlier}\" and \"{}\" differ only in case", column.name));
        }
    }
    warnings
}
