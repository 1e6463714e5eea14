//! What a failed statement means for the run.

use dpone_engine::codes::Code;
use dpone_engine::run::Why;

use crate::postgres::{PgError, PgErrorKind};

/// The reason as the run records it: with the server's SQLSTATE, and without any value.
pub(super) fn why(error: &PgError) -> Why {
    let detail = format!("PostgreSQL: {}", error.message);
    match error.kind {
        PgErrorKind::Cancelled => Why::transient(Code::EffectAbandoned, "the read was cancelled"),
        _ if error.transient() => Why::transient(Code::SourceReadFailed, detail),
        _ => Why::fatal(Code::SourceReadFailed, detail),
    }
}

/// The reason when the state that is read is gone.
pub(super) fn lost(error: &PgError) -> Why {
    let detail = format!("the session that holds the snapshot has ended: {}", error.message);
    Why::fatal(Code::ConsistencyAuthorityLost, detail)
}
