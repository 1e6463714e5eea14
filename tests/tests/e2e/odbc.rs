//! Sources that are reached through an ODBC driver, with the real binary: PostgreSQL through psqlODBC.

use std::fs;
use std::path::Path;

use dpone_engine::run::effect::EffectKind::Put;
use dpone_fixtures::postgres::{Postgres, SUPERUSER};
use dpone_tests::ended::Ended;
use dpone_tests::facts::Step;
use dpone_tests::held::WAL;
use dpone_tests::killer::Killer;
use dpone_tests::route::{Mode, Route, Sink, Source};
use dpone_tests::scratch::scratch;
use serde_json::{Value, json};

const JSON: [&str; 4] = ["run", "m.yaml", "--format", "json"];

fn odbc(database: &str) -> Value {
    let port = Postgres::shared().port();
    json!({"driver": "PostgreSQL Unicode", "host": "127.0.0.1", "port": port, "database": database, "username": SUPERUSER})
}

fn target(database: &str, table: &str) -> Value {
    let port = Postgres::shared().port();
    let to =
        json!({"host": "127.0.0.1", "port": port, "database": database, "username": SUPERUSER, "ssl_mode": "disable"});
    let table = json!({"schema": "public", "name": table});
    json!({"type": "postgres", "connection": to, "table": table, "strategy": {"mode": "full_refresh"}})
}

fn dataset() -> Value {
    json!({"type": "parquet", "uri": "dataset", "strategy": {"mode": "full_refresh"}})
}

fn manifest(folder: &Path, source: &Value, sink: &Value) {
    let mut from = json!({"type": "odbc"});
    from.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
    fs::write(folder.join("m.yaml"), json!({"name": "odbc", "source": from, "sink": sink}).to_string()).unwrap();
}

fn parallel(mode: &str, consistency: &str, authority: &Value, readers: u32) -> Value {
    json!({"partitioning": {"column": "id", "num_partitions": 4, "range_parallelism": {
        "mode": mode, "reader_workers": readers, "max_inflight_bytes": "64MiB", "consistency": consistency,
        "consistency_authority": authority,
    }}})
}

/// Types that drivers are known to spoil: booleans as text, floats as narrower ones, money as a float, long texts cut.
const EXACT: &str = "CREATE TABLE every (id int PRIMARY KEY, b bool, i2 smallint, i8 bigint, f4 real, f8 double precision,
    n numeric(38,10), wide numeric(60,20), m money, d date, t time(3), ts timestamp, tz timestamptz(3), u uuid, y bytea,
    x text, v varchar(20), c char(5), j jsonb);
    INSERT INTO every VALUES
    (1, true, -32768, -9223372036854775808, '-0', '-0', '-9999999999999999999999999999.9999999999',
        -1234567890123456789012345678901234567890.00000000000000000001, '-0.01', '0001-01-01', '00:00',
        '0001-01-01 00:00:00', '0001-01-01 00:00:00.001+00', '00000000-0000-0000-0000-000000000000', '', '', '', '', 'null'),
    (2, false, 32767, 9223372036854775807, 'NaN', 'Infinity', 1e-10, 0, '92233720368547758.07', '9999-12-31', '23:59:59.999',
        '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
        decode(repeat('00ff0a5c', 50000), 'hex'), repeat('длинный 🦀', 30000), 'ä€', 'ab', '{\"a\": [1]}'),
    (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (4, true, 0, 1, 1e-45, 5e-324, 0.1, 1, '1', '2024-02-29', '12:34:56.789', '2024-02-29 12:34:56.123456',
        '1969-12-31 23:59:59.999+00', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\\x5c', E'tab\\t ''quote''', 'a b', '  a', '7')";

#[test]
fn every_type_arrives_as_it_is() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(&database, EXACT);
    let source = json!({"connection": odbc(&database), "table": {"schema": "public", "name": "every"}});
    manifest(folder.path(), &source, &target(&database, "arrived"));
    let told = Ended::run(folder.path(), &["run", "m.yaml"]).delivered().json();
    assert_eq!((&told["rows"], &told["consistency"]), (&json!(4), &json!("statement")), "{told}");
    // As text: a number in JSON would be read as a float. Money arrives as a decimal.
    let all = |table: &str| {
        let columns = "id, b, i2, i8::text, f4::text, f8::text, n::text, wide::text, m::numeric::text, d, t, ts, tz, u, \
                       md5(y), md5(x), v, octet_length(c), j::text::jsonb";
        let sql = format!(
            "SET timezone = 'UTC'; SELECT json_agg(json_build_array({columns}) ORDER BY id)::text FROM {table}"
        );
        serde_json::from_str::<Value>(&server.psql(&database, &sql)).unwrap()
    };
    assert_eq!(all("arrived"), all("every"));
}

#[test]
fn what_is_not_exact_is_refused_with_its_place() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    for (table, types, exit, code) in [
        ("v numeric", json!({}), 2, "unconstrained_numeric_requires_type"),
        ("v interval", json!({}), 2, "unsupported_type"),
        ("v numeric DEFAULT 'NaN'", json!({"v": "decimal(38,10)"}), 3, "decimal_not_finite"),
        ("v numeric DEFAULT 0.001", json!({"v": "decimal(38,2)"}), 3, "decimal_scale_overflow"),
        ("v numeric DEFAULT 1000", json!({"v": "decimal(5,2)"}), 3, "decimal_overflow"),
        ("v date DEFAULT 'infinity'", json!({}), 3, "source_value_type_mismatch"),
        ("v timestamp DEFAULT '0044-03-15 BC'", json!({}), 3, "source_value_type_mismatch"),
        ("v time DEFAULT '24:00'", json!({}), 3, "source_value_type_mismatch"),
    ] {
        let sql = format!("DROP TABLE IF EXISTS bad; CREATE TABLE bad (id int, {table}); INSERT INTO bad VALUES (1)");
        server.psql(&database, &sql);
        let _ = fs::remove_dir_all(folder.path().join(".dpone"));
        let source = json!({
            "connection": odbc(&database), "table": {"schema": "public", "name": "bad"}, "options": {"types": types},
        });
        manifest(folder.path(), &source, &dataset());
        let ended = Ended::run(folder.path(), &["run", "m.yaml"]).with(exit, &format!("error[{code}]"));
        assert!(ended.err().contains("\"v\""), "{table}: {ended}");
        assert!(!ended.err().contains("infinity"), "no value: {ended}");
    }
}

/// Long texts stand in the driver's memory before anything can be admitted: several readers would make that worse.
#[test]
fn long_values_are_read_by_one_session_and_said_so() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(&database, "CREATE TABLE l (id int PRIMARY KEY, x text); INSERT INTO l SELECT g, repeat('x', g) FROM generate_series(1, 1000) g");
    for (mode, exit) in [("required", 2), ("auto", 0)] {
        let options = parallel(mode, "immutable", &json!({}), 4);
        let source =
            json!({"connection": odbc(&database), "table": {"schema": "public", "name": "l"}, "options": options});
        manifest(folder.path(), &source, &dataset());
        let ended = Ended::run(folder.path(), &["run", "m.yaml"]);
        if exit == 2 {
            ended.with(2, "error[columnar_range_pre_read_byte_admission_unavailable]");
            continue;
        }
        let told = ended.delivered().json();
        assert_eq!((&told["rows"], told["ranges"].as_array().unwrap().len()), (&json!(1000), 1), "{told}");
        let plan = Ended::run(folder.path(), &["plan", "m.yaml"]).with(0, "").json();
        let why = plan["columnar_fast_path"]["details"]["range_parallelism"].to_string();
        assert!(why.contains("columnar_range_pre_read_byte_admission_unavailable"), "{why}");
    }
}

#[test]
fn several_readers_need_a_word_that_nothing_changes() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(
        &database,
        "CREATE TABLE t (id int PRIMARY KEY, v varchar(20)); INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 5000) g;
         CREATE TABLE gate (closed int); INSERT INTO gate VALUES (0)",
    );
    let run = |options: &Value| {
        let source =
            json!({"connection": odbc(&database), "table": {"schema": "public", "name": "t"}, "options": options});
        manifest(folder.path(), &source, &target(&database, "copied"));
        Ended::run(folder.path(), &["run", "m.yaml"])
    };
    run(&parallel("required", "statement", &json!({}), 4)).with(2, "error[consistency_mode_unsupported]");
    run(&parallel("required", "exported_snapshot", &json!({}), 4)).with(2, "error[consistency_mode_unsupported]");
    let gate = json!({"lease": "maintenance window 7", "query": "SELECT closed FROM gate"});
    run(&parallel("required", "write_exclusion", &gate, 4)).with(2, "error[consistency_authority_lost]");
    server.psql(&database, "UPDATE gate SET closed = 1");
    for (consistency, authority) in [("immutable", json!({})), ("write_exclusion", gate)] {
        let told = run(&parallel("required", consistency, &authority, 4)).delivered().json();
        let ranges = told["ranges"].as_array().unwrap();
        assert_eq!((&told["rows"], ranges.iter().filter(|r| r["rows"] != 0).count()), (&json!(5000), 4), "{told}");
        let differ = "SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE copied) x";
        assert_eq!(server.psql(&database, differ), "0");
    }
}

#[test]
fn connections_that_cannot_be_are_refused_without_their_secrets() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(&database, "CREATE TABLE t (id int)");
    let check = |change: Value, table: &str, code: &str| {
        let mut connection = odbc(&database);
        connection.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let source = json!({"connection": connection, "table": {"schema": "public", "name": table}});
        manifest(folder.path(), &source, &dataset());
        let ended = Ended::run(folder.path(), &["run", "m.yaml"]).with(2, &format!("error[{code}]"));
        assert!(ended.err().contains("fix:"), "{ended}");
    };
    check(json!({"driver": "No Such Driver"}), "t", "odbc_driver_not_found");
    check(json!({"driver": "/no/such/library.so"}), "t", "odbc_driver_not_found");
    check(json!({"port": 1}), "t", "source_not_found");
    check(json!({"username": "nobody"}), "t", "source_not_found");
    check(json!({}), "u", "source_table_not_found");
}

#[test]
fn a_terminated_reader_reads_again() {
    let folder = scratch();
    let route = Route::of(folder.path(), Source::Odbc, Sink::Parquet, Mode::FullRefresh, false, 2_000, 2_000);
    let mut held = Killer::new(folder.path()).hold(&route.folder, &JSON, WAL);
    if held.reach(&Step::Announced(Put), 1).is_none() {
        panic!("no chunk was read: {}", Ended(held.finish()));
    }
    let ended = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()";
    assert_ne!(route.database().psql(ended), "0", "somebody was reading");
    let told = Ended(held.finish()).delivered().json();
    let attempts = |r: &Value| r["attempts"].as_u64().unwrap();
    assert!(told["ranges"].as_array().unwrap().iter().any(|r| attempts(r) > 1), "{told}");
    assert_eq!(route.delivered(), route.expected(1));
    assert_eq!(route.leftovers(), Vec::<String>::new());
}
