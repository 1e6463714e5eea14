//! Servers that end sessions: what is tried again on the same state, and what is lost.

use dpone_engine::codes::Code;
use dpone_engine::ports::{Pull, Source, UnitReader};
use dpone_engine::run::Outcome;

use super::support::{Db, block_on, done, plan, read_unit, whole};

const ROWS: usize = 200_000;

fn large() -> Db {
    Db::new(&format!(
        "create table t(id int, s text); insert into t select n, repeat('x', 500) from generate_series(1, {ROWS}) n"
    ))
}

/// Ends the sessions of the source whose present or last statement is like that.
fn terminate(db: &Db, like: &str) -> String {
    db.psql(&format!(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity
         where datname = current_database() and application_name = 'dpone' and query like '{like}'"
    ))
}

#[test]
fn a_terminated_reader_is_replaced_on_the_same_state() {
    let db = large();
    let request = db.table("t");
    let source = db.source(plan(&request, &db.facts(&request), whole()));
    block_on(async {
        done(source.open(1).await);
        db.psql("delete from t where id % 2 = 0");
        let mut reader = source.reader(0).await.unwrap();
        assert!(matches!(reader.next(4 << 20, 1000).await.unwrap(), Pull::Chunk(_)));
        assert_eq!(terminate(&db, "COPY%"), "1");
        let why = loop {
            match reader.next(4 << 20, 1000).await {
                Ok(_) => {}
                Err(why) => break why,
            }
        };
        assert_eq!((why.code, why.transient), (Code::SourceReadFailed, true), "{}", why.detail);
        reader.close().await;
        let mut reader = source.reader(0).await.unwrap();
        let read = read_unit(&mut reader, 16 << 20, u64::MAX, u64::MAX).await.unwrap();
        assert_eq!(read.rows.len(), ROWS);
        reader.close().await;
        // A unit that is left in its midst leaves a session that nobody uses again.
        let mut reader = source.reader(0).await.unwrap();
        assert!(matches!(reader.next(4 << 20, 1000).await.unwrap(), Pull::Chunk(_)));
        reader.close().await;
        drop(source.reader(0).await.unwrap());
        let mut reader = source.reader(0).await.unwrap();
        assert_eq!(read_unit(&mut reader, 16 << 20, u64::MAX, u64::MAX).await.unwrap().rows.len(), ROWS);
        reader.close().await;
        source.close().await;
    });
    assert_eq!(
        db.psql(
            "select count(*) from pg_stat_activity where application_name = 'dpone' and state = 'active'
                        and datname = current_database()"
        ),
        "0"
    );
}

#[test]
fn without_its_holder_the_state_is_lost() {
    let db = large();
    let request = db.table("t");
    let source = db.source(plan(&request, &db.facts(&request), whole()));
    block_on(async {
        done(source.open(1).await);
        assert_eq!(terminate(&db, "%pg_export_snapshot%"), "1");
        let mut reader = source.reader(0).await.unwrap();
        assert!(matches!(reader.next(4 << 20, 1000).await.unwrap(), Pull::Chunk(_)));
        terminate(&db, "COPY%");
        let why = loop {
            match reader.next(4 << 20, 1000).await {
                Ok(_) => {}
                Err(why) => break why,
            }
        };
        assert_eq!((why.code, why.transient), (Code::ConsistencyAuthorityLost, false), "{}", why.detail);
        reader.close().await;
        let why = source.reader(0).await.err().unwrap();
        assert_eq!(why.code, Code::ConsistencyAuthorityLost, "{}", why.detail);
        source.close().await;
        // And a new state can be opened.
        done(source.open(1).await);
        done(source.count().await);
        source.close().await;
    });
}

#[test]
fn a_failed_count_is_counted_again() {
    let db = large();
    let request = db.table("t");
    let source = db.source(plan(&request, &db.facts(&request), whole()));
    block_on(async {
        done(source.open(1).await);
        done(source.count().await);
        assert_eq!(terminate(&db, "%count(*) FROM%t%"), "1");
        let Outcome::NotDone(why) = source.count().await else { panic!("counted without a session") };
        assert!(why.transient, "{}", why.detail);
        done(source.count().await);
        source.close().await;
    });
}

#[test]
fn a_count_ends_with_its_source() {
    let db = Db::new("create view v as select 1 as a from (select pg_sleep(600)) s");
    let request = db.table("v");
    let source = db.source(plan(&request, &db.facts(&request), whole()));
    let counting = "select count(*) from pg_stat_activity where datname = current_database()
                    and application_name = 'dpone' and state = 'active'";
    block_on(async {
        done(source.open(1).await);
        let closed = async {
            while db.psql(counting) != "1" {}
            source.close().await;
        };
        let (counted, ()) = tokio::join!(source.count(), closed);
        assert!(matches!(counted, Outcome::NotDone(_)), "{counted:?}");
        // What was asked to stop stops.
        while db.psql(counting) != "0" {}
    });
}
