//! Who is alive on this host: file locks that the kernel releases when their holder ends, however it ends.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use crate::failure::io_refusal;
use crate::folders::create_folders;

/// Locks on a manifest and a target; released when dropped, or by the kernel.
#[derive(Debug)]
pub struct Locks {
    _held: Vec<File>,
}

/// Takes the locks of a manifest and a target beside the journal.
///
/// # Errors
/// `run_already_active` if another process holds one of them; a `journal_*` code if they cannot be made.
pub fn take(journal: &Path, manifest: &str, target: &str) -> Result<Locks, Refusal> {
    let folder = folder(journal);
    create_folders(&folder).map_err(|e| io_refusal(&folder, &e))?;
    let mut held = Vec::new();
    for (what, name) in [("manifest", manifest), ("target", target)] {
        let file = folder.join(format!("{what}-{}.lock", &blake3::hash(name.as_bytes()).to_hex()[..24]));
        held.push(one(&file, what, name)?);
    }
    Ok(Locks { _held: held })
}

fn one(path: &Path, what: &str, name: &str) -> Result<File, Refusal> {
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|e| io_refusal(path, &e))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = Read::by_ref(&mut file).take(64).read_to_string(&mut holder);
            let by = holder.trim().parse::<u32>().map(|pid| format!(" (process {pid})")).unwrap_or_default();
            return Err(Refusal::new(
                Code::RunAlreadyActive,
                format!("another runner{by} is working on {what} {name}"),
            )
            .fix("Wait for it, or stop it with SIGTERM and resume."));
        }
        Err(TryLockError::Error(e)) => return Err(io_refusal(path, &e)),
    }
    // Only for the message above: the lock itself says who is alive.
    let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
    written.map_err(|e| io_refusal(path, &e))?;
    Ok(file)
}

/// Beside the journal itself, whichever name or link it was reached by.
fn folder(journal: &Path) -> PathBuf {
    let real = journal.canonicalize();
    let mut name = real.as_deref().unwrap_or(journal).as_os_str().to_owned();
    name.push(".locks");
    PathBuf::from(name)
}
