//! Which settings this build honours. A setting that it cannot honour is refused by name; one that cannot have an
//! effect here is accepted with a notice. Settings that are not in the table are honoured as their docs say.

use super::node::{Content, Node};
use super::problems::Problems;
use crate::codes::Code;

enum Rule {
    /// Any other word is refused; the text says what to do.
    Only(&'static [&'static str], &'static str),
    /// Refused when it is there and not empty; the text says what to do.
    Never(&'static str),
    /// Accepted; the text says why it has no effect.
    Idle(&'static str),
}
use Rule::{Idle, Never, Only};

const NO_STATISTICS: &str = "it belongs to planning from statistics, which this build does not do";
const NO_STREAM: &str = "it belongs to the stream and file transports; this build carries rows as objects";
const NO_WIRE: &str = "it belongs to wire modes that this build does not have; rows are carried as Parquet";
const NO_SLICES: &str = "there are no local slice files; chunks go to the transfer store directly";
const NO_PROBES: &str = "there is one export tool for this source, so nothing is probed";
const NO_WORK_TABLE: &str = "no work table is built in the source";
const NOT_ENABLED: &str = "the governor is not enabled";
const UNTIL_DELIVERED: &str = "objects stay until the run is delivered, so that a resumed run can adopt them";
const ENV_ONLY: &str = "Use `connection_type: env` and set DPONE_CONN_<ID>_… in the environment.";

#[rustfmt::skip]
const RULES: &[(&str, &[(&str, Rule)])] = &[
    ("source", &[("connection_type", Only(&["env"], ENV_ONLY))]),
    ("sink", &[("connection_type", Only(&["env"], ENV_ONLY))]),
    ("quality", &[("custom_sql", Never("Remove it; use `not_null`, `unique`, `min_rows` and `fidelity`."))]),
    ("runtime.storage.transfer_store", &[("connection_type", Only(&["env"], ENV_ONLY))]),
    ("runtime.storage.transfer_store.cleanup", &[("temp_objects", Only(&["on_success", "retain"], "Use `on_success`, or `retain` to keep objects."))]),
    ("source.options", &[("extract_mode", Never("Remove it; it chooses a SQL Server tool that this build does not run."))]),
    ("source.options.native_transfer.execution", &[
        ("mode", Only(&["auto", "batch"], "Use `mode: auto`: every range is read and verified before loading starts.")),
        ("profile", Only(&["balanced"], "Remove it and state limits: `range_parallelism` and `physical_chunking`.")),
        ("cleanup_policy", Only(&["eager", "on_success"], "To keep objects set `runtime.storage.transfer_store.cleanup.temp_objects: retain`.")),
        ("cleanup_policy", Idle(UNTIL_DELIVERED)),
    ]),
    ("source.options.native_transfer.execution.transport", &[
        ("mode", Only(&["auto", "object"], "Use `mode: object`, or `auto`, which chooses it.")),
        ("prefer_streaming", Idle(NO_STREAM)),
        ("fallback_to_file", Idle(NO_STREAM)),
        ("stream_buffer_bytes", Idle(NO_STREAM)),
        ("checksum", Idle(NO_STREAM)),
        ("max_stream_seconds", Idle(NO_STREAM)),
    ]),
    ("source.options.native_transfer.execution.certification", &[
        ("mode", Only(&["auto", "advisory"], "Use `mode: advisory`; this build does not check certification files.")),
        ("artifact", Idle("certification is advisory in this build")),
    ]),
    ("source.options.native_transfer.execution.resource_policy", &[
        ("max_active_files", Idle(NO_SLICES)),
        ("max_active_bytes", Idle(NO_SLICES)),
        ("adaptive_sizing", Idle("chunks are sealed by their measured size")),
        ("oversize_policy", Idle("a chunk is sealed before it exceeds its limit")),
        ("min_slice_rows", Idle("chunks are sealed by their measured size")),
    ]),
    ("source.options.native_transfer.wire", &[
        ("mode", Only(&["auto"], "Use `mode: auto`: rows are carried as Parquet.")),
        ("source_native_format", Idle(NO_WIRE)),
        ("binary_format", Idle(NO_WIRE)),
        ("block_rows", Idle(NO_WIRE)),
        ("block_bytes", Idle(NO_WIRE)),
        ("text_safety", Idle(NO_WIRE)),
        ("delimiter_profile", Idle(NO_WIRE)),
        ("null_policy", Idle(NO_WIRE)),
    ]),
    ("source.options.native_transfer.wire.acceleration", &[("mode", Only(&["auto", "off"], "Use `mode: auto`."))]),
    ("source.options.native_transfer.snapshot", &[("streaming", Never("Remove it; it belongs to a SQL Server pipe that this build does not have."))]),
    ("source.options.native_transfer.snapshot.physical_chunking", &[
        ("spool_mode", Idle("a chunk grows in the transfer store")),
        ("cleanup_policy", Only(&["eager", "on_success"], "To keep objects set `runtime.storage.transfer_store.cleanup.temp_objects: retain`.")),
        ("cleanup_policy", Idle(UNTIL_DELIVERED)),
    ]),
    ("source.options.native_transfer.snapshot.export_optimizer", &[
        ("mode", Only(&["auto", "off"], "Use `mode: off`.")),
        ("candidates", Idle(NO_PROBES)),
        ("probe_rows", Idle(NO_PROBES)),
        ("max_probe_seconds", Idle(NO_PROBES)),
        ("min_speedup_pct", Idle(NO_PROBES)),
        ("bcp_probe_packets", Idle(NO_PROBES)),
        ("odbc_fetch_size", Idle(NO_PROBES)),
        ("cache_policy", Idle(NO_PROBES)),
        ("rebenchmark_policy", Idle(NO_PROBES)),
        ("source_impact_policy", Idle(NO_PROBES)),
    ]),
    ("source.options.native_transfer.snapshot.materialization", &[
        ("mode", Only(&["auto", "off"], "Use `mode: off`.")),
        ("provider", Idle(NO_WORK_TABLE)),
        ("allow_source_writes", Idle(NO_WORK_TABLE)),
        ("work_schema", Idle(NO_WORK_TABLE)),
        ("table_prefix", Idle(NO_WORK_TABLE)),
        ("ttl_hours", Idle(NO_WORK_TABLE)),
        ("cleanup_policy", Idle(NO_WORK_TABLE)),
        ("cleanup", Idle(NO_WORK_TABLE)),
        ("reuse_policy", Idle(NO_WORK_TABLE)),
        ("min_speedup_pct", Idle(NO_WORK_TABLE)),
        ("max_materialization_seconds", Idle(NO_WORK_TABLE)),
        ("isolation", Idle(NO_WORK_TABLE)),
        ("index", Idle(NO_WORK_TABLE)),
        ("update_statistics", Idle(NO_WORK_TABLE)),
    ]),
    ("source.options.native_transfer.snapshot.execution", &[
        ("mode", Only(&["auto", "batch"], "Use `mode: auto`.")),
        ("profile", Only(&["balanced"], "Remove it and state limits under `range_parallelism`.")),
        ("adaptive_parallelism", Idle("the number of workers is fixed by the plan")),
    ]),
    ("source.options.native_transfer.snapshot.source_governor", &[
        ("enabled", Only(&["false"], "Use `enabled: false`, and limit the source's load with `reader_workers`.")),
        ("max_source_cpu_pct", Idle(NOT_ENABLED)),
        ("max_query_seconds", Idle(NOT_ENABLED)),
        ("backoff_policy", Idle(NOT_ENABLED)),
    ]),
    ("source.options.native_transfer.snapshot.target_governor", &[
        ("enabled", Only(&["false"], "Use `enabled: false`, and limit the target's load with `load_workers`.")),
        ("max_inflight_blocks", Idle(NOT_ENABLED)),
        ("max_parts_per_partition", Idle(NOT_ENABLED)),
        ("merge_pressure_policy", Idle(NOT_ENABLED)),
    ]),
    ("source.options.native_transfer.snapshot.tuning", &[
        ("packet_size", Only(&["auto"], "Use `auto`.")),
        ("block_rows", Only(&["auto"], "Use `auto`.")),
        ("block_bytes", Only(&["auto"], "Use `auto`.")),
        ("compression", Only(&["auto"], "Use `auto`.")),
        ("presort", Only(&["auto"], "Use `auto`.")),
    ]),
];

/// What holds for sources without statistics that are read here: all but PostgreSQL and SQL Server.
#[rustfmt::skip]
const NO_STATISTICS_RULES: &[(&str, &[(&str, Rule)])] = &[
    ("source.options.partitioning", &[("strategy", Only(&["auto", "range"], "Use `strategy: auto`; ranges come from bounds or are stated."))]),
    ("source.options.partitioning.planner", &[
        ("mode", Only(&["auto", "bounds"], "Use `mode: auto`; ranges come from bounds or are stated.")),
        ("stats_source", Idle(NO_STATISTICS)),
        ("skew_policy", Idle(NO_STATISTICS)),
        ("max_hot_partition_factor", Idle(NO_STATISTICS)),
        ("min_partition_rows", Idle(NO_STATISTICS)),
        ("low_confidence_policy", Idle(NO_STATISTICS)),
    ]),
];

/// Applies the tables to what is written.
pub(super) fn apply(root: &Node, problems: &mut Problems<'_>) {
    let statistics = matches!(node_text(root, &["source", "type"]), Some("postgres" | "mssql"));
    let further = if statistics { &[] } else { NO_STATISTICS_RULES };
    for (parent, rules) in RULES.iter().chain(further) {
        let Some(node) = root.find(parent.split('.')) else {
            continue;
        };
        for (key, rule) in *rules {
            if let Some((_, value)) = node.get(key) {
                judge(&format!("{parent}.{key}"), value, rule, problems);
            }
        }
    }
    if node_text(root, &["source", "options", "partitioning", "planner", "boundary_type"]) == Some("time") {
        problems.add(
            "source.options.partitioning.planner.boundary_type",
            Code::UnsupportedBoundaryType,
            "a time of day without a date cannot be cut into ranges",
            "Partition by another column.",
        );
    }
    let clickhouse = node_text(root, &["sink", "type"]) == Some("clickhouse");
    if !clickhouse && root.find(["sink", "options", "clickhouse_bulk"]).is_some() {
        problems.add(
            "sink.options.clickhouse_bulk",
            Code::OptionConflict,
            "`sink.options.clickhouse_bulk` belongs to another type of sink",
            "Remove it.",
        );
    }
}

fn judge(path: &str, value: &Node, rule: &Rule, problems: &mut Problems<'_>) {
    let (allowed, fix): (&[&str], _) = match rule {
        Only(allowed, fix) => (allowed, fix),
        Never(fix) => (&[], fix),
        Idle(reason) => return problems.notice(path, *reason),
    };
    // Values of the wrong kind are the checker's to refuse.
    let refused = match (&value.content, rule) {
        (Content::Null, _) => false,
        (Content::List(items), Never(_)) => !items.is_empty(),
        (Content::Scalar(_, text), _) => !allowed.contains(&text.as_str()),
        (_, rule) => matches!(rule, Never(_)),
    };
    if refused {
        problems.add(path, Code::RouteUnsupported, format!("this build cannot do what `{path}` asks for"), *fix);
    }
}

fn node_text<'n>(root: &'n Node, keys: &[&'n str]) -> Option<&'n str> {
    root.find(keys.iter().copied())?.text()
}

#[cfg(test)]
mod tests {
    use super::super::shape::json_schema;
    use super::{NO_STATISTICS_RULES, RULES};

    /// A rule for a key that does not exist would never speak.
    #[test]
    fn every_rule_names_a_key_of_the_schema() {
        let schema = json_schema();
        for (parent, rules) in RULES.iter().chain(NO_STATISTICS_RULES) {
            let mut at = &schema;
            for key in parent.split('.') {
                at = property(&schema, at, key);
            }
            for (key, _) in *rules {
                assert!(!property(&schema, at, key).is_null(), "{parent}.{key}");
            }
        }
    }

    fn property<'s>(schema: &'s serde_json::Value, at: &'s serde_json::Value, key: &str) -> &'s serde_json::Value {
        let found = &at["properties"][key];
        match found["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            Some(name) => &schema["$defs"][name],
            None => found,
        }
    }
}
