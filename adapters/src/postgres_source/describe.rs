//! What a request comes to, in whatever transaction the session is in.

use dpone_engine::refusal::Refusal;

use super::catalog::look_up;
use super::request::PostgresRequest;
use super::resolve::{Resolved, resolve};
use crate::postgres::Session;

/// Looks at the catalog: the columns with their exact types, and the SQL that reads them. Reads no row.
///
/// # Errors
/// Everything that stands against reading it, never empty: `source_table_not_found`, `source_column_not_found`,
/// `source_query_invalid`, `source_permission_denied`, `duplicate_column_name`, `unnamed_column`,
/// `unconstrained_numeric_requires_type`, `unsupported_type`.
pub(super) fn look(session: &mut Session, request: &PostgresRequest) -> Result<Resolved, Vec<Refusal>> {
    let catalog = look_up(session, &request.relation).map_err(|refusal| vec![refusal])?;
    resolve(catalog, request)
}
