//! MariaDB through its own ODBC driver, with the real binary.

use std::fs;
use std::path::Path;

use dpone_fixtures::mariadb::{DATABASE, MariaDb, PASSWORD, USER};
use dpone_tests::ended::Ended;
use dpone_tests::scratch::scratch;
use rusqlite::Connection;
use serde_json::{Value, json};

fn manifest(folder: &Path, table: &str, options: &Value) {
    let source = json!({
        "type": "odbc", "connection_id": "my", "connection_type": "env", "table": {"name": table}, "options": options,
    });
    let sink =
        json!({"type": "sqlite", "path": "target.db", "table": {"name": "t"}, "strategy": {"mode": "full_refresh"}});
    fs::write(folder.join("m.yaml"), json!({"name": "my", "source": source, "sink": sink}).to_string()).unwrap();
}

fn run(server: &MariaDb, folder: &Path) -> Ended {
    let port = server.port().to_string();
    let variables = [
        ("DPONE_CONN_MY_DRIVER", "MariaDB Unicode"),
        ("DPONE_CONN_MY_HOST", "127.0.0.1"),
        ("DPONE_CONN_MY_PORT", port.as_str()),
        ("DPONE_CONN_MY_DATABASE", DATABASE),
        ("DPONE_CONN_MY_USERNAME", USER),
        ("DPONE_CONN_MY_PASSWORD", PASSWORD),
    ];
    Ended::run_with(folder, &["run", "m.yaml"], &variables)
}

/// Column, declaration, value, and what arrives of it.
const EVERY: &[(&str, &str, &str, &str)] = &[
    ("ti", "tinyint", "-128", "-128"),
    ("tu", "tinyint unsigned", "255", "255"),
    ("bi", "bigint", "-9223372036854775808", "-9223372036854775808"),
    ("bu", "int unsigned", "4294967295", "4294967295"),
    ("b1", "bit(1)", "b'1'", "1"),
    ("f", "float", "0.1", "0.10000000149011612"),
    ("db", "double", "1.7976931348623157e308", "1.7976931348623157e+308"),
    ("de", "decimal(38,10)", "'1234567890123456789012345678.0123456789'", "1234567890123456789012345678.0123456789"),
    ("da", "date", "'0001-01-01'", "0001-01-01"),
    ("dt", "datetime(6)", "'9999-12-31 23:59:59.999999'", "9999-12-31T23:59:59.999999"),
    ("ts", "timestamp(3) null", "'2024-02-29 12:00:00.123'", "2024-02-29T12:00:00.123Z"),
    ("tm", "time(3)", "'23:59:59.999'", "23:59:59.999"),
    ("y", "year", "2155", "2155"),
    ("vc", "varchar(40)", "'имя 😀'", "имя 😀"),
    ("tx", "longtext", "repeat('длинный 😀', 3)", "длинный 😀длинный 😀длинный 😀"),
    ("vb", "varbinary(20)", "x'deadbeef'", "DEADBEEF"),
    ("bl", "longblob", "x'00ff00'", "00FF00"),
    ("en", "enum('a','ü')", "'ü'", "ü"),
    ("js", "json", "'{\"a\":1}'", "{\"a\":1}"),
    ("u", "uuid", "'6f9619ff-8b86-d011-b42d-00c04fc964ff'", "6f9619ff-8b86-d011-b42d-00c04fc964ff"),
];

#[test]
fn every_type_arrives_as_it_is() {
    let server = MariaDb::start();
    let columns: Vec<String> = EVERY.iter().map(|(name, ty, ..)| format!("{name} {ty}")).collect();
    let values: Vec<&str> = EVERY.iter().map(|(_, _, value, _)| *value).collect();
    server.sql(&format!(
        "USE {DATABASE}; SET time_zone = '+00:00'; CREATE TABLE every (id int PRIMARY KEY, {}); INSERT INTO every VALUES (1, {});
         INSERT INTO every (id) VALUES (2)",
        columns.join(", "),
        values.join(", ")
    ));
    let folder = scratch();
    manifest(folder.path(), "every", &json!({}));
    let told = run(&server, folder.path()).delivered().json();
    assert_eq!((&told["rows"], &told["quality"]["fidelity"]["passed"]), (&json!(2), &json!(true)), "{told}");
    let db = Connection::open(folder.path().join("target.db")).unwrap();
    for (name, _, _, expect) in EVERY {
        let shown = format!(
            "SELECT CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE CAST({name} AS TEXT) END FROM t ORDER BY id"
        );
        let mut cells = db.prepare(&shown).unwrap();
        let cells: Vec<Option<String>> = cells.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(cells, [Some((*expect).to_owned()), None], "{name}");
    }
}

/// Drivers make NULL of a zero date; here it is no date, and the run says so.
#[test]
fn what_is_no_value_is_never_null() {
    let server = MariaDb::start();
    let folder = scratch();
    for (ty, value) in
        [("date", "'0000-00-00'"), ("date", "'2024-02-00'"), ("time", "'838:59:59'"), ("time", "'-01:00:00'")]
    {
        server.sql(&format!(
            "USE {DATABASE}; DROP TABLE IF EXISTS bad; CREATE TABLE bad (id int, v {ty}); INSERT INTO bad VALUES (1, {value})"
        ));
        let _ = fs::remove_dir_all(folder.path().join(".dpone"));
        manifest(folder.path(), "bad", &json!({}));
        let ended = run(&server, folder.path()).with(3, "error[source_value_type_mismatch]");
        assert!(ended.err().contains("\"v\""), "{ended}");
        // As text it is what the server says it is.
        let _ = fs::remove_dir_all(folder.path().join(".dpone"));
        manifest(folder.path(), "bad", &json!({"types": {"v": "text"}}));
        run(&server, folder.path()).delivered();
        let db = Connection::open(folder.path().join("target.db")).unwrap();
        let text: String = db.query_row("SELECT v FROM t", [], |r| r.get(0)).unwrap();
        assert_eq!(format!("'{text}'"), value);
        drop(db);
        fs::remove_file(folder.path().join("target.db")).unwrap();
    }
}

#[test]
fn ranges_hold_every_row_once() {
    let server = MariaDb::start();
    server.sql(&format!(
        "USE {DATABASE}; CREATE TABLE t (id int PRIMARY KEY, k bigint, d datetime(3), v varchar(20), KEY (k), KEY (d));
         INSERT INTO t SELECT seq, IF(seq % 11 = 0, NULL, seq * 7919 % 100003), '2024-01-01' + INTERVAL seq MINUTE, CONCAT('row ', seq)
         FROM seq_1_to_5000"
    ));
    let folder = scratch();
    for key in ["id", "k", "d"] {
        let policy =
            json!({"mode": "required", "reader_workers": 3, "max_inflight_bytes": "64MiB", "consistency": "immutable"});
        let options = json!({"partitioning": {"column": key, "num_partitions": 5, "range_parallelism": policy}});
        manifest(folder.path(), "t", &options);
        let told = run(&server, folder.path()).delivered().json();
        let filled = told["ranges"].as_array().unwrap().iter().filter(|r| r["rows"] != 0).count();
        assert_eq!((&told["rows"], filled >= 5), (&json!(5000), true), "{key}: {told}");
        let db = Connection::open(folder.path().join("target.db")).unwrap();
        let sums = "SELECT count(*), count(DISTINCT id), sum(id) FROM t";
        let sums: (i64, i64, i64) = db.query_row(sums, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).unwrap();
        assert_eq!(sums, (5000, 5000, 12_502_500), "{key}");
    }
}
