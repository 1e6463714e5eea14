//! Folders that tests work in.

use std::path::Path;

use tempfile::TempDir;

/// A folder in memory where the system has one, else on disk. What a killed process has written is there either way; a
/// disk's syncs only make the tests slow.
///
/// # Panics
/// If none can be made.
pub fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).expect("a folder to work in")
}
