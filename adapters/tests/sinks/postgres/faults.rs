//! Lost connections, rivals, locks, and changed staging.

use dpone_adapters::body::Body;
use dpone_adapters::postgres::{Config, Session};
use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode::FullRefresh;
use dpone_engine::ports::{Claimant, Feed, LoadOrder, Sink as _};
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Effect, Outcome, Receipt, Seen, Why};
use dpone_fixtures::postgres::Postgres;

use super::proxy::{Lost, cut_at_commit, pooler};
use super::{TABLE, World, object};
use crate::given::{Given, Run};

/// A world whose connections go through something that cuts the `nth` commit.
fn cut(world: &World, lost: Lost, nth: usize) -> World {
    World { database: world.database.clone(), port: cut_at_commit(world.port, lost, nth) }
}

#[tokio::test]
async fn a_publication_whose_commit_was_lost_is_looked_for() {
    for (lost, seen, rows) in [(Lost::Request, Seen::Nothing, "1"), (Lost::Answer, Seen::Ours, "3")] {
        let world = World::new();
        world.psql(&format!("{TABLE}; insert into t(id) values (77)"));
        let (sink, run, base) = (world.sink(FullRefresh), Run::new("run1"), world.base(FullRefresh));
        let Outcome::Done(staged) = run.staged(&sink, vec![object(0..3)]).await else { panic!("not staged") };
        let order = run.publication(staged, &base);
        let unknown = cut(&world, lost, 1).sink(FullRefresh).publish(&order).await;
        let Outcome::Unknown(why) = &unknown else { panic!("{lost:?}: {unknown:?}") };
        assert_eq!((why.code, why.transient), (Code::PublicationOutcomeUnknown, true));
        // The next runner: claims, fences, looks.
        let next = Claimant { epoch: 2, ..run.claimant.clone() };
        assert!(matches!(sink.claim(&next).await, Outcome::Done(_)));
        assert!(matches!(sink.fence(&next, &order).await, Outcome::Done(Receipt::Fenced)));
        let effect = Effect::Publish { publication: order.publication.clone() };
        let sighting = sink.probe(&next, &effect, Some(&order)).await;
        assert_eq!((sighting.seen, world.psql("select count(*) from t").as_str()), (seen, rows), "{lost:?}");
        let late = sink.publish(&order).await;
        match lost {
            Lost::Request => assert!(matches!(late, Outcome::NotDone(_)), "{late:?}"),
            Lost::Answer => assert_eq!(late, Outcome::Done(sighting.receipt.unwrap())),
        }
        assert_eq!(world.psql("select count(*) from t"), rows);
    }
}

#[tokio::test]
async fn a_load_whose_commit_was_lost_is_looked_for() {
    for (lost, seen) in [(Lost::Request, Seen::Nothing), (Lost::Answer, Seen::Ours)] {
        let world = World::new();
        let (sink, run) = (world.sink(FullRefresh), Run::new("run1"));
        assert!(matches!(sink.claim(&run.claimant).await, Outcome::Done(_)));
        assert!(matches!(sink.stage(&run.claimant, &run.staging, None).await, Outcome::Done(_)));
        let (claimant, staging) = (run.claimant.clone(), run.staging.clone());
        let order = LoadOrder { claimant, unit: 0, staging, load: "ld_1".to_owned(), rows: 3 };
        let mut objects = Given(vec![object(0..3)].into_iter());
        let unknown = cut(&world, lost, 1).sink(FullRefresh).load(&order, &mut objects).await;
        assert!(matches!(&unknown, Outcome::Unknown(why) if why.code == Code::LoadOutcomeUnknown), "{unknown:?}");
        let effect = Effect::Load { unit: 0, staging: order.staging.clone(), load: order.load.clone() };
        let sighting = sink.probe(&run.claimant, &effect, None).await;
        assert_eq!(sighting.seen, seen, "{lost:?}");
        let expect = if seen == Seen::Ours { "3" } else { "0" };
        assert_eq!(world.psql(&format!("select count(*) from {}", run.staging)), expect);
    }
}

#[tokio::test]
async fn a_claim_and_a_stage_whose_commit_was_lost_are_looked_for() {
    let world = World::new();
    let (sink, run) = (world.sink(FullRefresh), Run::new("run1"));
    let unknown = cut(&world, Lost::Answer, 1).sink(FullRefresh).claim(&run.claimant).await;
    assert!(matches!(unknown, Outcome::Unknown(_)), "{unknown:?}");
    let seen = sink.probe(&run.claimant, &Effect::Claim { epoch: 1 }, None).await.seen;
    assert_eq!(seen, Seen::Ours);
    for (lost, seen) in [(Lost::Request, Seen::Nothing), (Lost::Answer, Seen::Ours)] {
        let unknown = cut(&world, lost, 1).sink(FullRefresh).stage(&run.claimant, &run.staging, None).await;
        assert!(matches!(unknown, Outcome::Unknown(_)), "{unknown:?}");
        let effect = Effect::Stage { staging: run.staging.clone(), unit: None };
        assert_eq!(sink.probe(&run.claimant, &effect, None).await.seen, seen, "{lost:?}");
    }
}

/// Hands over an object, ends every session of the database, and hands over another.
struct Killing<'a>(&'a World, u32);

impl Feed for Killing<'_> {
    type Body = Body;

    async fn next(&mut self) -> Option<Result<(ChunkFacts, Body), Why>> {
        self.1 += 1;
        if self.1 == 2 {
            let sql = format!(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{}' and pid <> pg_backend_pid()",
                self.0.database
            );
            Postgres::shared().psql("postgres", &sql);
        }
        (self.1 <= 2).then(|| Ok(object(0..3)))
    }

    fn granted(&self) -> u64 {
        64 << 20
    }
}

#[tokio::test]
async fn a_session_that_is_terminated_in_a_load_has_loaded_nothing() {
    let world = World::new();
    let (sink, run) = (world.sink(FullRefresh), Run::new("run1"));
    assert!(matches!(sink.claim(&run.claimant).await, Outcome::Done(_)));
    assert!(matches!(sink.stage(&run.claimant, &run.staging, None).await, Outcome::Done(_)));
    let (claimant, staging) = (run.claimant.clone(), run.staging.clone());
    let order = LoadOrder { claimant, unit: 0, staging, load: "ld_1".to_owned(), rows: 6 };
    let ended = sink.load(&order, &mut Killing(&world, 0)).await;
    assert!(matches!(&ended, Outcome::NotDone(why) if why.transient), "{ended:?}");
    assert_eq!(world.psql(&format!("select count(*) from {}", run.staging)), "0");
    let again = LoadOrder { load: "ld_2".to_owned(), rows: 3, ..order };
    let loaded = sink.load(&again, &mut Given(vec![object(0..3)].into_iter())).await;
    assert_eq!(loaded, Outcome::Done(Receipt::Loaded { rows: 3 }));
}

#[tokio::test]
async fn of_two_claimants_one_has_the_target() {
    let world = World::new();
    let (one, two) = (world.sink(FullRefresh), world.sink(FullRefresh));
    let (first, second) = (Run::new("run1"), Run::new("run2"));
    let (a, b) = tokio::join!(one.claim(&first.claimant), two.claim(&second.claimant));
    let won = [&a, &b].iter().filter(|o| matches!(o, Outcome::Done(Receipt::Claimed))).count();
    let lost = [&a, &b]
        .iter()
        .filter(|o| matches!(o, Outcome::NotDone(why) if why.code == Code::TargetClaimedElsewhere))
        .count();
    assert_eq!((won, lost), (1, 1), "{a:?} {b:?}");
}

#[tokio::test]
async fn a_lock_is_waited_for_in_bounds_and_passes() {
    let world = World::new();
    world.psql(TABLE);
    let (sink, run, base) = (world.sink(FullRefresh), Run::new("run1"), world.base(FullRefresh));
    let Outcome::Done(staged) = run.staged(&sink, vec![object(0..3)]).await else { panic!("not staged") };
    let order = run.publication(staged, &base);
    let mut writer = session(&world);
    writer.execute("begin; insert into t(id) values (9)").unwrap();
    let locked = sink.publish(&order).await;
    assert!(matches!(&locked, Outcome::NotDone(why) if why.code == Code::TargetLocked && why.transient), "{locked:?}");
    writer.execute("rollback; begin; select * from t").unwrap();
    let published = sink.publish(&order).await;
    assert!(
        matches!(published, Outcome::Done(Receipt::Published { rows: 3, .. })),
        "readers are in nobody's way: {published:?}"
    );
}

fn session(world: &World) -> Session {
    let port = world.port.to_string();
    let get = |name: &str| {
        let value = match name.strip_prefix("DPONE_CONN_W_")? {
            "HOST" => "127.0.0.1",
            "PORT" => &port,
            "DATABASE" => &world.database,
            "USERNAME" => "test",
            _ => return None,
        };
        Some(value.to_owned())
    };
    Session::connect(&Config::from_env("w", get).unwrap()).unwrap()
}

#[tokio::test]
async fn what_was_changed_in_staging_is_seen() {
    for change in [
        "update stg set note = 'other' where id = 1",
        "delete from stg where id = 1",
        "insert into stg select * from stg where id = 1",
        "update stg set id = id",
    ] {
        let world = World::new();
        let (sink, run) = (world.sink(FullRefresh), Run::new("run1"));
        let Outcome::Done(staged) = run.staged(&sink, vec![object(0..3)]).await else { panic!("not staged") };
        let profile = async || match sink.check(&staged, 64 << 20).await {
            Outcome::Done(Receipt::Checked { units, gates }) => (units, gates),
            other => panic!("{other:?}"),
        };
        let (before, _) = profile().await;
        world.psql(&change.replace("stg", &run.staging));
        let (after, gates) = profile().await;
        let failed = gates.iter().any(|g| g.failed.is_some());
        assert!(before != after || failed, "{change}");
    }
}

/// Its settings for sessions are those of whoever had the server's session before.
#[tokio::test]
async fn a_pooler_is_told_of_and_a_commit_lasts_behind_it() {
    let direct = World::new();
    direct.psql(&format!(
        "{TABLE}; alter table t add check (current_setting('synchronous_commit') = 'on');
         alter database {} set synchronous_commit = off",
        direct.database
    ));
    let pooled = World { database: direct.database.clone(), port: pooler(direct.port) };
    for (world, expect) in [(&direct, 0), (&pooled, 1)] {
        let facts = world.target(FullRefresh).describe(&crate::given::schema()).unwrap();
        assert_eq!(
            facts.warnings.iter().filter(|text| text.contains("pooler")).count(),
            expect,
            "{:?}",
            facts.warnings
        );
        let run = Run::new(&format!("run{expect}"));
        run.deliver(&world.sink(FullRefresh), &facts.base, vec![object(0..3)]).await.unwrap();
    }
}
