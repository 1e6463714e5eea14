//! Opening a journal: to write, to read, to verify. An existing journal is opened without any write.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Journal, creation};
use crate::failure::{corrupt, io_refusal, newer, no_room, refusal};
use crate::network::on_local_disk;
use crate::record::MAX_RECORD;
use crate::schema;

/// How long a lock of another process is waited for.
const WAIT: Duration = Duration::from_secs(5);

/// How a journal is opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    pub(super) path: &'a Path,
    pub(super) wait: Duration,
}

/// What is at a journal's path.
pub(super) enum Found {
    Nothing,
    /// A file without a byte: what a creation leaves that was killed.
    Empty,
    /// A file with content.
    Content,
}

impl<'a> Opening<'a> {
    /// Of the journal at that path, waiting up to 5 seconds for a lock.
    pub fn at(path: &'a Path) -> Self {
        Self { path, wait: WAIT }
    }

    /// How long a lock of another process is waited for, here and in everything that the journal does later.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// To write, creating the journal and its folder if there is none.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn create(self) -> Result<Journal, Refusal> {
        if !matches!(self.found()?, Found::Content) {
            creation::create(&self)?;
        }
        self.existing()
    }

    /// To write; the journal must exist.
    ///
    /// # Errors
    /// `journal_not_found`, or another `journal_*` code.
    pub fn existing(self) -> Result<Journal, Refusal> {
        self.must_be_there()?;
        on_local_disk(self.path)?;
        let db = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        self.is_writable(&db)?;
        self.is_journal(&db)?;
        self.pages_are_whole(&db)?;
        let journal = self.finish(db)?;
        creation::use_wal(&self, &journal.db)?;
        Ok(journal)
    }

    /// To write, as [`existing`](Self::existing) but without the check of the pages, which this process has made.
    pub(super) fn again(self) -> Result<Journal, Refusal> {
        self.must_be_there()?;
        let db = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        self.is_writable(&db)?;
        self.is_journal(&db)?;
        self.finish(db)
    }

    /// To read only. Works beside a runner that writes, and leaves nothing behind.
    ///
    /// # Errors
    /// `journal_not_found`, or another `journal_*` code.
    pub fn to_read(self) -> Result<Journal, Refusal> {
        let db = self.reading()?;
        self.pages_are_whole(&db)?;
        self.finish(db)
    }

    /// To verify: as [`to_read`](Self::to_read), without the check of the pages.
    ///
    /// # Errors
    /// `journal_not_found`, or another `journal_*` code.
    pub fn to_verify(self) -> Result<Journal, Refusal> {
        let db = self.reading()?;
        self.finish(db)
    }

    /// A connection that changes nothing.
    ///
    /// With a `-wal` or `-shm` beside it, the journal is in use or its runner was killed: a read-only connection joins
    /// what is there. Without them it is at rest: a read-only connection would make both and leave them, so it is opened
    /// to write, writes nothing, and takes away at its end what SQLite made. Where that cannot be, nobody can write,
    /// and the file is read as the immutable thing that it is there.
    fn reading(&self) -> Result<Connection, Refusal> {
        self.must_be_there()?;
        let in_use = beside(self.path, "-wal").exists() || beside(self.path, "-shm").exists();
        let opened = if in_use {
            on_local_disk(self.path)?;
            self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|db| self.is_journal(&db).map(|()| db)).map_err(|r| {
                match r.code {
                    Code::JournalReadOnly => r.fix(
                        "Copy the journal, together with its -wal, into a folder that this user can write, and name the copy.",
                    ),
                    _ => r,
                }
            })
        } else {
            let writable =
                self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|db| self.is_journal(&db).map(|()| db));
            match writable {
                Err(r) if r.code == Code::JournalReadOnly => {
                    self.connect_immutable().and_then(|db| self.is_journal(&db).map(|()| db))
                }
                other => other,
            }
        }?;
        opened.execute_batch("PRAGMA query_only = ON").map_err(|e| self.fail(&e))?;
        Ok(opened)
    }

    /// What is there, and whether it can be told from what is beside it that content is missing.
    pub(super) fn found(&self) -> Result<Found, Refusal> {
        let size = match self.path.metadata() {
            Ok(meta) if !meta.is_file() => return Err(corrupt(self.path, "it is not a file")),
            Ok(meta) => Some(meta.len()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(io_refusal(self.path, &e)),
        };
        if size.is_some_and(|size| size > 0) && !self.rolled_back_to_nothing()? {
            return Ok(Found::Content);
        }
        if beside(self.path, "-wal").metadata().is_ok_and(|meta| meta.len() > 0) {
            return Err(corrupt(self.path, "its content is gone, and its -wal is there"));
        }
        match size {
            None => Ok(Found::Nothing),
            Some(_) if beside(self.path, ".locks").exists() => {
                Err(corrupt(self.path, "its content is gone, and the locks of its runners are there"))
            }
            Some(_) => Ok(Found::Empty),
        }
    }

    /// Lets SQLite undo a creation that was killed; true if nothing is left of it. Where the disk or another process does not
    /// let it, what is there is neither a journal nor damaged.
    fn rolled_back_to_nothing(&self) -> Result<bool, Refusal> {
        if !beside(self.path, "-journal").metadata().is_ok_and(|meta| meta.len() > 0) {
            return Ok(false);
        }
        let undone = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|db| {
            db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(|e| self.fail(&e))
        });
        match undone {
            Ok(()) => Ok(self.path.metadata().is_ok_and(|meta| meta.len() == 0)),
            Err(r) if matches!(r.code, Code::JournalWriteFailed | Code::JournalLocked) => Err(r),
            Err(_) => Ok(false),
        }
    }

    fn must_be_there(&self) -> Result<(), Refusal> {
        let what = match self.found()? {
            Found::Content => return self.header_is_known(),
            Found::Nothing => "there is no journal",
            Found::Empty => "the journal is empty: no run was ever begun in it",
        };
        Err(Refusal::new(Code::JournalNotFound, what)
            .at(self.place())
            .fix("Name the journal with --journal, or run a manifest first."))
    }

    /// SQLite opens a file whose write version it does not know to read only, and says nothing.
    fn header_is_known(&self) -> Result<(), Refusal> {
        let mut header = [0; 20];
        let read = File::open(self.path).and_then(|mut file| file.read_exact(&mut header));
        match read {
            Ok(()) if header[18..].iter().all(|version| (1..=2).contains(version)) => Ok(()),
            Ok(()) => Err(corrupt(self.path, "its header is not one that SQLite writes")),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                Err(corrupt(self.path, "it is too short for a header"))
            }
            Err(e) => Err(io_refusal(self.path, &e)),
        }
    }

    /// A connection with every setting that does not write.
    pub(super) fn connect(&self, flags: OpenFlags) -> Result<Connection, Refusal> {
        let db = Connection::open_with_flags(self.path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        self.configure(db)
    }

    fn connect_immutable(&self) -> Result<Connection, Refusal> {
        let path = self.path.canonicalize().map_err(|e| io_refusal(self.path, &e))?;
        let mut uri = "file:".to_owned();
        for byte in path.as_os_str().as_bytes() {
            match byte {
                b'/' | b'-' | b'.' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(*byte)),
                other => uri.push_str(&format!("%{other:02X}")),
            }
        }
        uri.push_str("?immutable=1");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        self.configure(Connection::open_with_flags(uri, flags))
    }

    fn configure(&self, db: rusqlite::Result<Connection>) -> Result<Connection, Refusal> {
        let configured = || {
            let db = db?;
            db.busy_timeout(self.wait)?;
            // No value of a damaged file makes this process allocate more than a record and its row may have.
            db.set_limit(Limit::SQLITE_LIMIT_LENGTH, (MAX_RECORD + (1 << 20)) as i32)?;
            db.execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
                 PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
            )?;
            Ok(db)
        };
        configured().map_err(|e| self.fail(&e))
    }

    fn is_writable(&self, db: &Connection) -> Result<(), Refusal> {
        if !db.is_readonly(rusqlite::MAIN_DB).map_err(|e| self.fail(&e))? {
            return Ok(());
        }
        Err(Refusal::new(Code::JournalReadOnly, "the journal cannot be written")
            .at(self.place())
            .fix("Make the journal and its folder writable for this user."))
    }

    /// Whether it is a journal, and one that can be read here.
    fn is_journal(&self, db: &Connection) -> Result<(), Refusal> {
        let pragma = |name: &str| db.query_row(&format!("PRAGMA {name}"), [], |r| r.get::<_, i64>(0));
        let application = pragma("application_id").map_err(|e| self.fail(&e))?;
        let version = pragma("user_version").map_err(|e| self.fail(&e))?;
        if application != schema::APPLICATION_ID {
            return Err(corrupt(self.path, "it is another database"));
        }
        match version {
            schema::VERSION => Ok(()),
            newer_version if newer_version > schema::VERSION => {
                let detail = format!("its version is {newer_version} and this dpone knows {}", schema::VERSION);
                Err(newer(detail).at(self.place()))
            }
            _ => Err(corrupt(self.path, &format!("no dpone ever wrote version {version}"))),
        }
    }

    /// Not the quick check: an index of runs that is behind would hide one, and nothing of the events costs more.
    fn pages_are_whole(&self, db: &Connection) -> Result<(), Refusal> {
        let found: String = db.query_row("PRAGMA integrity_check(1)", [], |r| r.get(0)).map_err(|e| self.fail(&e))?;
        if found == "ok" { Ok(()) } else { Err(corrupt(self.path, "its pages are damaged")) }
    }

    fn finish(&self, db: Connection) -> Result<Journal, Refusal> {
        let value = |name: &str| -> Result<Vec<u8>, Refusal> {
            db.query_row("SELECT value FROM meta WHERE name = ?1", [name], |r| r.get(0)).map_err(|e| self.fail(&e))
        };
        let id = String::from_utf8(value("journal_id")?).map_err(|_| corrupt(self.path, "its identity is not text"))?;
        let digest_key =
            value("digest_key")?.try_into().map_err(|_| corrupt(self.path, "its digest key has another length"))?;
        if creation::id_of(&digest_key) != id {
            return Err(corrupt(self.path, "its digest key is not the one of its identity"));
        }
        Ok(Journal { path: self.path.to_owned(), db, id, digest_key })
    }

    pub(super) fn fail(&self, error: &rusqlite::Error) -> Refusal {
        match error.sqlite_error_code() {
            // SQLite says the same of a file that may not be made and of one that there is no room for.
            Some(ErrorCode::CannotOpen) if no_more_files(self.path) => no_room(self.path),
            _ => refusal(self.path, error),
        }
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}

/// Whether the file system of a path counts files and has none left.
fn no_more_files(path: &Path) -> bool {
    let existing = path.ancestors().find(|p| p.exists());
    existing.and_then(|p| rustix::fs::statvfs(p).ok()).is_some_and(|s| s.f_files > 0 && s.f_favail == 0)
}

/// A path beside the journal, named after it.
fn beside(journal: &Path, suffix: &str) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
