//! Which server it is, and how that one is asked.

use dpone_engine::ranges::KeyFacts;
use dpone_engine::refusal::Refusal;

use super::authority::Authority;
use super::generic::{self, Server};
use super::request::OdbcRequest;
use super::resolved::Resolved;
use super::tsql;
use crate::odbc::{Connection, OdbcError};

/// How a kind of server is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// SQL Server.
    SqlServer,
    /// Another kind.
    Generic(Server),
}

/// The dialect of the server at the other end.
pub(super) fn of(connection: &Connection, sql_server: bool) -> Result<Dialect, OdbcError> {
    if sql_server || connection.family().is_sql_server() {
        return Ok(Dialect::SqlServer);
    }
    let name = connection.server_name()?;
    Ok(Dialect::Generic(Server::of(&name)))
}

impl Dialect {
    /// The columns with their exact types, and the SQL that reads them. Reads no row.
    pub(super) fn look(self, connection: &mut Connection, request: &OdbcRequest) -> Result<Resolved, Vec<Refusal>> {
        match self {
            Self::SqlServer => tsql::look(connection, request),
            Self::Generic(server) => generic::look(server, connection, request),
        }
    }

    /// What the range column holds.
    pub(super) fn key_facts(
        self,
        connection: &mut Connection,
        resolved: &Resolved,
        request: &OdbcRequest,
    ) -> Result<KeyFacts, Refusal> {
        match self {
            Self::SqlServer => tsql::key_facts(connection, resolved, &request.planner),
            Self::Generic(server) => generic::key_facts(server, connection, resolved, request),
        }
    }

    /// What makes all sessions see one state.
    pub(super) fn authority(self, connection: &mut Connection, request: &OdbcRequest) -> Result<Authority, Refusal> {
        match self {
            Self::SqlServer => tsql::authority(connection, request),
            Self::Generic(server) => generic::authority(server, connection, request),
        }
    }
}
