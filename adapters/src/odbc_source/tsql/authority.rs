//! What makes all sessions of a run see one state, confirmed by the server.

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Consistency, Relation};
use dpone_engine::refusal::Refusal;

use super::catalog::{find, is_true};
use super::query::split;
use super::quote::text;
use super::refused::refused;
use super::relation::qualified;
use super::temporal::{as_of, confirm, is_one};
use super::{Ask, Row};
use crate::odbc::OdbcError;
use crate::odbc_source::{Authority, OdbcRequest};

pub(super) const AT: &str = "source.options.partitioning.range_parallelism.consistency_authority";
const PLACE: &str = "source";
/// A driver's own default can cut long values short.
const WHOLE_VALUES: &str = "SET TEXTSIZE 2147483647";
const ROW_VERSIONS: &str = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT";

/// Confirms the authority that the manifest names, in a session of the database that the connection's settings name.
///
/// The identity of a state that does not outlive its session is that of the database: whoever opens it adds what tells one
/// opening from another.
///
/// # Errors
/// `consistency_authority_missing` where the server does not confirm it; `consistency_mode_unsupported`; what
/// [`look`](super::look) says of a table that is not there; `source_not_found` and the like.
pub fn authority(ask: &mut impl Ask, request: &OdbcRequest) -> Result<Authority, Refusal> {
    let named = match &request.relation {
        Relation::Table(table) => table.database.as_deref(),
        Relation::Query(_) => None,
    };
    if request.ranges.consistency == Consistency::DatabaseSnapshot {
        return snapshot(ask, request, named);
    }
    let database = Database::of(ask, named)?;
    let place = format!("{}/{}@{}", database.server, database.name, database.created);
    let setup = vec![WHOLE_VALUES.to_owned()];
    let plain = |kind: &str, persistent| Authority {
        identity: format!("mssql-{kind}:{place}"),
        persistent,
        setup: setup.clone(),
        ..Authority::default()
    };
    match request.ranges.consistency {
        Consistency::Immutable => Ok(plain("immutable", true)),
        Consistency::WriteExclusion => exclusion(ask, request, plain("exclusion", true)),
        Consistency::Statement => {
            let setup = [setup.clone(), database.versions()].concat();
            Ok(Authority { setup, ..plain("statement", false) })
        }
        Consistency::TemporalAsOf => {
            let (identity, proof) = moment(ask, request)?;
            if !database.is_still() {
                let text =
                    "without row versions a row that is changed while it is read can be missed in both of its tables";
                return Err(missing("as_of", text.to_owned(), VERSIONS_FIX));
            }
            let setup = [setup.clone(), database.versions()].concat();
            let whole = plain("as-of", true);
            Ok(Authority { identity: format!("{}:{identity}", whole.identity), setup, proof: Some(proof), ..whole })
        }
        Consistency::DatabaseSnapshot | Consistency::ExportedSnapshot => {
            let text = format!("SQL Server has no consistency `{}`", request.ranges.consistency);
            Err(Refusal::new(Code::ConsistencyModeUnsupported, text)
                .at("source.options.partitioning.range_parallelism.consistency")
                .fix("Use database_snapshot, temporal_as_of, write_exclusion or immutable."))
        }
    }
}

/// The database that sessions connect to in place of the connection's own.
pub fn session_database(request: &OdbcRequest) -> Option<&str> {
    let ranges = &request.ranges;
    let snapshot = ranges.consistency_authority.database_snapshot.as_deref();
    snapshot.filter(|_| ranges.consistency == Consistency::DatabaseSnapshot)
}

const VERSIONS_FIX: &str = "Have ALLOW_SNAPSHOT_ISOLATION or READ_COMMITTED_SNAPSHOT turned on in the database.";

pub(super) fn missing(key: &str, text: String, fix: &str) -> Refusal {
    Refusal::new(Code::ConsistencyAuthorityMissing, text).at(format!("{AT}.{key}")).fix(fix)
}

fn failed(error: OdbcError) -> Refusal {
    refused(&error, "the server's databases cannot be looked at", PLACE)
}

fn cell(row: &Row, i: usize) -> Option<&str> {
    row.get(i)?.as_deref()
}

/// What the server says of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Database {
    server: String,
    name: String,
    created: String,
    /// Whether a session may ask for row versions.
    snapshots: bool,
    /// Whether each statement sees row versions, or nothing ever changes.
    versioned: bool,
}

impl Database {
    /// The database of that name, else the session's own.
    pub(super) fn of(ask: &mut impl Ask, name: Option<&str>) -> Result<Self, Refusal> {
        let sql = format!(
            "SELECT @@SERVERNAME, d.name, CONVERT(varchar(23), d.create_date, 121), d.snapshot_isolation_state, \
             d.is_read_committed_snapshot_on, d.is_read_only FROM sys.databases AS d WHERE d.name = {}",
            name.map_or_else(|| "DB_NAME()".to_owned(), text)
        );
        let rows = ask.ask(&sql).map_err(failed)?;
        let read = |row: &Row| {
            Some(Self {
                server: cell(row, 0).unwrap_or("server").to_owned(),
                name: cell(row, 1)?.to_owned(),
                created: cell(row, 2).unwrap_or_default().to_owned(),
                snapshots: cell(row, 3).is_some_and(|state| state.trim() == "1"),
                versioned: is_true(cell(row, 4)) || is_true(cell(row, 5)),
            })
        };
        rows.first().and_then(read).ok_or_else(|| {
            let text = "the server has no database of that name that the user may see";
            Refusal::new(Code::SourceTableNotFound, text)
                .at("source.table.database")
                .fix("Name a database of the server.")
        })
    }

    /// Whether a statement sees one state of the database.
    pub(super) fn is_still(&self) -> bool {
        self.snapshots || self.versioned
    }

    /// What a session runs so that a statement does.
    fn versions(&self) -> Vec<String> {
        // Where each statement has versions anyway, nothing more is asked of the server.
        let asked = self.snapshots && !self.versioned;
        asked.then(|| ROW_VERSIONS.to_owned()).into_iter().collect()
    }
}

/// The named snapshot, if it is one of the database that is read.
fn snapshot(ask: &mut impl Ask, request: &OdbcRequest, of: Option<&str>) -> Result<Authority, Refusal> {
    let name = request.ranges.consistency_authority.database_snapshot.as_deref().unwrap_or_default();
    let sql = format!(
        "SELECT @@SERVERNAME, s.name, CONVERT(varchar(23), s.create_date, 121), s.source_database_id, o.name, \
         DB_NAME() FROM sys.databases AS s LEFT JOIN sys.databases AS o ON o.database_id = s.source_database_id \
         WHERE s.name = {}",
        text(name)
    );
    let rows = ask.ask(&sql).map_err(failed)?;
    let missing = |text: &str, fix: &str| Err(missing("database_snapshot", text.to_owned(), fix));
    let Some(row) = rows.first() else {
        return missing(
            "the server has no database snapshot of that name that the user may see",
            "Create it with CREATE DATABASE … AS SNAPSHOT OF, and let the connection's user connect to it.",
        );
    };
    let (Some(found), Some(_)) = (cell(row, 1), cell(row, 3)) else {
        return missing("the database of that name is not a snapshot", "Name a database snapshot.");
    };
    // Without a name anywhere, the database that the session is in; a session may be in the snapshot already.
    let here = cell(row, 5).filter(|here| !here.eq_ignore_ascii_case(found));
    match (of.or(here), cell(row, 4)) {
        (Some(of), Some(source)) if of.eq_ignore_ascii_case(source) || of.eq_ignore_ascii_case(found) => {}
        (None, Some(_)) => {}
        (_, None) => {
            return missing(
                "the user may not see which database the snapshot is of",
                "Grant VIEW ANY DATABASE, or the right to connect to that database, to the connection's user.",
            );
        }
        (Some(_), Some(_)) => {
            return missing("the snapshot is of another database than the one that is read", "Name a snapshot of it.");
        }
    }
    let created = cell(row, 2).unwrap_or_default();
    let server = cell(row, 0).unwrap_or("server");
    let proof = format!(
        "SELECT CASE WHEN CONVERT(varchar(23), s.create_date, 121) = {} THEN 1 ELSE 0 END \
         FROM sys.databases AS s WHERE s.name = {}",
        text(created),
        text(found)
    );
    Ok(Authority {
        identity: format!("mssql-snapshot:{server}/{found}@{created}"),
        persistent: true,
        database: Some(found.to_owned()),
        setup: vec![WHOLE_VALUES.to_owned()],
        transaction: false,
        proof: Some(proof),
    })
}

/// The table as of the stated moment: what it is called, and what shows that its history is still kept.
fn moment(ask: &mut impl Ask, request: &OdbcRequest) -> Result<(String, String), Refusal> {
    let moment = as_of(request.ranges.consistency_authority.as_of.as_deref().unwrap_or_default())?;
    let Relation::Table(asked) = &request.relation else { return Err(no_table()) };
    let found = find(ask, asked, None)?;
    confirm(ask, &found.table, &moment)?;
    let table = &found.table;
    let name = qualified(None, Some(&table.schema), &table.name);
    let tables = super::facts::sys(table.database.as_deref(), "tables");
    let proof = format!(
        "SELECT CASE WHEN t.temporal_type = 2 THEN 1 ELSE 0 END FROM {tables} AS t WHERE t.object_id = {}",
        table.id
    );
    Ok((format!("{name}.{}@{moment}", table.id), proof))
}

pub(super) fn no_table() -> Refusal {
    Refusal::new(Code::ConsistencyModeUnsupported, "a query or view is not read as of a moment, only a table is")
        .at("source.options.partitioning.range_parallelism.consistency")
        .fix("Write FOR SYSTEM_TIME AS OF into the query and state consistency: immutable, or read the table.")
}

/// The lease or proof that keeps writers out, as the manifest's own query shows it.
fn exclusion(ask: &mut impl Ask, request: &OdbcRequest, whole: Authority) -> Result<Authority, Refusal> {
    let named = &request.ranges.consistency_authority;
    let reference = match (&named.lease, &named.proof) {
        (Some(lease), _) => format!("lease={lease}"),
        (None, proof) => format!("proof={}", proof.as_deref().unwrap_or_default()),
    };
    let place = format!("{AT}.query");
    let query = split(named.query.as_deref().unwrap_or_default()).map_err(|refusal| refusal.at(place.clone()))?;
    let proof = format!("{}{}", query.prefix, query.body);
    let rows = ask.ask(&proof).map_err(|e| {
        let refusal = refused(&e, "the query that shows that writers are out fails", &place);
        Refusal { code: Code::ConsistencyAuthorityMissing, ..refusal }
    })?;
    if !is_one(&rows) {
        let text = "the query does not show that writers are out: it must return one row whose first column is 1";
        return Err(missing("query", text.to_owned(), "Keep writers out first, then run it again."));
    }
    Ok(Authority { identity: format!("{}:{reference}", whole.identity), proof: Some(proof), ..whole })
}
