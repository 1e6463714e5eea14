//! How long an append takes, and how many there are in a second: alone, and many at once.
//!
//! `cargo run --release -p dpone-journal --example append_latency -- [FOLDER] [APPENDS]`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "an example for the terminal")]

use std::env;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dpone_engine::manifest::{Fidelity, StagingTopology};
use dpone_engine::ports::RunLog;
use dpone_engine::run::facts::{Base, LoadIsolation, PublicationKind, Retention, StagingFate};
use dpone_engine::run::{Event, PlanFacts};
use dpone_journal::lock;
use dpone_journal::log::SqliteLog;
use dpone_journal::sqlite::Journal;
use futures_executor::block_on;
use futures_util::future::join_all;

/// Appends that wait together in the second measurement.
const TOGETHER: u64 = 32;

fn main() {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().map_or_else(env::temp_dir, PathBuf::from);
    let appends: u64 = arguments.next().map_or(2_000, |n| n.parse().unwrap());
    let folder = tempfile::tempdir_in(folder).unwrap();
    let path = folder.path().join("journal.db");

    let mut journal = Journal::open(&path).unwrap();
    journal.create_run(&Event::Planned { run: "bench".to_owned(), plan: plan() }, 0).unwrap();
    let epoch = journal.raise_epoch("bench").unwrap();
    let locks = lock::take(&path, "bench", "bench").unwrap();
    let log = SqliteLog::start(journal, "bench".to_owned(), epoch, locks).unwrap();
    let event = |n: u64| Event::Deferred {
        name: format!("orders/bench/a1-00000000000000ff/r1.t1/c{n}.parquet"),
        not_before: n,
    };

    let mut each: Vec<Duration> = (0..appends)
        .map(|n| {
            let begun = Instant::now();
            block_on(log.append(n, &[event(n)])).unwrap();
            begun.elapsed()
        })
        .collect();
    each.sort_unstable();
    let total: Duration = each.iter().sum();
    println!("one at a time    {:>9.0} appends/s", appends as f64 / total.as_secs_f64());
    for (name, part) in [("median", 0.5), ("99 %", 0.99), ("slowest", 1.0)] {
        let at = ((each.len() as f64 * part) as usize).min(each.len() - 1);
        println!("  {name:<12}   {:>9.1} µs", each[at].as_secs_f64() * 1e6);
    }

    let begun = Instant::now();
    for batch in 0..appends.div_ceil(TOGETHER) {
        let all = (0..TOGETHER).map(|n| {
            let (log, event) = (&log, event(batch * TOGETHER + n));
            async move { log.append(0, &[event]).await.unwrap() }
        });
        block_on(join_all(all));
    }
    let done = appends.div_ceil(TOGETHER) * TOGETHER;
    println!("{TOGETHER} at once       {:>9.0} appends/s", done as f64 / begun.elapsed().as_secs_f64());

    drop(log);
    let begun = Instant::now();
    let read = Journal::open_to_read(&path).unwrap().entries("bench").unwrap().len();
    println!("open and read    {:>9.0} events/s", read as f64 / begun.elapsed().as_secs_f64());
}

fn plan() -> PlanFacts {
    PlanFacts {
        manifest: "bench".to_owned(),
        fingerprint: String::new(),
        units: 1,
        topology: StagingTopology::SharedPerRun,
        load_isolation: LoadIsolation::Fenced,
        publication: PublicationKind::LedgerTransaction,
        staging_fate: StagingFate::Removed,
        coverage_required: false,
        fidelity: Fidelity::Off,
        base: Base { identity: String::new(), owner: None },
        superseded: None,
        target: "bench".to_owned(),
        objects_after_success: Retention::Remove,
        objects_after_failure: Retention::Remove,
        document: "{}".to_owned(),
    }
}
