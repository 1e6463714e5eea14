//! PostgreSQL as source and target, with the real binary: one snapshot under writers, what happens when sessions end, every
//! type on its way, and every shape of ranges.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use dpone_engine::run::effect::EffectKind::{Put, Read};
use dpone_fixtures::postgres::{Postgres, SUPERUSER};
use dpone_tests::ended::Ended;
use dpone_tests::facts::Step;
use dpone_tests::held::WAL;
use dpone_tests::killer::Killer;
use dpone_tests::route::{Mode, Route, Sink, Source};
use dpone_tests::scratch::scratch;
use serde_json::{Value, json};

const JSON: [&str; 4] = ["run", "m.yaml", "--format", "json"];

/// A route with objects of many rows, so that a read is under way for as long as a test wants it to be.
fn long(folder: &Path, extra: &str) -> Route {
    let route = Route::of(folder, Source::Postgres, Sink::Parquet, Mode::FullRefresh, false, 2_000, 2_000);
    route.edit("staging_topology", &format!("{extra}staging_topology"));
    route
}

/// Ends the sessions of the route's database that such a condition holds for; how many.
fn terminate(route: &Route, condition: &str) -> usize {
    let ended = format!(
        "SELECT count(*) FROM (SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND {condition}) x"
    );
    route.database().psql(&ended).parse().unwrap()
}

fn attempts(told: &Value) -> Vec<u64> {
    told["ranges"].as_array().unwrap().iter().map(|r| r["attempts"].as_u64().unwrap()).collect()
}

#[test]
fn a_terminated_reader_reads_again_on_the_same_state() {
    let folder = scratch();
    let route = long(folder.path(), "");
    let mut held = Killer::new(folder.path()).hold(&route.folder, &JSON, WAL);
    assert!(held.reach(&Step::Announced(Put), 1).is_some(), "a chunk was read");
    // What is written after the snapshot is not of the run.
    route.database().psql("UPDATE src.t SET v = 'later'");
    assert!(terminate(&route, "query LIKE 'COPY%'") > 0, "somebody was reading");
    let told = Ended(held.finish()).delivered().json();
    assert!(attempts(&told).iter().any(|tries| *tries > 1), "{told}");
    assert_eq!(route.delivered(), route.expected(1));
    assert_eq!(route.leftovers(), Vec::<String>::new());
}

#[test]
fn without_its_snapshot_a_run_reads_anew_or_stops() {
    for stop in [false, true] {
        let folder = scratch();
        let route = long(folder.path(), if stop { "on_authority_lost: stop, " } else { "" });
        let mut held = Killer::new(folder.path()).hold(&route.folder, &JSON, WAL);
        assert!(held.reach(&Step::Announced(Read), 1).is_some(), "it began to read");
        assert!(terminate(&route, "true") > 0, "the snapshot was held");
        let ended = Ended(held.finish());
        if stop {
            let told = ended.with(3, "error[consistency_authority_lost]").json();
            assert_eq!(told["published"], false);
            assert_eq!(route.delivered(), Vec::new());
            // Asked for, it reads another state.
            Ended::run(&route.folder, &["run", "m.yaml", "--resume"]).delivered();
        } else {
            ended.delivered();
        }
        assert_eq!(route.delivered(), route.expected(1));
        assert_eq!(route.leftovers(), Vec::<String>::new());
    }
}

/// A state that ends before anything was read from it is made again.
#[test]
fn a_snapshot_that_is_lost_while_it_is_opened_is_taken_again() {
    let folder = scratch();
    let route = long(folder.path(), "on_authority_lost: stop, ");
    let sql = "DO $$ DECLARE ended int; BEGIN LOOP
        SELECT count(*) INTO ended FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND state <> 'active' AND query LIKE '%pg_export_snapshot%') x;
        EXIT WHEN ended > 0; COMMIT; END LOOP; END $$";
    let name = route.database().psql("SELECT current_database()");
    let mut psql = Postgres::shared().psql_command(&name);
    let mut terminator = psql.arg("-c").arg(sql).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let ended = Ended::run(&route.folder, &["run", "m.yaml"]);
    let met = terminator.wait().unwrap();
    assert!(met.success(), "a snapshot was ended");
    ended.delivered();
    assert_eq!(route.delivered(), route.expected(1));
}

/// Moves money between rows in small transactions until it is stopped.
struct Writer(Child);

impl Writer {
    fn start(database: &str) -> Self {
        let sql = "DO $$ DECLARE a int; b int; BEGIN LOOP
            a := 1 + floor(random() * 4000); b := 1 + floor(random() * 4000);
            UPDATE accounts SET cents = cents - 7, moved = moved + 1 WHERE id = a;
            UPDATE accounts SET cents = cents + 7 WHERE id = b;
            COMMIT; END LOOP; END $$";
        let mut psql = Postgres::shared().psql_command(database);
        psql.arg("-c").arg(sql).stdout(Stdio::null()).stderr(Stdio::null());
        Self(psql.spawn().unwrap())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn connection(database: &str) -> Value {
    let port = Postgres::shared().port();
    json!({"host": "127.0.0.1", "port": port, "database": database, "username": SUPERUSER, "ssl_mode": "disable"})
}

/// A manifest from one table of the database to another, or to a dataset.
fn manifest(folder: &Path, database: &str, table: &str, options: &Value, sink: &Value) {
    let manifest = json!({
        "name": "pg",
        "source": {"type": "postgres", "connection": connection(database), "table": {"name": table}, "options": options},
        "sink": sink,
    });
    fs::write(folder.join("m.yaml"), manifest.to_string()).unwrap();
}

fn parallel(column: &str, ranges: u32, readers: u32, topology: &str) -> Value {
    let loaders = if topology == "per_partition" { 2 } else { 1 };
    json!({"partitioning": {"column": column, "num_partitions": ranges, "load_workers": loaders, "range_parallelism": {
        "mode": "required", "reader_workers": readers, "max_inflight_ranges": readers, "max_inflight_bytes": "64MiB",
        "consistency": "exported_snapshot", "staging_topology": topology,
    }}})
}

fn target(database: &str, table: &str) -> Value {
    let table = json!({"schema": "public", "name": table});
    json!({"type": "postgres", "connection": connection(database), "table": table, "strategy": {"mode": "full_refresh"}})
}

fn dataset() -> Value {
    json!({"type": "parquet", "uri": "dataset", "strategy": {"mode": "full_refresh"}})
}

#[test]
fn no_money_is_made_or_lost_while_it_moves() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(
        &database,
        "CREATE TABLE accounts (id int PRIMARY KEY, cents bigint NOT NULL, moved int NOT NULL DEFAULT 0);
         INSERT INTO accounts SELECT g, g * 100 FROM generate_series(1, 4000) g",
    );
    let total = server.psql(&database, "SELECT sum(cents) FROM accounts");
    let moved = || server.psql(&database, "SELECT sum(moved) FROM accounts").parse::<u64>().unwrap();
    manifest(
        folder.path(),
        &database,
        "accounts",
        &parallel("id", 7, 4, "per_partition"),
        &target(&database, "copied"),
    );
    let writer = Writer::start(&database);
    for _ in 0..3 {
        let before = moved();
        Ended::run(folder.path(), &["run", "m.yaml"]).delivered();
        assert!(moved() > before, "money moved during the run");
        assert_eq!(server.psql(&database, "SELECT sum(cents) FROM copied"), total);
        assert_eq!(server.psql(&database, "SELECT count(*) FROM copied"), "4000");
    }
    drop(writer);
}

/// Types whose values cross as they are; json and the like become text.
const EXACT: &str = "CREATE TABLE every (id int PRIMARY KEY, b bool, i2 smallint, i8 bigint, f4 real, f8 double precision,
    n numeric(38,10), small numeric(4,4), d date, t time(3), ts timestamp, tz timestamptz(3), u uuid, y bytea, x text,
    v varchar(20), c char(5), j json, jb jsonb, bits bit(3), ip inet, arr int[]);
    INSERT INTO every VALUES
    (1, true, -32768, -9223372036854775808, '-0', '-0', '-9999999999999999999999999999.9999999999', '-.9999', '0001-01-01',
        '00:00', '0001-01-01 00:00:00', '0001-01-01 00:00:00.001+00', '00000000-0000-0000-0000-000000000000', '', '', '', '',
        '{\"a\":  1}', '{\"b\":2}', B'101', '10.0.0.1/8', '{1,NULL,3}'),
    (2, false, 32767, 9223372036854775807, 'NaN', 'Infinity', '9999999999999999999999999999.9999999999', '.9999', '9999-12-31',
        '23:59:59.999', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
        decode('00ff0a5c', 'hex'), E'tab\\t line\\n \\\\ ''quote'' 🦀', 'ä€', 'ab', '[1,2]', 'null', B'000', '::1', '{}'),
    (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL),
    (4, true, 0, 1, 1e-45, 5e-324, 0, 0, '2024-02-29', '12:34:56.789', '2024-02-29 12:34:56.123456',
        '1969-12-31 23:59:59.999+00', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\\\\x5c', '\\N', 'a b', '  a', 'true', '\"s\"', B'111',
        '192.168.0.0/24', '{7}')";

#[test]
fn every_type_arrives_as_it_is() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(&database, EXACT);
    manifest(folder.path(), &database, "every", &parallel("id", 2, 2, "shared_per_run"), &target(&database, "arrived"));
    Ended::run(folder.path(), &["run", "m.yaml"]).delivered();
    // As text: a number in JSON would be read as a float.
    let columns = "SELECT string_agg(format('%I::text AS %I', attname, attname), ',' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'every'::regclass AND attnum > 0 AND attname NOT IN ('j', 'jb', 'bits', 'ip', 'arr', 'c')";
    let columns = server.psql(&database, columns);
    // What has another type there has its text; char(n) with its padding.
    let here = "j::text AS j, jb::text AS jb, bits::text AS bits, ip::text AS ip, to_json(arr)::text AS arr";
    let all = |table: &str, others: &str| -> Value {
        let sql = format!(
            "SET timezone = 'UTC'; SELECT json_agg(to_json(x) ORDER BY id)::text FROM
             (SELECT {columns}, {others}, octet_length(c) AS padded FROM {table}) x"
        );
        serde_json::from_str(&server.psql(&database, &sql)).unwrap()
    };
    let sent = all("every", here);
    assert_eq!(sent.as_array().unwrap().len(), 4);
    assert_eq!(all("arrived", "j, jb, bits, ip, arr"), sent);
}

/// Decimals of 39 to 76 digits, one of them cut into ranges.
#[test]
fn wide_decimals_arrive_exactly() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(
        &database,
        "CREATE TABLE wide (id int, k numeric(76,10), a numeric(76,76), b numeric(39,0), c numeric, d bigint);
         INSERT INTO wide SELECT 1, (repeat('9', 66) || '.9999999999')::numeric, ('0.' || repeat('9', 76))::numeric,
            repeat('9', 39)::numeric, repeat('9', 76)::numeric, 9223372036854775807;
         INSERT INTO wide SELECT id + 1, -k, -a, -b, -c, -d FROM wide;
         INSERT INTO wide VALUES (3, 0, 0, 0, 0, 0), (4, 0.0000000001, ('0.' || repeat('0', 75) || '1')::numeric, 1, 1, 1);
         INSERT INTO wide SELECT g, CASE WHEN g % 5 <> 0 THEN g + 0.5 END, NULL, g, g, g FROM generate_series(10, 300) g;
         CREATE INDEX ON wide (k); ANALYZE wide",
    );
    let all = |table: &str| {
        let columns = "id::text, k::text, a::text, b::text, c::text, d::text";
        let sql = format!("SELECT json_agg(json_build_array({columns}) ORDER BY id)::text FROM {table}");
        serde_json::from_str::<Value>(&server.psql(&database, &sql)).unwrap()
    };
    for ranges in [1, 3] {
        for sink in [target(&database, "arrived"), dataset()] {
            let mut options = parallel("k", ranges, 2, "shared_per_run");
            options["types"] = json!({"c": "decimal(76,0)", "d": "decimal(40,0)"});
            manifest(folder.path(), &database, "wide", &options, &sink);
            let told = Ended::run(folder.path(), &["run", "m.yaml"]).delivered().json();
            assert_eq!((&told["rows"], &told["quality"]["fidelity"]["passed"]), (&json!(295), &json!(true)), "{told}");
            let found = told["ranges"].as_array().unwrap();
            assert!(ranges == 1 || found.iter().filter(|r| r["rows"] != 0).count() > 2, "the table was cut: {told}");
        }
        assert_eq!(all("arrived"), all("wide"));
    }
    server.psql(&database, "ALTER TABLE wide ALTER b TYPE numeric(77,0)");
    let ended = Ended::run(folder.path(), &["plan", "m.yaml"]).with(2, "error[unsupported_type]");
    assert!(ended.err().contains("\"b\""), "{ended}");
}

#[test]
fn what_is_not_exact_is_refused_with_its_place() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    for (table, exit, code) in [
        ("v numeric", 2, "unconstrained_numeric_requires_type"),
        ("v interval", 2, "unsupported_type"),
        ("v int4range", 2, "unsupported_type"),
        ("v timetz", 2, "unsupported_type"),
        ("v numeric(5,2) DEFAULT 'NaN'", 3, "decimal_not_finite"),
        ("v date DEFAULT 'infinity'", 3, "date_out_of_range"),
        ("v timestamp DEFAULT '-infinity'", 3, "date_out_of_range"),
        ("v date DEFAULT '0044-03-15 BC'", 3, "date_out_of_range"),
        ("v timestamptz DEFAULT '10000-01-01 00:00:00Z'", 3, "date_out_of_range"),
    ] {
        let sql = format!("DROP TABLE IF EXISTS bad; CREATE TABLE bad (id int, {table}); INSERT INTO bad VALUES (1)");
        server.psql(&database, &sql);
        let _ = fs::remove_dir_all(folder.path().join(".dpone"));
        manifest(folder.path(), &database, "bad", &json!({}), &dataset());
        let ended = Ended::run(folder.path(), &["run", "m.yaml"]).with(exit, &format!("error[{code}]"));
        assert!(ended.err().contains("\"v\""), "{table}: {ended}");
        assert!(!ended.err().contains("infinity") && !ended.err().contains("10000"), "no value: {ended}");
    }
}

/// Ranges, readers and topologies over a table with hot and NULL keys; `DPONE_ROWS` for a large one.
#[test]
fn every_shape_of_ranges_holds_every_row_once() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    let rows: u64 = std::env::var("DPONE_ROWS").map_or(20_000, |rows| rows.parse().unwrap());
    server.psql(
        &database,
        &format!(
            "CREATE TABLE skewed AS SELECT g AS id, CASE WHEN g % 11 = 0 THEN NULL WHEN g % 3 = 0 THEN 77
             ELSE (g::bigint * g % 1000003)::int END AS k, md5(g::text) AS v FROM generate_series(1, {rows}) g;
             CREATE INDEX ON skewed (k)"
        ),
    );
    server.psql(&database, "ANALYZE skewed");
    let sum = |table: &str| {
        server.psql(&database, &format!("SELECT count(*), sum(id), sum(k), sum(hashtext(v)) FROM {table}"))
    };
    for topology in ["shared_per_run", "per_partition"] {
        for ranges in [1, 2, 4, 7] {
            for readers in [1, 2, 4] {
                let options = parallel("k", ranges, readers, topology);
                manifest(folder.path(), &database, "skewed", &options, &target(&database, "even"));
                let told = Ended::run(folder.path(), &["run", "m.yaml"]).delivered().json();
                assert_eq!(told["rows"], rows, "{ranges} {readers} {topology}");
                let found = told["ranges"].as_array().unwrap();
                assert_eq!(found.iter().map(|r| r["rows"].as_u64().unwrap()).sum::<u64>(), rows);
                assert_eq!(sum("even"), sum("skewed"), "{ranges} {readers} {topology}");
            }
        }
    }
}

#[test]
fn a_table_that_somebody_rewrites_is_waited_for_in_bounded_time() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(&database, "CREATE TABLE busy (id int PRIMARY KEY); INSERT INTO busy VALUES (1)");
    manifest(folder.path(), &database, "busy", &json!({}), &dataset());
    let text = fs::read_to_string(folder.path().join("m.yaml")).unwrap();
    let reference = json!({"connection_id": "busy", "connection_type": "env"});
    let mut parsed: Value = serde_json::from_str(&text).unwrap();
    parsed["source"].as_object_mut().unwrap().remove("connection");
    parsed["source"].as_object_mut().unwrap().extend(reference.as_object().unwrap().clone());
    fs::write(folder.path().join("m.yaml"), parsed.to_string()).unwrap();
    let mut lock = server.psql_command(&database);
    let mut lock = lock
        .args(["-c", "BEGIN; LOCK busy; NOTIFY held; SELECT pg_sleep(600)"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let held =
        "SELECT count(*) FROM pg_locks WHERE relation = 'busy'::regclass AND mode = 'AccessExclusiveLock' AND granted";
    while server.psql(&database, held) == "0" {
        std::thread::yield_now();
    }
    let ended = std::process::Command::new(dpone_tests::product::dpone())
        .args(["plan", "m.yaml"])
        .current_dir(folder.path())
        .env("DPONE_CONN_BUSY_URL", server.url(&database))
        .env("DPONE_CONN_BUSY_LOCK_TIMEOUT", "1")
        .output()
        .unwrap();
    lock.kill().unwrap();
    let _ = lock.wait();
    Ended(ended).with(2, "error[source_locked]");
}

/// However its server is called, a table is not published into itself.
#[test]
fn a_table_is_not_published_into_itself() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(&database, "CREATE TABLE one AS SELECT g AS id FROM generate_series(1, 10) g");
    let hosts = ["127.0.0.1".to_owned(), "localhost".to_owned(), server.socket_folder().display().to_string()];
    for host in hosts {
        let mut sink = target(&database, "one");
        sink["connection"]["host"] = json!(host);
        manifest(folder.path(), &database, "one", &json!({}), &sink);
        Ended::run(folder.path(), &["run", "m.yaml"]).with(2, "error[option_conflict]");
    }
    manifest(folder.path(), &database, "one", &json!({}), &target(&database, "other"));
    Ended::run(folder.path(), &["run", "m.yaml"]).delivered();
}

/// What the server would refuse at the publication is refused in the plan, before anything is read.
#[test]
fn what_a_target_refuses_is_seen_in_the_plan() {
    let (folder, server) = (scratch(), Postgres::shared());
    let check = |setup: &str, mode: &str, refused: Option<&str>| {
        let database = server.database();
        server.psql(&database, "CREATE TABLE x AS SELECT g AS id FROM generate_series(1, 10) g");
        server.psql(&database, setup);
        let mut sink = target(&database, "y");
        sink["strategy"] = match mode {
            "merge" => json!({"mode": mode, "key": ["id"]}),
            _ => json!({"mode": mode}),
        };
        manifest(folder.path(), &database, "x", &json!({}), &sink);
        let ended = Ended::run(folder.path(), &["run", "m.yaml"]);
        match refused {
            Some(text) => drop(ended.with(2, "error[strategy_unsupported]").with(2, text)),
            None => drop(ended.delivered()),
        }
    };
    let published = "CREATE TABLE y (id int); CREATE PUBLICATION p FOR TABLE y";
    for (setup, mode, refused) in [
        (published, "full_refresh", Some("replica identity")),
        (published, "merge", Some("replica identity")),
        (published, "append", None),
        ("CREATE TABLE y (id int); CREATE PUBLICATION p FOR ALL TABLES", "append", None),
        ("CREATE TABLE y (id int); CREATE PUBLICATION p FOR ALL TABLES", "full_refresh", Some("replica identity")),
        (
            "CREATE TABLE y (id int); ALTER TABLE y REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE y",
            "full_refresh",
            None,
        ),
        ("CREATE DOMAIN y AS int", "full_refresh", Some("is a type")),
        ("CREATE TABLE other (id int)", "full_refresh", None),
    ] {
        check(setup, mode, refused);
    }
}

/// A user's or database's defaults of transactions are not what a publication goes by.
#[test]
fn a_user_whose_transactions_are_read_only_publishes() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(&database, "CREATE TABLE x AS SELECT g AS id FROM generate_series(1, 10) g");
    for setting in ["default_transaction_isolation = 'serializable'", "default_transaction_read_only = on"] {
        server.psql(&database, &format!("ALTER DATABASE {database} SET {setting}"));
    }
    manifest(folder.path(), &database, "x", &json!({}), &target(&database, "y"));
    Ended::run(folder.path(), &["run", "m.yaml"]).delivered();
    assert_eq!(server.psql(&database, "SELECT count(*) FROM y"), "10");
}

/// What is not stored in one piece has no blocks: ranges are refused with that reason, and `auto` reads one.
#[test]
fn blocks_of_what_has_none_are_refused_with_the_reason() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    server.psql(
        &database,
        "CREATE TABLE parts (id int) PARTITION BY RANGE (id); CREATE TABLE one PARTITION OF parts DEFAULT;
         INSERT INTO parts VALUES (1); CREATE VIEW v AS SELECT * FROM parts",
    );
    for table in ["parts", "v"] {
        for (mode, exit, code) in [("required", 2, "error[unsupported_boundary_type]"), ("auto", 0, "")] {
            let mut options = parallel("", 4, 2, "shared_per_run");
            options["partitioning"].as_object_mut().unwrap().remove("column");
            options["partitioning"]["range_parallelism"]["mode"] = json!(mode);
            manifest(folder.path(), &database, table, &options, &dataset());
            let ended = Ended::run(folder.path(), &["run", "m.yaml"]).with(exit, code);
            assert!(!ended.err().contains("source_column_not_found"), "{ended}");
        }
    }
}

/// Books that are not whole, or not open to the user, and a locked target are seen before anything is read.
#[test]
fn books_that_cannot_be_used_are_seen_in_the_plan() {
    let (folder, server) = (scratch(), Postgres::shared());
    let database = server.database();
    let tables = "CREATE TABLE x AS SELECT g AS id FROM generate_series(1, 10) g; GRANT SELECT ON x TO PUBLIC;
        GRANT ALL ON SCHEMA public TO PUBLIC";
    server.psql(&database, tables);
    let check = |setup: &str, user: &str, text: Option<&str>| {
        server.psql(&database, setup);
        let mut sink = target(&database, "y");
        sink["connection"]["username"] = json!(user);
        manifest(folder.path(), &database, "x", &json!({}), &sink);
        let ended = Ended::run(folder.path(), &["run", "m.yaml"]);
        match text {
            Some(text) => drop(ended.with(2, "error[target_not_reachable]").with(2, text)),
            None => drop(ended.delivered()),
        }
    };
    let grant = "GRANT ALL ON __dpone_claim, __dpone_load, __dpone_ledger, y TO another";
    server.psql(&database, "CREATE ROLE another LOGIN");
    check("CREATE TABLE __dpone_claim (a int)", SUPERUSER, Some("are no books"));
    check("DROP TABLE __dpone_claim", SUPERUSER, None);
    check("SELECT 1", "another", Some("may not use all"));
    check(grant, "another", None);
    check("ALTER TABLE __dpone_load RENAME TO kept", SUPERUSER, Some("are missing"));
    check("ALTER TABLE kept RENAME TO __dpone_load", SUPERUSER, None);
}

/// The examples that ship, as they are, on a table such as they name.
#[test]
fn the_examples_deliver() {
    let server = Postgres::shared();
    let (shop, warehouse) = (server.database(), server.database());
    let sql =
        "CREATE TABLE orders AS SELECT i::bigint AS id, i * 1.25 AS amount, now() - i * interval '1 minute' AS placed
          FROM generate_series(1, 1000) i;
        ALTER TABLE orders ADD PRIMARY KEY (id), ALTER amount TYPE numeric(12, 2)";
    server.psql(&shop, sql);
    let deliver = |example: &str| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples").join(example);
        let folder = scratch();
        fs::copy(example, folder.path().join("m.yaml")).unwrap();
        let mut command = std::process::Command::new(dpone_tests::product::dpone());
        command.args(JSON).current_dir(folder.path());
        command.env("DPONE_CONN_SHOP_URL", server.url(&shop)).env("DPONE_CONN_WAREHOUSE_URL", server.url(&warehouse));
        Ended(command.output().unwrap()).delivered().json()
    };
    let told = deliver("postgres-to-parquet.yaml");
    assert_eq!((&told["rows"], told["ranges"].as_array().unwrap().len()), (&json!(1000), 4), "{told}");
    for _ in 0..2 {
        assert_eq!(deliver("postgres-to-postgres.yaml")["rows"], 1000);
        assert_eq!(server.psql(&warehouse, "SELECT count(*), sum(amount) FROM orders"), "1000|625625.00");
    }
}
