//! Memory of the whole process, drivers included, on tables of twenty times the byte budget.

use std::fs;
use std::path::Path;
use std::process::Command;

use dpone_fixtures::postgres::{Postgres, SUPERUSER};
use dpone_fixtures::tds::{PASSWORD, TdsServer, USER, microsoft_driver};
use dpone_tests::ended::Ended;
use dpone_tests::product::dpone;
use dpone_tests::scratch::scratch;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

/// MiB of the budget, and of everything that the process may allocate: the budget, and what a binary with four readers,
/// their drivers and their threads takes whatever it reads.
const BUDGET: u64 = 16;
const LIMIT: u64 = BUDGET + 176;
/// Rows of 2,000 bytes: 326 MiB.
const ROWS: u64 = 170_000;

fn manifest(folder: &Path, source: &Value, long: bool) {
    let policy = json!({
        "mode": "required", "reader_workers": 4, "max_inflight_ranges": 4, "max_inflight_rows": 1_000_000,
        "max_inflight_bytes": format!("{BUDGET}MiB"), "consistency": "immutable",
    });
    let mut source = source.clone();
    let partitioning = json!({"partitioning": {"column": "id", "num_partitions": 4, "range_parallelism": policy}});
    source.as_object_mut().unwrap().insert("options".into(), partitioning);
    // The check has the same budget; it reads long values whole.
    let quality = json!({"fidelity": if long { "counts" } else { "rows" }});
    let sink = json!({"type": "parquet", "uri": "dataset", "strategy": {"mode": "full_refresh"}});
    let manifest = json!({"name": "memory", "source": source, "sink": sink, "quality": quality});
    fs::write(folder.join("m.yaml"), manifest.to_string()).unwrap();
}

/// Runs it, with no more memory than [`LIMIT`] if it is `limited`.
fn run(folder: &Path, variables: &[(&str, String)], limited: bool) -> Ended {
    let mut command = Command::new("bash");
    let limit = if limited { format!("ulimit -d {}; ", LIMIT * 1024) } else { String::new() };
    command.arg("-c").arg(format!("{limit}exec \"$0\" run m.yaml --format json --no-progress"));
    command.arg(dpone()).current_dir(folder);
    command.envs(variables.iter().map(|(k, v)| (format!("DPONE_CONN_M_{k}"), v)));
    // Arenas of memory that is given back and kept for later are not what is measured.
    command.env("MALLOC_ARENA_MAX", "2");
    Ended(command.output().unwrap())
}

#[test]
fn psqlodbc_holds_no_more_than_the_budget() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(
        &database,
        &format!(
            "CREATE TABLE big (id int PRIMARY KEY, v varchar(2000));
             INSERT INTO big SELECT g, repeat(md5(g::text), 60) || g FROM generate_series(1, {ROWS}) g"
        ),
    );
    let source = json!({
        "type": "odbc", "connection_id": "m", "connection_type": "env", "table": {"schema": "public", "name": "big"},
    });
    manifest(folder.path(), &source, false);
    let variables = [
        ("DRIVER", "PostgreSQL Unicode".to_owned()),
        ("HOST", "127.0.0.1".to_owned()),
        ("PORT", server.port().to_string()),
        ("DATABASE", database.clone()),
        ("USERNAME", SUPERUSER.to_owned()),
    ];
    let told = run(folder.path(), &variables, true).delivered().json();
    assert_eq!(told["rows"], ROWS, "{told}");
    // The limit is one that matters: a driver that holds the whole result takes more.
    let mut whole = variables.to_vec();
    whole.push(("OPTIONS", "UseDeclareFetch=0".to_owned()));
    let before = largest_child();
    run(folder.path(), &whole, false).delivered();
    let after = largest_child();
    assert!(before < LIMIT && LIMIT < after, "{before} MiB, and {after} MiB with everything in the driver");
}

/// The most MiB that a process of this test has held.
fn largest_child() -> u64 {
    let kib = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    u64::try_from(kib).unwrap() / 1024
}

/// Values without a bound, each admitted by its own length.
#[test]
fn microsofts_driver_holds_no_more_than_the_budget() {
    let server = TdsServer::start(&format!(
        "CREATE TABLE dbo.big (id int NOT NULL PRIMARY KEY, v nvarchar(max))
GO
INSERT INTO dbo.big SELECT i, CONCAT(REPEAT(CAST(i AS VARCHAR), 160), i) FROM range(170000) t(i)
GO
INSERT INTO dbo.big SELECT i, REPEAT('x', 1000000) FROM range({ROWS}, {ROWS} + 8) t(i)"
    ));
    let folder = scratch();
    let source = json!({"type": "mssql", "connection_id": "m", "connection_type": "env", "table": {"schema": "dbo", "name": "big"}});
    manifest(folder.path(), &source, true);
    let variables = [
        ("DRIVER", microsoft_driver().display().to_string()),
        ("HOST", "127.0.0.1".to_owned()),
        ("PORT", server.port().to_string()),
        ("DATABASE", "master".to_owned()),
        ("USERNAME", USER.to_owned()),
        ("PASSWORD", PASSWORD.to_owned()),
        ("OPTIONS", "TrustServerCertificate=yes".to_owned()),
    ];
    let told = run(folder.path(), &variables, true).delivered().json();
    assert_eq!(told["rows"], ROWS + 8, "{told}");
}
