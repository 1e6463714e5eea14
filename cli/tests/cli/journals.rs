//! Journals that are read, damaged, or not for this program.

use rusqlite::Connection;

use super::world::World;

fn journal(world: &World) -> Connection {
    Connection::open(world.path(".dpone/journal.db")).unwrap()
}

fn delivered() -> World {
    let world = World::new(20);
    world.run(&["run", "m.yaml", "-q", "--run-id", "one"]).with(0, "");
    world
}

#[test]
fn a_run_is_told_at_any_fact() {
    let world = delivered();
    let whole = world.run(&["journal", "inspect", "one", "--format", "json"]).with(0, "").json();
    let facts = whole["facts"].as_u64().unwrap();
    assert!(facts > 20);
    for at in [1, 2, facts / 2, facts] {
        let told = world.run(&["journal", "inspect", "one", "--at", &at.to_string(), "--format", "json"]).with(0, "");
        assert_eq!(told.json()["at_seq"], at);
    }
    for at in ["0", "100000"] {
        world.run(&["journal", "inspect", "one", "--at", at]).with(2, "Name a fact from 1 to");
    }
    for format in ["text", "md"] {
        let told = world.run(&["journal", "inspect", "one", "--format", format]).with(0, "").out;
        assert!(told.contains("CleanupComplete"), "{told}");
    }
}

#[test]
fn damage_is_found_and_nothing_starts_over_it() {
    let world = delivered();
    world.run(&["journal", "verify"]).with(0, "");
    let db = journal(&world);
    let triggers: Vec<String> = {
        let mut triggers = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        triggers.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert!(!triggers.is_empty(), "the journal is append-only by triggers");
    assert!(db.execute("UPDATE events SET at = at + 1 WHERE seq = 5", []).is_err());
    for trigger in triggers {
        db.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    db.execute("UPDATE events SET at = at + 1 WHERE seq = 5", []).unwrap();
    drop(db);
    world.run(&["journal", "verify"]).with(1, "error[journal_corrupt]");
    let told = world.run(&["run", "m.yaml", "--format", "json"]).with(1, "error[journal_corrupt]").json();
    assert_eq!(told["code"], "journal_corrupt");
    world.run(&["run", "m.yaml", "--resume"]).with(1, "error[journal_corrupt]");
    // It is still listed, and said to be damaged.
    assert!(world.run(&["runs"]).with(0, "").out.contains("damaged"));
}

#[test]
fn files_that_are_no_journal_of_this_program() {
    let world = delivered();
    journal(&world).pragma_update(None, "user_version", 999).unwrap();
    for arguments in [&["runs"][..], &["run", "m.yaml"], &["plan", "m.yaml"]] {
        world.run(arguments).with(2, "error[journal_newer]");
    }
    std::fs::write(world.path("text.db"), "this is no database at all, but a text").unwrap();
    world.run(&["run", "m.yaml", "--journal", "text.db"]).with(1, "error[journal_corrupt]");
    assert_eq!(std::fs::read(world.path("text.db")).unwrap(), b"this is no database at all, but a text");
}

#[test]
fn runs_of_one_id_in_two_journals_are_two_runs() {
    let parquet = "sink: {type: parquet, uri: dataset, strategy: {mode: full_refresh}}";
    let sqlite = "sink: {type: sqlite, path: target.db, table: {name: t}, strategy: {mode: full_refresh}}";
    for sink in [parquet, sqlite] {
        let world = World::new(10);
        world.manifest(&[(parquet, sink)]);
        let deliver = |journal: &str, id: &str, rows: u64| {
            world.source().execute("DELETE FROM t WHERE id > ?1", [rows]).unwrap();
            let ended = world.run(&["run", "m.yaml", "--journal", journal, "--run-id", id, "--format", "json"]);
            let told = ended.with(0, "").json();
            assert_eq!((told["outcome"].as_str(), told["rows"].as_u64()), (Some("delivered"), Some(rows)), "{sink}");
        };
        deliver("a.db", "daily", 9);
        deliver("a.db", "later", 8);
        deliver("a.db", "third", 7);
        deliver("b.db", "daily", 6);
        if sink == sqlite {
            let db = Connection::open(world.path("target.db")).unwrap();
            assert_eq!(db.query_row("SELECT count(*) FROM t", [], |r| r.get::<_, u64>(0)).unwrap(), 6);
            continue;
        }
        // What the other journal's run published is not this one's to remove.
        deliver("a.db", "fifth", 5);
        deliver("a.db", "sixth", 4);
        let listing = world.listing();
        let of = |id: &str| listing.iter().any(|n| n.starts_with(&format!("dataset/stg_{id}_")));
        assert_eq!((of("later"), of("third"), of("daily"), of("fifth")), (true, false, true, true), "{listing:?}");
    }
}
