//! The journal in SQLite: WAL, `synchronous=FULL`, append-only by triggers. `spec/journal-format.md` describes the file.

mod creation;
mod open;
mod read;
#[cfg(test)]
mod tests;
mod verify;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::driver::Entry;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::Run;
use rusqlite::Connection;

pub use open::Opening;
pub use verify::{RunCheck, Verdict};

use crate::failure::{corrupt, refusal};
use crate::rule::Stored;
use read::Reader;

/// A journal, open.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    db: Connection,
    id: String,
    digest_key: [u8; 32],
}

/// One run, as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub run: String,
    /// Its manifest's name.
    pub manifest: String,
    /// Its target.
    pub target: String,
    /// When it was planned, Unix milliseconds.
    pub created: u64,
    /// The epoch of its newest runner; 0 before the first.
    pub epoch: u64,
}

impl Journal {
    /// Opens a journal to write, creating it and its folder if there is none.
    ///
    /// # Errors
    /// A `journal_*` code. A file that is not a whole journal is never taken for an empty one.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        Opening::at(path).create()
    }

    /// Opens a journal to write that must exist.
    ///
    /// # Errors
    /// `journal_not_found`, or another `journal_*` code.
    pub fn open_existing(path: &Path) -> Result<Self, Refusal> {
        Opening::at(path).existing()
    }

    /// Opens a journal that must exist, to read only: beside a runner that writes, and without leaving anything behind.
    ///
    /// # Errors
    /// `journal_not_found`, or another `journal_*` code.
    pub fn open_to_read(path: &Path) -> Result<Self, Refusal> {
        Opening::at(path).to_read()
    }

    /// As [`open_to_read`](Self::open_to_read), but a damaged journal is opened as far as it can be, for
    /// [`verify`](Self::verify) to say what of it is whole.
    ///
    /// # Errors
    /// A `journal_*` code, if not even the list of runs can be read.
    pub fn open_to_verify(path: &Path) -> Result<Self, Refusal> {
        Opening::at(path).to_verify()
    }

    /// Another connection to the journal, to write. Its pages are not checked again: that takes as long as the file is
    /// large.
    ///
    /// # Errors
    /// A `journal_*` code; `journal_corrupt` if another journal stands at its path now.
    pub fn reopen(&self) -> Result<Self, Refusal> {
        let again = Opening::at(&self.path).again()?;
        if again.id == self.id {
            Ok(again)
        } else {
            Err(corrupt(&self.path, "it is another journal than a moment ago"))
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its identity, drawn when it was created.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key of boundary digests, drawn when it was created; it never leaves the journal.
    pub fn digest_key(&self) -> &[u8; 32] {
        &self.digest_key
    }

    /// How long a lock of another process is waited for from now on.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn wait_at_most(&self, wait: Duration) -> Result<(), Refusal> {
        self.db.busy_timeout(wait).map_err(|e| refusal(&self.path, &e))
    }

    /// Every run, newest first.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn runs(&self) -> Result<Vec<RunRow>, Refusal> {
        self.reader().runs()
    }

    /// One run.
    ///
    /// # Errors
    /// `run_not_found`, or a `journal_*` code.
    pub fn run(&self, run: &str) -> Result<RunRow, Refusal> {
        self.reader().run(run)
    }

    /// The newest run of a manifest.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn newest_of(&self, manifest: &str) -> Result<Option<RunRow>, Refusal> {
        self.reader().newest_of(manifest)
    }

    /// The runs on a target that are not settled, newest first.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn unsettled_on(&self, target: &str) -> Result<Vec<RunRow>, Refusal> {
        self.reader().unsettled_on(target)
    }

    /// A run's events as they are stored: nothing decoded, nothing checked.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn stored(&self, run: &str) -> Result<Vec<Stored>, Refusal> {
        let mut all = Vec::new();
        self.reader().each(run, |stored| {
            all.push(stored);
            Ok(())
        })?;
        Ok(all)
    }

    /// A run's facts, each checked against the chain.
    ///
    /// # Errors
    /// `run_not_found`; `journal_corrupt` naming the event where the chain breaks, `journal_newer` naming a record that
    /// is not known here.
    pub fn entries(&self, run: &str) -> Result<Vec<Entry>, Refusal> {
        self.reader().entries(run)
    }

    /// A run as its log tells it.
    ///
    /// # Errors
    /// As [`entries`](Self::entries), and `journal_corrupt` if a fact cannot follow from the facts before it.
    pub fn fold(&self, run: &str) -> Result<(Run, Vec<Entry>), Refusal> {
        self.reader().fold(run)
    }

    /// Checks a run's whole log; `None` if it is whole.
    ///
    /// # Errors
    /// If the log cannot be read at all.
    pub fn broken(&self, run: &str) -> Result<Option<Refusal>, Refusal> {
        match self.fold(run) {
            Ok(_) => Ok(None),
            Err(r) if matches!(r.code, Code::JournalCorrupt | Code::JournalNewer) => Ok(Some(r)),
            Err(r) => Err(r),
        }
    }

    fn reader(&self) -> Reader<'_> {
        Reader { db: &self.db, path: &self.path }
    }
}
