//! Who is alive on this host: file locks that the kernel releases when their holder ends, however it ends.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use crate::failure::io_refusal;
use crate::folders::create_folders;

/// How long a lock is waited for that [`holder`] may hold for a moment.
const PATIENCE: Duration = Duration::from_millis(100);

/// Locks on a manifest and a target; released when dropped, or by the kernel.
#[derive(Debug)]
pub struct Locks {
    held: Vec<File>,
}

/// A process that is alive and holds a manifest's lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// The run that it works on, once it has said so.
    pub run: Option<String>,
}

impl Locks {
    /// Says beside the locks which run is worked on, for who asks [`holder`].
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn working_on(&mut self, run: &str) -> std::io::Result<()> {
        self.held.iter_mut().try_for_each(|file| say(file, &format!("{} {run}", std::process::id())))
    }
}

/// Who works on a manifest now, on this host; `None` if nobody does, or it cannot be told. Creates nothing.
pub fn holder(journal: &Path, manifest: &str) -> Option<Holder> {
    let mut file = File::open(folder(journal).join(file_name("manifest", manifest))).ok()?;
    // A shared lock, given back at once: it stands in a runner's way no longer than `PATIENCE`.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => said(&mut file),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn said(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().and_then(|()| Read::by_ref(file).take(256).read_to_string(&mut text)).ok()?;
    let mut words = text.split_whitespace();
    let pid = words.next()?.parse().ok()?;
    Some(Holder { pid, run: words.next().map(str::to_owned) })
}

fn say(file: &mut File, text: &str) -> std::io::Result<()> {
    file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{text}"))
}

fn file_name(what: &str, name: &str) -> String {
    format!("{what}-{}.lock", &blake3::hash(name.as_bytes()).to_hex()[..24])
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
        held.push(one(&folder.join(file_name(what, name)), what, name)?);
    }
    Ok(Locks { held })
}

fn one(path: &Path, what: &str, name: &str) -> Result<File, Refusal> {
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|e| io_refusal(path, &e))?;
    let begun = Instant::now();
    let taken = loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => thread::sleep(PATIENCE / 10),
            taken => break taken,
        }
    };
    match taken {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let by = said(&mut file).map(|holder| format!(" (process {})", holder.pid)).unwrap_or_default();
            return Err(Refusal::new(
                Code::RunAlreadyActive,
                format!("another runner{by} is working on {what} {name}"),
            )
            .fix("Wait for it, or stop it with SIGTERM and resume."));
        }
        Err(TryLockError::Error(e)) => return Err(io_refusal(path, &e)),
    }
    // Only for messages: the lock itself says who is alive.
    say(&mut file, &std::process::id().to_string()).map_err(|e| io_refusal(path, &e))?;
    Ok(file)
}

/// Beside the journal itself, whichever name or link it was reached by.
fn folder(journal: &Path) -> PathBuf {
    let real = journal.canonicalize();
    let mut name = real.as_deref().unwrap_or(journal).as_os_str().to_owned();
    name.push(".locks");
    PathBuf::from(name)
}
