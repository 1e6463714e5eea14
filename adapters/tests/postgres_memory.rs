//! What a PostgreSQL reader takes against what it was granted.
//!
//! One test in a binary of its own: the counters are the process's.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(unsafe_code, reason = "a global allocator has no safe form")]

#[path = "memory/counting.rs"]
mod counting;

use std::collections::BTreeMap;

use dpone_adapters::postgres::Config;
use dpone_adapters::postgres_source::{PostgresPlan, PostgresRequest, PostgresSource, RangePlanner, describe};
use dpone_engine::codes::Code;
use dpone_engine::manifest::{Consistency, Fidelity, PlannerMode, Relation, TableRef};
use dpone_engine::ports::{Pull, Source, UnitReader};
use dpone_engine::ranges::{Scope, UnitRange};
use dpone_fixtures::postgres::Postgres;

use counting::{begin, taken};

/// What is not part of a grant: the holder and the counter with their read-aheads, two threads' channels, the test itself.
const BASE: usize = 2 << 20;
const BUDGET: u64 = 32 << 20;

#[test]
fn a_pull_takes_no_more_than_its_grant() {
    let server = Postgres::shared();
    let database = server.database();
    server.psql(
        &database,
        "create table narrow(id int, a bigint, b float8, s text);
         insert into narrow select n, n * 7919 % 100003, n / 7.0, 'value ' || n % 1000 from generate_series(1, 60000) n;
         create table wide(id int, s text, t text, b bytea);
         insert into wide select n, repeat(md5(n::text), n % 60), md5(n::text), decode(repeat(md5(n::text), n % 90), 'hex')
         from generate_series(1, 3000) n;
         create table long(id int, s text, b bytea);
         insert into long select n, repeat(md5(n::text), n * 400), decode(repeat(md5(n::text), n * 700), 'hex')
         from generate_series(1, 40) n;
         create table huge(id int, s text);
         insert into huge select n, 'x' from generate_series(1, 1000) n;
         insert into huge values (0, repeat('x', 400000000));
         insert into huge values (0, 'x');",
    );
    let columns: Vec<String> = (0..300).map(|i| format!("c{i} {}", ["bigint", "text", "float8"][i % 3])).collect();
    server.psql(
        &database,
        &format!(
            "create table many({}); insert into many(c0, c1, c2, c100) select n, 'text ' || n, n / 3.0, 'x'
             from generate_series(1, 2000) n",
            columns.join(", ")
        ),
    );
    let config = {
        let url = server.url(&database);
        Config::from_env("t", |name| (name == "DPONE_CONN_T_URL").then(|| url.clone())).unwrap()
    };
    for table in ["narrow", "wide", "long", "many"] {
        for grant in [2_u64 << 20, 4 << 20, 16 << 20] {
            let read = read(&config, table, grant, u64::MAX);
            assert!(read.worst <= BASE as i64, "{table} at {grant}: {read:?}");
        }
    }
    // A text of 400 MB: announced, asked for, and never read.
    let read = read(&config, "huge", BUDGET / 2, BUDGET);
    assert!(read.worst <= BASE as i64 && read.peak <= BUDGET as i64, "{read:?}");
    assert!(matches!(read.end, End::Asked(bytes) if bytes > 400_000_000), "{read:?}");
    let read = self::read(&config, "huge", BUDGET / 2, u64::MAX - 1);
    assert!(read.peak <= BUDGET as i64 && matches!(read.end, End::Refused), "{read:?}");
}

#[derive(Debug)]
enum End {
    Whole,
    /// It asked for more than the budget, as the driver then says in its refusal.
    Asked(u64),
    /// It refused the row, which is larger than a chunk may be.
    Refused,
}

#[derive(Debug)]
struct Read {
    /// The most that was taken above the grant of any pull.
    worst: i64,
    /// The most that was taken at all.
    peak: i64,
    end: End,
}

/// Reads a table. A budget one below the largest means that chunks are limited to 64 MiB instead.
fn read(config: &Config, table: &str, grant: u64, budget: u64) -> Read {
    let table = TableRef { name: table.to_owned(), ..TableRef::default() };
    let request = PostgresRequest {
        relation: Relation::Table(table),
        columns: None,
        types: BTreeMap::new(),
        key: None,
        planner: RangePlanner { mode: PlannerMode::default(), units: 1, wanted: false, split_hot: false },
    };
    let found = describe(config, &request).unwrap();
    let (schema, min_grant) = (found.schema, found.min_grant);
    let plan = PostgresPlan {
        request,
        schema,
        units: vec![UnitRange { ordinal: 0, scope: Scope::WholeTable }],
        consistency: Consistency::ExportedSnapshot,
        fidelity: Fidelity::Rows,
        target_chunk_bytes: u64::MAX,
        max_chunk_bytes: if budget == u64::MAX - 1 { 64 << 20 } else { u64::MAX },
        nonce: 1,
    };
    let baseline = begin();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let source = PostgresSource::new(plan, config.clone()).unwrap();
        let _ = source.open(1).await;
        let mut reader = source.reader(0).await.unwrap();
        let (mut worst, mut most, mut next) = (i64::MIN, 0, grant.max(min_grant));
        let end = loop {
            begin();
            let pull = reader.next(next, u64::MAX).await;
            let taken = taken(baseline) as i64;
            worst = worst.max(taken - next as i64);
            most = most.max(taken);
            next = match pull {
                Ok(Pull::Chunk(_)) => grant.max(min_grant),
                Ok(Pull::NeedsGrant { bytes }) if bytes > budget => break End::Asked(bytes),
                Ok(Pull::NeedsGrant { bytes }) => bytes,
                Ok(Pull::End { .. }) => break End::Whole,
                Err(why) => {
                    assert_eq!(why.code, Code::PhysicalChunkRowExceedsMaxBytes, "{}", why.detail);
                    break End::Refused;
                }
            };
        };
        reader.close().await;
        source.close().await;
        Read { worst, peak: most, end }
    })
}
