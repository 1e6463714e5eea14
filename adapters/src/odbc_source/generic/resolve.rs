//! The manifest's wishes held against the catalog.

use std::collections::BTreeSet;

use dpone_engine::codes::Code;
use dpone_engine::manifest::Relation;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::{Column, LogicalType};

use super::catalog::{Found, find};
use super::{CatalogColumn, Server, described};
use crate::nearest::nearest;
use crate::odbc::{Connection, Described, OdbcError};
use crate::odbc_source::relation::{KeySql, RelationSql};
use crate::odbc_source::request::OdbcRequest;
use crate::odbc_source::resolved::{Key, OdbcColumn, Resolved};

const KEY: &str = "source.options.partitioning.column";

pub(super) fn look(
    server: Server,
    connection: &mut Connection,
    request: &OdbcRequest,
) -> Result<Resolved, Vec<Refusal>> {
    let (found, described) = match (&request.relation, server) {
        (Relation::Table(table), Server::MariaDb | Server::Postgres) => {
            (find(server, connection, table).map_err(|refusal| vec![refusal])?, None)
        }
        (Relation::Table(table), Server::Other) => {
            let name =
                |part: &Option<String>| part.as_ref().map(|p| format!("{}.", server.quote(p))).unwrap_or_default();
            let from = format!("{}{}{} t", name(&table.database), name(&table.schema), server.quote(&table.name));
            let described = describe(server, connection, from, RelationKind::Table, "source.table")?;
            (described.0, Some(described.1))
        }
        (Relation::Query(query), _) => {
            let from = format!("({}\n) t", query.trim().trim_end_matches(';'));
            let described = describe(server, connection, from, RelationKind::Query, "source.query")?;
            (described.0, Some(described.1))
        }
    };
    resolve(server, found, described.as_deref(), request)
}

fn describe(
    server: Server,
    connection: &mut Connection,
    from: String,
    kind: RelationKind,
    place: &str,
) -> Result<(Found, Vec<Described>), Vec<Refusal>> {
    let failed = |e: OdbcError| {
        let code = if kind == RelationKind::Table { Code::SourceTableNotFound } else { Code::SourceQueryInvalid };
        vec![
            Refusal::new(code, format!("the source cannot be described: {e}"))
                .at(place)
                .fix("Check that it can be selected from with this connection's user."),
        ]
    };
    let described = connection.describe(&format!("SELECT * FROM {from} WHERE 1 = 0")).map_err(failed)?;
    let columns = described
        .iter()
        .map(|d| CatalogColumn {
            name: d.name.clone(),
            declared: format!("{:?}", d.data_type),
            base: String::new(),
            nullable: true,
            length: None,
            precision: None,
            scale: None,
            digits: None,
            quoted: format!("t.{}", server.quote(&d.name)),
        })
        .collect();
    Ok((Found { kind, from, columns, rows: None, view_sql: Vec::new(), indexed: Vec::new() }, described))
}

fn resolve(
    server: Server,
    found: Found,
    described: Option<&[Described]>,
    request: &OdbcRequest,
) -> Result<Resolved, Vec<Refusal>> {
    let mut problems = names(&found);
    let chosen: Vec<usize> = match &request.columns {
        None => (0..found.columns.len()).collect(),
        Some(wanted) => (0..)
            .zip(wanted)
            .filter_map(|(i, name)| {
                let at = found.columns.iter().position(|c| &c.name == name);
                if at.is_none() {
                    problems.push(unknown(name, &found.columns, &format!("source.options.columns[{i}]")));
                }
                at
            })
            .collect(),
    };
    for name in request.types.keys() {
        if !found.columns.iter().any(|c| &c.name == name) {
            problems.push(unknown(name, &found.columns, "source.options.types"));
        }
    }
    let map = |i: usize, stated: Option<&LogicalType>| {
        let column = &found.columns[i];
        match described.and_then(|d| d.get(i)) {
            Some(d) => described::map(column, d, stated),
            None => server.map(column, stated),
        }
    };
    let mut columns = Vec::new();
    for i in chosen {
        let column = &found.columns[i];
        match map(i, request.types.get(&column.name)) {
            Ok(mapped) => columns.push(OdbcColumn {
                column: Column {
                    name: column.name.clone(),
                    ty: mapped.ty,
                    nullable: column.nullable,
                    declared: column.declared.clone(),
                },
                expression: mapped.expression,
                carrier: mapped.carrier,
                length: mapped.length,
            }),
            Err(refusal) => problems.push(refusal),
        }
    }
    let mut key_refused = None;
    let key = request.key.as_ref().and_then(|name| {
        let Some(i) = found.columns.iter().position(|c| &c.name == name) else {
            problems.push(unknown(name, &found.columns, KEY));
            return None;
        };
        let column = &found.columns[i];
        // The boundary's type is the column's own, whatever it is delivered as.
        match map(i, None).map(|m| m.ty) {
            Ok(ty) if is_boundary(&ty) => Some(Key {
                column: Column { name: name.clone(), ty, nullable: column.nullable, declared: column.declared.clone() },
                declared: column.declared.clone(),
            }),
            _ => {
                let text = format!("\"{name}\" is {}, which cannot be split into ranges over ODBC", column.declared);
                let fix = "Split by an integer, decimal, date or timestamp column.";
                key_refused = Some(Refusal::new(Code::UnsupportedBoundaryType, text).at(KEY).fix(fix));
                None
            }
        }
    });
    if columns.is_empty() && problems.is_empty() {
        problems.push(Refusal::new(Code::SourceColumnNotFound, "the source has no column to deliver").at("source"));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let key_indexed = key.as_ref().is_some_and(|key| found.indexed.contains(&key.column.name));
    let mut warnings = Vec::new();
    if described.is_some() {
        warnings
            .push("column types are as the ODBC driver describes them; what does not fit them ends the run".to_owned());
    }
    let sql = RelationSql {
        prefix: String::new(),
        from: found.from,
        key: key.as_ref().map(|key| KeySql {
            expression: format!("t.{}", server.quote(&key.column.name)),
            declared: key.declared.clone(),
            literal: server.literal(),
        }),
        count: "COUNT(*)",
    };
    Ok(Resolved {
        kind: found.kind,
        columns,
        sql,
        key,
        key_refused,
        view_sql: found.view_sql,
        rows: found.rows,
        key_indexed,
        warnings,
    })
}

fn is_boundary(ty: &LogicalType) -> bool {
    matches!(
        ty,
        LogicalType::Int { .. }
            | LogicalType::UInt { .. }
            | LogicalType::Decimal { precision: ..=38, .. }
            | LogicalType::Date
            | LogicalType::Timestamp { .. }
    )
}

/// What is wrong with the names of the columns.
fn names(found: &Found) -> Vec<Refusal> {
    let place = if found.kind == RelationKind::Query { "source.query" } else { "source.table" };
    let (mut seen, mut problems) = (BTreeSet::new(), Vec::new());
    for (i, column) in found.columns.iter().enumerate() {
        let (code, text) = if column.name.trim().is_empty() {
            (Code::UnnamedColumn, format!("column {} of the source has no name", i + 1))
        } else if !seen.insert(&column.name) {
            (Code::DuplicateColumnName, format!("the source has two columns \"{}\"", column.name))
        } else {
            continue;
        };
        problems
            .push(Refusal::new(code, text).at(place).fix("Give every column of the query a name of its own with AS."));
    }
    problems
}

fn unknown(name: &str, columns: &[CatalogColumn], place: &str) -> Refusal {
    let near = nearest(name, columns.iter().map(|c| c.name.as_str()));
    let fix = near.map_or_else(
        || "State the column's name exactly as the source spells it.".to_owned(),
        |near| format!("Did you mean \"{near}\"?"),
    );
    Refusal::new(Code::SourceColumnNotFound, format!("the source has no column \"{name}\"")).at(place).fix(fix)
}
