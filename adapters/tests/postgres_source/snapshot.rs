//! One state for every reader, whatever is written meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dpone_adapters::postgres::Session;
use dpone_engine::codes::Code;
use dpone_engine::manifest::Consistency;
use dpone_engine::ports::{Source, UnitReader};
use dpone_engine::run::{Outcome, Receipt, Seen};

use super::support::{Db, block_on, cut, done, plan, read_unit, whole};

const ACCOUNTS: i64 = 2000;

fn accounts() -> Db {
    Db::new(&format!(
        "create table t(id bigint, amount bigint); insert into t select n, 100 from generate_series(1, {ACCOUNTS}) n;
         insert into t values (null, 0); create index on t(id)"
    ))
}

#[test]
fn no_money_is_made_or_lost_while_it_moves() {
    let db = accounts();
    let mut request = db.table("t");
    request.key = Some("id".into());
    let units = cut(&[500, 1000, 1500]);
    let count = units.len() as u32;
    let source = db.source(plan(&request, &db.facts(&request), units));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..2_i64)
            .map(|writer| {
                let (stop, config) = (&stop, db.config.clone());
                scope.spawn(move || {
                    let mut session = Session::connect(&config).unwrap();
                    let (mut moved, mut n) = (0_u64, writer);
                    while !stop.load(Ordering::Relaxed) {
                        n = (n * 7919 + 13) % ACCOUNTS;
                        let (from, to) = (n + 1, (n * 31 + 7) % ACCOUNTS + 1);
                        let sql = format!(
                            "begin; update t set amount = amount - 5 where id = {from};
                             update t set amount = amount + 5 where id = {to};
                             insert into t values (null, 5), (null, -5); commit"
                        );
                        // One of two writers that wait for each other is refused, and moves nothing.
                        match session.execute(&sql) {
                            Ok(_) => moved += 1,
                            Err(e) => {
                                assert_eq!(e.sqlstate(), Some("40P01"), "{e}");
                                session.execute("rollback").unwrap();
                            }
                        }
                    }
                    moved
                })
            })
            .collect();
        block_on(async {
            for _ in 0..3 {
                done(source.open(2).await);
                let Receipt::Counted { rows: counted } = done(source.count().await) else { panic!("no count") };
                let (mut sum, mut rows) = (0, 0);
                for unit in 0..count {
                    let mut reader = source.reader(unit).await.unwrap();
                    let read = read_unit(&mut reader, 4 << 20, u64::MAX, u64::MAX).await.unwrap();
                    reader.close().await;
                    rows += read.rows.len() as u64;
                    sum += read.rows.iter().map(|row| row[1].parse::<i64>().unwrap()).sum::<i64>();
                }
                assert_eq!((sum, rows), (ACCOUNTS * 100, counted));
                assert!(rows > 0);
            }
            source.close().await;
        });
        stop.store(true, Ordering::Relaxed);
        let moved: u64 = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        assert!(moved > 0, "nothing was written meanwhile");
    });
}

#[test]
fn the_identity_of_a_state() {
    let db = accounts();
    let request = db.table("t");
    let facts = db.facts(&request);
    let open = |outcome: Outcome| match done(outcome) {
        Receipt::Opened { authority, persistent } => (authority, persistent),
        other => panic!("{other:?}"),
    };
    let (source, other) = (db.source(plan(&request, &facts, whole())), db.source(plan(&request, &facts, whole())));
    block_on(async {
        let (first, persistent) = open(source.open(1).await);
        assert!(!persistent);
        assert_eq!(source.reopen(&first, false, 1).await, Seen::Ours);
        assert_eq!(other.reopen(&first, false, 1).await, Seen::Nothing);
        let (second, _) = open(source.open(1).await);
        assert_ne!(first, second);
        assert_eq!(source.reopen(&first, false, 1).await, Seen::Nothing);
        source.close().await;
        assert_eq!(source.reopen(&second, false, 1).await, Seen::Nothing);
    });
    let immutable = || {
        let mut plan = plan(&request, &facts, whole());
        plan.consistency = Consistency::Immutable;
        db.source(plan)
    };
    let (source, other) = (immutable(), immutable());
    block_on(async {
        let (authority, persistent) = open(source.open(1).await);
        assert!(persistent);
        source.close().await;
        assert_eq!(other.reopen(&authority, true, 1).await, Seen::Ours);
        assert_eq!(other.reopen("postgres-immutable:0.0.0", true, 1).await, Seen::Nothing);
        other.close().await;
    });
}

#[test]
fn nobody_changes_the_table_while_it_is_read() {
    let db = accounts();
    let request = db.table("t");
    let facts = db.facts(&request);
    let source = db.source(plan(&request, &facts, whole()));
    block_on(async {
        done(source.open(1).await);
        for sql in ["truncate t", "alter table t alter amount type numeric", "drop table t"] {
            let mut session = Session::connect(&db.config).unwrap();
            session.execute("set lock_timeout = '50ms'").unwrap();
            let error = session.execute(sql).unwrap_err();
            assert_eq!(error.sqlstate(), Some("55P03"), "{sql}: {error}");
        }
        source.close().await;
        db.psql("alter table t alter amount type numeric(10,2)");
        let Outcome::NotDone(why) = source.open(1).await else { panic!("another schema was read") };
        assert_eq!((why.code, why.transient), (Code::SourceSchemaChanged, false), "{}", why.detail);
    });
}
