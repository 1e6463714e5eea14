//! What a plan makes of its limits: concurrency, the budget's shares, and one range with a recorded reason.

use dpone_engine::codes::Code;
use dpone_engine::plan::{Concurrency, Coverage, Plan};
use dpone_engine::ranges::Scope;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::facts::Topology;

use super::World;

/// A source that gives its readers no common state of itself.
const SQL_SERVER: (&str, &str) = ("type: sqlite\n  path: shop.db", "type: mssql\n  connection_id: shop");

fn serial(plan: &Plan) -> bool {
    plan.ranges.len() == 1
        && plan.ranges[0].scope == Scope::WholeTable
        && plan.concurrency.readers == 1
        && plan.concurrency.loads == 1
        && plan.topology == Topology::SharedPerRun
        && plan.key.is_none()
}

#[test]
fn auto_reads_one_range_and_says_why() {
    let auto = |change: fn(&mut World), more: &[(&str, &str)], expect: &[&str]| {
        let mut world = World::with(more);
        world.manifest = world.manifest.replace("mode: required", "mode: auto");
        change(&mut world);
        let plan = world.plan();
        let found: Vec<_> = plan.fallback.iter().map(|f| f.code.as_str()).collect();
        assert_eq!(found, expect);
        assert_eq!(serial(&plan), !expect.is_empty());
    };
    auto(|_| {}, &[], &[]);
    let refused = |w: &mut World| {
        let text = "decimals stored as text";
        w.source.key_refused = Some(Refusal::new(Code::UnsupportedBoundaryType, text).fix("Split by another column."));
    };
    auto(refused, &[], &["unsupported_boundary_type"]);
    auto(|w| w.source.key_indexed = false, &[], &["range_requires_index"]);
    auto(|w| w.source.max_sessions = 1, &[], &["consistency_mode_unsupported"]);
    auto(|w| w.source.min_grant = 22 << 20, &[], &["budget_too_small"]);
    auto(|_| {}, &[("column: id\n", "column: note\n")], &["unsupported_boundary_type"]);
    auto(|_| {}, &[SQL_SERVER], &["consistency_mode_unsupported"]);
    auto(
        |w| w.target.topologies = vec![Topology::SharedPerRun],
        &[("mode: required\n", "mode: required\n        staging_topology: per_partition\n")],
        &["staging_topology_unsupported"],
    );
    let scan = "native_transfer: {snapshot: {scan: {mode: single_scan_chunks}}}\n    partitioning:";
    auto(|_| {}, &[("partitioning:", scan)], &["single_scan_chunks"]);
}

#[test]
fn auto_never_reads_other_rows_than_the_stated_ranges() {
    let mut world = World::with(&[
        ("mode: required", "mode: auto"),
        ("num_partitions: 4", "ranges: [{lower: 0, upper: 10}, {lower: 10, upper: 20}]"),
    ]);
    world.source.key_indexed = false;
    assert!(world.build().is_err());
}

#[test]
fn off_is_one_range_one_reader() {
    let plan = World::with(&[("mode: required", "mode: off")]).plan();
    assert!(serial(&plan));
    assert!(plan.fallback.is_empty());
    assert_eq!(plan.concurrency, Concurrency { readers: 1, uploads: 1, loads: 1 });
}

#[test]
fn caps_are_kept_and_limits_are_said() {
    let plan = World::new().plan();
    assert_eq!(plan.concurrency, Concurrency { readers: 3, uploads: 2, loads: 1 });
    assert_eq!(plan.ranges.len(), 4);
    let plan = World::with(&[("mode: required\n", "mode: required\n        max_inflight_ranges: 2\n")]).plan();
    assert_eq!(plan.concurrency.readers, 2);
    let mut world = World::new();
    world.source.max_sessions = 2;
    let plan = world.plan();
    assert_eq!(plan.concurrency.readers, 2);
    assert!(plan.warnings.iter().any(|w| w.code == "source_sessions_limited"));
    let per_partition = "mode: required\n        staging_topology: per_partition\n";
    let plan = World::with(&[("mode: required\n", per_partition), ("load_workers: 1", "load_workers: 9")]).plan();
    assert_eq!((plan.concurrency.loads, plan.topology), (4, Topology::PerPartition));
}

#[test]
fn the_budget_is_divided_exactly() {
    let check = |bytes: &str, rows: &str, min_grant: u64, expect: (u32, u64, u64)| {
        let bytes = format!("max_inflight_bytes: {bytes}");
        let rows = format!("max_inflight_rows: {rows}");
        let mut world = World::with(&[("max_inflight_bytes: 64MiB", &bytes), ("max_inflight_rows: 40000", &rows)]);
        world.source.min_grant = min_grant;
        world.target.check_grant = 1;
        let budget = world.plan().budget;
        assert_eq!((budget.shares, budget.grant_bytes, budget.grant_rows), expect);
        assert!(budget.grant_bytes * 3 <= budget.bytes && budget.grant_rows * 3 <= budget.rows);
    };
    // Three readers, and a share for what waits to be written.
    check("64MiB", "40000", 1, (4, 16 << 20, 10_000));
    check("1001", "9", 1, (4, 250, 2));
    // The share for waiting chunks gives way before a reader does.
    check("900", "40000", 300, (3, 300, 13_333));
    check("900", "3", 1, (3, 300, 1));
}

#[test]
fn what_ranges_are_counted_against() {
    let coverage = |changes: &[(&str, &str)]| World::with(changes).plan().coverage;
    assert_eq!(coverage(&[]), Coverage::Relation);
    assert_eq!(coverage(&[("mode: required\n", "mode: required\n        consistency: immutable\n")]), Coverage::Waived);
    let gaps = [
        ("num_partitions: 4", "ranges: [{lower: 0, upper: 10}, {lower: 20, upper: 30}]"),
        ("mode: required\n", "mode: required\n        gap_policy: allow_explicit\n"),
    ];
    assert_eq!(coverage(&gaps), Coverage::Ranges);
    assert_eq!(coverage(&[SQL_SERVER, ("mode: required", "mode: auto")]), Coverage::Statement);
}

#[test]
fn what_is_worth_a_warning() {
    let codes = |world: &World| world.plan().warnings.into_iter().map(|w| w.code).collect::<Vec<_>>();
    assert!(codes(&World::new()).is_empty());
    let mut world = World::with(&[
        ("    columns: [id, amount, note]\n", ""),
        ("mode: required\n", "mode: off\n        consistency: immutable\n"),
        ("unique: [id]", "unique: [id], fidelity: counts"),
    ]);
    world.target.warnings = vec!["the folder is on a network".into()];
    let found = codes(&world);
    for code in ["manifest_setting_without_effect", "source_select_star", "consistency_unverified", "fidelity_reduced"]
    {
        assert!(found.iter().any(|f| f == code), "{code} is not in {found:?}");
    }
    assert_eq!(found.last().unwrap(), "target_condition");
    let mut world = World::with(&[(
        "partitioning:",
        "native_transfer: {snapshot: {scan: {require_index_for_range: false}}}\n    partitioning:",
    )]);
    world.source.key_indexed = false;
    assert_eq!(codes(&world), ["source_boundary_index_unknown"]);
}

#[test]
fn a_range_column_need_not_be_delivered() {
    let mut world = World::with(&[("column: id\n", "column: shop_id\n"), ("num_partitions: 4", "num_partitions: 2")]);
    assert!(world.build().is_err());
    let mut column = world.source.schema.columns[0].clone();
    column.name = "shop_id".into();
    world.source.key_column = Some(column);
    let plan = world.plan();
    assert_eq!(plan.key.as_ref().map(|key| key.name.as_str()), Some("shop_id"));
    assert_eq!(plan.ranges.len(), 2);
    let mut other = World { source: world.source.clone(), target: world.target.clone(), ..World::new() };
    other.manifest = world.manifest.clone();
    other.source.key_column.as_mut().unwrap().declared = "BIGINT".into();
    let found = plan.differences(&other.plan());
    assert_eq!(found, ["source column \"shop_id\": was declared INTEGER, is BIGINT"]);
}
