//! Every code that blocks a plan, with its place. All blockers are found, not the first.

use dpone_engine::codes::Code;
use dpone_engine::plan::RelationKind;
use dpone_engine::ranges::KeyFacts;
use dpone_engine::run::facts::Topology;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::World;

#[track_caller]
fn blocked(world: &World, expect: &[(Code, &str)]) {
    let blocked = world.build().unwrap_err();
    let found: Vec<_> = blocked.blockers.iter().map(|b| (b.code, b.place.clone().unwrap_or_default())).collect();
    let expect: Vec<_> = expect.iter().map(|(code, place)| (*code, (*place).to_owned())).collect();
    assert_eq!(found, expect, "{:?}", blocked.blockers);
    for blocker in &blocked.blockers {
        assert!(blocker.fix.is_some(), "{} says no fix", blocker.code);
    }
}

const PARTITIONING: &str = "source.options.partitioning";
const PARALLEL: &str = "source.options.partitioning.range_parallelism";

fn at(base: &str, name: &str) -> String {
    format!("{base}.{name}")
}

#[test]
fn columns_that_are_named_must_be_read() {
    let world = World::with(&[
        ("column: id\n", "column: idd\n"),
        ("mode: required\n", "mode: required\n        group_key: [idd]\n"),
        ("not_null: [id], unique: [id]", "not_null: [nil], unique: [id, none]"),
        ("{mode: full_refresh}", "{mode: full_refresh, key: [order_id]}"),
    ]);
    blocked(
        &world,
        &[
            (Code::SourceColumnNotFound, &at(PARTITIONING, "column")),
            (Code::SourceColumnNotFound, &at(PARALLEL, "group_key[0]")),
            (Code::SourceColumnNotFound, "quality.not_null[0]"),
            (Code::SourceColumnNotFound, "quality.unique[1]"),
            (Code::StrategyKeyMissing, "sink.strategy.key[0]"),
        ],
    );
    assert!(world.build().unwrap_err().blockers[0].fix.as_ref().unwrap().contains("\"id\""));
}

#[test]
fn a_source_has_only_its_own_consistency_modes() {
    for (mode, authority) in [
        ("database_snapshot", "database_snapshot: snap"),
        ("temporal_as_of", "as_of: \"2026-01-31T12:00:00\""),
        ("write_exclusion", "lease: l1, query: select 1"),
        ("statement", ""),
    ] {
        for range_mode in ["required", "auto", "off"] {
            let world = World::with(&[(
                "mode: required\n",
                &format!(
                    "mode: {range_mode}\n        consistency: {mode}\n        consistency_authority: {{{authority}}}\n"
                ),
            )]);
            blocked(&world, &[(Code::ConsistencyModeUnsupported, &at(PARALLEL, "consistency"))]);
        }
    }
}

#[test]
fn several_statements_need_something_that_keeps_the_source_still() {
    let mssql = ("type: sqlite\n  path: shop.db", "type: mssql\n  connection_id: shop");
    let with = |consistency: &str| {
        World::with(&[mssql, ("mode: required\n", &format!("mode: required\n        {consistency}\n"))])
    };
    let place = at(PARALLEL, "consistency");
    for stated in ["consistency: statement", "consistency: exported_snapshot", "staging_topology: shared_per_run"] {
        let world = with(stated);
        blocked(&world, &[(Code::ConsistencyModeUnsupported, &place)]);
        assert!(world.build().unwrap_err().blockers[0].fix.as_ref().unwrap().contains("database_snapshot"), "{stated}");
    }
    let lease = "consistency_authority: {lease: l1, query: select 1}";
    for stated in [
        "consistency: immutable".to_owned(),
        "consistency: database_snapshot\n        consistency_authority: {database_snapshot: s}".to_owned(),
        "consistency: temporal_as_of\n        consistency_authority: {as_of: \"2026-01-31T12:00:00\"}".to_owned(),
        format!("consistency: write_exclusion\n        {lease}"),
    ] {
        assert!(with(&stated).plan().ranges.len() > 1, "{stated}");
    }
}

#[test]
fn types_that_cannot_be_cut() {
    for ty in [LogicalType::Text, LogicalType::Uuid, LogicalType::Time { digits: 3 }, LogicalType::Float { bits: 64 }] {
        let mut world = World::new();
        world.source.schema.columns[0].ty = ty;
        world.source.key = Some(KeyFacts::default());
        blocked(&world, &[(Code::UnsupportedBoundaryType, &at(PARTITIONING, "column"))]);
    }
    let world = World::with(&[("column: id\n", "column: id\n      planner: {boundary_type: date}\n")]);
    blocked(&world, &[(Code::UnsupportedBoundaryType, &at(PARTITIONING, "planner.boundary_type"))]);
}

#[test]
fn ranges_that_are_wrong_as_stated() {
    let stated = |ranges: &str| World::with(&[("num_partitions: 4", &format!("ranges: {ranges}"))]);
    for ranges in [
        "[{lower: 0, upper: 10}, {lower: 5, upper: 20}]",
        "[{lower: 0, upper: 10}, {lower: 11, upper: 20}]",
        "[{lower: 0, upper: \"x\"}]",
        "[{lower: 10, upper: 0}]",
    ] {
        blocked(&stated(ranges), &[(Code::RangeInvalid, &at(PARTITIONING, "ranges"))]);
    }
    let world = World::with(&[("num_partitions: 4", "num_partitions: 4\n      bounds: {lower: 9, upper: 1}")]);
    blocked(&world, &[(Code::RangeInvalid, &at(PARTITIONING, "bounds"))]);
    let mut world = World::new();
    world.source.key =
        Some(KeyFacts { extent: Some((Value::Text("a".into()), Value::Int(4))), rows: None, ..KeyFacts::default() });
    blocked(&world, &[(Code::SourceValueTypeMismatch, &at(PARTITIONING, "column"))]);
}

#[test]
fn groups_and_windows() {
    let world = World::with(&[("mode: required\n", "mode: required\n        group_key: [note]\n")]);
    blocked(&world, &[(Code::GroupIntegrityUnproven, &at(PARALLEL, "group_key"))]);
    let window = "select id, amount, note, row_number() over (order by id) from orders";
    let query = World::with(&[("table: {name: orders}\n  options", &format!("query: \"{window}\"\n  options"))]);
    blocked(&query, &[(Code::WindowFunctionUnproven, "source.query")]);
    let mut view = World::new();
    view.source.relation = RelationKind::View;
    blocked(&view, &[(Code::WindowFunctionUnproven, "source.table")]);
    view.source.view_sql = vec![format!("CREATE VIEW v AS {window}")];
    blocked(&view, &[(Code::WindowFunctionUnproven, "source.table")]);
    view.source.view_sql = vec!["CREATE VIEW v AS select id, amount, note from orders".to_owned()];
    view.plan();
}

#[test]
fn conditions_of_parallel_reading() {
    let mut world = World::new();
    world.source.key_indexed = false;
    blocked(&world, &[(Code::RangeRequiresIndex, &at(PARTITIONING, "column"))]);
    let mut world = World::new();
    world.source.max_sessions = 1;
    blocked(&world, &[(Code::ConsistencyModeUnsupported, &at(PARALLEL, "reader_workers"))]);
    let mut world = World::with(&[("mode: required\n", "mode: required\n        staging_topology: per_partition\n")]);
    world.target.topologies = vec![Topology::SharedPerRun];
    blocked(&world, &[(Code::StagingTopologyUnsupported, &at(PARALLEL, "staging_topology"))]);
}

#[test]
fn a_budget_must_hold_a_batch_of_every_reader() {
    let mut world = World::new();
    world.source.min_grant = 22 << 20;
    blocked(&world, &[(Code::BudgetTooSmall, &at(PARALLEL, "max_inflight_bytes"))]);
    world.source.min_grant = 64 << 20;
    world.manifest = world.manifest.replace("mode: required", "mode: off");
    world.plan();
    world.source.min_grant += 1;
    blocked(&world, &[(Code::BudgetTooSmall, &at(PARALLEL, "max_inflight_bytes"))]);
    let mut world = World::new();
    world.target.check_grant = (64 << 20) + 1;
    blocked(&world, &[(Code::BudgetTooSmall, &at(PARALLEL, "max_inflight_bytes"))]);
    let world = World::with(&[("max_inflight_rows: 40000", "max_inflight_rows: 2")]);
    blocked(&world, &[(Code::BudgetTooSmall, &at(PARALLEL, "max_inflight_rows"))]);
}

#[test]
fn every_blocker_is_found() {
    let mut world = World::with(&[
        ("mode: required\n", "mode: required\n        group_key: [note]\n"),
        ("unique: [id]", "unique: [nope]"),
    ]);
    world.source.key_indexed = false;
    world.source.min_grant = 22 << 20;
    blocked(
        &world,
        &[
            (Code::SourceColumnNotFound, "quality.unique[0]"),
            (Code::GroupIntegrityUnproven, &at(PARALLEL, "group_key")),
            (Code::RangeRequiresIndex, &at(PARTITIONING, "column")),
            (Code::BudgetTooSmall, &at(PARALLEL, "max_inflight_bytes")),
        ],
    );
}
