//! Runs that are stopped, and what may follow on their target.

use std::fs;

use dpone_journal::lock;
use rustix::process::Signal;
use serde_json::Value;

use super::world::{MANY, World};

#[test]
fn a_signal_suspends_and_resume_finishes() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let world = World::new(MANY);
        let ended = world.reading(&["run", "m.yaml", "--format", "json"]).signal(signal);
        let ended = ended.with(code, "error[suspended]");
        let told = ended.json();
        assert_eq!((told["outcome"].as_str(), told["published"].as_bool()), (Some("suspended"), Some(false)));
        let run = told["run_id"].as_str().unwrap().to_owned();
        assert_eq!(told["next"], format!("dpone run m.yaml --resume {run}"));
        assert_eq!(world.newest()["settled"], false);

        let refused = world.run(&["run", "m.yaml", "--format", "json"]).with(2, "error[run_unsettled]");
        assert!(refused.err.contains(&format!("dpone run m.yaml --resume {run}")), "{refused}");
        assert!(refused.err.contains(&format!("dpone runs abandon {run}")), "{refused}");

        let resumed = world.run(&["run", "m.yaml", "--resume", "--format", "json"]).with(0, "everything is read again");
        let told = resumed.json();
        assert_eq!((told["run_id"].as_str(), told["rows"].as_u64()), (Some(run.as_str()), Some(MANY)));
    }
}

#[test]
fn a_killed_run_is_resumed() {
    let world = World::new(MANY);
    let running = world.reading(&["run", "m.yaml"]);
    let row = world.newest();
    assert_eq!((row["outcome"].as_str(), row["runner"].as_u64()), (Some("running"), Some(running.pid())));
    let run = row["run_id"].as_str().unwrap().to_owned();
    let shown = world.run(&["runs", "show", &run]).with(0, "");
    assert!(shown.out.contains(&format!("process {} is working on it", running.pid())), "{shown}");
    assert_eq!(running.signal(Signal::KILL).code, None);
    assert_eq!((world.newest()["outcome"].as_str(), &world.newest()["runner"]), (Some("interrupted"), &Value::Null));
    let shown = world.run(&["runs", "show", &run]).with(0, "");
    assert!(shown.out.contains(": interrupted in Reading"), "{shown}");
    assert!(shown.out.contains(&format!("dpone run m.yaml --resume {run}")), "{shown}");
    world.run(&["run", "m.yaml"]).with(2, "error[run_unsettled]");
    let told = world.run(&["run", "m.yaml", "--resume", "--format", "json"]).with(0, "").json();
    assert_eq!(told["rows"], MANY);
}

#[test]
fn a_changed_plan_is_not_resumed_and_can_be_given_up() {
    let world = World::new(MANY);
    world.reading(&["run", "m.yaml"]).signal(Signal::TERM).with(143, "");
    let run = world.newest()["run_id"].as_str().unwrap().to_owned();
    for (replace, names) in [
        (&[("num_partitions: 3", "num_partitions: 4")][..], "num_partitions"),
        (&[("[id, k, v]", "[id, k]")], "columns"),
    ] {
        world.manifest(replace);
        let refused = world.run(&["run", "m.yaml", "--resume", "--format", "json"]);
        let refused = refused.with(2, "error[resume_plan_mismatch]");
        assert!(refused.err.contains(names), "{refused}");
        let told = refused.json();
        assert_eq!((told["run_id"].as_str(), told["published"].as_bool()), (Some(run.as_str()), Some(false)));
    }
    world.manifest(&[]);
    world.source().execute_batch("ALTER TABLE t RENAME COLUMN v TO w; ALTER TABLE t ADD COLUMN v REAL").unwrap();
    world.run(&["run", "m.yaml", "--resume"]).with(2, "error[resume_plan_mismatch]");

    let given_up = world.run(&["runs", "abandon", &run]).with(0, "");
    assert!(given_up.out.contains("given up") && given_up.out.contains("dpone run m.yaml\n"), "{given_up}");
    assert!(!given_up.err.contains("error"), "{given_up}");
    let shown = world.run(&["runs", "show", &run]).with(0, "").out;
    assert!(shown.contains("given up") && shown.contains("dpone run m.yaml\n"), "{shown}");
    assert!(!world.listing().iter().any(|f| f.ends_with(".parquet")), "{:?}", world.listing());
    world.run(&["run", "m.yaml", "--resume"]).with(2, "error[run_abandoned]");
    world.run(&["runs", "abandon", &run]).with(2, "settled");
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
}

/// Nothing is read again for a publication that is bound to be refused. Nobody is said to have published who did not.
#[test]
fn a_run_whose_target_changed_is_not_resumed() {
    let published: fn(&World) = |world| {
        fs::remove_file(world.path("dataset/_dpone/claim.json")).unwrap();
        world.run(&["run", "m.yaml", "--journal", "other.db", "-q"]).with(0, "");
    };
    let removed: fn(&World) = |world| fs::remove_dir_all(world.path("dataset")).unwrap();
    for (change, was_there) in [(published, false), (removed, true)] {
        let world = World::new(MANY);
        if was_there {
            world.run(&["run", "m.yaml", "-q"]).with(0, "");
        }
        world.reading(&["run", "m.yaml"]).signal(Signal::TERM).with(143, "");
        let run = world.newest()["run_id"].as_str().unwrap().to_owned();
        let facts = || {
            let told = world.run(&["journal", "inspect", &run, "--format", "json"]).with(0, "").json();
            told["facts"].as_u64().unwrap()
        };
        let before = facts();
        change(&world);
        let refused = world.run(&["run", "m.yaml", "--resume"]).with(2, "error[publication_base_changed]");
        assert!(refused.err.contains("is not what it was when run"), "{refused}");
        assert!(!refused.err.contains("another run"), "{refused}");
        assert!(refused.err.contains(&format!("dpone runs abandon {run}")), "{refused}");
        assert_eq!(facts(), before, "nothing was done");
    }
}

#[test]
fn another_runner_is_left_alone() {
    let world = World::new(10);
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
    let row = world.newest();
    let target = row["target"].as_str().unwrap();
    let rival = lock::take(&world.path(".dpone/journal.db"), "orders", target).unwrap();
    let told = world.run(&["run", "m.yaml", "--format", "json"]).with(5, "error[run_already_active]").json();
    assert_eq!(told["code"], "run_already_active");
    assert_eq!((told["published"].as_bool(), told["outcome"].as_str()), (Some(false), Some("failed")));
    assert!(told["run_id"].is_null() && told["target"] == target, "{told}");
    // What its runner is about to do with a run that is to be resumed, nobody else knows.
    let told =
        world.run(&["run", "m.yaml", "--resume", "--format", "json"]).with(5, "error[run_already_active]").json();
    assert_eq!((told["run_id"].clone(), told["target"].clone()), (row["run_id"].clone(), row["target"].clone()));
    assert_eq!((told["outcome"].as_str(), &told["journal"]), (Some("unknown"), &".dpone/journal.db".into()));
    assert!(told["published"].is_null(), "{told}");
    drop(rival);
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
}

#[test]
fn another_journals_claim_is_respected() {
    let world = World::new(MANY);
    world.reading(&["run", "m.yaml"]).signal(Signal::TERM).with(143, "");
    let before = world.listing();
    let refused = world.run(&["plan", "m.yaml", "--journal", "other.db"]).with(2, "error[target_claimed_elsewhere]");
    assert_eq!(world.listing(), before, "a plan creates nothing");
    assert!(refused.err.contains("dpone claim release m.yaml --run"), "{refused}");
    world.run(&["plan", "m.yaml"]).with(2, "error[run_unsettled]");
    let told = world.run(&["run", "m.yaml", "--journal", "other.db", "--format", "json"]);
    let told = told.with(5, "error[target_claimed_elsewhere]").json();
    assert_eq!(told["published"], false);
    world.run(&["run", "m.yaml", "--resume", "-q"]).with(0, "");
    // What that run was planned to replace is not the target any more: it is refused at once, and names a new run.
    let refused = world.run(&["run", "m.yaml", "--journal", "other.db", "--resume"]);
    let refused = refused.with(2, "error[publication_base_changed]");
    assert!(refused.err.contains("`dpone run m.yaml --journal other.db`"), "{refused}");
    world.run(&["run", "m.yaml", "--journal", "other.db", "-q"]).with(0, "");
}

/// A claim whose journal was deleted is given back, and its run can not go on.
#[test]
fn a_claim_outlives_its_journal_and_can_be_given_back() {
    for sink in [
        "sink: {type: parquet, uri: dataset, strategy: {mode: full_refresh}}",
        "sink: {type: sqlite, path: target.db, table: {name: t}, strategy: {mode: full_refresh}}",
    ] {
        let world = World::new(MANY);
        world.manifest(&[("sink: {type: parquet, uri: dataset, strategy: {mode: full_refresh}}", sink)]);
        world.reading(&["run", "m.yaml", "--run-id", "lost"]).signal(Signal::TERM).with(143, "");
        let claim = world.run(&["claim", "show", "m.yaml", "--format", "json"]).with(0, "").json();
        assert_eq!((claim["claim"]["run_id"].as_str(), claim["claim"]["ours"].as_bool()), (Some("lost"), Some(true)));
        let release = ["claim", "release", "m.yaml", "--run", "lost", "--journal-is-gone"];
        world.run(&release).with(2, "run lost is in this journal");
        world.run(&release[..5]).with(2, "--journal-is-gone");

        fs::rename(world.path(".dpone"), world.path("moved")).unwrap();
        world.run(&["run", "m.yaml"]).with(5, "error[target_claimed_elsewhere]");
        world.run(&["claim", "release", "m.yaml", "--run", "other", "--journal-is-gone"]).with(2, "has not claimed");
        world.run(&release).with(0, "");
        assert!(world.run(&["claim", "show", "m.yaml"]).with(0, "").out.contains("nobody"));
        // The journal was not gone: its run is told that it has lost the target.
        let late = world.run(&["run", "m.yaml", "--journal", "moved/journal.db", "--resume", "-q"]);
        assert!(late.code == Some(5) && late.err.contains("error[lease_lost]"), "{late}");
        world.run(&["plan", "m.yaml"]).with(0, "");
        world.run(&["run", "m.yaml", "-q"]).with(0, "");
    }
}
