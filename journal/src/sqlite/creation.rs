//! Creating a journal, once, whoever else tries at the same time and wherever this process is killed.
//!
//! The tables are written in one transaction under SQLite's rollback journal. Killed before its commit, a creation
//! leaves a file without a byte, or one that SQLite rolls back to that; after it, a whole journal.

use std::thread;
use std::time::{Duration, Instant};

use dpone_engine::codes::Code;
use dpone_engine::hex;
use dpone_engine::refusal::Refusal;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};

use super::open::{Found, Opening};
use crate::failure::{corrupt, io_refusal};
use crate::folders::create_folders;
use crate::network::on_local_disk;
use crate::schema;

/// Between two tries to switch to WAL.
const PAUSE: Duration = Duration::from_millis(10);

/// Makes the journal, unless another process has made it by then.
pub(super) fn create(opening: &Opening<'_>) -> Result<(), Refusal> {
    if let Some(folder) = opening.path.parent().filter(|f| !f.as_os_str().is_empty()) {
        create_folders(folder).map_err(|e| io_refusal(folder, &e))?;
    }
    on_local_disk(opening.path)?;
    let fail = |e: rusqlite::Error| opening.fail(&e);
    let mut db = opening.connect(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    let tx = db.transaction_with_behavior(TransactionBehavior::Exclusive).map_err(fail)?;
    if !matches!(opening.found()?, Found::Nothing | Found::Empty) {
        return Ok(());
    }
    let tables: i64 = tx.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)).map_err(fail)?;
    if tables > 0 {
        return Err(corrupt(opening.path, "it holds tables and has no byte"));
    }
    tx.execute_batch(schema::DDL).map_err(fail)?;
    tx.pragma_update(None, "user_version", schema::VERSION).map_err(fail)?;
    tx.pragma_update(None, "application_id", schema::APPLICATION_ID).map_err(fail)?;
    let mut key = [0_u8; 32];
    getrandom::fill(&mut key)
        .map_err(|e| Refusal::new(Code::JournalWriteFailed, format!("the system gave no random numbers: {e}")))?;
    let mut meta = tx.prepare("INSERT INTO meta VALUES (?1, ?2)").map_err(fail)?;
    meta.execute(params!["journal_id", id_of(&key).as_bytes()]).map_err(fail)?;
    meta.execute(params!["digest_key", key]).map_err(fail)?;
    drop(meta);
    tx.commit().map_err(fail)
}

/// The journal's identity: it follows from the key, says nothing about it, and so shows that the key is whole.
pub(super) fn id_of(digest_key: &[u8; 32]) -> String {
    hex::encode(&blake3::derive_key("dpone journal id v1", digest_key)[..16])
}

/// Sees to it that the journal is in WAL mode: the first opening after its creation switches it for good.
///
/// The switch needs the file alone and SQLite does not wait for that, so it is tried until the time to wait is over.
pub(super) fn use_wal(opening: &Opening<'_>, db: &Connection) -> Result<(), Refusal> {
    // To its end: the switch commits behind the row that announces it, and a commit that fails says so only there.
    let mode = |sql: &str| db.query_one(sql, [], |r| r.get::<_, String>(0));
    if mode("PRAGMA journal_mode").map_err(|e| opening.fail(&e))? == "wal" {
        return Ok(());
    }
    let deadline = Instant::now() + opening.wait;
    loop {
        match mode("PRAGMA journal_mode = WAL") {
            Ok(now) if now == "wal" => return Ok(()),
            Ok(now) => {
                return Err(Refusal::new(
                    Code::JournalWriteFailed,
                    format!("the journal stays in mode {now:?} and needs \"wal\""),
                )
                .at(opening.path.display().to_string())
                .fix("Keep the journal on a local disk that can map shared memory."));
            }
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                thread::sleep(PAUSE);
            }
            Err(e) => return Err(opening.fail(&e)),
        }
    }
}
