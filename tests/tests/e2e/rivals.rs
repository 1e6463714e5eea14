//! More than one runner: one wins, the others change nothing and say why.

use std::fs;
use std::path::Path;
use std::time::Duration;

use dpone_engine::run::effect::EffectKind::{self, Check, Drop, Evidence, Load, Publish, Put, Read};
use dpone_tests::ended::Ended;
use dpone_tests::facts::Step;
use dpone_tests::held::{Held, WAL};
use dpone_tests::killed::Ground;
use dpone_tests::route::{Mode, Sink};
use nix::sys::signal::Signal;
use rusqlite::Connection;

const JSON: [&str; 4] = ["run", "m.yaml", "--format", "json"];

fn hold(ground: &Ground, kind: EffectKind) -> Held {
    ground.reset();
    let mut held = ground.killer.hold(&ground.route.folder, &JSON, WAL);
    assert!(held.reach(&Step::Announced(kind), 1).is_some(), "it came to {kind:?}");
    held
}

/// The one that was there first delivers, once.
fn wins(ground: &Ground, held: Held) {
    assert_eq!(ground.route.delivered(), ground.route.expected(1), "the others changed nothing");
    Ended(held.finish()).delivered();
    assert_eq!(ground.route.delivered(), ground.route.expected(2));
    assert_eq!(ground.route.leftovers(), Vec::<String>::new());
}

fn one_journal(sink: Sink) {
    let ground = Ground::new(sink, Mode::Append, false);
    let folder = &ground.route.folder;
    for kind in [Read, Load, Publish] {
        let held = hold(&ground, kind);
        let told = Ended::run(folder, &["run", "m.yaml"]).with(5, "error[run_already_active]").json();
        assert_eq!((told["code"].as_str(), told["published"].as_bool()), (Some("run_already_active"), Some(false)));
        Ended::run(folder, &["run", "m.yaml", "--resume"]).with(5, "error[run_already_active]");
        // Another manifest, the same target.
        fs::write(
            folder.join("n.yaml"),
            fs::read_to_string(folder.join("m.yaml")).unwrap().replace("name: route", "name: other"),
        )
        .unwrap();
        Ended::run(folder, &["run", "n.yaml"]).with(5, "error[run_already_active]");
        wins(&ground, held);
    }
}

fn two_journals(sink: Sink) {
    let ground = Ground::new(sink, Mode::Append, false);
    let folder = &ground.route.folder;
    for kind in [Read, Load, Publish] {
        let held = hold(&ground, kind);
        let told = Ended::run(folder, &["run", "m.yaml", "--journal", "other.db"]);
        let told = told.with(5, "error[target_claimed_elsewhere]").json();
        assert_eq!(
            (told["code"].as_str(), told["published"].as_bool()),
            (Some("target_claimed_elsewhere"), Some(false))
        );
        wins(&ground, held);
    }
}

fn unsettled(sink: Sink) {
    let ground = Ground::new(sink, Mode::Append, false);
    let folder = &ground.route.folder;
    for (step, settle) in [
        (Step::Announced(Load), "dpone runs abandon"),
        (Step::Announced(Publish), "dpone reconcile"),
        (Step::Done(Publish), "dpone reconcile"),
        (Step::Announced(Drop), "dpone reconcile"),
    ] {
        ground.reset();
        ground.kill_at(&JSON, &step, 1).unwrap();
        let held = ground.route.delivered();
        let refused = Ended::run(folder, &["run", "m.yaml"]).with(2, "error[run_unsettled]");
        assert!(refused.err().contains(settle) && refused.err().contains("--resume"), "{step:?} {refused}");
        assert_eq!(ground.route.delivered(), held, "{step:?}");
        Ended::run(folder, &["run", "m.yaml", "--resume"]).delivered();
        assert_eq!(ground.route.delivered(), ground.route.expected(2), "{step:?}");
    }
}

/// Stops it at its next touch of anything but the journal, where it does not hold the journal's write lock.
fn stop_between_writes(held: &mut Held, journal: &Path) {
    let other = Connection::open(journal).unwrap();
    let unlocked = |wait| {
        other.busy_timeout(wait).unwrap();
        other.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok()
    };
    loop {
        held.until("it works on something else", |_, point| !point.path.contains("journal.db"));
        // Another of its threads may be in the middle of a write, and wait behind this point.
        if unlocked(Duration::from_secs(1)) {
            held.signal(Signal::SIGSTOP);
            // The signal takes effect in its own time, thread by thread.
            while !is_stopped(held.id()) {
                std::thread::yield_now();
            }
            if unlocked(Duration::ZERO) {
                return;
            }
            held.signal(Signal::SIGCONT);
        }
    }
}

fn is_stopped(process: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    tasks.flatten().all(|task| {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        // After the name, which is in brackets and may hold anything.
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
    })
}

/// A runner that was stopped for so long that it was taken for dead (its locks were removed by hand, or another host has
/// the journal) wakes up after the run was finished without it.
fn fenced(sink: Sink) {
    let ground = Ground::new(sink, Mode::Append, false);
    let route = &ground.route;
    for kind in [Read, Put, Load, Check, Publish, Evidence, Drop] {
        ground.reset();
        let mut held = ground.killer.hold(&route.folder, &JSON, "");
        assert!(held.reach(&Step::Announced(kind), 1).is_some(), "it came to {kind:?}");
        stop_between_writes(&mut held, &route.folder.join("journal.db"));
        fs::remove_dir_all(route.folder.join("journal.db.locks")).unwrap();
        Ended::run(&route.folder, &["run", "m.yaml", "--resume"]).delivered();
        assert_eq!(route.delivered(), route.expected(2), "{kind:?}");
        assert_eq!(route.leftovers(), Vec::<String>::new(), "{kind:?}");
        held.free();
        held.signal(Signal::SIGCONT);
        let told = Ended(held.finish()).with(5, "error[lease_lost]").json();
        assert_eq!(told["code"], "lease_lost", "{kind:?}");
        assert_eq!(route.delivered(), route.expected(2), "{kind:?}: a fenced runner changed the target");
        let mut left = route.leftovers();
        // An object that it was writing still lands, under a name that nobody reads.
        left.retain(|l| ![Read, Put].contains(&kind) || !l.starts_with("object "));
        assert_eq!(left, Vec::<String>::new(), "{kind:?}");
        Ended::run(&route.folder, &["run", "m.yaml"]).delivered();
        assert_eq!(route.delivered(), route.expected(3), "{kind:?}");
    }
}

#[test]
fn parquet_one_journal() {
    one_journal(Sink::Parquet);
}

#[test]
fn sqlite_one_journal() {
    one_journal(Sink::Sqlite);
}

#[test]
fn parquet_two_journals() {
    two_journals(Sink::Parquet);
}

#[test]
fn sqlite_two_journals() {
    two_journals(Sink::Sqlite);
}

#[test]
fn parquet_unsettled() {
    unsettled(Sink::Parquet);
}

#[test]
fn sqlite_unsettled() {
    unsettled(Sink::Sqlite);
}

#[test]
fn parquet_fenced() {
    fenced(Sink::Parquet);
}

#[test]
fn sqlite_fenced() {
    fenced(Sink::Sqlite);
}
