//! Several connections on one state of the database.
//!
//! `PRAGMA data_version`, read twice on one connection, differs if any other connection committed in between, in every
//! journal mode. So: read it, let every connection begin its transaction with a first read, read it again.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dpone_engine::codes::Code;
use dpone_engine::run::Why;
use rusqlite::{Connection, Error, ErrorCode};

use super::connect::{connect, why};

/// How long a source that keeps changing is tried.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// Connections that all hold a transaction on the same state.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) connections: Vec<Connection>,
    /// The monitor's number of that state.
    pub(super) data_version: i64,
}

impl Snapshot {
    /// Opens that many connections on one state.
    pub(super) fn open(path: &Path, connections: usize) -> Result<Self, Why> {
        let monitor = connect(path).map_err(|e| why(&e))?;
        let connections: Vec<Connection> =
            (0..connections).map(|_| connect(path)).collect::<Result<_, _>>().map_err(|e| why(&e))?;
        for connection in &connections {
            // A lock that is not free is left alone at once: the others must not be held while one waits.
            connection.busy_timeout(Duration::ZERO).map_err(|e| why(&e))?;
        }
        let began = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match attempt(&monitor, &connections) {
                Ok(Some(data_version)) => {
                    return Ok(Self { connections, data_version });
                }
                Ok(None) => {}
                Err(e) if is_busy(&e) => {}
                Err(e) => return Err(why(&e)),
            }
            for connection in connections.iter().filter(|c| !c.is_autocommit()) {
                connection.execute_batch("ROLLBACK").map_err(|e| why(&e))?;
            }
            if began.elapsed() > PATIENCE {
                let seconds = PATIENCE.as_secs();
                let detail =
                    format!("for {seconds} s, every time the readers were opened somebody committed meanwhile");
                return Err(Why::fatal(Code::SourceChangedDuringOpen, detail));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// One try; `None` if somebody committed while the connections began.
fn attempt(monitor: &Connection, connections: &[Connection]) -> Result<Option<i64>, Error> {
    let before = data_version(monitor)?;
    for connection in connections {
        connection.execute_batch("BEGIN")?;
        // A deferred transaction has no state before its first read.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    }
    let after = data_version(monitor)?;
    Ok((before == after).then_some(after))
}

fn data_version(connection: &Connection) -> Result<i64, Error> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0))
}

fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// What a file that is said not to change is known by: where it is, its size and when it was last written, its
/// write-ahead log included.
pub(super) fn file_identity(path: &Path) -> Result<String, Why> {
    let describe = |path: &Path| {
        fs::metadata(path).map(|m| format!("{}.{}.{}.{}.{}", m.dev(), m.ino(), m.size(), m.mtime(), m.mtime_nsec()))
    };
    let main = describe(path).map_err(|e| Why::fatal(Code::SourceReadFailed, format!("the file: {}", e.kind())))?;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // An empty log says nothing: opening the database may create one.
    let log = fs::metadata(&log).ok().filter(|m| m.len() > 0).and_then(|_| describe(Path::new(&log)).ok());
    Ok(format!("sqlite-file:{main}:{}", log.unwrap_or_else(|| "-".into())))
}
