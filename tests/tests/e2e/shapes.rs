//! Tables and names as they are: 1,000 columns, names with spaces, quotes and Unicode, no rows, no keys, columns without a
//! name.

use std::fs::{self, File};
use std::path::Path;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use dpone_tests::ended::Ended;
use dpone_tests::route::{Mode, Route, Sink, Source};
use dpone_tests::scratch::scratch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rusqlite::Connection;

const AWKWARD: &[&str] = &[
    "a b",
    "quo\"te",
    "apo'strophe",
    "back\\slash",
    "dot.dot",
    "semi;colon",
    "[brackets]",
    "`tick`",
    "per%cent",
    "select",
    "Größe",
    "日本語",
    "🦀",
    " leading",
    "trailing ",
    "new\nline",
    "--",
    "/*",
    "a,b",
    "{x}",
    "$1",
    "?1",
    ":p",
    "@v",
];

/// A table of text columns, and a partition column before them.
fn source(folder: &Path, file: &str, table: &str, key: &str, columns: &[String], rows: &[Vec<String>]) {
    let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let db = Connection::open(folder.join(file)).unwrap();
    let declared: String = columns.iter().map(|c| format!(", {} TEXT", quote(c))).collect();
    db.execute_batch(&format!(
        "CREATE TABLE {t} ({k} INTEGER{declared}); CREATE INDEX by_key ON {t} ({k})",
        t = quote(table),
        k = quote(key)
    ))
    .unwrap();
    let marks: String = (2..=columns.len() + 1).map(|n| format!(", ?{n}")).collect();
    let mut insert = db.prepare(&format!("INSERT INTO {} VALUES (?1{marks})", quote(table))).unwrap();
    for (key, row) in rows.iter().enumerate() {
        let values = std::iter::once(key.to_string()).chain(row.iter().cloned());
        insert.execute(rusqlite::params_from_iter(values)).unwrap();
    }
}

fn manifest(folder: &Path, file: &str, table: &str, key: &str, sink: &serde_json::Value) {
    // JSON is YAML: names need no other care here.
    let manifest = serde_json::json!({
        "name": "shapes",
        "source": {"type": "sqlite", "path": file, "table": {"name": table}, "options": {"partitioning": {
            "column": key, "num_partitions": 2,
            "range_parallelism": {"mode": "required", "reader_workers": 2, "max_inflight_ranges": 2,
                "max_inflight_bytes": "64MiB", "consistency": "exported_snapshot"},
        }}},
        "sink": sink,
        "runtime": {"journal": "jour nal ü'.db"},
    });
    fs::write(folder.join("m.yaml"), manifest.to_string()).unwrap();
}

/// What a dataset's only version holds: its columns, and its rows as text, sorted.
fn dataset(folder: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let pointer = folder.join("_dpone/manifest-00000001.json");
    let pointer = if pointer.exists() { pointer } else { newest(&folder.join("_dpone")) };
    let pointer: serde_json::Value = serde_json::from_slice(&fs::read(pointer).unwrap()).unwrap();
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    for file in pointer["files"].as_array().unwrap() {
        let file = File::open(folder.join(file["path"].as_str().unwrap())).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        names = reader.schema().fields().iter().map(|f| f.name().clone()).collect();
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            let options = FormatOptions::default();
            let columns: Vec<_> =
                batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
            rows.extend(
                (0..batch.num_rows()).map(|row| columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>()),
            );
        }
    }
    rows.sort();
    (names, rows)
}

fn newest(books: &Path) -> std::path::PathBuf {
    let mut names: Vec<_> = fs::read_dir(books).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|p| p.file_name().unwrap().to_string_lossy().starts_with("manifest-"));
    names.sort();
    names.pop().unwrap()
}

/// The same of a table.
fn table(path: &Path, table: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let db = Connection::open(path).unwrap();
    let mut statement = db.prepare(&format!("SELECT * FROM \"{}\"", table.replace('"', "\"\""))).unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let count = names.len();
    let text = |r: &rusqlite::Row<'_>, i: usize| match r.get_ref(i).unwrap() {
        rusqlite::types::ValueRef::Integer(n) => n.to_string(),
        other => other.as_str().unwrap().to_owned(),
    };
    let rows = statement.query_map([], |r| Ok((0..count).map(|i| text(r, i)).collect())).unwrap();
    let mut rows: Vec<Vec<String>> = rows.map(Result::unwrap).collect();
    rows.sort();
    (names, rows)
}

/// To both sinks, by those names; every cell is compared.
fn moves(file: &str, name: &str, key: &str, columns: &[String], rows: &[Vec<String>], target: &str) {
    let folder = scratch();
    let folder = folder.path();
    source(folder, file, name, key, columns, rows);
    let names: Vec<String> = std::iter::once(key.to_owned()).chain(columns.iter().cloned()).collect();
    let mut expected: Vec<Vec<String>> = rows
        .iter()
        .enumerate()
        .map(|(k, row)| std::iter::once(k.to_string()).chain(row.iter().cloned()).collect())
        .collect();
    expected.sort();

    manifest(
        folder,
        file,
        name,
        key,
        &serde_json::json!({"type": "parquet", "uri": target, "strategy": {"mode": "full_refresh"}}),
    );
    Ended::run(folder, &["run", "m.yaml"]).delivered();
    assert_eq!(dataset(&folder.join(target)), (names.clone(), expected.clone()));

    let database = format!("{target}.db");
    let sink = serde_json::json!({"type": "sqlite", "path": database, "table": {"name": name}, "strategy": {"mode": "merge", "key": [key]}});
    manifest(folder, file, name, key, &sink);
    for _ in 0..2 {
        Ended::run(folder, &["run", "m.yaml"]).delivered();
        assert_eq!(table(&folder.join(&database), name), (names.clone(), expected.clone()));
    }
}

fn texts(columns: usize, rows: usize) -> Vec<Vec<String>> {
    (0..rows).map(|r| (0..columns).map(|c| format!("r{r}c{c}")).collect()).collect()
}

#[test]
fn a_thousand_columns() {
    let columns: Vec<String> = (1..1000).map(|n| format!("column_{n}")).collect();
    moves("s.db", "t", "k", &columns, &texts(columns.len(), 5), "out");
}

#[test]
fn names_of_columns() {
    let columns: Vec<String> = AWKWARD.iter().map(|&c| c.to_owned()).collect();
    for key in ["k", "k'e\"y [ü]"] {
        moves("s.db", "t", key, &columns, &texts(columns.len(), 7), "out");
    }
}

#[test]
fn names_of_tables_and_files() {
    let columns = ["v".to_owned()];
    for name in AWKWARD.iter().copied().filter(|n| !n.contains('/')) {
        moves(&format!("so {name} urce.db"), name, "k", &columns, &texts(1, 3), &format!("tar {name} get"));
    }
}

/// No rows, in every mode, twice: the target is there with every column, and empty.
#[test]
fn empty_tables() {
    for (sink, modes) in [
        (Sink::Parquet, &[Mode::FullRefresh, Mode::Append][..]),
        (Sink::Sqlite, &[Mode::FullRefresh, Mode::Append, Mode::Merge]),
    ] {
        for &mode in modes {
            for per_partition in [false, true] {
                let folder = scratch();
                let route = Route::of(folder.path(), Source::Sqlite, sink, mode, per_partition, 0, 0);
                route.edit("min_rows: 1", "min_rows: 0");
                for _ in 0..2 {
                    let told = Ended::run(&route.folder, &["run", "m.yaml"]).delivered().json();
                    assert_eq!((told["rows"].as_u64(), told["published"].as_bool()), (Some(0), Some(true)));
                    let names = match sink {
                        Sink::Parquet => dataset(&folder.path().join("dataset")).0,
                        Sink::Sqlite => table(&folder.path().join("target.db"), "t").0,
                        Sink::Postgres => unreachable!("not among the sinks above"),
                    };
                    assert_eq!(names, ["id", "k", "v"], "{sink:?} {mode:?}");
                    assert_eq!(route.delivered(), []);
                    assert_eq!(route.leftovers(), Vec::<String>::new());
                }
                // A demand for rows fails before anything is published.
                route.edit("min_rows: 0", "min_rows: 1");
                Ended::run(&route.folder, &["run", "m.yaml"]).with(3, "error[quality_min_rows]");
            }
        }
    }
}

#[test]
fn keys_that_are_all_null() {
    for sink in [Sink::Parquet, Sink::Sqlite] {
        for per_partition in [false, true] {
            let folder = scratch();
            let route = Route::new(folder.path(), sink, Mode::FullRefresh, per_partition);
            route.source().execute_batch("UPDATE t SET k = NULL").unwrap();
            let told = Ended::run(&route.folder, &["run", "m.yaml"]).delivered().json();
            assert_eq!(told["rows"], 40);
            let expected: Vec<_> = route.expected(1).into_iter().map(|(id, _, v)| (id, None, v)).collect();
            assert_eq!(route.delivered(), expected);
        }
    }
}

#[test]
fn columns_of_queries() {
    for (select, code) in [
        ("SELECT id, id, v FROM t", "duplicate_column_name"),
        ("SELECT id, k, v AS id FROM t", "duplicate_column_name"),
        ("SELECT a.id, a.k, b.id FROM t a JOIN t b ON a.id = b.id", "duplicate_column_name"),
        ("SELECT id, k, v AS \\\"\\\" FROM t", "unnamed_column"),
        ("SELECT id, k, upper(v) FROM t", ""),
        ("SELECT id, k, 1 + 1 FROM t", ""),
    ] {
        for sink in [Sink::Parquet, Sink::Sqlite] {
            let folder = scratch();
            let route = Route::new(folder.path(), sink, Mode::FullRefresh, false);
            route.edit("table: {name: t}\n  options", &format!("query: \"{select}\"\n  options"));
            let before = fs::read_dir(folder.path()).unwrap().count();
            let ended = Ended::run(&route.folder, &["run", "m.yaml"]).with(2, "error[");
            assert!(code.is_empty() || ended.err().contains(&format!("error[{code}]")), "{select}: {ended}");
            assert_eq!(ended.json()["published"], false);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "{select}: something was created");
        }
    }
}

/// Names that differ only in case are two columns to Parquet and one to SQLite.
#[test]
fn names_that_differ_in_case() {
    for sink in [Sink::Parquet, Sink::Sqlite] {
        let folder = scratch();
        let route = Route::new(folder.path(), sink, Mode::FullRefresh, false);
        route.edit("table: {name: t}\n  options", "query: \"SELECT id, k, v, v AS V FROM t\"\n  options");
        let ended = Ended::run(&route.folder, &["run", "m.yaml"]);
        match sink {
            Sink::Parquet => {
                ended.delivered();
                assert_eq!(dataset(&folder.path().join("dataset")).0, ["id", "k", "v", "V"]);
            }
            Sink::Sqlite | Sink::Postgres => drop(ended.with(2, "error[duplicate_column_name]")),
        }
    }
}
