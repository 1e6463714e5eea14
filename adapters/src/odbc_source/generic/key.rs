//! What the range column holds: its least and its greatest value.

use dpone_engine::codes::Code;
use dpone_engine::manifest::PlannerMode;
use dpone_engine::ranges::{KeyFacts, UuidOrder, parse_value};
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;

use super::Server;
use crate::odbc::{Connection, OdbcError};
use crate::odbc_source::request::RangePlanner;
use crate::odbc_source::resolved::Resolved;

const PLACE: &str = "source.options.partitioning.column";

pub(super) fn key_facts(
    server: Server,
    connection: &mut Connection,
    resolved: &Resolved,
    planner: &RangePlanner,
) -> Result<KeyFacts, Refusal> {
    let mut facts = KeyFacts { rows: resolved.rows, uuid_order: UuidOrder::Unknown, ..KeyFacts::default() };
    let (Some(key), Some(sql), true) = (&resolved.key, &resolved.sql.key, planner.wanted) else { return Ok(facts) };
    if !matches!(planner.mode, PlannerMode::Auto | PlannerMode::Bounds) || planner.split_hot {
        let text = "this source has no statistics that ranges are planned from over ODBC";
        return Err(Refusal::new(Code::SourceStatsLowConfidence, text)
            .at("source.options.partitioning.planner.mode")
            .fix("Use planner.mode: auto."));
    }
    let column = &sql.expression;
    let written = |function: &str| match (server, &key.column.ty) {
        (Server::MariaDb, _) => format!("CAST({function}({column}) AS CHAR)"),
        (Server::Postgres, LogicalType::Timestamp { utc: true, .. }) => {
            format!("({function}({column}) AT TIME ZONE 'UTC')::text")
        }
        (Server::Postgres, _) => format!("{function}({column})::text"),
        (Server::Other, _) => format!("{function}({column})"),
    };
    // A zero date of MariaDB, an infinite one of PostgreSQL, can place no cut; rows that have it lie in an open end.
    let admitted = match (server, &key.column.ty) {
        (Server::MariaDb, LogicalType::Date | LogicalType::Timestamp { .. }) => {
            format!(" WHERE {column} >= '0001-01-01'")
        }
        (Server::Postgres, LogicalType::Date | LogicalType::Timestamp { .. }) => {
            format!(" WHERE {column} >= '0001-01-01' AND {column} < '10000-01-01'")
        }
        (Server::Postgres, LogicalType::Decimal { .. }) => format!(" WHERE {column} <> 'NaN'"),
        _ => String::new(),
    };
    let statement = format!("SELECT {}, {} FROM {}{admitted}", written("MIN"), written("MAX"), resolved.sql.from);
    let rows = connection.query(&statement).map_err(|e: OdbcError| {
        Refusal::new(Code::SourceQueryInvalid, format!("the keys of \"{}\" cannot be read: {e}", key.column.name))
            .at(PLACE)
            .fix("Check that the column can be aggregated with this connection's user.")
    })?;
    let cell = |i: usize| rows.first().and_then(|row| row.get(i)?.as_deref());
    let (Some(least), Some(greatest)) = (cell(0), cell(1)) else { return Ok(facts) };
    let utc = matches!(key.column.ty, LogicalType::Timestamp { utc: true, .. });
    let parse = |text: &str| {
        let text = if utc { format!("{}Z", text.replace(' ', "T")) } else { text.to_owned() };
        parse_value(&key.column.ty, &text)
    };
    match (parse(least), parse(greatest)) {
        (Ok(least), Ok(greatest)) => {
            facts.extent = Some((least, greatest));
            Ok(facts)
        }
        _ => {
            let text = format!("the least and greatest value of \"{}\" are not of its type", key.column.name);
            Err(Refusal::new(Code::UnsupportedBoundaryType, text)
                .at(PLACE)
                .fix("State bounds or ranges in the manifest."))
        }
    }
}
