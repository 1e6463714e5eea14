//! A folder with a source and a manifest, and the binary that is run in it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

const MANIFEST: &str = "name: orders
source:
  type: sqlite
  path: source.db
  table: {name: t}
  options:
    columns: [id, k, v]
    partitioning:
      column: k
      num_partitions: 3
      range_parallelism: {mode: required, reader_workers: 2, max_inflight_ranges: 2, max_inflight_bytes: 8MiB, consistency: exported_snapshot}
sink: {type: parquet, uri: dataset, strategy: {mode: full_refresh}}
quality: {unique: [id]}
";

/// Rows enough for a run to be met while it reads.
pub(crate) const MANY: u64 = 300_000;

/// A folder to run in.
pub(crate) struct World {
    folder: TempDir,
}

/// What came of a command.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}\n{self}"))
    }

    /// Fails unless it ended so, with that text on stderr.
    #[track_caller]
    pub(crate) fn with(self, code: i32, err: &str) -> Self {
        assert!(self.code == Some(code) && self.err.contains(err), "expected {code} and {err:?}, got {self}");
        self
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.out, self.err)
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl World {
    /// With a source of that many rows.
    pub(crate) fn new(rows: u64) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        let mut db = world.source();
        db.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, v TEXT); CREATE INDEX t_k ON t (k);")
            .unwrap();
        let tx = db.transaction().unwrap();
        {
            let mut insert = tx.prepare("INSERT INTO t VALUES (?1, ?2, ?3)").unwrap();
            for id in 1..=rows {
                let key = (id % 7 != 0).then_some(id * 13 % 1009);
                insert.execute((id, key, format!("row {id}"))).unwrap();
            }
        }
        tx.commit().unwrap();
        world.manifest(&[]);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the manifest anew, with texts replaced.
    pub(crate) fn manifest(&self, replace: &[(&str, &str)]) {
        let mut text = MANIFEST.to_owned();
        for (old, new) in replace {
            assert!(text.contains(old), "the manifest has {old:?}");
            text = text.replace(old, new);
        }
        fs::write(self.path("m.yaml"), text).unwrap();
    }

    pub(crate) fn source(&self) -> Connection {
        Connection::open(self.path("source.db")).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dpone"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("DPONE_JOURNAL").env_remove("DPONE_LOG");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    /// Starts a run and returns once it reads.
    pub(crate) fn reading(&self, arguments: &[&str]) -> Running {
        let mut child = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("] reading") {
            assert!(err.read_line(&mut said).unwrap() > 0, "it ended before it read: {said}");
        }
        Running { child, err, said }
    }

    /// Every file and folder here.
    pub(crate) fn listing(&self) -> Vec<String> {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.strip_prefix(root).unwrap().display().to_string());
                if path.is_dir() {
                    walk(&path, root, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), self.folder.path(), &mut found);
        found.sort();
        found
    }

    /// The only run of the journal, or the newest.
    pub(crate) fn newest(&self) -> Value {
        self.run(&["runs", "--format", "json"]).json()["runs"][0].clone()
    }
}

/// A run that was met while it reads.
pub(crate) struct Running {
    child: Child,
    err: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Running {
    pub(crate) fn pid(&self) -> u64 {
        u64::from(self.child.id())
    }

    pub(crate) fn signal(mut self, signal: Signal) -> Ended {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.err.read_to_string(&mut self.said).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Ended { err: self.said, ..output.into() }
    }
}
