//! Partitions that are read are replaced, and those that are not stay.

use dpone_tests::ended::Ended;
use dpone_tests::route::{Mode, Route, Row, Sink, Source};
use dpone_tests::scratch::scratch;

const ROUTES: [(Source, Sink); 3] =
    [(Source::Sqlite, Sink::Sqlite), (Source::Postgres, Sink::Sqlite), (Source::Sqlite, Sink::Postgres)];

fn route(folder: &std::path::Path, source: Source, sink: Sink, per_partition: bool) -> Route {
    Route::from(folder, source, sink, Mode::PartitionReplace, per_partition)
}

fn change(route: &Route, source: Source, sql: &str) {
    match source {
        Source::Sqlite => route.source().execute_batch(sql).unwrap(),
        Source::Postgres | Source::Odbc => drop(route.database().psql(&format!("SET search_path = src; {sql}"))),
    }
}

#[test]
fn partitions_that_are_read_are_replaced() {
    for (source, sink) in ROUTES {
        for per_partition in [false, true] {
            let folder = scratch();
            let route = route(folder.path(), source, sink, per_partition);
            let told = Ended::run(&route.folder, &["run", "m.yaml"]).delivered().json();
            assert_eq!((told["rows"].as_u64(), told["notes"].as_array().map(Vec::len)), (Some(40), Some(0)));
            assert_eq!(route.delivered(), route.expected(1), "{source:?} to {sink:?}");

            // What is read next has the keys 7 and NULL only.
            change(&route, source, "DELETE FROM t WHERE k <> 7; UPDATE t SET v = 'new'");
            Ended::run(&route.folder, &["run", "m.yaml"]).delivered();
            let is_read = |k: Option<i64>| k.is_none_or(|k| k == 7);
            let expected: Vec<Row> = route
                .expected(1)
                .into_iter()
                .map(|(id, k, v)| (id, k, if is_read(k) { Some("new".to_owned()) } else { v }))
                .collect();
            assert_eq!(route.delivered(), expected, "{source:?} to {sink:?}");
            assert_eq!(route.leftovers(), Vec::<String>::new());
        }
    }
}

#[test]
fn an_empty_source_replaces_nothing_and_says_so() {
    for (source, sink) in ROUTES {
        let folder = scratch();
        let route = route(folder.path(), source, sink, false);
        Ended::run(&route.folder, &["run", "m.yaml"]).delivered();
        change(&route, source, "DELETE FROM t");
        route.edit("min_rows: 1", "min_rows: 0");
        let plan = Ended::run(&route.folder, &["plan", "m.yaml"]).with(0, "").json();
        let warnings = plan["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|w| w["code"] == "unread_partitions_stay"), "{plan}");
        let told = Ended::run(&route.folder, &["run", "m.yaml"]).delivered().json();
        assert_eq!((told["rows"].as_u64(), told["published"].as_bool()), (Some(0), Some(true)));
        assert_eq!(told["notes"], serde_json::json!(["no row was read, so no partition was replaced"]));
        assert_eq!(route.delivered(), route.expected(1), "{source:?} to {sink:?}");
    }
}

#[test]
fn partitions_need_columns_that_are_read() {
    for (key, place) in [("", "sink.strategy"), (", key: [kk]", "sink.strategy.key[0]"), (", key: []", "sink.strategy")]
    {
        let folder = scratch();
        let route = route(folder.path(), Source::Sqlite, Sink::Sqlite, false);
        route.edit(", key: [k]", key);
        let ended = Ended::run(&route.folder, &["run", "m.yaml"]).with(2, "error[strategy_key_missing]");
        assert!(ended.err().contains(place), "{ended}");
        assert_eq!(route.delivered().len(), 4, "the target is as it was");
    }
}

#[test]
fn a_dataset_of_files_has_no_partitions_to_replace() {
    let folder = scratch();
    let route = Route::new(folder.path(), Sink::Parquet, Mode::FullRefresh, false);
    route.edit("mode: full_refresh", "mode: partition_replace, key: [k]");
    Ended::run(&route.folder, &["run", "m.yaml"]).with(2, "error[strategy_unsupported]");
}
