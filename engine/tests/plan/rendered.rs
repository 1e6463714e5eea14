//! Plans as they are shown. Boundaries appear only where values were asked for.

use dpone_engine::report::plan::{blocked, blocked_markdown, blocked_text, document, markdown, text};

use dpone_engine::value::Value;

use super::World;

fn stated() -> World {
    World::with(&[(
        "num_partitions: 4",
        "ranges: [{lower: 0, upper: 4711}, {lower: 4711, upper: 815000, include_upper: true}, {null: true}]",
    )])
}

fn fallen_back() -> World {
    let mut world = World::with(&[
        ("mode: required", "mode: auto"),
        ("    columns: [id, amount, note]\n", ""),
        ("unique: [id]", "unique: [id], fidelity: counts"),
    ]);
    world.source.key_indexed = false;
    world
}

#[test]
fn as_text() {
    insta::assert_snapshot!("text", text(&World::new().plan(), false));
    insta::assert_snapshot!("text_values", text(&stated().plan(), true));
    insta::assert_snapshot!("text_fallback", text(&fallen_back().plan(), false));
}

#[test]
fn as_markdown() {
    insta::assert_snapshot!("markdown", markdown(&fallen_back().plan(), false));
    insta::assert_snapshot!("markdown_ranges", markdown(&World::new().plan(), false));
}

#[test]
fn as_json() {
    let json = |world: World, show| serde_json::to_string_pretty(&document(&world.plan(), &[7; 32], show)).unwrap();
    insta::assert_snapshot!("json", json(World::new(), false));
    insta::assert_snapshot!("json_values", json(stated(), true));
    insta::assert_snapshot!("json_fallback", json(fallen_back(), false));
}

#[test]
fn when_there_is_no_plan() {
    let mut world = World::with(&[("mode: required\n", "mode: required\n        group_key: [note]\n")]);
    world.source.key_indexed = false;
    let found = world.build().unwrap_err();
    insta::assert_snapshot!("blocked_text", blocked_text(&found));
    insta::assert_snapshot!("blocked_markdown", blocked_markdown(&found));
    insta::assert_snapshot!("blocked_json", serde_json::to_string_pretty(&blocked(&found)).unwrap());
}

/// What is read and how it is reached is told, and a query's text is not.
#[test]
fn what_is_read() {
    let check = |changes: &[(&str, &str)], expected: &str| {
        let plan = World::with(changes).plan();
        let told = document(&plan, &[7; 32], false).source_facts.unwrap().reads;
        assert_eq!(told, expected);
        assert!(text(&plan, false).contains(&format!(": {expected}")), "{}", text(&plan, false));
    };
    check(&[], "orders in shop.db");
    check(&[("table: {name: orders}\n  options", "query: SELECT 4711\n  options")], "a query in shop.db");
    let sqlite = "source:\n  type: sqlite\n  path: shop.db";
    check(&[(sqlite, "source:\n  type: postgres\n  connection_id: shop")], "orders by connection shop");
    let stated = "source:\n  type: postgres\n  connection: {host: db, port: 5433, database: shop, username: u}";
    check(&[(sqlite, stated)], "orders at db:5433/shop");
}

/// Fewer ranges than were asked for are explained.
#[test]
fn fewer_ranges_than_asked_for() {
    let told = |world: &World| text(&world.plan(), false).contains("4 were asked for; ");
    let mut world = World::new();
    assert!(!told(&world), "there are as many");
    world.source.key.as_mut().unwrap().extent = Some((Value::Int(1), Value::Int(2)));
    assert!(told(&world), "two values make two ranges");
    assert!(!text(&stated().plan(), false).contains("were asked for; "), "as the manifest states them");
}

/// A target that exists is not created.
#[test]
fn no_statement_creates_what_exists() {
    let mut world = World::new();
    world.target.ddl = vec!["CREATE TABLE o (id integer)".to_owned()];
    for (exists, shown) in [(false, true), (true, false)] {
        world.target.exists = exists;
        let plan = world.plan();
        assert_eq!(text(&plan, false).contains("CREATE TABLE"), shown);
        assert_eq!(document(&plan, &[7; 32], false).ddl.is_empty(), !shown);
    }
}

#[test]
fn no_value_is_shown_unasked() {
    let plan = stated().plan();
    let shown =
        [text(&plan, false), markdown(&plan, false), serde_json::to_string(&document(&plan, &[7; 32], false)).unwrap()];
    for shown in shown {
        assert!(!shown.contains("4711") && !shown.contains("815000"), "{shown}");
    }
    assert!(text(&plan, true).contains("4711 <= id <= 815000"));
}
