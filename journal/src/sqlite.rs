//! The journal in SQLite: WAL, `synchronous=FULL`, append-only by triggers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::driver::Entry;
use dpone_engine::ports::AppendError;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::{Event, Run, recover};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::failure::{append_error, io_refusal, refusal};
use crate::record::{Record, Unreadable, decode};
use crate::rule::{self, Hash, Head, Stored};
use crate::schema;

/// How long a lock of another process is waited for.
const BUSY: Duration = Duration::from_secs(5);

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
    /// Opens a journal, creating it and its folder if there is none.
    ///
    /// # Errors
    /// A `journal_*` code. A file that is not a whole journal is never taken for an empty one.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|e| io_refusal(folder, &e))?;
        }
        Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens a journal that must exist.
    ///
    /// # Errors
    /// `journal_not_found`, or another `journal_*` code.
    pub fn open_existing(path: &Path) -> Result<Self, Refusal> {
        if !path.exists() {
            return Err(Refusal::new(Code::JournalNotFound, "there is no journal")
                .at(path.display().to_string())
                .fix("Name the journal with --journal, or run a manifest first."));
        }
        Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, Refusal> {
        on_local_disk(path)?;
        let fail = |e: rusqlite::Error| refusal(path, &e);
        let fresh = !path.exists();
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = Connection::open_with_flags(path, flags).map_err(fail)?;
        db.busy_timeout(BUSY).map_err(fail)?;
        let damage: String = db.query_row("PRAGMA quick_check(1)", [], |r| r.get(0)).map_err(fail)?;
        if damage != "ok" {
            return Err(corrupt(path, "its pages are damaged"));
        }
        db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
            .map_err(fail)?;
        if db.is_readonly(rusqlite::MAIN_DB).map_err(fail)? {
            return Err(Refusal::new(Code::JournalReadOnly, "the journal cannot be written")
                .at(path.display().to_string())
                .fix("Make the journal and its folder writable for this user."));
        }
        initialise(&mut db, path, fresh)?;
        let text = |name: &str| -> Result<Vec<u8>, Refusal> {
            db.query_row("SELECT value FROM meta WHERE name = ?1", [name], |r| r.get(0)).map_err(fail)
        };
        let id = String::from_utf8(text("journal_id")?).map_err(|_| corrupt(path, "its identity is not text"))?;
        let digest_key =
            text("digest_key")?.try_into().map_err(|_| corrupt(path, "its digest key has another length"))?;
        Ok(Self { path: path.to_owned(), db, id, digest_key })
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

    /// Every run, newest first.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn runs(&self) -> Result<Vec<RunRow>, Refusal> {
        self.rows("SELECT run_id, manifest, target, created, epoch FROM runs ORDER BY rowid DESC", [])
    }

    /// One run.
    ///
    /// # Errors
    /// `run_not_found`, or a `journal_*` code.
    pub fn run(&self, run: &str) -> Result<RunRow, Refusal> {
        let rows = self.rows("SELECT run_id, manifest, target, created, epoch FROM runs WHERE run_id = ?1", [run])?;
        rows.into_iter().next().ok_or_else(|| {
            Refusal::new(Code::RunNotFound, format!("the journal has no run {run}"))
                .at(self.path.display().to_string())
                .fix("List the runs with `dpone runs`.")
        })
    }

    /// The newest run of a manifest.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn newest_of(&self, manifest: &str) -> Result<Option<RunRow>, Refusal> {
        let sql =
            "SELECT run_id, manifest, target, created, epoch FROM runs WHERE manifest = ?1 ORDER BY rowid DESC LIMIT 1";
        Ok(self.rows(sql, [manifest])?.into_iter().next())
    }

    /// The runs on a target that are not settled, newest first.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn unsettled_on(&self, target: &str) -> Result<Vec<RunRow>, Refusal> {
        let sql = "SELECT run_id, manifest, target, created, epoch FROM runs WHERE target = ?1 ORDER BY rowid DESC";
        let mut unsettled = Vec::new();
        for row in self.rows(sql, [target])? {
            if !self.fold(&row.run)?.0.settled() {
                unsettled.push(row);
            }
        }
        Ok(unsettled)
    }

    fn rows<P: rusqlite::Params>(&self, sql: &str, params: P) -> Result<Vec<RunRow>, Refusal> {
        let read = || {
            let mut statement = self.db.prepare(sql)?;
            let rows = statement.query_map(params, |r| {
                Ok(RunRow {
                    run: r.get(0)?,
                    manifest: r.get(1)?,
                    target: r.get(2)?,
                    created: r.get(3)?,
                    epoch: r.get(4)?,
                })
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|e| refusal(&self.path, &e))
    }

    /// Writes a new run's plan down, unless its target has a run that is not settled.
    ///
    /// # Errors
    /// `run_unsettled` naming that run; `option_conflict` if the id is taken; a `journal_*` code.
    pub fn create_run(&mut self, planned: &Event, at: u64) -> Result<(), Refusal> {
        let Event::Planned { run, plan } = planned else {
            return Err(Refusal::new(Code::InternalError, "a run begins with its plan"));
        };
        if let Some(other) = self.unsettled_on(&plan.target)?.first() {
            return Err(Refusal::new(
                Code::RunUnsettled,
                format!("run {} on {} is not settled", other.run, plan.target),
            )
            .fix(format!(
                "Continue it with `dpone run MANIFEST --resume {0}`, or give it up with `dpone runs abandon {0}`.",
                other.run
            )));
        }
        let path = self.path.clone();
        let fail = |e: rusqlite::Error| refusal(&path, &e);
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let taken: Option<i64> =
            tx.query_row("SELECT 1 FROM runs WHERE run_id = ?1", [run], |r| r.get(0)).optional().map_err(fail)?;
        if taken.is_some() {
            return Err(Refusal::new(Code::OptionConflict, format!("the journal already has a run {run}"))
                .fix("Choose another --run-id, or continue that run with --resume."));
        }
        tx.execute(
            "INSERT INTO runs (run_id, manifest, target, created) VALUES (?1, ?2, ?3, ?4)",
            params![run, plan.manifest, plan.target, at],
        )
        .map_err(fail)?;
        let appended = rule::append(run, Head::EMPTY, 0, at, std::slice::from_ref(planned));
        let (_, stored) = appended.map_err(|e| Refusal::new(e.code, e.detail))?;
        insert(&tx, run, &stored).map_err(fail)?;
        tx.commit().map_err(fail)
    }

    /// Raises a run's epoch: whoever held it before can append nothing any more. Hold the run's locks before.
    ///
    /// # Errors
    /// `run_not_found`, or a `journal_*` code.
    pub fn raise_epoch(&mut self, run: &str) -> Result<u64, Refusal> {
        let epoch = self.run(run)?.epoch + 1;
        self.db
            .execute("UPDATE runs SET epoch = ?2 WHERE run_id = ?1", params![run, epoch])
            .map_err(|e| refusal(&self.path, &e))?;
        Ok(epoch)
    }

    /// A run's events with their times, and nothing decoded.
    ///
    /// # Errors
    /// A `journal_*` code.
    pub fn stored(&self, run: &str) -> Result<Vec<Stored>, Refusal> {
        let read = || {
            let mut statement = self.db.prepare(
                "SELECT seq, attempt, epoch, at, kind, version, payload, previous, hash FROM events WHERE run_id = ?1 ORDER BY seq",
            )?;
            let rows = statement.query_map([run], |r| {
                Ok(Stored {
                    seq: r.get(0)?,
                    attempt: r.get(1)?,
                    epoch: r.get(2)?,
                    at: r.get(3)?,
                    record: Record { kind: r.get(4)?, version: r.get(5)?, payload: r.get(6)? },
                    previous: r.get(7)?,
                    hash: r.get(8)?,
                })
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|e| refusal(&self.path, &e))
    }

    /// A run's facts, each checked against the chain.
    ///
    /// # Errors
    /// `journal_corrupt` naming the event where the chain breaks, `journal_newer` naming a record that is not known here.
    pub fn entries(&self, run: &str) -> Result<Vec<Entry>, Refusal> {
        let at = |seq: u64| format!("{}, run {run}, event {seq}", self.path.display());
        let mut previous: Hash = [0; 32];
        let mut entries = Vec::new();
        for (expected, stored) in (1..).zip(self.stored(run)?) {
            let whole =
                stored.seq == expected && stored.previous == previous && stored.hash == rule::hash(run, &stored);
            if !whole {
                return Err(corrupt(&self.path, "the hash chain is broken").at(at(expected)));
            }
            previous = stored.hash;
            let event = decode(&stored.record).map_err(|e| unreadable(&e).at(at(stored.seq)))?;
            entries.push(Entry { seq: stored.seq, at: stored.at, event });
        }
        Ok(entries)
    }

    /// A run as its log tells it.
    ///
    /// # Errors
    /// As [`entries`](Self::entries), and `journal_corrupt` if a fact cannot follow from the facts before it.
    pub fn fold(&self, run: &str) -> Result<(Run, Vec<Entry>), Refusal> {
        let entries = self.entries(run)?;
        let folded = recover(entries.iter().map(|e| &e.event)).map_err(|illegal| {
            corrupt(&self.path, &illegal.to_string()).at(format!("{}, run {run}", self.path.display()))
        })?;
        Ok((folded, entries))
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

    /// Appends events of a runner, in one transaction that checks its epoch.
    pub(crate) fn append(&mut self, run: &str, epoch: u64, batches: &[(u64, Vec<Event>)]) -> Result<(), AppendError> {
        let sql = |e: rusqlite::Error| append_error(&e);
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
        let mut head = head(&tx, run).map_err(sql)?;
        for (at, events) in batches {
            let (next, stored) = rule::append(run, head, epoch, *at, events)?;
            insert(&tx, run, &stored).map_err(sql)?;
            head = next;
        }
        tx.commit().map_err(sql)
    }
}

fn head(tx: &Transaction<'_>, run: &str) -> rusqlite::Result<Head> {
    let epoch = tx.query_row("SELECT epoch FROM runs WHERE run_id = ?1", [run], |r| r.get(0))?;
    let last = tx
        .query_row("SELECT seq, hash, attempt FROM events WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1", [run], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?))
        })
        .optional()?;
    let (seq, hash, attempt) = last.unwrap_or((Head::EMPTY.seq, Head::EMPTY.hash, Head::EMPTY.attempt));
    Ok(Head { seq, hash, epoch, attempt })
}

fn insert(tx: &Transaction<'_>, run: &str, stored: &[Stored]) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?;
    for e in stored {
        let Record { kind, version, payload } = &e.record;
        statement.execute(params![run, e.seq, e.attempt, e.epoch, e.at, kind, version, payload, e.previous, e.hash])?;
    }
    Ok(())
}

/// Creates the tables of a new journal, or checks that an old one is a journal that can be read here.
fn initialise(db: &mut Connection, path: &Path, fresh: bool) -> Result<(), Refusal> {
    let fail = |e: rusqlite::Error| refusal(path, &e);
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    let pragma = |name: &str| tx.query_row(&format!("PRAGMA {name}"), [], |r| r.get::<_, i64>(0)).map_err(fail);
    let (version, application) = (pragma("user_version")?, pragma("application_id")?);
    let tables: i64 = tx.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)).map_err(fail)?;
    if version == 0 && application == 0 && tables == 0 {
        // An empty file is a journal only if this process has just made it, or died while making it.
        if !fresh && fs::metadata(path).map(|m| m.len()).unwrap_or(0) > 4096 {
            return Err(corrupt(path, "it holds no journal"));
        }
        tx.execute_batch(schema::DDL).map_err(fail)?;
        tx.pragma_update(None, "user_version", schema::VERSION).map_err(fail)?;
        tx.pragma_update(None, "application_id", schema::APPLICATION_ID).map_err(fail)?;
        let mut random = [0_u8; 48];
        getrandom::fill(&mut random)
            .map_err(|e| Refusal::new(Code::JournalWriteFailed, format!("the system gave no random numbers: {e}")))?;
        let (id, key) = random.split_at(16);
        let id: String = id.iter().map(|b| format!("{b:02x}")).collect();
        let mut meta = tx.prepare("INSERT INTO meta VALUES (?1, ?2)").map_err(fail)?;
        meta.execute(params!["journal_id", id.as_bytes()]).map_err(fail)?;
        meta.execute(params!["digest_key", key]).map_err(fail)?;
        drop(meta);
    } else if application != schema::APPLICATION_ID {
        return Err(corrupt(path, "it is another database"));
    } else if version > schema::VERSION {
        let detail = format!("its version is {version} and this dpone knows {}", schema::VERSION);
        return Err(Refusal::new(Code::JournalNewer, detail)
            .at(path.display().to_string())
            .fix("Use the dpone that wrote it, or a newer one."));
    }
    tx.commit().map_err(fail)
}

fn corrupt(path: &Path, what: &str) -> Refusal {
    Refusal::new(Code::JournalCorrupt, format!("the journal is damaged: {what}"))
        .at(path.display().to_string())
        .fix("Keep the file as it is and restore it from a copy; nothing is started over a damaged journal.")
}

fn unreadable(error: &Unreadable) -> Refusal {
    match error {
        Unreadable::Newer { .. } | Unreadable::NewerCode(_) => {
            Refusal::new(Code::JournalNewer, error.to_string()).fix("Use the dpone that wrote it, or a newer one.")
        }
        Unreadable::Malformed(_) => Refusal::new(Code::JournalCorrupt, error.to_string())
            .fix("Keep the file as it is and restore it from a copy."),
    }
}

/// WAL needs shared memory and locks that network file systems do not give.
fn on_local_disk(path: &Path) -> Result<(), Refusal> {
    const NETWORK: [(u64, &str); 7] = [
        (0x6969, "NFS"),
        (0x517B, "SMB"),
        (0xFF53_4D42, "CIFS"),
        (0xFE53_4D42, "SMB2"),
        (0x0102_1997, "9p"),
        (0x5346_414F, "AFS"),
        (0x0BD0_0BD0, "Lustre"),
    ];
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(stat) = rustix::fs::statfs(folder) else { return Ok(()) };
    match NETWORK.iter().find(|(magic, _)| *magic == stat.f_type as u64) {
        None => Ok(()),
        Some((_, name)) => Err(Refusal::new(Code::JournalNetworkFileSystem, format!("the journal would be on {name}"))
            .at(folder.display().to_string())
            .fix("Keep the journal on a local disk.")),
    }
}
