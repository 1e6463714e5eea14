//! What a reader takes against what it was granted.

use std::collections::BTreeMap;

use dpone_adapters::sqlite_source::{SqlitePlan, SqliteRequest, SqliteSource, describe};
use dpone_engine::manifest::{Consistency, Fidelity, Relation, TableRef};
use dpone_engine::ports::{Pull, Source, UnitReader};
use dpone_engine::ranges::{Scope, UnitRange};
use rusqlite::Connection;

use super::counting::{begin, taken};

/// What is not part of a grant: two connections with their page caches of 2 MiB and what SQLite needs beside them, two
/// threads' channels, the test itself.
const BASE: usize = 3 << 20;

pub(crate) fn a_pull_takes_no_more_than_its_grant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "create table narrow(id integer primary key, a integer, b real, s text);
             with recursive n(n) as (select 1 union all select n + 1 from n where n < 60000)
             insert into narrow select n, n * 7919 % 100003, n / 7.0, 'value ' || n % 1000 from n;
             create table wide(id integer primary key, s text, t text, b blob);
             with recursive n(n) as (select 1 union all select n + 1 from n where n < 3000)
             insert into wide select n, hex(randomblob(n % 2000)), hex(randomblob(40)), randomblob(n % 3000) from n;
             create table long(id integer primary key, s text, b blob);
             with recursive n(n) as (select 1 union all select n + 1 from n where n < 40)
             insert into long select n, hex(randomblob(n * 7000)), randomblob(n * 11000) from n;
             create table keyed(id integer primary key, s text, b blob) without rowid;
             insert into keyed select * from long;
             create table many(id integer primary key);",
        )
        .unwrap();
    for i in 0..300 {
        let ty = ["integer", "text", "real"][i % 3];
        connection.execute_batch(&format!("alter table many add column c{i} {ty}")).unwrap();
    }
    connection
        .execute_batch(
            "with recursive n(n) as (select 1 union all select n + 1 from n where n < 2000)
             insert into many(id, c0, c1, c2, c100) select n, n, 'text ' || n, n / 3.0, 'x' from n;",
        )
        .unwrap();
    drop(connection);
    for table in ["narrow", "wide", "long", "keyed", "many"] {
        for grant in [2_u64 << 20, 4 << 20, 16 << 20] {
            let (worst, chunks) = read(&path, table, grant);
            assert!(worst <= BASE as i64, "{table} at {grant}: {worst} bytes above the grant in {chunks} chunks");
        }
    }
}

/// Reads a table; the most that was taken above the grant of any pull, and how many chunks there were.
fn read(path: &std::path::Path, table: &str, grant: u64) -> (i64, u32) {
    let table = TableRef { name: table.to_owned(), ..TableRef::default() };
    let request = SqliteRequest {
        path: path.to_owned(),
        relation: Relation::Table(table),
        columns: None,
        types: BTreeMap::new(),
        key: None,
    };
    let facts = describe(&request).unwrap();
    let plan = SqlitePlan {
        request,
        schema: facts.schema,
        units: vec![UnitRange { ordinal: 0, scope: Scope::WholeTable }],
        consistency: Consistency::ExportedSnapshot,
        fidelity: Fidelity::Rows,
        target_chunk_bytes: u64::MAX,
        max_chunk_bytes: u64::MAX,
        nonce: 1,
    };
    let baseline = begin();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let source = SqliteSource::new(plan).unwrap();
        let _ = source.open(1).await;
        let mut reader = source.reader(0).await.unwrap();
        let (mut worst, mut chunks, mut next) = (i64::MIN, 0, grant.max(facts.min_grant));
        loop {
            begin();
            let pull = reader.next(next, u64::MAX).await.unwrap();
            worst = worst.max(taken(baseline) as i64 - next as i64);
            next = match pull {
                Pull::Chunk(_) => {
                    chunks += 1;
                    grant.max(facts.min_grant)
                }
                Pull::NeedsGrant { bytes } => bytes,
                Pull::End { .. } => break,
            };
        }
        reader.close().await;
        source.close().await;
        (worst, chunks)
    })
}
