//! SIGKILL on both sides of every journalled step, on every local route. After each kill the run is resumed and the target
//! must be exactly right: nothing twice, nothing lost, nothing owned left over.
//!
//! The steps are enumerated from the journal of a healthy run: every effect that is announced (announced and not begun),
//! every effect that is confirmed (done and not recorded; recorded and nothing done because of it), and every other fact.
//! Each distinct one is killed at where it happens first and where it happens last, and a step that no kill met fails the
//! test. A few points between, spread over all work on files, are killed at as well; with `DPONE_KILL_ALL=1` all of them,
//! and every time that a step happens. What was enumerated and what was run is printed and compared.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::io::Write;

use dpone_engine::run::effect::EffectKind;
use dpone_tests::facts::Step;
use dpone_tests::killed::{Ground, RESUME, RUN};
use dpone_tests::product::printed;
use dpone_tests::route::{Mode, Sink, Source};

/// Points between the steps that are run by default, of every route.
const SPREAD: usize = 20;

/// How often a step is tried that a run did not come to: readers and writers work side by side, so runs differ a little.
const TRIES: usize = 3;

fn matrix(name: &str, ground: &Ground, arguments: &[&str], absent: &[EffectKind]) {
    let all = std::env::var_os("DPONE_KILL_ALL").is_some();
    let mut out = std::io::stderr().lock();
    let steps = ground.steps(arguments);
    right(ground, "the healthy run");
    let mut counts: BTreeMap<Step, usize> = BTreeMap::new();
    for step in steps {
        *counts.entry(step).or_default() += 1;
    }
    for kind in EffectKind::ALL {
        let sides = [Step::Announced(kind), Step::Done(kind), Step::Recorded(kind)];
        let there = sides.iter().all(|s| counts.contains_key(s));
        assert_eq!(there, !absent.contains(&kind), "{name}: {kind:?} in {counts:?}");
    }

    let mut met: BTreeMap<&Step, usize> = BTreeMap::new();
    for (step, &times) in &counts {
        let every: Vec<usize> = if all || times < 2 { (1..=times).collect() } else { vec![1, times] };
        for nth in every {
            let killed = (0..TRIES).any(|_| {
                ground.reset();
                ground.kill_at(arguments, step, nth).is_ok()
            });
            if killed {
                *met.entry(step).or_default() += 1;
                recovers(ground, &format!("{name}: {step:?}, time {nth} of {times}"));
            }
        }
    }

    ground.reset();
    let points = ground.points(arguments);
    let every = if all { 1 } else { points.len().div_ceil(SPREAD) };
    let mut between = 0;
    for point in points.iter().step_by(every) {
        ground.reset();
        ground.killer.kill_at(&ground.route.folder, arguments, point.number);
        recovers(ground, &format!("{name}: {point:?}"));
        between += 1;
    }

    let kills: usize = met.values().sum();
    let total: usize = counts.values().sum();
    writeln!(
        out,
        "{name}: {} distinct steps enumerated ({total} in all), {} run, {kills} kills",
        counts.len(),
        met.len()
    )
    .unwrap();
    writeln!(out, "{name}: {} points between enumerated, {between} run", points.len()).unwrap();
    writeln!(out, "{name}: effects that this run does not have: {absent:?}").unwrap();
    for (step, times) in &counts {
        writeln!(out, "  {step:?}: {times} times, killed at {}", met.get(step).unwrap_or(&0)).unwrap();
    }
    let missed: Vec<&Step> = counts.keys().filter(|step| !met.contains_key(step)).collect();
    assert!(missed.is_empty(), "{name}: steps that no kill met: {missed:?}");
}

/// After a kill: readers see the former rows or the new ones, and a resume ends with exactly the new ones.
fn recovers(ground: &Ground, at: &str) {
    let route = &ground.route;
    let during = route.delivered();
    assert!(
        during == route.expected(1) || during == route.expected(2),
        "{at}: neither the former rows nor the new ones"
    );
    let last = ground.recover();
    assert!(last.status.success(), "{at}: {}", printed(&last));
    right(ground, at);
}

fn right(ground: &Ground, at: &str) {
    assert_eq!(ground.route.delivered(), ground.route.expected(2), "{at}");
    assert_eq!(ground.route.leftovers(), Vec::<String>::new(), "{at}");
}

fn route(sink: Sink, mode: Mode, per_partition: bool) {
    between(Source::Sqlite, sink, mode, per_partition);
}

fn between(source: Source, sink: Sink, mode: Mode, per_partition: bool) {
    let name = format!("{source:?} to {sink:?} {mode:?} per_partition={per_partition}");
    // Only a publication in doubt is fenced: see below.
    matrix(&name, &Ground::from(source, sink, mode, per_partition), &RUN, &[EffectKind::Fence]);
}

/// The same of the run that resumes one which was killed around its publication.
fn after(sink: Sink, killed: Step, absent: &[EffectKind]) {
    let ground = Ground::new(sink, Mode::Append, false);
    ground.kill_at(&RUN, &killed, 1).unwrap();
    ground.keep();
    matrix(&format!("{sink:?} resumed after {killed:?}"), &ground, &RESUME, absent);
}

#[test]
fn parquet_full_refresh() {
    route(Sink::Parquet, Mode::FullRefresh, false);
}

#[test]
fn parquet_append_per_partition() {
    route(Sink::Parquet, Mode::Append, true);
}

#[test]
fn sqlite_full_refresh_per_partition() {
    route(Sink::Sqlite, Mode::FullRefresh, true);
}

#[test]
fn sqlite_append() {
    route(Sink::Sqlite, Mode::Append, false);
}

#[test]
fn sqlite_merge() {
    route(Sink::Sqlite, Mode::Merge, false);
}

#[test]
fn sqlite_partition_replace_per_partition() {
    route(Sink::Sqlite, Mode::PartitionReplace, true);
}

#[test]
fn postgres_to_parquet() {
    between(Source::Postgres, Sink::Parquet, Mode::FullRefresh, false);
}

#[test]
fn odbc_to_parquet() {
    between(Source::Odbc, Sink::Parquet, Mode::FullRefresh, false);
}

#[test]
fn odbc_to_postgres_per_partition() {
    between(Source::Odbc, Sink::Postgres, Mode::FullRefresh, true);
}

#[test]
fn postgres_to_postgres_full_refresh() {
    between(Source::Postgres, Sink::Postgres, Mode::FullRefresh, false);
}

#[test]
fn postgres_append_per_partition() {
    between(Source::Sqlite, Sink::Postgres, Mode::Append, true);
}

#[test]
fn postgres_merge() {
    between(Source::Sqlite, Sink::Postgres, Mode::Merge, false);
}

#[test]
fn postgres_partition_replace() {
    between(Source::Sqlite, Sink::Postgres, Mode::PartitionReplace, false);
}

use EffectKind::{Check, Count, Load, Open, Publish, Put, Read, Stage, Verify};

#[test]
fn parquet_publication_announced() {
    after(Sink::Parquet, Step::Announced(Publish), &[Open, Count, Read, Put, Verify, Stage, Load, Check]);
}

#[test]
fn sqlite_publication_announced() {
    after(Sink::Sqlite, Step::Announced(Publish), &[Open, Count, Read, Put, Verify, Stage, Load, Check]);
}

#[test]
fn parquet_publication_done() {
    after(Sink::Parquet, Step::Done(Publish), &[Open, Count, Read, Put, Verify, Stage, Load, Check, Publish]);
}

#[test]
fn sqlite_publication_done() {
    after(Sink::Sqlite, Step::Done(Publish), &[Open, Count, Read, Put, Verify, Stage, Load, Check, Publish]);
}

#[test]
fn postgres_publication_announced() {
    after(Sink::Postgres, Step::Announced(Publish), &[Open, Count, Read, Put, Verify, Stage, Load, Check]);
}

#[test]
fn postgres_publication_done() {
    after(Sink::Postgres, Step::Done(Publish), &[Open, Count, Read, Put, Verify, Stage, Load, Check, Publish]);
}
