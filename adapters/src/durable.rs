//! The file-system steps that make something durable, and the classes of their failures.
//!
//! Invariant: a name that readers look at is given only to a file that is complete and synced, and the folder that
//! holds the name is synced after it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;

/// What kind of failure an IO error is, for those who must decide what to tell the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No room: the disk, a quota or the process's file size limit.
    NoRoom,
    /// It may pass: the closed list of interruptions, time-outs and exhausted handles.
    Transient,
    /// Trying again changes nothing.
    Fatal,
}

/// The class of an IO error.
pub fn classify(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Failure::NoRoom,
        ErrorKind::Interrupted
        | ErrorKind::WouldBlock
        | ErrorKind::TimedOut
        | ErrorKind::ResourceBusy
        | ErrorKind::StaleNetworkFileHandle => Failure::Transient,
        _ => match error.raw_os_error() {
            Some(TOO_MANY_OPEN_FILES | TOO_MANY_OPEN_FILES_IN_SYSTEM) => Failure::Transient,
            _ => Failure::Fatal,
        },
    }
}

/// `EMFILE`, which has no stable kind.
const TOO_MANY_OPEN_FILES: i32 = 24;
/// `ENFILE`, which has no stable kind.
const TOO_MANY_OPEN_FILES_IN_SYSTEM: i32 = 23;

/// Free bytes of the file system that holds `path` or its nearest existing ancestor; `None` if it cannot say.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let stat = path.ancestors().find(|p| p.exists()).and_then(|p| rustix::fs::statvfs(p).ok())?;
    stat.f_bavail.checked_mul(stat.f_frsize)
}

/// Makes the names in a folder durable.
///
/// # Errors
/// If the folder cannot be opened or synced.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    #[cfg(test)]
    watch::note(dir)?;
    File::open(dir)?.sync_all()
}

/// What tests know of synced folders: a power failure is not at hand.
#[cfg(test)]
pub(crate) mod watch {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use std::collections::BTreeSet;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    static SYNCED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    static FAILING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

    pub(super) fn note(dir: &Path) -> io::Result<()> {
        if FAILING.lock().unwrap().contains(dir) {
            return Err(io::Error::other("this folder cannot be synced"));
        }
        SYNCED.lock().unwrap().insert(dir.to_owned());
        Ok(())
    }

    /// Whether that folder was synced since this was last asked.
    pub(crate) fn synced(dir: &Path) -> bool {
        SYNCED.lock().unwrap().remove(dir)
    }

    /// Lets the sync of that folder fail from now on, or no more.
    pub(crate) fn fail(dir: &Path, failing: bool) {
        let mut set = FAILING.lock().unwrap();
        if failing {
            set.insert(dir.to_owned())
        } else {
            set.remove(dir)
        };
    }
}

/// Creates a folder and those above it that are missing, each durable in its parent.
///
/// # Errors
/// If one cannot be created, or something that is no folder stands there.
pub fn create_dirs(dir: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.is_dir()).collect();
    // The last one that exists may be there because a process was killed between making and syncing it.
    let existing = missing.last().copied().map_or(dir, parent);
    match sync_dir(parent(existing)) {
        // Who may not look into a folder has made nothing in it, nor has anyone where folders cannot be synced.
        Err(e) if matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput) => {}
        other => other?,
    }
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
            other => other?,
        }
        sync_dir(parent(folder))?;
    }
    Ok(())
}

/// The folder that holds a path; the current one for a bare name.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// The path with links resolved as far as it exists, so that two spellings of one folder are one target.
pub fn resolved(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_path_buf()
}

/// Writes a new file, synced. Nothing is left under the name if it fails.
///
/// # Errors
/// `AlreadyExists` if the name is taken, which is then untouched.
pub fn write_new(path: &Path, segments: &[Bytes]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = segments.iter().try_for_each(|s| file.write_all(s)).and_then(|()| file.sync_all());
    if written.is_err() {
        drop(file);
        // The first error is the one to report; a leftover has a name that nobody reads.
        let _ = fs::remove_file(path);
    }
    written
}

/// Gives a complete, synced file of that many bytes another name, if the file system can and that name is free; whether it
/// did. The bytes are then there once.
pub fn link_new(from: &Path, to: &Path, bytes: u64) -> bool {
    if fs::hard_link(from, to).is_err() {
        return false;
    }
    let whole = fs::symlink_metadata(to).is_ok_and(|meta| meta.is_file() && meta.len() == bytes);
    if !whole {
        let _ = fs::remove_file(to);
    }
    whole
}

/// Gives a complete, synced file its final name unless that name is taken, and makes the name durable. The name appears
/// in one step or not at all.
///
/// # Errors
/// `AlreadyExists` if the name is taken; `from` then stays. An error after the name exists is reported as well: the
/// caller looks whether the name is there.
pub fn publish_new(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from)?;
    sync_dir(parent(to))
}

/// Writes a whole file in place of an earlier one: readers see the old or the new content, never a part.
///
/// # Errors
/// If it cannot be written; the old content then stands unless only the sync of the folder failed.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let temporary = path.with_file_name(name);
    remove_file(&temporary)?;
    write_new(&temporary, &[Bytes::copy_from_slice(content)])?;
    fs::rename(&temporary, path)?;
    sync_dir(parent(path))
}

/// Removes a file; one that is not there counts as removed. True if it was there.
///
/// # Errors
/// If it cannot be removed.
pub fn remove_file(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Removes a folder with everything in it; one that is not there counts as removed.
///
/// # Errors
/// If it cannot be removed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn a_whole_file_gets_a_second_name() {
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("object"), b"abc").unwrap();
        std::os::unix::fs::symlink(at("object"), at("link")).unwrap();
        let check = |from: &str, to: &str, bytes: u64, expect: bool| {
            assert_eq!(link_new(&at(from), &at(to), bytes), expect, "{from} {to} {bytes}");
        };
        check("object", "data", 3, true);
        assert_eq!(fs::metadata(at("data")).unwrap().ino(), fs::metadata(at("object")).unwrap().ino());
        check("object", "data", 3, false);
        check("gone", "new", 3, false);
        check("object", "new", 4, false);
        check("link", "new", 3, false);
        assert!(!at("new").exists(), "nothing is left of what was not whole");
        // Another file system.
        if let Ok(other) = tempfile::tempdir_in("/dev/shm") {
            assert!(!link_new(&at("object"), &other.path().join("new"), 3));
        }
    }

    #[test]
    fn a_folder_that_another_process_made_is_made_durable_too() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        for holder in ["a", "a/b"] {
            watch::synced(&at(holder));
            create_dirs(&at("a/b/c")).unwrap();
            assert!(watch::synced(&at(holder)), "what {holder} holds");
        }
    }
}
