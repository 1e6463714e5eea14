//! Servers that are known well enough to be asked for their catalog, and, for any other, what its driver describes.

mod catalog;
mod described;
mod key;
mod mariadb;
mod postgres;
mod resolve;

use dpone_engine::codes::Code;
use dpone_engine::manifest::Consistency;
use dpone_engine::ranges::KeyFacts;
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::authority::Authority;
use super::request::OdbcRequest;
use super::resolved::{Carrier, Resolved};
use super::session::prove;
use crate::odbc::Connection;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    /// MariaDB or MySQL.
    MariaDb,
    /// PostgreSQL.
    Postgres,
    /// Any other. Types are as the driver describes them.
    Other,
}

/// A column as a catalog has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CatalogColumn {
    name: String,
    /// The type as the server declares it.
    declared: String,
    /// The type's name alone.
    base: String,
    nullable: bool,
    /// Characters or bytes, for what has a length.
    length: Option<u64>,
    precision: Option<u32>,
    scale: Option<u32>,
    /// Digits of a second.
    digits: Option<u8>,
    /// The column as a statement names it.
    quoted: String,
}

/// How a column is read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapped {
    ty: LogicalType,
    carrier: Carrier,
    expression: String,
    length: Option<String>,
}

impl Mapped {
    fn new(ty: LogicalType, carrier: Carrier, expression: impl Into<String>) -> Self {
        Self { ty, carrier, expression: expression.into(), length: None }
    }

    fn long(ty: LogicalType, carrier: Carrier, expression: impl Into<String>, length: String) -> Self {
        Self { ty, carrier, expression: expression.into(), length: Some(length) }
    }
}

impl Server {
    /// The kind of server that calls itself so.
    pub(super) fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        if name.contains("mariadb") || name.contains("mysql") {
            Self::MariaDb
        } else if name.contains("postgres") {
            Self::Postgres
        } else {
            Self::Other
        }
    }

    fn quote(self, name: &str) -> String {
        match self {
            Self::MariaDb => format!("`{}`", name.replace('`', "``")),
            Self::Postgres | Self::Other => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    fn text_literal(self, text: &str) -> String {
        match self {
            // Backslashes are escapes unless the server is told otherwise, which `setup` does; both readings agree here.
            Self::MariaDb => format!("'{}'", text.replace('\'', "''")),
            Self::Postgres | Self::Other => format!("'{}'", text.replace('\'', "''")),
        }
    }

    fn map(self, column: &CatalogColumn, stated: Option<&LogicalType>) -> Result<Mapped, Refusal> {
        match self {
            Self::MariaDb => mariadb::map(column, stated),
            Self::Postgres => postgres::map(column, stated),
            Self::Other => Err(unsupported(column, "State its type.")),
        }
    }

    fn literal(self) -> fn(&Value, &str) -> String {
        match self {
            Self::MariaDb => mariadb::literal,
            Self::Postgres => postgres::literal,
            Self::Other => described::literal,
        }
    }

    /// What every session runs first.
    fn setup(self) -> Vec<String> {
        let statements: &[&str] = match self {
            Self::MariaDb => &[
                "SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',NO_BACKSLASH_ESCAPES')",
                "SET SESSION time_zone = '+00:00'",
                "SET SESSION TRANSACTION READ ONLY",
            ],
            Self::Postgres => &[
                "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
                "SET DateStyle TO 'ISO'",
                "SET TimeZone TO 'UTC'",
                "SET standard_conforming_strings TO on",
                "SET extra_float_digits TO 3",
            ],
            Self::Other => &[],
        };
        statements.iter().map(|&s| s.to_owned()).collect()
    }
}

/// The columns with their exact types, and the SQL that reads them.
pub(super) fn look(
    server: Server,
    connection: &mut Connection,
    request: &OdbcRequest,
) -> Result<Resolved, Vec<Refusal>> {
    resolve::look(server, connection, request)
}

/// What the range column holds.
pub(super) fn key_facts(
    server: Server,
    connection: &mut Connection,
    resolved: &Resolved,
    request: &OdbcRequest,
) -> Result<KeyFacts, Refusal> {
    key::key_facts(server, connection, resolved, &request.planner)
}

/// What makes all sessions see one state: the operator's word, or that there is one statement.
pub(super) fn authority(
    server: Server,
    connection: &mut Connection,
    request: &OdbcRequest,
) -> Result<Authority, Refusal> {
    let setup = server.setup();
    let identity = catalog::identity(server, connection);
    let ranges = &request.ranges;
    match ranges.consistency {
        Consistency::Immutable => Ok(Authority {
            identity: format!("odbc-immutable:{identity}"),
            persistent: true,
            setup,
            ..Authority::default()
        }),
        // One statement reads everything, as the server shows it to a statement.
        Consistency::Statement => {
            let mut setup = setup;
            if server == Server::MariaDb {
                setup.push("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ".into());
            }
            Ok(Authority { identity, setup, ..Authority::default() })
        }
        Consistency::WriteExclusion => {
            let proof = ranges.consistency_authority.query.clone();
            let reference = ranges.consistency_authority.lease.as_ref().or(ranges.consistency_authority.proof.as_ref());
            let reference = reference.map_or("", String::as_str);
            let identity = format!("odbc-write-exclusion:{identity}:{reference}");
            let authority = Authority { identity, persistent: true, setup, proof, ..Authority::default() };
            prove(connection, &authority).map_err(|why| {
                Refusal::new(Code::ConsistencyAuthorityLost, why.detail)
                    .at("source.options.partitioning.range_parallelism.consistency_authority.query")
                    .fix("Keep writers out first, or correct the query.")
            })?;
            Ok(authority)
        }
        other => {
            let text = format!("{other} is not known of this server over ODBC");
            Err(Refusal::new(Code::ConsistencyModeUnsupported, text)
                .at("source.options.partitioning.range_parallelism.consistency")
                .fix("Use immutable, write_exclusion or statement."))
        }
    }
}

/// The refusal of a type that has no exact form.
fn unsupported(column: &CatalogColumn, fix: &str) -> Refusal {
    let text = format!("\"{}\" is {}, which has no exact form here", column.name, column.declared);
    Refusal::new(Code::UnsupportedType, text).at(format!("source.options.types.{}", column.name)).fix(fix)
}
