use dpone_engine::codes::Code;
use dpone_engine::manifest::located;
use dpone_engine::refusal::Refusal;

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

/// A misspelled key is one mistake: that it is missing as well says nothing new.
#[test]
fn a_misspelled_key_is_told_once() {
    for (from, to) in [
        ("  strategy:", "  strateggy:"),
        ("sink:", "snik:"),
        ("  type: sqlite\n  path: shop.db", "  typ: sqlite\n  path: shop.db"),
    ] {
        let found = bad(&base_with(from, to));
        assert_eq!(found.len(), 1, "{}", shown(&found));
        assert_eq!(found[0].code, Code::ManifestUnknownKey);
    }
    // Nothing says that this is what was meant.
    assert_eq!(bad(&base_with("  strategy:", "  method:")).len(), 2);
}

/// What is found after the manifest was read knows a path, and is told with its place in the file.
#[test]
fn places_of_what_is_found_later() {
    let check = |place: &str, expected: &str| {
        let refusals = vec![Refusal::new(Code::SourceTableNotFound, "none").at(place)];
        assert_eq!(located(BASE, "m.yaml", refusals)[0].place.as_deref(), Some(expected));
    };
    check("source.table.name", "source.table.name (m.yaml:5:17)");
    check("source.options.columns[1]", "source.options.columns[1] (m.yaml:7:19)");
    // The nearest key above what is not there.
    check("source.options.types", "source.options.types (m.yaml:6:3)");
    for elsewhere in ["DPONE_CONN_SHOP_URL", "m.yaml", "source.db", "sinks", ""] {
        check(elsewhere, elsewhere);
    }
    let none = vec![Refusal::new(Code::SourceTableNotFound, "none")];
    assert_eq!(located(BASE, "m.yaml", none.clone()), none);
}
