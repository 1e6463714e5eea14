use super::{BASE, base_with, good};

const QUERY: &str = "query: \"select id, amount from orders where note = 'a  b'\"";

fn query(text: &str) -> String {
    base_with("table: {name: orders}\n  options", &format!("query: \"{text}\"\n  options"))
}

#[test]
fn differences_that_matter_are_named_by_path_and_never_by_value() {
    for (text, expected) in [
        (BASE.to_owned(), &[][..]),
        (base_with("num_partitions: 8", "num_partitions: 5"), &["source.options.partitioning.num_partitions"]),
        (base_with("reader_workers: 4", "reader_workers: 2"), &[]),
        (base_with("[id, amount]", "[amount, id]"), &["source.options.columns"]),
        (base_with("    columns", "    types: {amount: text}\n    columns"), &["source.options.types"]),
        (
            base_with("      load_workers: 1", "      bounds: {lower: 17, upper: 23}"),
            &["source.options.partitioning.bounds"],
        ),
        (base_with("dwh.db", "dwh2.db"), &["sink"]),
        (base_with("shop.db", "shop2.db"), &["source"]),
        (base_with("mode: full_refresh", "mode: append"), &["sink.strategy.mode"]),
        (BASE.to_owned() + "quality: {min_rows: 3}\n", &["quality.min_rows"]),
        (BASE.to_owned() + "quality: {not_null: [id]}\n", &["quality.not_null"]),
        (
            BASE.to_owned()
                + "runtime: {journal: other.db, storage: {work_dir: w, evidence_dir: e, min_free_bytes: 1GiB}}\n",
            &[],
        ),
        (
            BASE.to_owned() + "runtime: {storage: {transfer_store: {type: local, local_root_dir: elsewhere}}}\n",
            &["runtime.storage.transfer_store.local_root_dir"],
        ),
        (
            base_with("        reader_workers: 4", "        reader_workers: 4\n        max_inflight_bytes: 32MiB"),
            &["source.options.partitioning.range_parallelism.max_inflight_bytes"],
        ),
        (base_with("name: orders\nsource", "name: other\nsource"), &["name"]),
        (query("select 1"), &["source"]),
    ] {
        assert_eq!(good(&text).differences(&good(BASE)), expected, "{text}");
        assert_eq!(good(BASE).differences(&good(&text)), expected, "{text}");
    }
}

#[test]
fn a_query_may_change_by_white_space_only() {
    let text = base_with("table: {name: orders}\n  options", &format!("{QUERY}\n  options"));
    let one = good(&text);
    for (other, same) in [
        ("select  id,amount\\n from orders where note='a  b'", true),
        ("select id, amount from orders where note = 'a b'", false),
        ("select amount, id from orders where note = 'a  b'", false),
    ] {
        let expected: &[&str] = if same { &[] } else { &["source.query"] };
        assert_eq!(good(&query(other)).differences(&one), expected, "{other}");
    }
}
