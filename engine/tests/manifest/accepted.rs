use dpone_engine::manifest::{
    Bounds, Connection, Consistency, Fidelity, Manifest, NullBucket, OnAuthorityLost, RangeCount, RangeMode, Relation,
    StagingTopology, StoreType, StrategyMode, parse_with_notices,
};
use dpone_engine::schema::LogicalType;

use super::{BASE, base_with, good};

/// The manifest of the interface page, for the adapters of this build.
const FULL: &str = r#"
name: orders
source:
  type: postgres
  connection_id: shop
  connection_type: env
  table: {schema: public, name: orders}
  options:
    columns: [id, amount, note]
    types: {amount: "decimal(38,10)"}
    partitioning:
      column: id
      num_partitions: 8
      bounds: auto
      export_workers: 4
      load_workers: 1
      planner: {boundary_type: auto, null_bucket: separate, mode: auto}
      range_parallelism: {mode: required, reader_workers: 4, upload_workers: 2, max_inflight_ranges: 4,
        max_inflight_rows: 200000, max_inflight_bytes: 64MiB, gap_policy: reject, consistency: exported_snapshot,
        consistency_authority: {}, on_authority_lost: reread, staging_topology: shared_per_run, group_key: []}
    native_transfer: {}
sink:
  type: clickhouse
  connection_id: dwh
  connection_type: env
  table: {database: analytics, name: orders}
  strategy: {mode: full_refresh, key: [id]}
  options: {}
quality: {min_rows: 1, not_null: [id], unique: [id], fidelity: rows, custom_sql: []}
runtime:
  journal: .dpone/journal.db
  storage: {work_dir: work, transfer_store: {type: local, uri: s3://stage/x, local_root_dir: .dpone/objects}}
"#;

/// The adaptive transfer page's production manifest, on a source of this build: its settings are honoured, or have
/// no effect here and say so; the ones that cannot be honoured are changed as the refusals advise.
const ADAPTIVE: &str = "
runtime:
  storage:
    profile: mounted_volume
    work_dir: /mnt/dpone-work
    evidence_dir: .dpone/runs
    checkpoint_dir: .dpone/state
    debug_dir: .dpone/debug
    min_free_bytes: 1GiB
    transfer_store:
      type: s3
      uri: s3://dpone-stage/native-transfer
      connection_id: dpone_transfer_store
      connection_type: env
      cleanup: {temp_objects: on_success, failed_objects: keep}
      encryption: {mode: provider_default}
      multipart: {enabled: true, part_size: 64MiB}
    cleanup: {temp_files: eager, failed_files: keep}
name: counterparty
source:
  type: mssql
  connection_id: mssql_dwh
  connection_type: env
  table: {database: DWH_Interchange, schema: clickhouse, name: v_dim_counterparty}
  options:
    columns: [id, name, updated_at]
    partitioning:
      strategy: auto
      column: id
      bounds: auto
      target_rows_per_partition: 200000
      max_partitions: 4
      export_workers: 4
      load_workers: 1
    native_transfer:
      execution:
        mode: auto
        profile: balanced
        transport:
          mode: auto
          prefer_streaming: true
          fallback_to_file: true
          stream_buffer_bytes: 16MiB
          checksum: rolling
          max_stream_seconds: 3600
        cleanup_policy: eager
        resume_policy: object_store_if_verified
        resource_policy:
          max_active_files: 2
          max_active_bytes: 512MiB
          target_file_bytes: 128MiB
          max_file_bytes: 256MiB
          adaptive_sizing: true
          oversize_policy: split_and_retry
          min_slice_rows: 1000
          max_slice_rows: 250000
          disk_headroom_pct: 20
sink:
  type: clickhouse
  connection_id: dwh
  table: {database: analytics, name: counterparty}
  strategy: {mode: full_refresh}
";

#[test]
fn the_whole_manifest_of_the_interface_is_read() {
    let m = good(FULL);
    assert_eq!(m.name, "orders");
    assert!(matches!(&m.source.connection, Connection::Reference { connection_id, .. } if connection_id == "shop"));
    assert!(
        matches!(&m.source.relation, Relation::Table(t) if t.schema.as_deref() == Some("public") && t.name == "orders")
    );
    assert_eq!(m.source.columns.as_deref(), Some(&["id".to_owned(), "amount".to_owned(), "note".to_owned()][..]));
    assert_eq!(m.source.types.get("amount"), Some(&LogicalType::Decimal { precision: 38, scale: 10 }));
    let r = &m.ranges;
    assert_eq!((r.mode, r.count, r.column.as_deref()), (RangeMode::Required, RangeCount::Fixed(8), Some("id")));
    assert_eq!((r.reader_workers, r.upload_workers, r.load_workers, r.max_inflight_ranges), (4, 2, 1, 4));
    assert_eq!((r.max_inflight_rows, r.max_inflight_bytes), (200_000, 64 << 20));
    assert_eq!((r.consistency, r.on_authority_lost), (Consistency::ExportedSnapshot, OnAuthorityLost::Reread));
    assert_eq!((r.staging_topology, r.null_bucket), (StagingTopology::SharedPerRun, NullBucket::Separate));
    assert_eq!((m.sink.strategy.mode, m.sink.strategy.key.len()), (StrategyMode::FullRefresh, 1));
    assert_eq!((m.quality.min_rows, m.quality.fidelity), (1, Fidelity::Rows));
    assert_eq!(m.runtime.storage.transfer_store.uri, "s3://stage/x");
}

#[test]
fn a_source_without_a_snapshot_is_read_in_one_statement() {
    let of = |kind: &str, connection: &str| {
        let source = format!("source: {{type: {kind}, {connection}, table: {{name: t}}}}");
        let sink = "sink: {type: parquet, uri: 'file:///d', strategy: {mode: append}}";
        good(&format!("name: t\n{source}\n{sink}\n")).ranges.consistency
    };
    assert_eq!(of("sqlite", "path: a.db"), Consistency::ExportedSnapshot);
    assert_eq!(of("postgres", "connection_id: a"), Consistency::ExportedSnapshot);
    for kind in ["mssql", "mysql", "odbc"] {
        assert_eq!(of(kind, "connection_id: a"), Consistency::Statement);
    }
}

#[test]
fn the_adaptive_transfer_page_is_read_and_says_what_has_no_effect() {
    let parsed = parse_with_notices(ADAPTIVE, "m.yaml").unwrap();
    let m = parsed.manifest;
    assert_eq!((m.chunks.target_bytes, m.chunks.max_bytes, m.chunks.max_rows), (128 << 20, 256 << 20, Some(250_000)));
    assert_eq!((m.runtime.storage.disk_headroom_pct, m.runtime.storage.min_free_bytes), (20, 1 << 30));
    assert_eq!(m.runtime.storage.transfer_store.kind, StoreType::S3);
    // No range_parallelism: one range, one reader.
    assert_eq!((m.ranges.mode, m.ranges.count, m.ranges.reader_workers), (RangeMode::Off, RangeCount::Fixed(1), 1));
    let named: Vec<_> = parsed.notices.iter().map(|n| n.path.rsplit('.').next().unwrap_or_default()).collect();
    for path in
        ["prefer_streaming", "stream_buffer_bytes", "checksum", "max_active_bytes", "export_workers", "cleanup_policy"]
    {
        assert!(named.contains(&path), "{path} in {named:?}");
    }
}

#[test]
fn what_is_not_written_has_its_documented_default() {
    let text = "name: t\nsource: {type: sqlite, path: a.db, table: {name: t}}\nsink: {type: parquet, uri: 'file:///d', strategy: {mode: append}}\n";
    let m = good(text);
    let r = &m.ranges;
    assert_eq!((r.mode, r.count, &r.bounds, &r.column), (RangeMode::Off, RangeCount::Fixed(1), &Bounds::Auto, &None));
    assert_eq!((r.reader_workers, r.upload_workers, r.load_workers, r.max_inflight_ranges), (1, 1, 1, 1));
    assert_eq!((r.max_inflight_rows, r.max_inflight_bytes, r.require_index), (200_000, 64 << 20, true));
    assert_eq!((r.consistency, r.staging_topology), (Consistency::ExportedSnapshot, StagingTopology::SharedPerRun));
    assert_eq!((m.quality.min_rows, m.quality.fidelity), (0, Fidelity::Rows));
    assert_eq!((m.chunks.target_bytes, m.chunks.max_bytes), (64 << 20, 128 << 20));
    let s = &m.runtime.storage;
    assert_eq!(
        (m.runtime.journal.as_str(), s.work_dir.as_str(), s.evidence_dir.as_str()),
        (".dpone/journal.db", ".dpone/work", ".dpone/runs")
    );
    assert_eq!(
        (s.transfer_store.uri.as_str(), s.transfer_store.local_root_dir.as_deref()),
        ("local://objects", Some(".dpone/objects"))
    );
    assert_eq!(m.source.columns, None);
    assert_eq!(m.sink.connection, Connection::Uri("file:///d".into()));
}

#[test]
fn spellings_that_mean_the_same_give_the_same_manifest() {
    for (from, to) in [
        ("mode: required\n", "mode: 'required'\n"),
        ("reader_workers: 4", "reader_workers: 4\n        upload_workers: 4\n        max_inflight_ranges: 8"),
        ("      load_workers: 1\n", "      export_workers: 4\n"),
        (
            "        reader_workers: 4\n",
            "        load_workers: 1\n        reader_workers: 4\n        max_inflight_bytes: 67108864\n",
        ),
        (
            "        reader_workers: 4\n",
            "        reader_workers: 4\n        max_inflight_bytes: 64 MiB\n        consistency_authority: {}\n",
        ),
        ("{name: orders}\n  options", "&t {name: orders}\n  options"),
        ("columns: [id, amount]", "columns:\n    - id\n    - amount # the net amount"),
    ] {
        assert_eq!(good(&base_with(from, to)), good(BASE), "{to}");
    }
    let with_bom = format!("\u{feff}{BASE}");
    assert_eq!(good(&with_bom), good(BASE));
    assert_eq!(good(&BASE.replace('\n', "\r\n")), good(BASE));
}

#[test]
fn yaml_words_are_the_words_that_were_written() {
    let m = good(&base_with("[id, amount]", "[off, no, y, 007, 1.50, true, 'null']"));
    assert_eq!(m.source.columns.unwrap(), ["off", "no", "y", "007", "1.50", "true", "null"]);
    let m = good(&base_with("mode: required\n        reader_workers: 4", "mode: off"));
    assert_eq!(m.ranges.mode, RangeMode::Off);
    let m = good(&(BASE.to_owned() + "quality: {fidelity: off}\n"));
    assert_eq!(m.quality.fidelity, Fidelity::Off);
    // A column may be named like a credential; it is not one.
    let m = good(
        &base_with("    partitioning", "    types: {amount: text}\n    partitioning").replace("amount", "password"),
    );
    assert!(m.source.types.contains_key("password"));
}

#[test]
fn mode_off_is_one_range_and_one_reader_whatever_else_is_written() {
    let m = good(&base_with("mode: required", "max_inflight_bytes: 32MiB\n        mode: off"));
    assert_eq!(
        (m.ranges.count, m.ranges.reader_workers, m.ranges.max_inflight_bytes),
        (RangeCount::Fixed(1), 1, 32 << 20)
    );
}

#[test]
fn explicit_ranges_keep_their_ends() {
    let ranges = "ranges: [{upper: 10}, {lower: 10, upper: 2024-01-01}, {lower: 1e3, upper: ~, include_lower: false}, {null: true}]";
    let m = good(&base_with("num_partitions: 8", ranges));
    let Bounds::Explicit { ranges, null } = m.ranges.bounds else { panic!("explicit") };
    let seen: Vec<_> = ranges
        .iter()
        .map(|r| {
            (
                r.lower.as_ref().map(|b| b.0.as_str()),
                r.upper.as_ref().map(|b| b.0.as_str()),
                r.include_lower,
                r.include_upper,
            )
        })
        .collect();
    let expected = [
        (None, Some("10"), false, false),
        (Some("10"), Some("2024-01-01"), true, false),
        (Some("1e3"), None, false, false),
    ];
    assert_eq!((seen.as_slice(), null), (&expected[..], true));
}

#[test]
fn the_canonical_form_reads_back_to_the_same_manifest() {
    for text in [FULL, ADAPTIVE, BASE, &base_with("num_partitions: 8", "ranges: [{lower: 'a\"b', upper: ~}]")] {
        let manifest = good(text);
        let json = manifest.canonical_json().unwrap();
        assert_eq!(Manifest::from_canonical_json(&json).unwrap(), manifest);
        assert_eq!(Manifest::from_canonical_json(&json).unwrap().canonical_json().unwrap(), json);
    }
    for text in ["", "{}", "null", "{\"name\":\"x\"}", "[1]"] {
        assert!(Manifest::from_canonical_json(text).is_err(), "{text}");
    }
    // A newer manifest has keys that this build does not know: never ignored.
    let json = good(BASE).canonical_json().unwrap().replacen("\"name\"", "\"newer\":1,\"name\"", 1);
    assert!(Manifest::from_canonical_json(&json).is_err());
}

#[test]
fn the_examples_are_accepted() {
    good(include_str!("../../../docs/examples/quickstart.yaml"));
    good(include_str!("../../../docs/examples/weather-to-sqlite.yaml"));
    good(include_str!("../../../docs/examples/postgres-to-parquet.yaml"));
    good(include_str!("../../../docs/examples/postgres-to-postgres.yaml"));
}

#[test]
fn a_build_without_an_adapter_says_so() {
    use dpone_engine::manifest::{SinkType, SourceType, Support};
    let build = Support {
        sources: &[SourceType::Sqlite],
        sinks: &[SinkType::Sqlite, SinkType::Parquet],
        stores: &[StoreType::Local],
    };
    assert_eq!(good(BASE).unsupported(&build), []);
    for (text, places) in [
        (FULL, &["source.type", "sink.type"][..]),
        (ADAPTIVE, &["source.type", "sink.type", "runtime.storage.transfer_store.type"]),
    ] {
        let refusals = good(text).unsupported(&build);
        assert_eq!(refusals.iter().filter_map(|r| r.place.as_deref()).collect::<Vec<_>>(), places);
        assert!(refusals.iter().all(|r| r.code.as_str() == "route_unsupported" && r.fix.is_some()));
    }
}
