use dpone_engine::manifest::json_schema;
use dpone_engine::refusal::Refusal;
use serde_json::Value;

use super::{BASE, bad, base_with, shown};

const P: &str = "source.options.partitioning";
const R: &str = "source.options.partitioning.range_parallelism";
const N: &str = "source.options.native_transfer";

/// One change to the base, the code and path of the refusal, and words of its message or fix.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Keys.
    ("column: id", "colunm: id", "manifest_unknown_key", "source.options.partitioning.colunm", "Did you mean `column`?"),
    ("name: orders\nsource", "nme: orders\nsource", "manifest_unknown_key", "nme", "Did you mean `name`?"),
    ("name: orders\nsource", "source", "manifest_invalid_value", "name", "`name` is missing"),
    ("num_partitions: 8", "reader_workers: 4", "manifest_unknown_key", "source.options.partitioning.reader_workers", "belongs under `source.options.partitioning.range_parallelism`"),
    ("num_partitions: 8", "zzz: 4", "manifest_unknown_key", "source.options.partitioning.zzz", "The nearest is"),
    ("num_partitions: 8", "7: 4", "manifest_unknown_key", "source.options.partitioning.7", "Known keys here"),
    ("num_partitions: 8", "[a]: 4", "manifest_unknown_key", "source.options.partitioning[\"(a key that is not a word)\"]", "Known keys here"),
    ("num_partitions: 8", "num_partitions: 8\n      num_partitions: 9", "manifest_syntax", "source.options.partitioning.num_partitions", "written twice; the first is on line 10"),
    ("    columns: [id, amount]", "    types: {id: text, id: uuid}", "manifest_syntax", "source.options.types.id", "written twice"),
    ("name: orders\nsource", "name: orders\ntables: [a]\nsource", "route_unsupported", "tables", "one manifest for each table"),
    // The form of values.
    ("columns: [id, amount]", "columns: id", "manifest_invalid_value", "source.options.columns", "a list is expected"),
    ("columns: [id, amount]", "columns: []", "manifest_invalid_value", "source.options.columns", "empty list"),
    ("columns: [id, amount]", "columns:", "manifest_invalid_value", "source.options.columns", "has no value"),
    ("columns: [id, amount]", "columns: [id, ~]", "manifest_invalid_value", "source.options.columns[1]", "has no value"),
    ("columns: [id, amount]", "columns: [id, '']", "manifest_invalid_value", "source.options.columns[1]", "is empty"),
    ("columns: [id, amount]", "columns: [id, amount, id]", "manifest_invalid_value", "source.options.columns[2]", "same column twice"),
    ("columns: [id, amount]", "columns: [id, \"a\\0b\"]", "manifest_invalid_value", "source.options.columns[1]", "NUL"),
    ("column: id", "column:", "manifest_invalid_value", "source.options.partitioning.column", "has no value"),
    ("column: id", "column: {a: 1}", "manifest_invalid_value", "source.options.partitioning.column", "is a mapping"),
    ("table: {name: orders}\n  options", "table: orders\n  options", "manifest_invalid_value", "source.table", "a mapping is expected"),
    ("mode: required", "mode: requird", "manifest_invalid_value", "source.options.partitioning.range_parallelism.mode", "Did you mean `required`?"),
    ("mode: required", "mode: false", "manifest_invalid_value", "source.options.partitioning.range_parallelism.mode", "Did you mean `off`?"),
    ("mode: required", "mode:", "manifest_invalid_value", "source.options.partitioning.range_parallelism.mode", "has no value"),
    ("mode: required", "mode: [off]", "manifest_invalid_value", "source.options.partitioning.range_parallelism.mode", "is a list"),
    ("type: sqlite\n  path: shop.db", "type: oracle\n  path: shop.db", "manifest_invalid_value", "source.type", "One of: sqlite, postgres"),
    ("name: orders\nsource", "name: Orders!\nsource", "manifest_invalid_value", "name", "a-z"),
    ("name: orders\nsource", "name: ''\nsource", "manifest_invalid_value", "name", "a-z"),
    ("num_partitions: 8", "num_partitions: 0", "manifest_invalid_value", "source.options.partitioning.num_partitions", "less than 1"),
    ("num_partitions: 8", "num_partitions: 10001", "manifest_invalid_value", "source.options.partitioning.num_partitions", "1 to 10000"),
    ("num_partitions: 8", "num_partitions: -8", "manifest_invalid_value", "source.options.partitioning.num_partitions", "negative"),
    ("num_partitions: 8", "num_partitions: 8.0", "manifest_invalid_value", "source.options.partitioning.num_partitions", "plain whole number"),
    ("num_partitions: 8", "num_partitions: 010", "manifest_invalid_value", "source.options.partitioning.num_partitions", "plain whole number"),
    ("num_partitions: 8", "num_partitions: 0x8", "manifest_invalid_value", "source.options.partitioning.num_partitions", "plain whole number"),
    ("num_partitions: 8", "num_partitions: 1_000", "manifest_invalid_value", "source.options.partitioning.num_partitions", "plain whole number"),
    ("num_partitions: 8", "num_partitions: '8'", "manifest_invalid_value", "source.options.partitioning.num_partitions", "Remove the quotes"),
    ("num_partitions: 8", "num_partitions: 99999999999999999999", "manifest_invalid_value", "source.options.partitioning.num_partitions", "1 to 10000"),
    ("num_partitions: 8", "num_partitions: true", "manifest_invalid_value", "source.options.partitioning.num_partitions", "plain whole number"),
    ("reader_workers: 4", "reader_workers: 0", "manifest_invalid_value", "source.options.partitioning.range_parallelism.reader_workers", "less than 1"),
    ("reader_workers: 4", "reader_workers: 65", "manifest_invalid_value", "source.options.partitioning.range_parallelism.reader_workers", "1 to 64"),
    ("reader_workers: 4", "upload_workers: 0", "manifest_invalid_value", "source.options.partitioning.range_parallelism.upload_workers", "less than 1"),
    ("load_workers: 1", "load_workers: 0", "manifest_invalid_value", "source.options.partitioning.load_workers", "less than 1"),
    // Sizes.
    ("reader_workers: 4", "max_inflight_bytes: 64 M iB", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "`64MiB`"),
    ("reader_workers: 4", "max_inflight_bytes: -1", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "negative"),
    ("reader_workers: 4", "max_inflight_bytes: -64MiB", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "positive number"),
    ("reader_workers: 4", "max_inflight_bytes: 0", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "is zero"),
    ("reader_workers: 4", "max_inflight_bytes: '67108864'", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "has no unit"),
    ("reader_workers: 4", "max_inflight_bytes: 64.5", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "not a whole number of bytes"),
    ("reader_workers: 4", "max_inflight_bytes: 2TiB", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "larger than 1TiB"),
    ("reader_workers: 4", "max_inflight_bytes: 99999999999999999999", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "too large"),
    ("reader_workers: 4", "max_inflight_bytes: off", "manifest_invalid_value", "source.options.partitioning.range_parallelism.max_inflight_bytes", "positive number"),
    ("    partitioning", "    native_transfer: {snapshot: {physical_chunking: {target_chunk_bytes: 2MiB, max_chunk_bytes: 1MiB}}}\n    partitioning", "option_conflict", "source.options.native_transfer.snapshot.physical_chunking.target_chunk_bytes", "larger than"),
    ("    partitioning", "    native_transfer: {snapshot: {physical_chunking: {target_chunk_bytes: 2MiB}}, execution: {resource_policy: {target_file_bytes: 3MiB}}}\n    partitioning", "option_conflict", "source.options.native_transfer.execution.resource_policy.target_file_bytes", "different values"),
    // Types.
    ("    partitioning", "    types: {amount: decimal}\n    partitioning", "manifest_invalid_value", "source.options.types.amount", "precision and scale"),
    ("    partitioning", "    types: {amount: int46}\n    partitioning", "manifest_invalid_value", "source.options.types.amount", "Did you mean `int"),
    ("    partitioning", "    types: {'a b': \"decimal(5,6)\"}\n    partitioning", "manifest_invalid_value", "source.options.types[\"a b\"]", "larger than its precision"),
    ("    partitioning", "    types: {other: text}\n    partitioning", "option_conflict", "source.options.types", "`columns` leaves out: `other`"),
    // Sides.
    ("  table: {name: orders}\n  options", "  options", "manifest_invalid_value", "source", "neither `table` nor `query`"),
    ("  table: {name: orders}\n  options", "  table: {name: orders}\n  query: select 1\n  options", "option_conflict", "source.query", "both"),
    ("  table: {name: orders}\n  options", "  query: ' '\n  options", "manifest_invalid_value", "source.query", "empty"),
    ("table: {name: orders}\n  options", "table: {nam: orders}\n  options", "manifest_unknown_key", "source.table.nam", "`name`"),
    ("  path: shop.db\n", "", "manifest_invalid_value", "source.path", "does not say how it is reached"),
    ("path: shop.db", "connection_id: shop", "option_conflict", "source.connection_id", "Use `path`"),
    ("path: shop.db", "path: shop.db\n  connection_id: shop", "option_conflict", "source.connection_id", "Keep one"),
    ("path: shop.db", "path: shop.db\n  connection_type: env", "option_conflict", "source.connection_type", "connection_id"),
    ("type: sqlite\n  path: shop.db", "type: mssql\n  path: shop.db", "option_conflict", "source.path", "Use `connection_id`"),
    ("type: sqlite\n  path: shop.db", "type: postgres\n  connection_id: my-shop", "manifest_invalid_value", "source.connection_id", "letters, digits"),
    ("type: sqlite\n  path: shop.db", "type: postgres\n  connection_id: shop\n  connection_type: vault", "route_unsupported", "source.connection_type", "env"),
    ("type: sqlite\n  path: shop.db", "type: postgres\n  connection: {host: h, port: 70000}", "manifest_invalid_value", "source.connection.port", "65535"),
    ("  table: {name: orders}\n  strategy", "  strategy", "manifest_invalid_value", "sink.table", "missing"),
    ("type: sqlite\n  path: dwh.db", "type: parquet\n  uri: file:///d", "option_conflict", "sink.table", "dataset"),
    ("path: dwh.db", "path: dwh.db\n  uri: file:///x", "option_conflict", "sink.uri", "Keep one"),
    ("  strategy: {mode: full_refresh}\n", "", "manifest_invalid_value", "sink.strategy", "missing"),
    ("mode: full_refresh", "mode: merge", "strategy_key_missing", "sink.strategy", "Add `key: [id]`"),
    ("mode: full_refresh", "mode: partition_replace", "strategy_key_missing", "sink.strategy", "Add `key: [day]`"),
    ("mode: full_refresh", "mode: merge, key: [id, id]", "manifest_invalid_value", "sink.strategy.key[1]", "twice"),
    ("mode: full_refresh", "mode: fullrefresh", "manifest_invalid_value", "sink.strategy.mode", "Did you mean `full_refresh`?"),
    ("strategy: {mode: full_refresh}", "strategy: {mode: full_refresh}\n  options: {clickhouse_bulk: {mode: http}}", "option_conflict", "sink.options.clickhouse_bulk", "another type"),
    // Ranges.
    ("      column: id\n", "", "manifest_invalid_value", "source.options.partitioning.column", "needs a column"),
    ("load_workers: 1", "load_workers: 2", "shared_staging_requires_single_loader", "source.options.partitioning.load_workers", "per_partition"),
    ("reader_workers: 4", "load_workers: 2", "option_conflict", "source.options.partitioning.range_parallelism.load_workers", "different values"),
    ("mode: required\n        reader_workers: 4", "load_workers: 1\nquality: {unique: [a, a]}", "manifest_invalid_value", "quality.unique[1]", "twice"),
    ("load_workers: 1", "export_workers: 2", "option_conflict", "source.options.partitioning.export_workers", "different values"),
    ("load_workers: 1", "target_rows_per_partition: 10", "option_conflict", "source.options.partitioning.target_rows_per_partition", "Keep one"),
    ("load_workers: 1", "max_partitions: 4", "option_conflict", "source.options.partitioning.max_partitions", "more ranges"),
    ("load_workers: 1", "ranges: [{lower: 1}]", "option_conflict", "source.options.partitioning.num_partitions", "states every interval"),
    ("num_partitions: 8", "ranges: [{null: true}]", "range_invalid", "source.options.partitioning.ranges", "no interval"),
    ("num_partitions: 8", "ranges: [{lower: 1}, {null: true}, {null_bucket: true}]", "range_invalid", "source.options.partitioning.ranges[2]", "two NULL buckets"),
    ("num_partitions: 8", "ranges: [{lower: 1, null: true}]", "range_invalid", "source.options.partitioning.ranges[0]", "no ends"),
    ("num_partitions: 8", "ranges: [{upper: 1, include_lower: true}]", "range_invalid", "source.options.partitioning.ranges[0]", "open end"),
    ("num_partitions: 8", "ranges: [{lower: 1, include_lower: no}]", "manifest_invalid_value", "source.options.partitioning.ranges[0].include_lower", "`off` is only a mode"),
    ("num_partitions: 8", "ranges: []", "manifest_invalid_value", "source.options.partitioning.ranges", "empty list"),
    ("num_partitions: 8", "bounds: manual", "manifest_invalid_value", "source.options.partitioning.bounds", "One of: auto"),
    ("num_partitions: 8", "bounds: {lower: 1}", "manifest_invalid_value", "source.options.partitioning.bounds.upper", "missing"),
    ("num_partitions: 8", "bounds: [1, 2]", "manifest_invalid_value", "source.options.partitioning.bounds", "Expected"),
    ("num_partitions: 8", "planner: {bounds_role: filter}\n      bounds: {lower: 1, upper: 2}", "route_unsupported", "source.options.partitioning.planner.bounds_role", "stride"),
    ("num_partitions: 8", "planner: {boundary_type: time}", "unsupported_boundary_type", "source.options.partitioning.planner.boundary_type", "another column"),
    ("num_partitions: 8", "planner: {mode: statistics}", "route_unsupported", "source.options.partitioning.planner.mode", "auto"),
    ("num_partitions: 8", "planner: {null_bucket: drop}", "manifest_invalid_value", "source.options.partitioning.planner.null_bucket", "One of: separate"),
    ("reader_workers: 4", "gap_policy: allow_explicit", "option_conflict", "source.options.partitioning.range_parallelism.gap_policy", "explicit `ranges`"),
    ("reader_workers: 4", "group_key: [a, a]", "manifest_invalid_value", "source.options.partitioning.range_parallelism.group_key[1]", "twice"),
    // Consistency.
    ("reader_workers: 4", "consistency: database_snapshot", "consistency_authority_missing", "source.options.partitioning.range_parallelism.consistency_authority", "database_snapshot"),
    ("reader_workers: 4", "consistency: temporal_as_of", "consistency_authority_missing", "source.options.partitioning.range_parallelism.consistency_authority", "as_of"),
    ("reader_workers: 4", "consistency: write_exclusion\n        consistency_authority: {}", "consistency_authority_missing", "source.options.partitioning.range_parallelism.consistency_authority", "lease or proof"),
    ("reader_workers: 4", "consistency: write_exclusion\n        consistency_authority: {lease: x}", "consistency_authority_missing", "source.options.partitioning.range_parallelism.consistency_authority.query", "one SELECT"),
    ("reader_workers: 4", "consistency: temporal_as_of\n        consistency_authority: {as_of: '2026-01-31T12:00:00', query: select 1}", "option_conflict", "source.options.partitioning.range_parallelism.consistency_authority.query", "consistency mode"),
    ("reader_workers: 4", "consistency_authority: {lease: x}", "option_conflict", "source.options.partitioning.range_parallelism.consistency_authority.lease", "proves nothing"),
    ("reader_workers: 4", "consistency: temporal_as_of\n        consistency_authority: {as_of: yesterday}", "manifest_invalid_value", "source.options.partitioning.range_parallelism.consistency_authority.as_of", "2026-01-31T12:00:00"),
    ("reader_workers: 4", "consistency: write_exclusion\n        consistency_authority: {lease: ''}", "manifest_invalid_value", "source.options.partitioning.range_parallelism.consistency_authority.lease", "is empty"),
    // What this build cannot honour.
    ("    partitioning", "    native_transfer: {execution: {transport: {mode: stream}}}\n    partitioning", "route_unsupported", "source.options.native_transfer.execution.transport.mode", "object"),
    ("    partitioning", "    native_transfer: {execution: {mode: pipelined}}\n    partitioning", "route_unsupported", "source.options.native_transfer.execution.mode", "auto"),
    ("    partitioning", "    native_transfer: {execution: {certification: {mode: certified_only}}}\n    partitioning", "route_unsupported", "source.options.native_transfer.execution.certification.mode", "advisory"),
    ("    partitioning", "    native_transfer: {wire: {mode: typed_raw}}\n    partitioning", "route_unsupported", "source.options.native_transfer.wire.mode", "Parquet"),
    ("    partitioning", "    native_transfer: {snapshot: {source_governor: {enabled: true}}}\n    partitioning", "route_unsupported", "source.options.native_transfer.snapshot.source_governor.enabled", "reader_workers"),
    ("    partitioning", "    native_transfer: {snapshot: {materialization: {mode: required}}}\n    partitioning", "route_unsupported", "source.options.native_transfer.snapshot.materialization.mode", "off"),
    ("    partitioning", "    native_transfer: {snapshot: {streaming: {read_buffer_bytes: 1MiB}}}\n    partitioning", "route_unsupported", "source.options.native_transfer.snapshot.streaming", "Remove"),
    ("    partitioning", "    native_transfer: {snapshot: {execution: {max_parallel_exports: 2}}}\n    partitioning", "option_conflict", "source.options.native_transfer.snapshot.execution.max_parallel_exports", "reader_workers"),
    ("    partitioning", "    native_transfer: {snapshot: {scan: {mode: single_scan_chunks}}}\n    partitioning", "option_conflict", "source.options.native_transfer.snapshot.scan.mode", "parallel"),
    ("    partitioning", "    native_transfer: {snapshot: {tuning: {block_rows: 100}}}\n    partitioning", "route_unsupported", "source.options.native_transfer.snapshot.tuning.block_rows", "auto"),
    ("    partitioning", "    native_transfer: {execution: {transport: {checksum: md5}}}\n    partitioning", "manifest_invalid_value", "source.options.native_transfer.execution.transport.checksum", "One of: none, rolling, sha256"),
    ("    partitioning", "    native_transfer: {snapshot: {max_chunk_bytes: 1MiB}}\n    partitioning", "manifest_unknown_key", "source.options.native_transfer.snapshot.max_chunk_bytes", "physical_chunking"),
    ("    partitioning", "    extract_mode: bcp_queryout\n    partitioning", "route_unsupported", "source.options.extract_mode", "SQL Server"),
];

#[test]
fn every_refusal_names_its_place_and_its_fix() {
    let mut wrong = Vec::new();
    for (from, to, code, path, words) in CASES {
        let refusals = bad(&base_with(from, to));
        let found = refusals.iter().any(|r| {
            let place = r.place.as_deref().unwrap_or_default();
            let said = format!("{} {}", r.message, r.fix.as_deref().unwrap_or_default());
            r.code.as_str() == *code
                && place.starts_with(&format!("{path} (orders.yaml:"))
                && said.contains(words)
                && r.snippet.as_deref().is_some_and(|s| s.contains('^'))
        });
        if !found {
            wrong.push(format!("{to:?}: expected {code} at {path} with {words:?}\n{}", shown(&refusals)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!([P, R, N].iter().all(|prefix| CASES.iter().any(|c| c.3.starts_with(prefix))));
}

/// The same table, appended at the end of the manifest.
#[test]
fn runtime_settings_are_judged_too() {
    let mut wrong = Vec::new();
    for (tail, code, path) in [
        (
            "runtime: {storage: {transfer_store: {type: s3}}}",
            "manifest_invalid_value",
            "runtime.storage.transfer_store.uri",
        ),
        (
            "runtime: {storage: {transfer_store: {type: s3, uri: stage}}}",
            "manifest_invalid_value",
            "runtime.storage.transfer_store.uri",
        ),
        (
            "runtime: {storage: {transfer_store: {type: s3, uri: 's3://b/../x'}}}",
            "manifest_invalid_value",
            "runtime.storage.transfer_store.uri",
        ),
        (
            "runtime: {storage: {transfer_store: {uri: 's3://b/x'}}}",
            "manifest_invalid_value",
            "runtime.storage.transfer_store.type",
        ),
        (
            "runtime: {storage: {transfer_store: {type: s3, uri: 's3://b/x', local_root_dir: x}}}",
            "option_conflict",
            "runtime.storage.transfer_store.local_root_dir",
        ),
        (
            "runtime: {storage: {transfer_store: {type: local, connection_id: x}}}",
            "option_conflict",
            "runtime.storage.transfer_store.connection_id",
        ),
        (
            "runtime: {storage: {transfer_store: {type: local, encryption: {mode: kms}}}}",
            "option_conflict",
            "runtime.storage.transfer_store.encryption.mode",
        ),
        (
            "runtime: {storage: {transfer_store: {type: local, cleanup: {temp_objects: eager}}}}",
            "route_unsupported",
            "runtime.storage.transfer_store.cleanup.temp_objects",
        ),
        (
            "runtime: {storage: {transfer_store: {type: local, multipart: {part_size: 0}}}}",
            "manifest_invalid_value",
            "runtime.storage.transfer_store.multipart.part_size",
        ),
        (
            "runtime: {storage: {path_template: '{pipeline}'}}",
            "manifest_invalid_value",
            "runtime.storage.path_template",
        ),
        (
            "runtime: {storage: {path_template: '../{run_id}'}}",
            "manifest_invalid_value",
            "runtime.storage.path_template",
        ),
        ("runtime: {storage: {path_template: '/{run_id}'}}", "manifest_invalid_value", "runtime.storage.path_template"),
        (
            "runtime: {storage: {path_template: '{run_id}/{nope}'}}",
            "manifest_invalid_value",
            "runtime.storage.path_template",
        ),
        ("runtime: {storage: {create_dirs: on}}", "manifest_invalid_value", "runtime.storage.create_dirs"),
        ("runtime: {storage: {min_free_bytes: 1 G}}", "manifest_invalid_value", "runtime.storage.min_free_bytes"),
        (
            "runtime: {storage: {evidence_dir: a}}\nobservability: {artifacts: {path: b}}",
            "option_conflict",
            "observability.artifacts.path",
        ),
        ("runtime: {jurnal: x}", "manifest_unknown_key", "runtime.jurnal"),
        ("quality: {fidelity: full}", "manifest_invalid_value", "quality.fidelity"),
        ("quality: {custom_sql: [select 1]}", "route_unsupported", "quality.custom_sql"),
        ("quality: {min_rows: -1}", "manifest_invalid_value", "quality.min_rows"),
        ("quality: [rows]", "manifest_invalid_value", "quality"),
    ] {
        let refusals = bad(&format!("{BASE}{tail}\n"));
        let found = refusals.iter().any(|r| {
            r.code.as_str() == code && r.place.as_deref().is_some_and(|p| p.starts_with(&format!("{path} (")))
        });
        if !found || refusals.len() != 1 {
            wrong.push(format!("{tail}: expected only {code} at {path}\n{}", shown(&refusals)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_is_no_manifest_at_all_is_refused() {
    for (text, code, words) in [
        ("", "manifest_invalid_value", "`name` is missing"),
        ("# nothing\n", "manifest_invalid_value", "`sink` is missing"),
        ("just text", "manifest_invalid_value", "single value where a mapping"),
        ("[a, b]", "manifest_invalid_value", "a list where a mapping"),
        ("{}", "manifest_invalid_value", "`name` is missing"),
        ("a: [1\n", "manifest_syntax", "unclosed bracket"),
        ("name: a\n---\nname: b\n", "manifest_syntax", "more than one"),
        ("name: \"x\n", "manifest_syntax", "unclosed quote"),
    ] {
        let refusals = bad(text);
        assert!(
            refusals.iter().any(|r| r.code.as_str() == code && r.message.contains(words)),
            "{text:?}\n{}",
            shown(&refusals)
        );
    }
    let large = format!("{BASE}# {}\n", "x".repeat(1 << 20));
    let refusals = bad(&large);
    assert!(refusals[0].message.contains("larger than 1 MiB"), "{}", shown(&refusals));
}

#[test]
fn every_problem_is_reported_at_once_in_the_order_of_the_text() {
    let text = base_with("column: id", "colunm: id")
        .replace("num_partitions: 8", "num_partitions: 0")
        .replace("full_refresh", "refresh");
    let paths: Vec<_> = bad(&text)
        .iter()
        .map(|r| r.place.as_deref().unwrap_or_default().split(' ').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        paths,
        ["source.options.partitioning.colunm", "source.options.partitioning.num_partitions", "sink.strategy.mode"]
    );
    // Bounded, whatever the text.
    let many = format!("{BASE}{}", (0..1000).map(|n| format!("x{n}: 1\n")).collect::<String>());
    assert_eq!(bad(&many).len(), 50);
}

/// A key that is there has a value, a mapping of settings as well; only an end of a range may be null.
#[test]
fn no_key_is_null() {
    fn keys(schema: &Value, root: &Value, path: &str, open: &str, close: &str, found: &mut Vec<(String, String)>) {
        let name = schema["$ref"].as_str().map(|name| name.rsplit('/').next().unwrap());
        let schema = name.map_or(schema, |name| &root["$defs"][name]);
        for choice in schema["anyOf"].as_array().into_iter().flatten() {
            keys(choice, root, path, open, close, found);
        }
        if schema["items"].is_object() {
            keys(&schema["items"], root, &format!("{path}[0]"), &format!("{open}["), &format!("]{close}"), found);
        }
        for (key, below) in schema["properties"].as_object().into_iter().flatten() {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let (open, close) = (format!("{open}{{{key}: "), format!("}}{close}"));
            if !below["anyOf"].as_array().is_some_and(|choices| choices.iter().any(|c| c["type"] == "null")) {
                found.push((path.clone(), format!("{open}~{close}")));
            }
            keys(below, root, &path, &open, &close, found);
        }
    }
    let schema = json_schema();
    let mut found = Vec::new();
    keys(&schema, &schema, "", "", "", &mut found);
    assert!(found.len() > 100 && found.iter().any(|(path, _)| path == "quality"), "{found:?}");
    let mut wrong = Vec::new();
    for (path, text) in found {
        let refused = |r: &Refusal| {
            let place = r.place.as_deref().unwrap_or_default();
            place.starts_with(&format!("{path} (orders.yaml:"))
        };
        let refusals = bad(&text);
        if !refusals.iter().any(refused) {
            wrong.push(format!("{text}\n{}", shown(&refusals)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
