//! The manifest's wishes held against the catalog: the schema to deliver and the SQL that reads it.

use std::collections::{BTreeMap, BTreeSet};

use dpone_engine::codes::Code;
use dpone_engine::manifest::Bounds;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::ranges::parse_value;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::{Column, LogicalType};

use super::facts::{Catalog, CatalogColumn, Sought};
use super::keys::boundary_type;
use super::literal::{is_held, literal};
use super::types::map;
use crate::nearest::nearest;
use crate::odbc_source::{Key, KeySql, OdbcColumn, OdbcRequest, RelationSql, Resolved};

const KEY: &str = "source.options.partitioning.column";

/// Resolves a request.
///
/// # Errors
/// Everything that is wrong, never empty.
pub(super) fn resolve(catalog: &Catalog, request: &OdbcRequest) -> Result<Resolved, Vec<Refusal>> {
    let mut problems = Vec::new();
    let chosen = choose(catalog, request, &mut problems);
    for name in request.types.keys() {
        if !catalog.columns.iter().any(|c| &c.name == name) {
            problems.push(unknown(name, catalog, "source.options.types"));
        }
    }
    let mut columns = Vec::new();
    for column in &chosen {
        match column_of(column, request) {
            Ok(typed) => columns.push(typed),
            Err(refusal) => problems.push(refusal),
        }
    }
    if chosen.is_empty() && problems.is_empty() {
        let text = "the source has no column to deliver";
        problems.push(Refusal::new(Code::SourceColumnNotFound, text).at(place(catalog.kind)));
    }
    let mut key_refused = None;
    let key = match key(catalog, request) {
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
    if let Some((key, _)) = &key {
        problems.extend(unheld(key, &request.ranges.bounds));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let schema: Vec<Column> = columns.iter().map(|c: &OdbcColumn| c.column.clone()).collect();
    let mut warnings = catalog.warnings.clone();
    warnings.extend(alike(&schema));
    warnings.extend(conditions(&chosen, &schema));
    let sought = key.as_ref().map(|(_, column)| column.sought).unwrap_or_default();
    if let (Some((key, _)), Sought::Aside) = (&key, sought) {
        warnings.push(format!(
            "the index on \"{}\" is not the clustered one: where it does not cover the columns that are read, the server may \
             scan the table for each range",
            key.column.name
        ));
    }
    let key_sql = key.as_ref().map(|(key, column)| KeySql {
        expression: column.expression.clone(),
        declared: key.declared.clone(),
        literal,
    });
    let sql =
        RelationSql { prefix: catalog.prefix.clone(), from: catalog.from.clone(), key: key_sql, count: "COUNT_BIG(*)" };
    Ok(Resolved {
        kind: catalog.kind,
        columns,
        sql,
        key: key.map(|(key, _)| key),
        key_refused,
        view_sql: catalog.views.clone(),
        rows: catalog.rows,
        key_indexed: sought != Sought::Nowhere,
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
fn choose<'a>(catalog: &'a Catalog, request: &OdbcRequest, problems: &mut Vec<Refusal>) -> Vec<&'a CatalogColumn> {
    let place = place(catalog.kind);
    let mut seen = BTreeSet::new();
    for (i, column) in catalog.columns.iter().enumerate() {
        if column.name.trim().is_empty() {
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
    // What `SELECT *` leaves out is delivered if it is named: the period of a temporal table, for one.
    let Some(names) = &request.columns else { return catalog.columns.iter().filter(|c| !c.hidden).collect() };
    let mut chosen = Vec::new();
    for (i, name) in names.iter().enumerate() {
        match catalog.columns.iter().find(|c| &c.name == name) {
            Some(column) => chosen.push(column),
            None => problems.push(unknown(name, catalog, &format!("source.options.columns[{i}]"))),
        }
    }
    chosen
}

fn column_of(column: &CatalogColumn, request: &OdbcRequest) -> Result<OdbcColumn, Refusal> {
    let CatalogColumn { name, ty, not_null, expression, .. } = column;
    if column.encrypted {
        let text = format!("column \"{name}\" is encrypted, and only its ciphertext can be read here");
        return Err(Refusal::new(Code::UnsupportedType, text)
            .at("source.options.columns")
            .fix("Leave the column out with source.options.columns."));
    }
    let mapped = map(name, expression, ty, request.types.get(name))?;
    let column = Column { name: name.clone(), ty: mapped.ty, nullable: !not_null, declared: ty.declared.clone() };
    Ok(OdbcColumn { column, expression: mapped.expression, carrier: mapped.carrier, length: mapped.length })
}

fn key<'c>(catalog: &'c Catalog, request: &OdbcRequest) -> Result<Option<(Key, &'c CatalogColumn)>, Refusal> {
    let Some(name) = &request.key else { return Ok(None) };
    let Some(found) = catalog.columns.iter().find(|c| &c.name == name) else {
        return Err(unknown(name, catalog, KEY));
    };
    let boundary = boundary_type(&found.ty).filter(|_| !found.encrypted);
    let Some((ty, declared)) = boundary else {
        let text = format!("\"{name}\" is {}, which cannot be split into ranges", found.ty.declared);
        return Err(Refusal::new(Code::UnsupportedBoundaryType, text)
            .at(KEY)
            .fix("Split by a number, date, timestamp, rowversion, uniqueidentifier or text of limited length."));
    };
    let base = &found.ty.base;
    // Planners know a rowversion by its system type, whatever name the column gives it.
    let shown = if ty == (LogicalType::UInt { bits: 64 }) { base.clone() } else { found.ty.declared.clone() };
    let column = Column { name: name.clone(), ty, nullable: !found.not_null, declared: shown };
    Ok(Some((Key { column, declared }, found)))
}

/// Stated bounds that the column's type cannot hold, although they have the digits of it: a `datetime` of .001 seconds.
fn unheld(key: &Key, bounds: &Bounds) -> Option<Refusal> {
    let texts: Vec<_> = match bounds {
        Bounds::Auto => Vec::new(),
        Bounds::Between { lower, upper } => vec![lower, upper],
        Bounds::Explicit { ranges, .. } => ranges.iter().flat_map(|r| r.lower.iter().chain(&r.upper)).collect(),
    };
    // What is no value of the type at all is for the plan to say.
    let held = |text: &str| parse_value(&key.column.ty, text).map_or(true, |value| is_held(&value, &key.declared));
    if texts.iter().all(|text| held(&text.0)) {
        return None;
    }
    let text = format!("a stated bound of \"{}\" is not a value that {} can hold", key.column.name, key.declared);
    Some(Refusal::new(Code::RangeInvalid, text).at("source.options.partitioning").fix(
        "State a value of the column: datetime ends in .000, .003 or .007 seconds, smalldatetime in a whole minute.",
    ))
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

/// What delivered columns do not show of themselves.
fn conditions(chosen: &[&CatalogColumn], schema: &[Column]) -> Vec<String> {
    let list = |names: Vec<&str>| match names.as_slice() {
        [] => None,
        [one] => Some(format!("\"{one}\"")),
        [one, rest @ ..] => Some(format!("\"{one}\" and {} more", rest.len())),
    };
    let masked = list(chosen.iter().filter(|c| c.masked).map(|c| c.name.as_str()).collect())
        .map(|names| format!("columns with a mask ({names}) show other values to a user without UNMASK"));
    let is_instant = |ty: &LogicalType| matches!(ty, LogicalType::Timestamp { utc: true, .. });
    let offsets = list(schema.iter().filter(|c| is_instant(&c.ty)).map(|c| c.name.as_str()).collect()).map(|names| {
        format!(
            "datetimeoffset ({names}) is delivered as an instant; its offset is not, unless the type is stated as text"
        )
    });
    let nanoseconds = |ty: &LogicalType| matches!(ty, LogicalType::Timestamp { digits: 7.., .. });
    let years = list(schema.iter().filter(|c| nanoseconds(&c.ty)).map(|c| c.name.as_str()).collect()).map(|names| {
        format!("timestamps with seven digits ({names}) are delivered of the years 1678 to 2261; others end the run")
    });
    [masked, offsets, years].into_iter().flatten().collect()
}
