use super::{BASE, bad, base_with, shown};

/// The ten mistakes that are made most, as they read.
#[test]
fn the_usual_mistakes_read_well() {
    let cases = [
        ("unknown_key", base_with("column: id", "colunm: id")),
        ("misplaced_key", base_with("num_partitions: 8", "reader_workers: 4")),
        ("mode_typo", base_with("mode: required", "mode: requird")),
        ("missing_sink", BASE[..BASE.find("sink:").unwrap()].to_owned()),
        ("size", base_with("mode: required", "mode: required\n        max_inflight_bytes: 64 M iB")),
        ("parallel_loads", base_with("load_workers: 1", "load_workers: 2")),
        ("secret", base_with("path: shop.db", "connection: {host: db, password: hunter2}")),
        ("indentation", base_with("    columns", "     columns")),
        ("several", base_with("mode: required", "mode: false\n        upload_workers: 0\n        upload_workers: 2\n        consistency: temporal_as_of").replace("{mode: full_refresh}", "{mode: merge}")),
        ("stream", base_with("    partitioning", "    native_transfer: {execution: {transport: {mode: stream}}}\n    partitioning")),
    ];
    let all: Vec<_> = cases.iter().map(|(name, text)| format!("## {name}\n\n{}\n", shown(&bad(text)))).collect();
    insta::assert_snapshot!("usual_mistakes", all.join("\n"));
}
