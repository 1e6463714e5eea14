//! Runs to their end.

use rusqlite::Connection;

use super::world::World;

#[test]
fn a_run_delivers_and_says_so() {
    let world = World::new(100);
    let ended = world.run(&["run", "m.yaml", "--format", "json", "--run-id", "first"]).with(0, "reading");
    let told = ended.json();
    assert_eq!((told["run_id"].as_str(), told["outcome"].as_str()), (Some("first"), Some("delivered")));
    assert_eq!((told["published"].as_bool(), told["rows"].as_u64()), (Some(true), Some(100)));
    assert!(told["code"].is_null() && told["next"].is_null() && told["failure_class"].is_null(), "{ended}");
    assert_eq!(told["ranges"].as_array().unwrap().len(), 4, "three ranges and one for NULL");
    assert!(world.path(told["evidence"]["sealed"]["path"].as_str().unwrap()).exists());

    world.run(&["run", "m.yaml", "--run-id", "first"]).with(2, "already has a run first");
    let again = world.run(&["run", "m.yaml", "--resume", "--format", "json"]).with(0, "").json();
    assert_eq!((again["outcome"].as_str(), again["run_id"].as_str()), (Some("nothing_to_do"), Some("first")));
    assert_eq!(world.run(&["reconcile", "first", "--format", "json"]).with(0, "").json()["outcome"], "nothing_to_do");
    world.run(&["runs", "abandon", "first"]).with(2, "can no longer be given up");

    for command in [&["runs", "show", "fir"][..], &["journal", "inspect", "f"], &["run", "m.yaml", "--resume", "fi"]] {
        world.run(command).with(0, "");
    }
    world.run(&["run", "m.yaml", "--run-id", "five", "-q"]).with(0, "");
    world.run(&["runs", "show", "fi"]).with(2, "2 runs begin with fi");
    let shown = world.run(&["runs", "show", "first"]).with(0, "").out;
    assert!(shown.contains("delivered") && shown.contains("dpone journal inspect first"), "{shown}");
    assert_eq!(
        (world.newest()["outcome"].as_str(), world.newest()["run_id"].as_str()),
        (Some("delivered"), Some("five"))
    );
}

#[test]
fn a_delivered_run_is_not_the_one_of_a_changed_manifest() {
    let world = World::new(10);
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
    for (replace, names) in [("uri: dataset", "uri: other"), ("unique: [id]", "unique: [v]")].map(|r| (r, "manifest")) {
        world.manifest(&[replace]);
        let refused = world.run(&["run", "m.yaml", "--resume"]).with(2, "error[resume_plan_mismatch]");
        assert!(refused.err.contains(names) && refused.err.contains("`dpone run m.yaml`"), "{refused}");
    }
}

/// A rule that was wrong is mended in the manifest, and a new run follows: nothing goes in a circle.
#[test]
fn a_failed_gate_names_the_way_on() {
    let world = World::new(100);
    world.manifest(&[("unique: [id]", "min_rows: 101")]);
    let failed = world.run(&["run", "m.yaml", "--format", "json"]).with(3, "error[quality_min_rows]");
    let fix = failed.json()["fix"].as_str().unwrap().to_owned();
    assert!(fix.contains("lower quality.min_rows and start a new run: `dpone run m.yaml`"), "{fix}");
    assert!(failed.err.contains(&format!("fix: {fix}")), "{failed}");
    world.manifest(&[("unique: [id]", "min_rows: 100")]);
    let refused = world.run(&["run", "m.yaml", "--resume"]).with(2, "error[resume_plan_mismatch]");
    assert!(refused.err.contains("start a new run: `dpone run m.yaml`"), "{refused}");
    assert!(!refused.err.contains("abandon"), "{refused}");
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
}

#[test]
fn quiet_prints_nothing_that_was_not_asked_for() {
    let world = World::new(10);
    let ended = world.run(&["run", "m.yaml", "-q"]).with(0, "");
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""));
    let ended = world.run(&["run", "m.yaml", "--no-progress"]).with(0, "");
    assert!(!ended.out.is_empty());
    assert_eq!(ended.err, "");
}

#[test]
fn strategies_of_a_database() {
    for (strategy, after_one, after_two) in
        [("{mode: full_refresh}", 100, 100), ("{mode: append}", 100, 200), ("{mode: merge, key: [id]}", 100, 100)]
    {
        let world = World::new(100);
        let sink = format!("sink: {{type: sqlite, path: target.db, table: {{name: t}}, strategy: {strategy}}}");
        world.manifest(&[("sink: {type: parquet, uri: dataset, strategy: {mode: full_refresh}}", &sink)]);
        let count = || {
            let db = Connection::open(world.path("target.db")).unwrap();
            db.query_row("SELECT count(*) FROM t", [], |r| r.get::<_, u64>(0)).unwrap()
        };
        world.run(&["run", "m.yaml"]).with(0, "");
        assert_eq!(count(), after_one, "{strategy}");
        world.run(&["run", "m.yaml"]).with(0, "");
        assert_eq!(count(), after_two, "{strategy}");
    }
}

#[test]
fn an_empty_table_is_delivered_empty() {
    let world = World::new(0);
    let told = world.run(&["run", "m.yaml", "--format", "json"]).with(0, "").json();
    assert_eq!((told["outcome"].as_str(), told["rows"].as_u64()), (Some("delivered"), Some(0)));
}

#[test]
fn a_failed_run_is_continued_in_its_next_attempt() {
    let world = World::new(100);
    world.manifest(&[("unique: [id]", "unique: [v]")]);
    world.source().execute("UPDATE t SET v = 'row 1' WHERE id = 2", []).unwrap();
    let told = world.run(&["run", "m.yaml", "--format", "json"]).with(3, "error[quality_unique]").json();
    assert_eq!((told["outcome"].as_str(), told["published"].as_bool()), (Some("failed"), Some(false)));
    assert_eq!((told["code"].as_str(), told["failure_class"].as_str()), (Some("quality_unique"), Some("quality")));
    let run = told["run_id"].as_str().unwrap().to_owned();
    assert_eq!(told["next"], format!("dpone run m.yaml --resume {run}"));

    world.run(&["run", "m.yaml", "--resume"]).with(3, "error[quality_unique]");
    world.source().execute("UPDATE t SET v = 'row 2' WHERE id = 2", []).unwrap();
    let told = world.run(&["run", "m.yaml", "--resume", "--format", "json"]).with(0, "").json();
    assert_eq!((told["outcome"].as_str(), told["run_id"].as_str()), (Some("delivered"), Some(run.as_str())));
}

#[test]
fn a_replaced_version_stays_for_its_readers_until_the_next_publication() {
    let world = World::new(10);
    let versions = |run: &str| {
        world.run(&["run", "m.yaml", "--run-id", run]).with(0, "");
        let listing = world.listing();
        ["one", "two", "three"].map(|id| listing.iter().any(|n| n.starts_with(&format!("dataset/stg_{id}_"))))
    };
    assert_eq!(versions("one"), [true, false, false]);
    assert_eq!(versions("two"), [true, true, false]);
    assert_eq!(versions("three"), [false, true, true]);
    world.run(&["journal", "verify"]).with(0, "");
}

/// What no attempt can adopt is not kept, and a failed run at rest can be given up.
#[test]
fn a_failed_run_keeps_nothing_of_no_use_and_can_be_given_up() {
    let world = World::new(100);
    world.manifest(&[("unique: [id]", "unique: [v]")]);
    world.source().execute("UPDATE t SET v = 'row 1' WHERE id = 2", []).unwrap();
    world.run(&["run", "m.yaml"]).with(3, "error[quality_unique]");
    assert!(!world.listing().iter().any(|f| f.ends_with(".parquet")), "{:?}", world.listing());
    let run = world.newest()["run_id"].as_str().unwrap().to_owned();
    world.run(&["runs", "abandon", &run]).with(0, "");
    world.run(&["runs", "abandon", &run]).with(2, "settled");
    world.run(&["run", "m.yaml", "--resume"]).with(2, "error[run_abandoned]");
}
