//! File systems of a test's own: small ones, and ones that turn read-only.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

const NONE: Option<&str> = None;

/// A small file system in memory. It is gone with the thread that made it.
#[derive(Debug)]
pub struct Disk {
    path: PathBuf,
    options: String,
}

/// Gives this thread, and what it starts, mounts of its own. False, and says so, where this user may not.
pub fn private_mounts() -> bool {
    let made = unshare(CloneFlags::CLONE_NEWNS)
        .and_then(|()| mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE));
    if let Err(e) = made {
        let _ = writeln!(io::stderr().lock(), "skipped: this user may not mount: {e}");
    }
    made.is_ok()
}

impl Disk {
    /// Mounts it over a folder, which is made. Call [`private_mounts`] before.
    ///
    /// # Panics
    /// If it cannot be mounted.
    pub fn new(path: &Path, options: &str) -> Self {
        fs::create_dir_all(path).expect("a folder to mount over");
        mount(Some("tmpfs"), path, Some("tmpfs"), MsFlags::empty(), Some(options)).expect("a file system");
        Self { path: path.to_owned(), options: options.to_owned() }
    }

    /// Uses all of it but about that many bytes.
    ///
    /// # Panics
    /// If it cannot be written for another reason than that it is full.
    pub fn fill(&self, but: u64) {
        let mut filler = fs::File::create(self.filler()).expect("the filler");
        let block = [0x55_u8; 4096];
        loop {
            match filler.write_all(&block) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::StorageFull => break,
                Err(e) => panic!("the disk fills: {e}"),
            }
        }
        let size = filler.metadata().expect("its size").len();
        filler.set_len(size.saturating_sub(but)).expect("some is given back");
    }

    /// Uses all of its inodes.
    ///
    /// # Panics
    /// If it cannot for another reason than that there are no more.
    pub fn fill_inodes(&self) {
        fs::create_dir(self.filler()).expect("a folder");
        for number in 0_u32.. {
            match fs::File::create(self.filler().join(number.to_string())) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::StorageFull => return,
                Err(e) => panic!("the inodes are used: {e}"),
            }
        }
    }

    /// Makes room again.
    ///
    /// # Panics
    /// If it cannot.
    pub fn make_room(&self) {
        let filler = self.filler();
        if filler.is_dir() { fs::remove_dir_all(filler) } else { fs::remove_file(filler) }.expect("the filler goes");
    }

    /// Makes it read-only, or writable again.
    ///
    /// # Panics
    /// If it cannot.
    pub fn read_only(&self, read_only: bool) {
        let flags = if read_only { MsFlags::MS_RDONLY } else { MsFlags::empty() };
        let options = Some(self.options.as_str());
        mount(NONE, &self.path, NONE, MsFlags::MS_REMOUNT | flags, options).expect("it is remounted");
    }

    fn filler(&self) -> PathBuf {
        self.path.join("filler")
    }
}
