//! What a finished file says of itself.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::run::Why;
use dpone_engine::schema::Schema;

use crate::columnar::decode::{File, Unreadable};

/// A file, once its columns are found to be the planned ones.
///
/// # Errors
/// `load_failed` if it is not a readable Parquet file of that schema.
pub(super) fn open(path: &Path, schema: &Schema) -> Result<File<std::fs::File>, Why> {
    let file = std::fs::File::open(path).map_err(|e| unreadable(&e.to_string()))?;
    File::open(file, schema).map_err(|e| damaged(&e))
}

/// The rows of a file.
///
/// # Errors
/// As [`open`].
pub(super) fn rows(path: &Path, schema: &Schema) -> Result<u64, Why> {
    open(path, schema).map(|file| file.rows())
}

/// A file that is not what it was.
pub(super) fn damaged(error: &Unreadable) -> Why {
    unreadable(&error.to_string())
}

fn unreadable(what: &str) -> Why {
    Why::fatal(Code::LoadFailed, format!("a data file cannot be read: {what}"))
}
