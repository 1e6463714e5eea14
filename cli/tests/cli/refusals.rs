//! What is refused before a row is read: code, place, fix, exit code 2, one JSON object, and nothing created.

use super::world::World;

#[test]
fn manifests() {
    for (replace, code, says) in [
        (&[("strategy:", "strateggy:")][..], "manifest_unknown_key", "Did you mean `strategy`?"),
        (&[("name: orders", "name: Orders!")], "manifest_invalid_value", "m.yaml:1:"),
        (&[("name: orders", "name: [orders")], "manifest_syntax", "m.yaml:"),
        (&[("type: sqlite", "type: oracle")], "manifest_invalid_value", "sqlite"),
        (&[("type: sqlite", "type: mysql")], "", ""),
        (&[("source.db", "nowhere.db")], "source_not_found", "nowhere.db"),
        (&[("name: t}", "name: tt}")], "source_table_not_found", "Did you mean \"t\"?"),
        (&[("[id, k, v]", "[id, k, w]")], "source_column_not_found", "w"),
        (&[("unique: [id]", "unique: [idd]")], "", "idd"),
        (&[("mode: full_refresh", "mode: merge")], "strategy_key_missing", "key"),
        (&[("mode: full_refresh", "mode: partition_replace")], "strategy_key_missing", "key"),
        (
            &[("type: parquet, uri: dataset", "type: sqlite, path: t.db, table: {name: o, schema: x}")],
            "option_conflict",
            "schema",
        ),
        (
            &[("type: parquet, uri: dataset", "type: sqlite, path: source.db, table: {name: t}")],
            "option_conflict",
            "the very table",
        ),
        (&[("8MiB", "2KiB")], "budget_too_small", ""),
        (&[("exported_snapshot", "temporal_as_of")], "", ""),
    ] {
        let world = World::new(10);
        world.manifest(replace);
        let before = world.listing();
        for command in ["plan", "run"] {
            let ended = world.run(&[command, "m.yaml", "--format", "json"]).with(2, says).with_code(code);
            let told = ended.json();
            if command == "run" {
                assert_eq!((told["outcome"].as_str(), told["published"].as_bool()), (Some("failed"), Some(false)));
                assert_eq!(told["failure_class"], "preflight_block", "{ended}");
                assert!(ended.err.contains(&format!("error[{}]", told["code"].as_str().unwrap())), "{ended}");
            } else {
                assert_eq!(told["blocked"], true, "{ended}");
            }
            assert!(ended.err.contains("see: dpone explain "), "{ended}");
            assert_eq!(world.listing(), before, "{command} of {replace:?} created something");
        }
    }
}

impl super::world::Ended {
    #[track_caller]
    fn with_code(self, code: &str) -> Self {
        assert!(self.err.contains(&format!("error[{code}")), "expected {code}: {self}");
        self
    }
}

#[test]
fn files_that_are_no_manifest() {
    let world = World::new(1);
    std::fs::write(world.path("bytes.yaml"), [0xff, 0xfe, 0x00]).unwrap();
    for (file, code) in
        [("none.yaml", "manifest_not_found"), (".", "manifest_not_found"), ("bytes.yaml", "manifest_syntax")]
    {
        let ended = world.run(&["run", file, "--format", "json"]).with(2, &format!("error[{code}]"));
        assert_eq!(ended.json()["code"], code);
    }
}

/// What cannot be opened is refused before a run is recorded.
#[test]
fn a_store_that_cannot_be_opened_leaves_no_run() {
    let world = World::new(1);
    let runtime = "quality: {unique: [id]}
runtime:
  storage:
    create_dirs: false
    require_writable: false
    transfer_store: {type: local, uri: file:///objects, local_root_dir: m.yaml/objects}";
    world.manifest(&[("quality: {unique: [id]}", runtime)]);
    let told = world.run(&["run", "m.yaml", "--format", "json"]).with(2, "error[storage_not_writable]").json();
    assert!(told["run_id"].is_null() && told["published"] == false, "{told}");
    assert_eq!(world.run(&["runs", "--format", "json"]).with(0, "").json()["runs"], serde_json::json!([]));
}

#[test]
fn runs_and_journals_that_are_not_there() {
    let world = World::new(1);
    for arguments in
        [&["runs"][..], &["journal", "verify"], &["journal", "inspect", "x"], &["run", "m.yaml", "--resume"]]
    {
        world.run(arguments).with(2, "error[journal_not_found]");
    }
    assert_eq!(world.listing(), ["m.yaml", "source.db"], "nothing was created");
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
    for arguments in [
        &["runs", "show", "x"][..],
        &["runs", "abandon", "x"],
        &["reconcile", "x"],
        &["journal", "inspect", "x"],
        &["run", "m.yaml", "--resume", "x"],
    ] {
        world.run(arguments).with(2, "error[run_not_found]");
    }
    world.manifest(&[("name: orders", "name: others")]);
    world.run(&["run", "m.yaml", "--resume"]).with(2, "error[run_not_found]");
}

#[test]
fn a_target_that_another_process_holds() {
    let world = World::new(10);
    world.manifest(&[("type: parquet, uri: dataset", "type: sqlite, path: target.db, table: {name: o}")]);
    let target = rusqlite::Connection::open(world.path("target.db")).unwrap();
    target.execute_batch("CREATE TABLE other (a); BEGIN EXCLUSIVE; INSERT INTO other VALUES (1)").unwrap();
    let told = world.run(&["run", "m.yaml", "--format", "json"]).with(2, "error[target_locked]").json();
    assert_eq!((told["code"].as_str(), told["published"].as_bool()), (Some("target_locked"), Some(false)));
    drop(target);
    world.run(&["run", "m.yaml"]).with(0, "");
}

/// A version that lists files which are gone is not added to; all rows anew replace it.
#[test]
fn a_dataset_whose_files_are_gone() {
    let world = World::new(10);
    world.manifest(&[("mode: full_refresh", "mode: append")]);
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
    let listed: Vec<_> = world.listing().into_iter().filter(|f| f.ends_with(".parquet")).collect();
    assert!(!listed.is_empty());
    listed.iter().for_each(|file| std::fs::remove_file(world.path(file)).unwrap());
    let before = world.listing();
    world.run(&["plan", "m.yaml"]).with(2, "error[target_not_reachable]");
    let told = world.run(&["run", "m.yaml", "--format", "json"]).with(2, "error[target_not_reachable]").json();
    assert_eq!(told["published"], false);
    assert_eq!(world.listing(), before, "nothing was published");
    world.manifest(&[]);
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
}

/// A server that cannot be used is told by its connection and its place in the manifest.
#[test]
fn servers_that_do_not_answer() {
    let world = World::new(1);
    let side = "{type: postgres, connection_id: Shop, table: {schema: public, name: t}";
    for (manifest, code, place) in [
        (
            format!("name: orders\nsource: {side}}}\nsink: {{type: parquet, uri: d, strategy: {{mode: append}}}}\n"),
            "source_not_found",
            "source.connection_id (m.yaml:2:41)",
        ),
        (
            format!(
                "name: orders\nsource: {{type: sqlite, path: source.db, table: {{name: t}}}}\nsink: {side}, strategy: {{mode: append}}}}\n"
            ),
            "target_not_reachable",
            "sink.connection_id (m.yaml:3:39)",
        ),
    ] {
        std::fs::write(world.path("m.yaml"), manifest).unwrap();
        // Nobody listens on the discard port.
        let mut command = world.command(&["plan", "m.yaml", "--format", "json"]);
        command.env("DPONE_CONN_SHOP_URL", "postgresql://reader@127.0.0.1:9/shop");
        let ended = super::world::Ended::from(command.output().unwrap()).with(2, &format!("error[{code}]"));
        let blocker = &ended.json()["blockers"][0];
        assert_eq!(blocker["place"], place, "{ended}");
        assert!(
            blocker["fix"].as_str().unwrap().ends_with("Its settings are DPONE_CONN_SHOP_… in the environment."),
            "{ended}"
        );
    }
}

/// What a gate proves to hold no NULL may go where none is taken; a NULL then fails the gate, and nothing is published.
#[test]
fn a_gate_stands_for_a_missing_not_null() {
    let sink = ("type: parquet, uri: dataset", "type: sqlite, path: target.db, table: {name: o}");
    let gate = |columns: &'static str| ("unique: [id]", columns);
    for (columns, code, says) in [
        ("unique: [id]", 2, "Or add the column to quality.not_null"),
        ("not_null: [v]", 2, "column \"k\" can be NULL"),
        ("not_null: [v, k]", 3, "error[quality_not_null]"),
        ("not_null: [v, id]", 2, "column \"k\" can be NULL"),
    ] {
        let world = World::new(10);
        world.manifest(&[sink, gate(columns)]);
        let target = rusqlite::Connection::open(world.path("target.db")).unwrap();
        target.execute_batch("CREATE TABLE o (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, v TEXT NOT NULL)").unwrap();
        world.run(&["run", "m.yaml"]).with(code, says);
        let rows = || target.query_row("SELECT count(*) FROM o", [], |row| row.get::<_, u64>(0)).unwrap();
        assert_eq!(rows(), 0, "{columns}");
        if code == 3 {
            world.source().execute_batch("UPDATE t SET k = 0 WHERE k IS NULL").unwrap();
            world.run(&["run", "m.yaml"]).with(0, "");
            assert_eq!(rows(), 10);
        }
    }
}
