//! A writer that is killed: what it was told is durable is there; without its `-wal` there is a whole prefix.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dpone_engine::codes::Code;
use dpone_engine::driver::Entry;
use dpone_engine::ports::RunLog;
use dpone_engine::run::Event;
use dpone_journal::lock;
use dpone_journal::log::SqliteLog;
use dpone_journal::sqlite::Journal;
use futures_executor::block_on;

use super::samples::{attempt, planned};

const PATH: &str = "DPONE_TEST_JOURNAL";

/// What is appended at once.
fn together(number: u64) -> [Event; 3] {
    [attempt(3 * number - 2), attempt(3 * number - 1), attempt(3 * number)]
}

/// Not a test: the writer that the tests below start and kill. It says every number that is durable.
#[test]
#[ignore = "started by the tests below"]
fn writer() {
    let Some(path) = env::var_os(PATH).map(PathBuf::from) else { return };
    let mut journal = Journal::open(&path).unwrap();
    if journal.runs().unwrap().is_empty() {
        journal.create_run(&planned("a", "t"), 1).unwrap();
    }
    let locks = lock::take(&path, "m", "t").unwrap();
    let epoch = journal.raise_epoch("a").unwrap();
    let log = SqliteLog::start(journal, "a".to_owned(), epoch, locks).unwrap();
    let mut out = std::io::stderr();
    for n in 1.. {
        block_on(log.append(n, &together(n))).unwrap();
        writeln!(out, "durable {n}").unwrap();
    }
}

/// Lets a writer come that far, and kills it; answers how many numbers it said were durable.
fn killed_after(path: &Path, numbers: u64) -> u64 {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed::writer", "--ignored", "--nocapture"])
        .env(PATH, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut durable = 0;
    while durable < numbers {
        let line = said.next().unwrap().unwrap();
        durable = line.strip_prefix("durable ").unwrap().parse().unwrap();
    }
    assert!(lock::take(path, "m", "t").is_err(), "the writer holds its locks");
    child.kill().unwrap();
    child.wait().unwrap();
    // What it said between the last line that was read and its end.
    for line in said.map_while(Result::ok) {
        durable = line.strip_prefix("durable ").and_then(|n| n.parse().ok()).unwrap_or(durable);
    }
    durable
}

fn check_prefix(entries: &[Entry], at_least: u64) {
    let numbers: Vec<_> = entries[1..].iter().map(|e| e.event.clone()).collect();
    assert_eq!(numbers.len() % 3, 0, "an append is there whole or not at all");
    let expect: Vec<_> = (1..=numbers.len() as u64 / 3).flat_map(together).collect();
    assert_eq!(numbers, expect);
    assert!(numbers.len() as u64 >= 3 * at_least, "{} of {at_least}", numbers.len() / 3);
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

#[test]
fn what_was_durable_outlives_its_writer() {
    for numbers in [1, 2, 30] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let durable = killed_after(&path, numbers);
        check_prefix(&Journal::open_to_read(&path).unwrap().entries("a").unwrap(), durable);
        // The kernel let go of the locks, and the next runner goes on.
        lock::take(&path, "m", "t").unwrap();
        let mut journal = Journal::open(&path).unwrap();
        assert_eq!(journal.raise_epoch("a").unwrap(), 2);
        assert!(journal.verify().unwrap().whole());
    }
}

/// Without its `-wal` a journal is what its last checkpoint left: a whole prefix that still knows the run and its
/// newest epoch, or it is refused. Never an empty journal, never a log with a gap.
#[test]
fn a_lost_wal_costs_the_end_of_the_log_and_nothing_else() {
    // Enough that SQLite has checkpointed by itself in between, and little enough that it has not.
    for numbers in [1, 5, 400] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        killed_after(&path, numbers);
        assert!(beside(&path, "-wal").metadata().unwrap().len() > 0);
        fs::remove_file(beside(&path, "-wal")).unwrap();
        let _ = fs::remove_file(beside(&path, "-shm"));
        match Journal::open(&path) {
            Err(refusal) => assert_eq!(refusal.code, Code::JournalCorrupt),
            Ok(mut journal) => {
                assert_eq!(journal.run("a").unwrap().epoch, 1);
                check_prefix(&journal.entries("a").unwrap(), 0);
                assert!(journal.verify().unwrap().whole());
                assert_eq!(journal.raise_epoch("a").unwrap(), 2);
            }
        }
    }
}
