//! SQL Server as a source, with the real binary and both drivers, over the real wire to a server that speaks T-SQL.

use std::fs;
use std::path::Path;

use dpone_fixtures::tds::{PASSWORD, TdsServer, USER, microsoft_driver};
use dpone_tests::ended::Ended;
use dpone_tests::scratch::scratch;
use rusqlite::Connection;
use serde_json::{Value, json};

/// What reaches the server: through Microsoft's driver or FreeTDS.
struct Reach {
    variables: Vec<(String, String)>,
}

impl Reach {
    fn microsoft(server: &TdsServer) -> Self {
        let driver = microsoft_driver().display().to_string();
        Self::new(server, &driver, "TrustServerCertificate=yes")
    }

    fn free_tds(server: &TdsServer) -> Self {
        Self::new(server, "FreeTDS", "")
    }

    fn new(server: &TdsServer, driver: &str, options: &str) -> Self {
        let port = server.port().to_string();
        let parts = [
            ("DRIVER", driver),
            ("HOST", "127.0.0.1"),
            ("PORT", &port),
            ("DATABASE", "master"),
            ("USERNAME", USER),
            ("PASSWORD", PASSWORD),
            ("OPTIONS", options),
        ];
        Self { variables: parts.iter().map(|(k, v)| (format!("DPONE_CONN_MS_{k}"), (*v).to_owned())).collect() }
    }

    fn but(mut self, name: &str, value: &str) -> Self {
        let name = format!("DPONE_CONN_MS_{name}");
        self.variables.retain(|(k, _)| *k != name);
        self.variables.push((name, value.to_owned()));
        self
    }

    fn run(&self, folder: &Path, arguments: &[&str]) -> Ended {
        let variables: Vec<_> = self.variables.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        Ended::run_with(folder, arguments, &variables)
    }
}

fn manifest(folder: &Path, relation: &Value, options: &Value) {
    let mut source = json!({"type": "mssql", "connection_id": "ms", "connection_type": "env", "options": options});
    source.as_object_mut().unwrap().extend(relation.as_object().unwrap().clone());
    let sink =
        json!({"type": "sqlite", "path": "target.db", "table": {"name": "t"}, "strategy": {"mode": "full_refresh"}});
    fs::write(folder.join("m.yaml"), json!({"name": "ms", "source": source, "sink": sink}).to_string()).unwrap();
}

fn table(name: &str) -> Value {
    json!({"table": {"schema": "dbo", "name": name}})
}

fn parallel(column: &str, ranges: u32, readers: u32, topology: &str, more: &Value) -> Value {
    let loaders = if topology == "per_partition" { 2 } else { 1 };
    let mut policy = json!({
        "mode": "required", "reader_workers": readers, "max_inflight_ranges": readers, "max_inflight_bytes": "64MiB",
        "consistency": "immutable", "staging_topology": topology,
    });
    policy.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"partitioning": {
        "column": column, "num_partitions": ranges, "load_workers": loaders, "range_parallelism": policy,
    }})
}

const EVERY: &str = "CREATE TABLE dbo.every (id int NOT NULL PRIMARY KEY, ti tinyint, si smallint, bi bigint, bt bit, d decimal(18,4),
 dbig decimal(38,10), m money, sm smallmoney, f float, r real, nv nvarchar(40), nvm nvarchar(max), v varchar(40), vm varchar(max),
 ch char(5), dt date, tm time(7), d2 datetime2(7), d3 datetime2(3), dto datetimeoffset(7), dtm datetime, sdt smalldatetime,
 u uniqueidentifier, vb varbinary(20), vbm varbinary(max))
GO
INSERT INTO dbo.every VALUES (1, 255, -32768, 9223372036854775807, 1, 12345678901234.5678,
 1234567890123456789012345678.0123456789, -922337203685477.5808, 214748.3647, 1.7976931348623157E308, 1.5, N'имя 😀',
 N'длинный 😀', 'abc', 'long', 'ab', '0001-01-01', '23:59:59.1234567', '2024-02-29 23:59:59.1234567', '9999-12-31 23:59:59.999',
 '2024-02-29 23:59:59.1234567 +03:30', '1753-01-01 00:00:00.003', '2079-06-06 23:59:00', '6F9619FF-8B86-D011-B42D-00C04FC964FF',
 0xDEADBEEF, 0x00FF)
GO
INSERT INTO dbo.every (id) VALUES (2)
GO
INSERT INTO dbo.every VALUES (3, 0, 0, -9223372036854775808, 0, -0.0001, -1.5, 0, 0, 0.1, 0, N'', N'', '', '', '     ',
 '9999-12-31', '00:00:00', '1900-01-01', '1900-01-01', '1900-01-01 00:00:00 -14:00', '2024-01-01', '1900-01-01',
 '00000000-0000-0000-0000-000000000000', 0x, 0x)
";

/// What `EVERY` holds, column by column, as SQLite shows it.
const FIRST: &[&str] = &[
    "1",
    "255",
    "-32768",
    "9223372036854775807",
    "1",
    "12345678901234.5678",
    "1234567890123456789012345678.0123456789",
    "-922337203685477.5808",
    "214748.3647",
    "1.7976931348623157e+308",
    "1.5",
    "имя 😀",
    "длинный 😀",
    "abc",
    "long",
    "ab   ",
    "0001-01-01",
    "23:59:59.1234567",
    "2024-02-29T23:59:59.1234567",
    "9999-12-31T23:59:59.999",
    "2024-02-29T20:29:59.1234567Z",
    "1753-01-01T00:00:00.003",
    "2079-06-06T23:59:00",
    "6f9619ff-8b86-d011-b42d-00c04fc964ff",
    "DEADBEEF",
    "00FF",
];
const THIRD: &[&str] = &[
    "3",
    "0",
    "0",
    "-9223372036854775808",
    "0",
    "-0.0001",
    "-1.5000000000",
    "0.0000",
    "0.0000",
    "0.1",
    "0.0",
    "",
    "",
    "",
    "",
    "     ",
    "9999-12-31",
    "00:00:00.0000000",
    "1900-01-01T00:00:00.0000000",
    "1900-01-01T00:00:00.000",
    "1900-01-01T14:00:00.0000000Z",
    "2024-01-01T00:00:00.000",
    "1900-01-01T00:00:00",
    "00000000-0000-0000-0000-000000000000",
    "",
    "",
];

/// The rows of the target, each cell as text.
fn delivered(folder: &Path) -> Vec<Vec<Option<String>>> {
    let db = Connection::open(folder.join("target.db")).unwrap();
    let columns: Vec<String> = {
        let mut columns = db.prepare("SELECT name FROM pragma_table_info('t')").unwrap();
        columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let shown: Vec<String> = columns
        .iter()
        .map(|c| format!("CASE typeof(\"{c}\") WHEN 'blob' THEN hex(\"{c}\") ELSE CAST(\"{c}\" AS TEXT) END"))
        .collect();
    let mut rows = db.prepare(&format!("SELECT {} FROM t ORDER BY id", shown.join(", "))).unwrap();
    let read = |row: &rusqlite::Row<'_>| (0..columns.len()).map(|i| row.get(i)).collect();
    rows.query_map([], read).unwrap().map(Result::unwrap).collect()
}

#[test]
fn every_type_arrives_as_it_is_through_both_drivers() {
    let server = TdsServer::start(EVERY);
    for reach in [Reach::microsoft(&server), Reach::free_tds(&server)] {
        let folder = scratch();
        manifest(folder.path(), &table("every"), &json!({}));
        let told = reach.run(folder.path(), &["run", "m.yaml"]).delivered().json();
        assert_eq!((&told["rows"], &told["quality"]["fidelity"]["passed"]), (&json!(3), &json!(true)), "{told}");
        let rows = delivered(folder.path());
        let some = |row: &[&str]| row.iter().map(|cell| Some((*cell).to_owned())).collect::<Vec<_>>();
        assert_eq!(rows[0], some(FIRST));
        assert_eq!(rows[1].iter().filter(|cell| cell.is_some()).count(), 1);
        assert_eq!(rows[2], some(THIRD));
    }
}

const SKEWED: &str = "CREATE TABLE dbo.skewed (id int NOT NULL PRIMARY KEY, k bigint, amount decimal(18,4), name nvarchar(40), at datetime2(6))
GO
CREATE INDEX skewed_k ON dbo.skewed (k)
GO
INSERT INTO dbo.skewed SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 3 = 0 THEN 77 ELSE i * 7919 % 100003 END,
 CAST(i / 7.0 AS decimal(18,4)), CONCAT('name ', i), CAST('2024-01-01' AS datetime2(6)) FROM range(20000) t(i)
";

/// Every number of ranges and readers on both topologies, over hot and NULL keys, with range parallelism required.
#[test]
fn every_shape_of_ranges_holds_every_row_once() {
    let server = TdsServer::start(SKEWED);
    let folder = scratch();
    let reach = Reach::microsoft(&server);
    for topology in ["shared_per_run", "per_partition"] {
        for ranges in [1, 2, 4, 7] {
            for readers in [1, 2, 4] {
                let at = format!("{ranges} ranges, {readers} readers, {topology}");
                manifest(folder.path(), &table("skewed"), &parallel("k", ranges, readers, topology, &json!({})));
                let told = reach.run(folder.path(), &["run", "m.yaml"]).delivered().json();
                assert_eq!(told["rows"], 20_000, "{at}");
                let found = told["ranges"].as_array().unwrap();
                assert_eq!(found.iter().map(|r| r["rows"].as_u64().unwrap()).sum::<u64>(), 20_000, "{at}");
                assert!(told["concurrency"]["observed"]["readers"].as_u64().unwrap() <= readers.into(), "{at}");
                let db = Connection::open(folder.path().join("target.db")).unwrap();
                let sums = "SELECT count(*), count(DISTINCT id), sum(id), sum(k), count(k) FROM t";
                let sums: (i64, i64, i64, i64, i64) =
                    db.query_row(sums, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?))).unwrap();
                let key = |i: i64| match i {
                    i if i % 11 == 0 => None,
                    i if i % 3 == 0 => Some(77),
                    i => Some(i * 7919 % 100_003),
                };
                let keys: Vec<i64> = (0..20_000).filter_map(key).collect();
                let expect = (20_000, 20_000, 199_990_000, keys.iter().sum(), keys.len() as i64);
                assert_eq!(sums, expect, "{at}");
            }
        }
    }
    let plan = reach.run(folder.path(), &["plan", "m.yaml"]).with(0, "").json();
    let path = &plan["columnar_fast_path"];
    assert_eq!(path["provider"], "mssql_odbc_arrow_parquet", "{plan}");
    assert_eq!(path["details"]["range_parallelism"]["planned_range_count"], 8, "seven and one for NULL: {plan}");
    // FreeTDS too, with a key of another type.
    manifest(folder.path(), &table("skewed"), &parallel("id", 4, 4, "per_partition", &json!({})));
    let told = Reach::free_tds(&server).run(folder.path(), &["run", "m.yaml"]).delivered().json();
    assert_eq!((&told["rows"], told["ranges"].as_array().unwrap().len()), (&json!(20_000), 4), "{told}");
}

/// What keeps the source still is confirmed before a row is read.
#[test]
fn an_authority_that_the_server_does_not_confirm_reads_no_row() {
    let server = TdsServer::start(&format!(
        "{SKEWED}GO\nCREATE TABLE dbo.gate (closed int)\nGO\nINSERT INTO dbo.gate VALUES (0)\n"
    ));
    let folder = scratch();
    let reach = Reach::microsoft(&server);
    let check = |more: Value, exit: i32, code: &str| {
        manifest(folder.path(), &table("skewed"), &parallel("k", 4, 2, "shared_per_run", &more));
        reach.run(folder.path(), &["run", "m.yaml"]).with(exit, code);
        assert_eq!(folder.path().join("target.db").exists(), exit == 0, "{code}");
    };
    let missing = "error[consistency_authority_missing]";
    check(json!({"consistency": "statement"}), 2, "error[consistency_mode_unsupported]");
    check(json!({"consistency": "exported_snapshot"}), 2, "error[consistency_mode_unsupported]");
    check(json!({"consistency": "database_snapshot"}), 2, missing);
    let absent = json!({"database_snapshot": "no_such"});
    check(json!({"consistency": "database_snapshot", "consistency_authority": absent}), 2, missing);
    let not_one = json!({"database_snapshot": "master"});
    check(json!({"consistency": "database_snapshot", "consistency_authority": not_one}), 2, missing);
    check(
        json!({"consistency": "temporal_as_of", "consistency_authority": {"as_of": "2024-01-01T00:00:00"}}),
        2,
        missing,
    );
    check(json!({"consistency": "write_exclusion", "consistency_authority": {"lease": "l"}}), 2, missing);
    let open = json!({"lease": "l", "query": "SELECT closed FROM dbo.gate"});
    check(json!({"consistency": "write_exclusion", "consistency_authority": open}), 2, missing);
    let shut = json!({"lease": "l", "query": "SELECT closed + 1 FROM dbo.gate"});
    check(json!({"consistency": "write_exclusion", "consistency_authority": shut}), 0, "");
}

/// A connection that is dropped in the middle of a result is tried again, a bounded number of times, and never taken for
/// the end of the rows.
#[test]
fn a_dropped_connection_is_no_end_of_rows() {
    let server = TdsServer::start_with(SKEWED, &["--kill-after", "17000"]);
    for reach in [Reach::microsoft(&server), Reach::free_tds(&server)] {
        let folder = scratch();
        manifest(folder.path(), &table("skewed"), &json!({}));
        let told = reach.run(folder.path(), &["run", "m.yaml"]).with(3, "error[source_read_failed]").json();
        assert_eq!((&told["published"], &told["failure_class"]), (&json!(false), &json!("source_range")), "{told}");
        let target = Connection::open(folder.path().join("target.db")).unwrap();
        assert_eq!(target.query_row("SELECT count(*) FROM sqlite_master WHERE name = 't'", [], |r| r.get(0)), Ok(0));
        // In ranges that are shorter than what it gives before it drops the connection, all of it arrives.
        manifest(folder.path(), &table("skewed"), &parallel("id", 4, 2, "shared_per_run", &json!({})));
        let _ = fs::remove_dir_all(folder.path().join(".dpone"));
        let told = reach.run(folder.path(), &["run", "m.yaml"]).delivered().json();
        assert_eq!(told["rows"], 20_000);
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_fix_and_no_secret() {
    let server = TdsServer::start(EVERY);
    let folder = scratch();
    let check = |reach: Reach, relation: Value, options: Value, code: &str| {
        manifest(folder.path(), &relation, &options);
        let ended = reach.run(folder.path(), &["run", "m.yaml"]).with(2, &format!("error[{code}]"));
        assert!(ended.err().contains("fix:"), "{ended}");
        let told = format!("{}{}", ended.err(), String::from_utf8_lossy(&ended.0.stdout));
        for secret in [PASSWORD, "p;w}}d1! é", "p%3Bw%7Dd1%21%20%C3%A9", "cDt3fWQxISDDqQ==", "wrong-secret"] {
            assert!(!told.contains(secret), "{told}");
        }
    };
    let every = || table("every");
    let ms = || Reach::microsoft(&server);
    check(ms().but("PASSWORD", "wrong-secret"), every(), json!({}), "source_not_found");
    check(Reach::free_tds(&server).but("PASSWORD", "wrong-secret"), every(), json!({}), "source_not_found");
    check(ms().but("PORT", "1").but("CONNECT_TIMEOUT", "1"), every(), json!({}), "source_not_found");
    check(ms().but("PORT", "x"), every(), json!({}), "connection_settings_invalid");
    check(ms().but("HOST", ""), every(), json!({}), "connection_settings_invalid");
    check(ms().but("DRIVER", "ODBC Driver 99"), every(), json!({}), "odbc_driver_not_found");
    check(ms().but("OPTIONS", "a={wrong-secret"), every(), json!({}), "connection_settings_invalid");
    check(ms(), table("nothing"), json!({}), "source_table_not_found");
    check(ms(), json!({"query": "select 1 a; drop table dbo.every"}), json!({}), "source_query_invalid");
    check(ms(), json!({"query": "delete from dbo.every"}), json!({}), "source_query_invalid");
    check(ms(), every(), json!({"columns": ["idd"]}), "source_column_not_found");
    check(ms(), every(), parallel("tm", 2, 2, "shared_per_run", &json!({})), "unsupported_boundary_type");
    // FreeTDS cannot say how long a row is before it has it.
    check(
        Reach::free_tds(&server),
        every(),
        parallel("id", 2, 2, "shared_per_run", &json!({})),
        "columnar_range_pre_read_byte_admission_unavailable",
    );
}

#[test]
fn the_doctor_says_what_is_there_and_what_is_missing() {
    let server = TdsServer::start(EVERY);
    let folder = scratch();
    let gate = json!({"lease": "l", "query": "SELECT 1"});
    let more = json!({"consistency": "write_exclusion", "consistency_authority": gate});
    manifest(folder.path(), &table("every"), &parallel("id", 2, 2, "shared_per_run", &more));
    let reach = Reach::microsoft(&server);
    let told = reach.run(folder.path(), &["doctor", "m.yaml"]).with(0, "").json();
    let drivers = told["odbc_drivers"].as_array().unwrap();
    assert!(drivers.iter().any(|d| d["name"] == "FreeTDS" && d["found"] == true), "{told}");
    assert_eq!((&told["source"]["readable"], &told["source"]["columns"]), (&json!(true), &json!(26)), "{told}");
    assert!(told["source"]["privileges"].to_string().contains("consistency_authority.query"), "{told}");
    let told = reach.but("PASSWORD", "wrong-secret").run(folder.path(), &["doctor", "m.yaml"]).with(2, "").json();
    assert_eq!(told["source"]["readable"], false);
    assert!(!told["source"]["errors"][0]["fix"].as_str().unwrap().is_empty(), "{told}");
    assert!(!told.to_string().contains("wrong-secret"), "{told}");
}
