//! SIGKILL at every point of the product's work on files, on every local route: before and after each write, sync, rename,
//! link and removal, and so on both sides of every journalled step. After each kill the run is resumed and the target must
//! be exactly right: nothing twice, nothing lost, nothing owned left over.
//!
//! By default a few hundred points per route are run, spread evenly; `DPONE_KILL_ALL=1` runs every one of them. What was
//! enumerated and what was run is printed and compared.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;

use dpone_tests::killer::Killer;
use dpone_tests::product::{printed, run};
use dpone_tests::route::{Mode, Route, Sink, last_fact};

/// Points that are run by default, of every route.
const POINTS: usize = 60;

/// Every kind of effect that these routes have, on both of its sides.
const EFFECTS: [&str; 13] = [
    "Claim", "Open", "Count", "Read", "Put", "Verify", "Stage", "Load", "Check", "Publish", "Evidence", "Drop",
    "Release",
];

fn matrix(sink: Sink, mode: Mode, per_partition: bool) {
    let tools = tempfile::tempdir().unwrap();
    let killer = Killer::new(tools.path());
    let arguments = ["run", "m.yaml", "--no-progress", "-q"];

    // The enumeration: a healthy second run, over a target that a first run delivered.
    let folder = tempfile::tempdir().unwrap();
    let route = Route::new(folder.path(), sink, mode, per_partition);
    let first = run(&route.folder, &arguments);
    assert!(first.status.success(), "{}", printed(&first));
    let (output, points) = killer.points(&route.folder, &arguments);
    assert!(output.status.success(), "{}", printed(&output));
    assert_eq!(route.delivered(), route.expected(2));
    assert_eq!(route.leftovers(), Vec::<String>::new());
    let total = points.len();
    assert!(total > 200, "the killer saw only {total} points");

    let all = std::env::var_os("DPONE_KILL_ALL").is_some();
    let step = if all { 1 } else { total.div_ceil(POINTS) };
    // The publication's own points are always among them.
    let publishing =
        |at: &usize| points[*at - 1].path.contains("/_dpone/manifest-") || points[*at - 1].path.contains("/.pub_");
    let chosen: BTreeSet<usize> = (1..=total).step_by(step).chain((1..=total).filter(publishing)).collect();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let (mut killed, mut ended) = (0, 0);
    for &point in &chosen {
        let folder = tempfile::tempdir().unwrap();
        let route = Route::new(folder.path(), sink, mode, per_partition);
        let first = run(&route.folder, &arguments);
        assert!(first.status.success(), "{}", printed(&first));
        let output = killer.kill_at(&route.folder, &arguments, point as u64);
        if output.status.signal() == Some(9) {
            killed += 1;
        } else {
            ended += 1;
            assert!(output.status.success(), "point {point}: {}", printed(&output));
        }
        let (fact, _) = last_fact(&route.folder.join("journal.db")).unwrap();
        *seen.entry(fact.clone()).or_default() += 1;
        let during = route.delivered();
        assert!(
            during == route.expected(1) || during == route.expected(2),
            "point {point} ({fact}): readers saw neither the former rows nor the new ones"
        );
        // A run that was killed before it was in the journal is simply run again; any other is resumed.
        let recover: &[&str] =
            if newest_is_first(&route) { &arguments } else { &["run", "m.yaml", "--no-progress", "--resume"] };
        let last = run(&route.folder, recover);
        assert!(last.status.success(), "point {point} ({fact}): {}", printed(&last));
        assert_eq!(route.delivered(), route.expected(2), "point {point} ({fact})");
        assert_eq!(route.leftovers(), Vec::<String>::new(), "point {point} ({fact})");
    }
    let mut out = std::io::stderr().lock();
    writeln!(out, "{sink:?} {mode:?} per_partition={per_partition}: {total} points enumerated, {} run, {killed} killed, {ended} ended before", chosen.len()).unwrap();
    for (fact, count) in &seen {
        writeln!(out, "  {count:>5}  killed with last fact: {fact}").unwrap();
    }
    let met: BTreeSet<&str> = seen.keys().map(String::as_str).collect();
    let missed: Vec<String> = EFFECTS
        .iter()
        .flat_map(|e| [format!("intended {e}"), format!("confirmed {e}")])
        .filter(|side| !met.contains(side.as_str()))
        .collect();
    writeln!(out, "  effect sides not last in a killed journal: {missed:?}").unwrap();
    assert!(killed * 10 >= chosen.len() * 8, "most points must be reached: {killed} of {}", chosen.len());
}

/// Whether the kill came before the second run was in the journal.
fn newest_is_first(route: &Route) -> bool {
    let journal = dpone_journal::sqlite::Journal::open_existing(&route.folder.join("journal.db")).unwrap();
    journal.runs().unwrap().len() == 1
}

#[test]
fn parquet_full_refresh() {
    matrix(Sink::Parquet, Mode::FullRefresh, false);
}

#[test]
fn parquet_append_per_partition() {
    matrix(Sink::Parquet, Mode::Append, true);
}

#[test]
fn sqlite_full_refresh_per_partition() {
    matrix(Sink::Sqlite, Mode::FullRefresh, true);
}

#[test]
fn sqlite_append() {
    matrix(Sink::Sqlite, Mode::Append, false);
}

#[test]
fn sqlite_merge() {
    matrix(Sink::Sqlite, Mode::Merge, false);
}
