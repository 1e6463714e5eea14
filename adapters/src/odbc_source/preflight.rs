//! Preflight: what the source is, before a run exists.

use dpone_engine::codes::Code;
use dpone_engine::plan::facts::{RelationKind, SourceFacts};
use dpone_engine::refusal::Refusal;

use super::dialect;
use super::request::OdbcRequest;
use super::resolved::Resolved;
use crate::odbc::{Buffering, Config, Connection, Family, OdbcError, Session};
use crate::reading::min_grant;

/// Readers that may be open on one state: the server's limits are its own to state when they are met.
const MAX_SESSIONS: u32 = 64;

/// Looks at the source in one session: its columns and their exact types, what the range column holds, and whether the
/// state that the manifest names is there.
///
/// # Errors
/// Everything that stands against reading it, never empty.
pub fn describe(config: &Config, request: &OdbcRequest) -> Result<SourceFacts, Vec<Refusal>> {
    let unreachable = |e: OdbcError| vec![refused(&e, config, "the source cannot be used", "source")];
    let open =
        |database: Option<&str>| Connection::open(config, &Session { database, application: "dpone/plan", rows: None });
    let mut connection = open(None).map_err(unreachable)?;
    let dialect = dialect::of(&connection, request.sql_server).map_err(unreachable)?;
    let authority = dialect.authority(&mut connection, request).map_err(|refusal| vec![refusal])?;
    if let Some(database) = &authority.database {
        connection = open(Some(database)).map_err(unreachable)?;
    }
    for statement in &authority.setup {
        connection.execute(statement).map_err(unreachable)?;
    }
    let resolved = dialect.look(&mut connection, request)?;
    let mut key_refused = resolved.key_refused.clone();
    let key = match &resolved.key {
        None => None,
        Some(_) => match dialect.key_facts(&mut connection, &resolved, request) {
            Ok(facts) => Some(facts),
            // Whether ranges are needed is for the plan to say.
            Err(refusal) if matches!(refusal.code, Code::UnsupportedBoundaryType | Code::SourceStatsLowConfidence) => {
                key_refused = Some(refusal);
                None
            }
            Err(refusal) => return Err(vec![refusal]),
        },
    };
    let mut warnings = resolved.warnings.clone();
    if let Some(refusal) = unadmitted(config.family, &resolved) {
        warnings.push(refusal.message.clone());
        if request.key.is_some() {
            key_refused = key_refused.or(Some(refusal));
        }
    }
    let schema = resolved.schema();
    Ok(SourceFacts {
        as_target: None,
        same_as: None,
        view_sql: if resolved.kind == RelationKind::Table { Vec::new() } else { resolved.view_sql.clone() },
        key_column: resolved.key.as_ref().map(|key| key.column.clone()),
        key_refused,
        min_grant: min_grant(&schema),
        schema,
        relation: resolved.kind,
        key,
        key_indexed: resolved.key_indexed,
        max_sessions: if authority.transaction { 1 } else { MAX_SESSIONS },
        warnings,
    })
}

/// Why the bytes of rows cannot be admitted before this driver reads them, if so.
fn unadmitted(family: Family, resolved: &Resolved) -> Option<Refusal> {
    let long = resolved.columns.iter().find(|c| c.carrier.is_long());
    let text = match (family.buffering(), long) {
        (Buffering::Streams, _) | (Buffering::Row | Buffering::Rows, None) => return None,
        (Buffering::Row | Buffering::Rows, Some(column)) => format!(
            "the driver reads whole rows, of which \"{}\" can have any length, before their bytes can be admitted",
            column.column.name
        ),
        (Buffering::Result, _) => {
            "nothing is known of how many rows this driver reads before they are asked for".into()
        }
    };
    Some(
        Refusal::new(Code::ColumnarRangePreReadByteAdmissionUnavailable, text)
            .at("source.options.partitioning.range_parallelism.mode")
            .fix("Use mode: auto, which reads with one session; or leave the long columns out, or use another driver."),
    )
}

/// The refusal for a call that failed while `doing` something; `place` is what it was about.
pub(super) fn refused(error: &OdbcError, config: &Config, doing: &str, place: &str) -> Refusal {
    let (code, fix) = match error.sqlstate.as_str() {
        // The manager could not load the library, which has another that is missing, or the library is not a driver.
        state if state.starts_with("IM") || (state == "01000" && error.message.contains("Can't open lib")) => {
            (Code::OdbcDriverNotFound, "Run `ldd` on the driver's library and install what it says is not found.")
        }
        _ if error.sqlstate == "28000" || matches!(error.native, 18_450..=18_470 | 1045) => {
            (Code::SourceNotFound, "Check the connection's user and password.")
        }
        _ if matches!(error.native, 4060 | 4063 | 4064 | 1049) => {
            (Code::SourceNotFound, "Check that the database exists and that the connection's user may connect to it.")
        }
        "42S02" => (Code::SourceTableNotFound, "State the name of a table or view of this database."),
        "42000" if error.native == 229 || error.native == 230 => {
            (Code::SourcePermissionDenied, "Grant SELECT on it to the connection's user.")
        }
        state if state.starts_with("42") => {
            (Code::SourceQueryInvalid, "Check that the statement runs with this connection's user.")
        }
        "HYT00" | "HYT01" => {
            (Code::SourceNotFound, "Check that the server can be reached, or raise `_CONNECT_TIMEOUT`.")
        }
        _ => (
            Code::SourceNotFound,
            "Check the connection's host, port, database and TLS settings, and the server itself.",
        ),
    };
    Refusal::new(code, format!("{doing} ({}): {error}", config.address)).at(place).fix(fix)
}
