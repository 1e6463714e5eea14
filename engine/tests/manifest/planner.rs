use dpone_engine::manifest::{PlannerMode, PlannerPolicy, SkewPolicy, TextForm, parse};
use dpone_engine::schema::LogicalType;

use super::{BASE, good};

/// [`BASE`] as a PostgreSQL source with these partitioning lines.
fn postgres(partitioning: &str) -> String {
    BASE.replacen("  type: sqlite\n  path: shop.db\n", "  type: postgres\n  connection_id: shop\n", 1).replacen(
        "      column: id\n      num_partitions: 8\n",
        partitioning,
        1,
    )
}

#[test]
fn what_ranges_are_planned_from() {
    let check = |partitioning: &str, mode, column: &str| {
        let manifest = good(&postgres(partitioning));
        assert_eq!(manifest.ranges.planner.mode, mode, "{partitioning}");
        assert_eq!(manifest.ranges.column.as_deref(), Some(column), "{partitioning}");
    };
    check("      column: id\n", PlannerMode::Auto, "id");
    check("      column: id\n      planner: {mode: bounds}\n", PlannerMode::Bounds, "id");
    check("      column: id\n      planner: {mode: statistics}\n", PlannerMode::Statistics, "id");
    check("      column: id\n      strategy: stats\n", PlannerMode::Statistics, "id");
    check("      num_partitions: 8\n", PlannerMode::Ctid, "ctid");
    check("      planner: {mode: ctid}\n", PlannerMode::Ctid, "ctid");
    check("      column: ctid\n", PlannerMode::Ctid, "ctid");
}

#[test]
fn sql_server_has_statistics_and_no_blocks() {
    let mssql = |partitioning: &str| postgres(partitioning).replacen("type: postgres", "type: mssql", 1);
    let mode = |partitioning: &str| good(&mssql(partitioning)).ranges.planner.mode;
    assert_eq!(mode("      column: id\n"), PlannerMode::Auto);
    assert_eq!(mode("      column: id\n      planner: {mode: statistics}\n"), PlannerMode::Statistics);
    assert_eq!(mode("      column: id\n      strategy: stats\n"), PlannerMode::Statistics);
    let code = |partitioning: &str| parse(&mssql(partitioning), "m.yaml").unwrap_err()[0].code.as_str();
    assert_eq!(code("      column: id\n      planner: {mode: ctid}\n"), "route_unsupported");
    assert_eq!(code("      num_partitions: 8\n"), "manifest_invalid_value");
}

#[test]
fn what_is_stated_about_skew_is_kept() {
    let stated = "      column: id\n      planner: {mode: statistics, stats_source: auto, skew_policy: split_hot_ranges,\n        max_hot_partition_factor: 2.5, min_partition_rows: 50000, low_confidence_policy: conservative}\n";
    let expect = PlannerPolicy {
        mode: PlannerMode::Statistics,
        skew_policy: SkewPolicy::SplitHotRanges,
        min_partition_rows: 50_000,
    };
    assert_eq!(good(&postgres(stated)).ranges.planner, expect);
    // A policy that says nothing has the form that it had before it could say anything.
    assert!(!good(BASE).canonical_json().unwrap().contains("planner"));
    assert!(good(&postgres(stated)).canonical_json().unwrap().contains("planner"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let at = "source.options.partitioning";
    let check = |partitioning: &str, code: &str, place: &str| {
        let refusals = parse(&postgres(partitioning), "m.yaml").unwrap_err();
        let found: Vec<_> = refusals.iter().map(|r| (r.code.as_str(), r.place.clone().unwrap_or_default())).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, code);
        assert!(found[0].1.contains(place), "{found:?}");
    };
    let stated = "bounds: {lower: 1, upper: 2}";
    check(
        &format!("      column: id\n      planner: {{mode: statistics}}\n      {stated}\n"),
        "option_conflict",
        &format!("{at}.planner.mode"),
    );
    check("      column: id\n      planner: {mode: ctid}\n", "option_conflict", &format!("{at}.column"));
    check(
        "      column: id\n      strategy: stats\n      planner: {mode: bounds}\n",
        "option_conflict",
        "planner.mode",
    );
    check(&format!("      {stated}\n"), "manifest_invalid_value", &format!("{at}.column"));
    let immutable = postgres("      num_partitions: 8\n").replace("reader_workers: 4", "consistency: immutable");
    let refusals = parse(&immutable, "m.yaml").unwrap_err();
    assert_eq!(refusals[0].code.as_str(), "consistency_mode_unsupported");
}

#[test]
fn texts_can_be_told_their_form() {
    let types = "    types: {id: json, amount: \"text( latin1 )\"}\n    partitioning";
    let manifest = good(&postgres("      column: id\n").replacen("    partitioning", types, 1));
    assert_eq!(manifest.source.types.get("id"), Some(&LogicalType::Text));
    assert_eq!(manifest.source.text_forms.get("id"), Some(&TextForm::Json));
    assert_eq!(manifest.source.text_forms.get("amount"), Some(&TextForm::Latin1));
    let refusals = parse(&BASE.replacen("    partitioning", types, 1), "m.yaml").unwrap_err();
    assert_eq!(refusals[0].code.as_str(), "option_conflict");
}
