//! The manifest's wishes held against the catalog: the schema to deliver and the SQL that reads it.

use std::collections::{BTreeMap, BTreeSet};

use dpone_engine::codes::Code;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::{Column, LogicalType, Schema};
use rusqlite::Connection;

use super::catalog::{CatalogColumn, CatalogRelation, look_up};
use super::convert::Conversion;
use super::declared::{Affinity, Declared, affinity, parse};
use super::relation::RelationSql;
use super::request::SqliteRequest;
use super::wide::Wide;
use crate::nearest::nearest;

/// The range column.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) column: Column,
    pub(super) affinity: Affinity,
    /// By catalog; views and queries are judged by their plan.
    pub(super) indexed: bool,
    pub(super) conversion: Conversion,
    /// Its position among the delivered columns, if it is one.
    pub(super) position: Option<usize>,
}

/// What a request comes to on the database as it is now.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) kind: RelationKind,
    pub(super) schema: Schema,
    pub(super) conversions: Vec<Conversion>,
    pub(super) sql: RelationSql,
    /// Of a database that is stored as UTF-16.
    pub(super) wide: Option<Wide>,
    pub(super) key: Option<Key>,
    pub(super) warnings: Vec<String>,
}

/// Resolves a request.
///
/// # Errors
/// Everything that is wrong, never empty.
pub(super) fn resolve(connection: &Connection, request: &SqliteRequest) -> Result<Resolved, Vec<Refusal>> {
    let relation = look_up(connection, &request.relation).map_err(|refusal| vec![refusal])?;
    let mut problems = Vec::new();
    let chosen = choose(&relation, request, &mut problems);
    for name in request.types.keys() {
        if !relation.columns.iter().any(|c| &c.name == name) {
            problems.push(unknown(name, &relation, "source.options.types"));
        }
    }
    let mut columns = Vec::new();
    for column in &chosen {
        match column_of(column, request) {
            Ok(typed) => columns.push(typed),
            Err(refusal) => problems.push(refusal),
        }
    }
    let key = request.key.as_ref().and_then(|name| {
        let Some(found) = relation.columns.iter().find(|c| &c.name == name) else {
            problems.push(unknown(name, &relation, "source.options.partitioning.column"));
            return None;
        };
        // A column without a type has been refused already if it is delivered.
        let column = column_of(found, request).map_err(|r| (!chosen.iter().any(|c| c.name == *name)).then_some(r));
        let column = match column {
            Ok(column) => column,
            Err(refusal) => {
                problems.extend(refusal);
                return None;
            }
        };
        let stated = request.types.contains_key(name);
        Some(Key {
            affinity: affinity(&found.declared),
            indexed: relation.indexed.contains(name),
            conversion: Conversion::new(&column.ty, true, stated),
            position: chosen.iter().position(|c| c.name == *name),
            column,
        })
    });
    if !problems.is_empty() {
        state_types_at_once(&mut problems);
        return Err(problems);
    }
    let conversions =
        columns.iter().map(|c| Conversion::new(&c.ty, c.nullable, request.types.contains_key(&c.name))).collect();
    let expression = |name: &String| relation.columns.iter().find(|c| &c.name == name).map(|c| c.expression.clone());
    let schema = Schema { columns };
    let wide = Wide::of(connection, &schema).map_err(|e| {
        let reason = super::connect::reason(&e);
        vec![Refusal::new(Code::SourceNotFound, format!("the SQLite database cannot be read: {reason}"))]
    })?;
    let expressions: Vec<String> = chosen.iter().map(|c| c.expression.clone()).collect();
    let sql = RelationSql {
        with: relation.with.clone(),
        from: relation.from.clone(),
        reading: reading(relation.kind, wide.as_ref(), &expressions),
        columns: expressions,
        key: request.key.as_ref().and_then(expression),
        rowid: relation.rowid.clone(),
    };
    sql.fits(connection)?;
    let warnings = alike(&schema.columns);
    Ok(Resolved { kind: relation.kind, schema, conversions, sql, wide, key, warnings })
}

/// `types:` can stand in a manifest once, so what is to be stated below it is told once, with the last column that needs it.
fn state_types_at_once(problems: &mut [Refusal]) {
    let entry = |fix: &str| Some(fix.strip_prefix(STATE)?.strip_suffix(STATED)?.to_owned());
    let asking = |p: &&mut Refusal| p.fix.as_deref().and_then(entry).is_some();
    let mut entries = Vec::new();
    for problem in problems.iter_mut().filter(asking) {
        entries.extend(problem.fix.take().as_deref().and_then(entry));
        problem.fix = Some(format!("{STATE}{}{STATED}", entries.join(", ")));
    }
    let mut last = true;
    for problem in problems.iter_mut().rev().filter(asking) {
        if !std::mem::take(&mut last) {
            problem.fix = None;
        }
    }
}

/// What reads the columns, where that is not their expressions.
fn reading(kind: RelationKind, wide: Option<&Wide>, columns: &[String]) -> Option<Vec<String>> {
    if let Some(wide) = wide {
        return Some(wide.expressions(columns));
    }
    // SQLite plans a sorted subquery in another way where its columns are arguments of a function. Lengths are such
    // functions and must be read in the same order, so the columns themselves are made into arguments too.
    (kind != RelationKind::Table).then(|| columns.iter().map(|c| format!("ifnull({c}, NULL)")).collect())
}

/// The delivered columns in order.
fn choose<'a>(
    relation: &'a CatalogRelation,
    request: &SqliteRequest,
    problems: &mut Vec<Refusal>,
) -> Vec<&'a CatalogColumn> {
    let place = match relation.kind {
        RelationKind::Query => "source.query",
        RelationKind::Table | RelationKind::View => "source.table",
    };
    let mut seen = BTreeSet::new();
    for (i, column) in relation.columns.iter().enumerate() {
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
    let Some(names) = &request.columns else {
        return relation.columns.iter().filter(|c| !c.hidden).collect();
    };
    let mut chosen = Vec::new();
    for (i, name) in names.iter().enumerate() {
        match relation.columns.iter().find(|c| &c.name == name) {
            Some(column) => chosen.push(column),
            None => problems.push(unknown(name, relation, &format!("source.options.columns[{i}]"))),
        }
    }
    chosen
}

/// How a fix begins and ends that states types.
const STATE: &str = "State the type, for example: `source.options.types: {";
const STATED: &str = "}`.";

fn column_of(column: &CatalogColumn, request: &SqliteRequest) -> Result<Column, Refusal> {
    let CatalogColumn { name, declared, .. } = column;
    let quoted = serde_json::to_string(name).unwrap_or_default();
    let example = |ty: &str| format!("{STATE}{quoted}: \"{ty}\"{STATED}");
    let refuse = |code, text: String, fix: String| Err(Refusal::new(code, text).at("source.options.types").fix(fix));
    let ty = match (request.types.get(name), parse(declared)) {
        (Some(ty), _) => ty.clone(),
        (None, Declared::Type(ty)) => ty,
        (None, Declared::Nothing) => {
            let text = format!("the source declares no type for column \"{name}\"");
            // What it holds is not looked at here; `string` takes integers, reals and texts.
            return refuse(Code::ColumnTypeUndeclared, text, example("string"));
        }
        (None, Declared::OpenNumeric) => {
            let text = format!("column \"{name}\" is {declared} without precision and scale");
            return refuse(Code::UnconstrainedNumericRequiresType, text, example("decimal(38,10)"));
        }
        (None, Declared::Unknown) => {
            let text = format!("column \"{name}\" is declared {declared}, which has no fixed meaning in SQLite");
            return refuse(Code::UnsupportedType, text, example("string"));
        }
    };
    if matches!(ty, LogicalType::Decimal { precision: 39.., .. }) {
        let text = format!("column \"{name}\" is {ty}; decimals of more than 38 digits are not supported yet");
        return refuse(Code::UnsupportedType, text, example("string"));
    }
    Ok(Column { name: name.clone(), ty, nullable: !column.not_null, declared: declared.clone() })
}

fn unknown(name: &str, relation: &CatalogRelation, place: &str) -> Refusal {
    let near = nearest(name, relation.columns.iter().map(|c| c.name.as_str()));
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
