//! SIGTERM and SIGINT while a run is at a certain step: it stops in order, says so, and a resume delivers exactly.

use std::fs;
use std::process::Command;

use dpone_engine::run::effect::EffectKind::{
    self, Check, Claim, Drop, Evidence, Load, Open, Publish, Put, Read, Stage,
};
use dpone_tests::ended::Ended;
use dpone_tests::facts::Step;
use dpone_tests::held::{Held, WAL, send};
use dpone_tests::killed::Ground;
use dpone_tests::product::dpone;
use dpone_tests::route::{Mode, Sink};
use nix::sys::signal::Signal;

const JSON: [&str; 4] = ["run", "m.yaml", "--format", "json"];
const STOPPING: &str = "stopping in order";

fn hold(ground: &Ground, step: &Step) -> Held {
    ground.reset();
    let mut held = ground.killer.hold(&ground.route.folder, &JSON, WAL);
    assert!(held.reach(step, 1).is_some(), "it came to {step:?}");
    held
}

/// What must hold after the stop and after the resume.
fn stopped(ground: &Ground, ended: Ended, code: i32, step: &Step, published: bool) {
    let ended = ended.with(code, "error[suspended]");
    let told = ended.json();
    assert_eq!(
        (told["outcome"].as_str(), told["published"].as_bool()),
        (Some("suspended"), Some(published)),
        "{step:?} {ended}"
    );
    let expected = ground.route.expected(if published { 2 } else { 1 });
    assert_eq!(ground.route.delivered(), expected, "{step:?}");
    resumes(ground, step);
}

fn resumes(ground: &Ground, step: &Step) {
    Ended::run(&ground.route.folder, &["run", "m.yaml", "--resume"]).delivered();
    assert_eq!(ground.route.delivered(), ground.route.expected(2), "{step:?}");
    assert_eq!(ground.route.leftovers(), Vec::<String>::new(), "{step:?}");
}

fn suspends(sink: Sink) {
    let ground = Ground::new(sink, Mode::Append, false);
    let at = |signal: Signal, code: i32, kind: EffectKind, published: bool| {
        let step = Step::Announced(kind);
        let mut held = hold(&ground, &step);
        held.signal(signal);
        held.hear(STOPPING);
        stopped(&ground, Ended(held.finish()), code, &step, published);
    };
    for kind in [Claim, Open, Read, Put, Stage, Load, Check] {
        at(Signal::SIGTERM, 143, kind, false);
    }
    // A publication that was announced is let happen: it takes less than the time that a stop may take.
    for kind in [Publish, Evidence, Drop] {
        at(Signal::SIGTERM, 143, kind, true);
    }
    at(Signal::SIGINT, 130, Read, false);
    at(Signal::SIGINT, 130, Drop, true);
}

#[test]
fn parquet_suspends() {
    suspends(Sink::Parquet);
}

#[test]
fn sqlite_suspends() {
    suspends(Sink::Sqlite);
}

#[test]
fn a_run_that_is_over_was_delivered() {
    let ground = Ground::new(Sink::Parquet, Mode::Append, false);
    let mut held = hold(&ground, &Step::Fact("Moved to CleanupComplete".to_owned()));
    held.signal(Signal::SIGTERM);
    held.hear(STOPPING);
    let ended = Ended(held.finish()).delivered();
    assert!(ended.json()["next"].is_null(), "{ended}");
    assert_eq!(ground.route.delivered(), ground.route.expected(2));
}

/// The first signal asks, the second does not wait for an answer: the runner is held, and ends all the same.
#[test]
fn the_second_signal_ends_it_at_once() {
    let ground = Ground::new(Sink::Sqlite, Mode::Append, false);
    for kind in [Read, Load, Publish] {
        let step = Step::Announced(kind);
        let mut held = hold(&ground, &step);
        held.signal(Signal::SIGTERM);
        held.hear(STOPPING);
        held.signal(Signal::SIGTERM);
        let ended = Ended(held.end_of_held()).with(143, "");
        assert!(ended.0.stdout.is_empty(), "{ended}");
        resumes(&ground, &step);
    }
}

/// In a container the product is process 1, which the kernel gives no signal that it does not listen to.
#[test]
fn as_process_one() {
    let may = Command::new("unshare").args(["-pf", "--mount-proc", "true"]).output();
    if !may.is_ok_and(|o| o.status.success()) {
        use std::io::Write;
        writeln!(std::io::stderr().lock(), "skipped: this user may not make a process namespace").unwrap();
        return;
    }
    let ground = Ground::new(Sink::Parquet, Mode::Append, false);
    for (kind, published) in [(Read, false), (Load, false), (Publish, true)] {
        ground.reset();
        let mut command = Command::new("unshare");
        command.args(["-pf", "--mount-proc"]).arg(dpone()).args(JSON);
        let mut held = ground.killer.hold_command(command, &ground.route.folder, WAL);
        let step = Step::Announced(kind);
        assert!(held.reach(&step, 1).is_some(), "it came to {step:?}");
        let outer = held.id();
        let inner = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap();
        send(inner.trim().parse().unwrap(), Signal::SIGTERM);
        held.hear(STOPPING);
        stopped(&ground, Ended(held.finish()), 143, &step, published);
    }
}
