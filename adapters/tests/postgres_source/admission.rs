//! Bytes are admitted before they are read: long rows, mixed sizes, small grants, capped chunks.

use dpone_engine::codes::Code;
use dpone_engine::ports::{Source, UnitReader};

use super::support::{Db, block_on, done, plan, read_unit, whole};

const MIB: u64 = 1 << 20;

#[test]
fn a_row_above_the_grant_asks_for_what_it_needs() {
    let db = Db::new(
        "create table t(id int, b bytea, s text);
         insert into t values (1, '\\x01', 'a'), (2, convert_to(repeat('y', 50 * 1024 * 1024), 'UTF8'), 'b'), (3, '\\x03', 'c')",
    );
    let request = db.table("t");
    let source = db.source(plan(&request, &db.facts(&request), whole()));
    block_on(async {
        done(source.open(1).await);
        let mut reader = source.reader(0).await.unwrap();
        let read = read_unit(&mut reader, 8 * MIB, 64 * MIB, u64::MAX).await.unwrap();
        assert_eq!((read.rows.len(), read.asked.len()), (1, 1));
        assert!((100 * MIB..200 * MIB).contains(&read.asked[0]), "{:?}", read.asked);
        reader.close().await;
        let mut reader = source.reader(0).await.unwrap();
        let read = read_unit(&mut reader, 8 * MIB, u64::MAX, u64::MAX).await.unwrap();
        assert_eq!((read.rows.len(), read.asked.len()), (3, 1));
        assert_eq!(read.chunks.iter().map(|(rows, _)| rows).sum::<u64>(), 3);
        reader.close().await;
        source.close().await;
    });
}

#[test]
fn mixed_sizes_are_read_whole_under_any_grant() {
    let db = Db::new(
        "create table t(id int, s text, b bytea);
         insert into t select n, repeat('x', case when n % 97 = 0 then n * 1500 when n % 7 = 0 then 3000 else n % 40 end),
           case when n % 101 = 0 then decode(repeat('00', 700000), 'hex') else decode(repeat('ab', n % 50), 'hex') end
         from generate_series(1, 600) n",
    );
    let request = db.table("t");
    let facts = db.facts(&request);
    let lengths = db.psql("select id, length(s), length(b) from t");
    let mut expect: Vec<String> = lengths.lines().map(str::to_owned).collect();
    expect.sort();
    let mut profiles = Vec::new();
    for grant in [facts.min_grant, 2 * MIB, 8 * MIB, 64 * MIB] {
        let read = db.read(plan(&request, &facts, whole()), grant).unwrap().remove(0);
        // A text is shown in quotes, bytes as pairs of digits with commas and brackets.
        let mut found: Vec<String> = read
            .rows
            .iter()
            .map(|row| format!("{}|{}|{}", row[0], row[1].len() - 2, row[2].matches(char::is_alphanumeric).count() / 2))
            .collect();
        // The server puts rows where there is room.
        found.sort();
        assert!(found == expect, "{grant}: {} rows", found.len());
        profiles.push(read.profile);
    }
    assert!(profiles.windows(2).all(|pair| pair[0] == pair[1]), "the profile depends on the grant");
}

#[test]
fn chunks_have_the_sizes_that_were_planned() {
    let db = Db::new(
        "create table t(id int, s text); insert into t select n, md5(n::text) from generate_series(1, 50000) n",
    );
    let request = db.table("t");
    let facts = db.facts(&request);
    let sized = |target, max| {
        let mut plan = plan(&request, &facts, whole());
        (plan.target_chunk_bytes, plan.max_chunk_bytes) = (target, max);
        db.read(plan, 16 * MIB).map(|mut all| all.remove(0))
    };
    let read = sized(u64::MAX, 100_000).unwrap();
    assert!(read.chunks.len() > 10 && read.chunks.iter().all(|(_, bytes)| *bytes <= 100_000), "{:?}", read.chunks);
    let read = sized(200_000, u64::MAX).unwrap();
    assert!(read.chunks.len() > 1, "{:?}", read.chunks);
    assert_eq!(read.rows.len(), 50_000);
    db.psql("insert into t values (0, repeat('x', 300000))");
    let why = sized(u64::MAX, 100_000).unwrap_err();
    assert_eq!(why.code, Code::PhysicalChunkRowExceedsMaxBytes);
    let source = db.source(plan(&request, &facts, whole()));
    block_on(async {
        done(source.open(1).await);
        let mut reader = source.reader(0).await.unwrap();
        let read = read_unit(&mut reader, 16 * MIB, u64::MAX, 7000).await.unwrap();
        assert!(read.chunks.iter().all(|(rows, _)| *rows <= 7000) && read.chunks.len() >= 7, "{:?}", read.chunks);
        reader.close().await;
        source.close().await;
    });
}
