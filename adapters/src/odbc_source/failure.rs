//! What a failed call means for the run.

use dpone_engine::codes::Code;
use dpone_engine::run::Why;

use crate::odbc::OdbcError;

/// The reason as the run records it: with the SQLSTATE, and without any value.
pub(super) fn why(error: &OdbcError) -> Why {
    let detail = format!("the ODBC driver says: {error}");
    if error.is_cancelled() {
        Why::transient(Code::EffectAbandoned, "the read was cancelled")
    } else if error.sqlstate == "01004" {
        Why::fatal(Code::OdbcValueTruncated, detail)
    } else if error.is_transient() {
        Why::transient(Code::SourceReadFailed, detail)
    } else {
        Why::fatal(Code::SourceReadFailed, detail)
    }
}
