//! Bytes are admitted before they are read: long cells, mixed sizes, small grants.

use dpone_adapters::sqlite_source::{SqliteSource, describe};
use dpone_engine::codes::Code;
use dpone_engine::ports::{Source, UnitReader};

use super::support::{Db, block_on, done, plan, read_all, read_unit, whole};

const MIB: u64 = 1 << 20;

#[test]
fn a_row_above_the_grant_asks_for_what_it_needs() {
    let db = Db::new(
        "create table t(id integer primary key, b blob, s text);
         insert into t values (1, x'01', 'a'), (2, randomblob(50 * 1024 * 1024), 'b'), (3, x'03', 'c');",
    );
    let request = db.table("t");
    let facts = describe(&request).unwrap();
    block_on(async {
        let source = SqliteSource::new(plan(&request, &facts, whole())).unwrap();
        done(source.open(1).await);
        let mut reader = source.reader(0).await.unwrap();
        let read = read_unit(&mut reader, 8 * MIB, 64 * MIB, u64::MAX).await.unwrap();
        assert_eq!((read.rows.len(), read.asked.len()), (1, 1));
        assert!((200 * MIB..250 * MIB).contains(&read.asked[0]), "{:?}", read.asked);
        reader.close().await;
        let mut reader = source.reader(0).await.unwrap();
        let read = read_unit(&mut reader, 8 * MIB, u64::MAX, u64::MAX).await.unwrap();
        assert_eq!((read.rows.len(), read.asked.len()), (3, 1));
        reader.close().await;
        source.close().await;
    });
}

/// Rows of very different sizes come out in order and whole, whatever the grant, and from every kind of relation.
#[test]
fn mixed_sizes_are_read_whole_under_any_grant() {
    let db = Db::new(
        "create table t(id integer primary key, s text, b blob, i integer);
         create table w(id integer primary key, s text, b blob, i integer) without rowid;
         create view v as select * from t;
         with recursive n(n) as (select 1 union all select n + 1 from n where n < 600)
         insert into t select n, printf('%.*c', case when n % 97 = 0 then n * 1500 when n % 7 = 0 then 3000 else n % 40 end, 'x'),
           case when n % 101 = 0 then zeroblob(700000) else zeroblob(n % 50) end, n from n;
         insert into w select * from t;",
    );
    let expect: Vec<(String, usize, usize)> = db
        .connection()
        .prepare("select id, length(s), length(b) from t order by id")
        .unwrap()
        .query_map([], |row| Ok((row.get::<_, i64>(0)?.to_string(), row.get(1)?, row.get(2)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let requests = [db.table("t"), db.table("w"), db.table("v"), db.query("select * from t where i > 0")];
    for request in requests {
        let facts = describe(&request).unwrap();
        for grant in [facts.min_grant, 2 * MIB, 8 * MIB, 64 * MIB] {
            let read = read_all(plan(&request, &facts, whole()), grant).unwrap().remove(0);
            let found: Vec<(String, usize, usize)> = read
                .rows
                .iter()
                // Quotes, brackets and separators of the rendering are not part of the lengths.
                .map(|row| (row[0].clone(), row[1].len() - 2, row[2].len().saturating_sub(2).div_ceil(4)))
                .collect();
            assert!(found == expect, "{:?} at {grant}", request.relation);
        }
    }
}

#[test]
fn chunks_end_at_rows_and_bytes() {
    let db = Db::new(
        "create table t(id integer primary key, s text);
         with recursive n(n) as (select 1 union all select n + 1 from n where n < 20000) insert into t select n, hex(randomblob(50)) from n;",
    );
    let request = db.table("t");
    let facts = describe(&request).unwrap();
    let read = |target, max, max_rows| {
        let mut plan = plan(&request, &facts, whole());
        (plan.target_chunk_bytes, plan.max_chunk_bytes) = (target, max);
        block_on(async {
            let source = SqliteSource::new(plan).unwrap();
            done(source.open(1).await);
            let mut reader = source.reader(0).await.unwrap();
            let read = read_unit(&mut reader, 32 * MIB, u64::MAX, max_rows).await.unwrap();
            reader.close().await;
            source.close().await;
            read
        })
    };
    let unlimited = read(u64::MAX, u64::MAX, u64::MAX);
    assert_eq!(unlimited.chunks.len(), 1);
    let by_rows = read(u64::MAX, u64::MAX, 6000);
    assert_eq!(by_rows.chunks.iter().map(|c| c.0).collect::<Vec<_>>(), [6000, 6000, 6000, 2000]);
    let by_bytes = read(u64::MAX, MIB, u64::MAX);
    assert!(by_bytes.chunks.len() > 1 && by_bytes.chunks.iter().all(|c| c.1 <= MIB), "{:?}", by_bytes.chunks);
    assert!(by_bytes.chunks.len() <= 4, "{:?}", by_bytes.chunks);
    for other in [&by_rows, &by_bytes] {
        assert_eq!((&other.profile, &other.rows), (&unlimited.profile, &unlimited.rows));
    }
}

#[test]
fn a_row_above_the_largest_chunk_is_an_error() {
    let db = Db::new(
        "create table t(id integer primary key, s text); insert into t values (1, 'a'), (2, hex(zeroblob(2000000)));",
    );
    let request = db.table("t");
    let facts = describe(&request).unwrap();
    let mut plan = plan(&request, &facts, whole());
    plan.max_chunk_bytes = MIB;
    let why = read_all(plan, 8 * MIB).unwrap_err();
    assert_eq!(why.code, Code::PhysicalChunkRowExceedsMaxBytes);
}

#[test]
fn empty_tables_and_columns_of_null_keep_their_schema() {
    let db = Db::new("create table e(id integer primary key, s text); create table n(id integer primary key, s text, d date, r real);
         with recursive n(n) as (select 1 union all select n + 1 from n where n < 5000) insert into n(id) select n from n;");
    let request = db.table("e");
    let facts = describe(&request).unwrap();
    let read = read_all(plan(&request, &facts, whole()), 8 * MIB).unwrap().remove(0);
    assert_eq!((read.rows.len(), read.chunks.len(), read.profile.columns.len()), (0, 0, 2));
    let request = db.table("n");
    let facts = describe(&request).unwrap();
    let read = read_all(plan(&request, &facts, whole()), 8 * MIB).unwrap().remove(0);
    assert_eq!(read.rows.len(), 5000);
    assert!(read.rows.iter().all(|row| row[1..] == ["NULL", "NULL", "NULL"]));
    assert_eq!(read.profile.columns[2].nulls, 5000);
}

#[test]
fn a_query_may_look_at_long_cells_and_deliver_short_ones() {
    let db = Db::new(
        "create table t(id integer primary key, s text);
         with recursive n(n) as (select 1 union all select n + 1 from n where n < 30)
         insert into t select n, printf('%.*c', n * 100000, 'x') from n;",
    );
    let sql = "select id, substr(s, 1, 3) as head, length(s) as size from t order by s desc";
    let mut request = db.query(sql);
    request.types.insert("head".into(), dpone_engine::schema::LogicalType::Text);
    request.types.insert("size".into(), dpone_engine::schema::LogicalType::Int { bits: 32 });
    let facts = describe(&request).unwrap();
    let read = read_all(plan(&request, &facts, whole()), 2 * MIB).unwrap().remove(0);
    assert_eq!(read.rows.len(), 30);
    assert_eq!(read.rows[0], ["30", "\"xxx\"", "3000000"]);
}
