//! What a publication does to a target that is there.

use dpone_adapters::postgres_sink::PostgresSink;
use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode::{Append, FullRefresh, Merge, PartitionReplace};
use dpone_engine::ports::{LoadOrder, Sink as _, Staged, StagedUnit};
use dpone_engine::run::{Outcome, Receipt};

use super::{TABLE, World, batch, object};
use crate::given::{self, Given, Run};

#[tokio::test]
async fn a_full_refresh_keeps_what_hangs_on_the_table() {
    let world = World::new();
    world.psql(&format!(
        "{TABLE}; insert into t(id, note) values (100, 'former');
         create index on t(note); alter table t add check (id >= 0); alter table t add primary key (id);
         create role keeper_{db}; grant select on t to keeper_{db}; comment on table t is 'kept';
         create view v as select id from t",
        db = world.database
    ));
    let hanging = "select array[(select count(*) from pg_index where indrelid = 't'::regclass),
        (select count(*) from pg_constraint where conrelid = 't'::regclass), 't'::regclass::oid::bigint]::text
        || (select relacl::text from pg_class where oid = 't'::regclass) || obj_description('t'::regclass)";
    let before = world.psql(hanging);
    let mut identities = Vec::new();
    for run in ["run1", "run2"] {
        let base = world.base(FullRefresh);
        let delivered = Run::new(run).deliver(&world.sink(FullRefresh), &base, vec![object(0..5), object(5..8)]).await;
        let (identity, rows) = delivered.unwrap();
        assert_eq!((rows, identity == world.base(FullRefresh)), (8, true));
        identities.push(identity);
        assert_eq!(world.ids(), "0 1 2 3 4 5 6 7");
        assert_eq!(world.psql("select count(*) from v"), "8", "the view shows the new rows");
        assert_eq!(world.psql(hanging), before);
    }
    assert_ne!(identities[0], identities[1]);
    let none = Run::new("run3").deliver(&world.sink(FullRefresh), &world.base(FullRefresh), vec![]).await;
    assert_eq!(none.unwrap().1, 0);
    assert_eq!(world.ids(), "");
}

#[tokio::test]
async fn an_append_adds() {
    let world = World::new();
    for (run, ids, after) in [("run1", 0..2, "0 1"), ("run2", 2..4, "0 1 2 3"), ("run3", 0..1, "0 0 1 2 3")] {
        Run::new(run).deliver(&world.sink(Append), &world.base(Append), vec![object(ids)]).await.unwrap();
        assert_eq!(world.ids(), after);
    }
    assert_eq!(world.psql("select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = 't'::regclass and attnum > 0 and attnotnull"), "id");
}

#[tokio::test]
async fn a_merge_replaces_by_key() {
    // Without a table, with an index of the key to go by, and without one: the same rows afterwards.
    for given in ["", "alter table t add primary key (id)", "create index on t(note)"] {
        let world = World::new();
        if !given.is_empty() {
            world.psql(&format!("{TABLE}; {given}"));
        }
        let notes = "select string_agg(id || ':' || coalesce(note, '-'), ' ' order by id) from t where note not like 'n%' or note is null";
        Run::new("run1").deliver(&world.sink(Merge), &world.base(Merge), vec![object(1..4)]).await.unwrap();
        world.psql("update t set note = 'changed' where id in (1, 3); insert into t(id, note) values (9, 'own')");
        Run::new("run2").deliver(&world.sink(Merge), &world.base(Merge), vec![object([3, 4])]).await.unwrap();
        assert_eq!(world.ids(), "1 2 3 4 9", "{given}");
        assert_eq!(world.psql(notes), "1:changed 9:own", "{given}");
        let twice = Run::new("run3").deliver(&world.sink(Merge), &world.base(Merge), vec![object([5, 5])]).await;
        assert_eq!(twice, Err(Code::MergeKeyNotUnique));
        if given.is_empty() {
            assert_eq!(world.psql("select pg_get_constraintdef(oid) from pg_constraint where conrelid = 't'::regclass and contype = 'p'"), "PRIMARY KEY (id)");
        }
    }
}

#[tokio::test]
async fn partitions_that_are_read_are_replaced() {
    for case in given::PARTITIONS {
        let world = World::new();
        let base = world.base(FullRefresh);
        Run::new("run1")
            .deliver(&world.sink(FullRefresh), &base, vec![object([1, 2, 3, 4, 5, 6, 7, 8, 14])])
            .await
            .unwrap();
        world.psql(given::MORE_ROWS);
        let mut manifest = world.manifest(None, PartitionReplace);
        manifest.strategy.key = case.key.iter().map(|&k| k.to_owned()).collect();
        let target = world.target_of(&manifest);
        let base = target.describe(&given::schema()).unwrap().base;
        let sink = PostgresSink::new(target, given::schema(), Default::default());
        let rows = if case.blank { given::without_flags(&batch(case.read)) } else { batch(case.read) };
        let (_, delivered) = Run::new("run2").deliver(&sink, &base, vec![given::object(&rows)]).await.unwrap();
        assert_eq!(delivered, case.read.len() as u64);
        let after: Vec<String> = case.after.iter().map(i64::to_string).collect();
        assert_eq!(world.ids(), after.join(" "), "{:?} {:?}", case.key, case.read);
    }
}

#[tokio::test]
async fn a_merge_by_an_index_leaves_what_refers_to_the_key() {
    let world = World::new();
    world.psql(&format!(
        "{TABLE}; alter table t add primary key (id); insert into t(id) values (1);
        create table child (t bigint references t on delete cascade); insert into child values (1)"
    ));
    Run::new("run1").deliver(&world.sink(Merge), &world.base(Merge), vec![object([1, 2])]).await.unwrap();
    assert_eq!((world.ids().as_str(), world.psql("select count(*) from child").as_str()), ("1 2", "1"));
}

#[tokio::test]
async fn keys_that_a_collation_calls_equal_are_kept_apart() {
    for mode in [Merge, PartitionReplace] {
        let world = World::new();
        world.psql("create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        world.psql(&TABLE.replace("note text", "note text collate loose"));
        world.psql("insert into t(id, note) values (1, 'A'), (2, 'a')");
        let mut manifest = world.manifest(None, mode);
        manifest.strategy.key = vec!["note".to_owned()];
        let target = world.target_of(&manifest);
        let base = target.describe(&given::schema()).unwrap().base;
        let sink = PostgresSink::new(target, given::schema(), Default::default());
        let run = Run::new("run1");
        // Note 3 is `n…ö3`; make the target hold it as it is, and in capitals, which the collation calls the same.
        world.psql("insert into t(id, note) values (3, E'N\\t\\\\N\\nÖ3'), (4, E'n\\t\\\\N\\nö3')");
        run.deliver(&sink, &base, vec![object([3])]).await.unwrap();
        assert_eq!(world.ids(), "1 2 3 3", "{mode}");
    }
}

#[tokio::test]
async fn rows_that_the_target_refuses_leave_it_as_it_was() {
    for constraint in ["add unique (id)", "add check (id <> 3)", "add foreign key (id) references other"] {
        let world = World::new();
        world.psql("create table other (id bigint primary key); insert into other values (1), (2)");
        world.psql(&format!("{TABLE}; alter table t {constraint}; insert into t(id) values (2)"));
        let refused = Run::new("run1").deliver(&world.sink(Append), &world.base(Append), vec![object([2, 3])]).await;
        assert_eq!(refused, Err(Code::PublicationFailed), "{constraint}");
        assert_eq!(world.ids(), "2");
    }
}

#[tokio::test]
async fn a_changed_target_is_left_alone() {
    for change in ["create index on t(id)", "alter table t add constraint c check (id > 0)", "drop table t"] {
        let world = World::new();
        world.psql(TABLE);
        let base = world.base(FullRefresh);
        world.psql(change);
        let refused = Run::new("run1").deliver(&world.sink(FullRefresh), &base, vec![object([1])]).await;
        assert_eq!(refused, Err(Code::PublicationBaseChanged), "{change}");
    }
}

/// One staging table per unit, loaded side by side.
#[tokio::test]
async fn units_in_tables_of_their_own() {
    for (table, mode) in [("", FullRefresh), (TABLE, FullRefresh), ("", PartitionReplace), (TABLE, PartitionReplace)] {
        let world = World::new();
        if !table.is_empty() {
            world.psql(&format!("{table}; insert into t (id, flag) values (70, true), (71, false), (72, null)"));
        }
        let (sink, run, base) = (world.sink(mode), Run::new("run1"), world.base(mode));
        assert!(matches!(sink.claim(&run.claimant).await, Outcome::Done(_)));
        let order = |unit: u32| LoadOrder {
            claimant: run.claimant.clone(),
            unit,
            staging: format!("stg_run1_a1_r{unit}"),
            load: format!("ld_run1_a1_r{unit}"),
            rows: 3,
        };
        for unit in 0..2 {
            let staged = sink.stage(&run.claimant, &order(unit).staging, Some(unit)).await;
            assert!(matches!(staged, Outcome::Done(Receipt::Staged)), "{staged:?}");
        }
        let load = async |unit: u32| {
            let first = i64::from(unit) * 10;
            sink.load(&order(unit), &mut Given(vec![object(first..first + 3)].into_iter())).await
        };
        let (one, two) = tokio::join!(load(0), load(1));
        assert_eq!(
            (one, two),
            (Outcome::Done(Receipt::Loaded { rows: 3 }), Outcome::Done(Receipt::Loaded { rows: 3 }))
        );
        let unit = |unit| {
            let LoadOrder { staging, load, rows, .. } = order(unit);
            StagedUnit { unit, staging, load, rows, objects: 1 }
        };
        let staging = vec![order(0).staging, order(1).staging];
        let staged = Staged { claimant: run.claimant.clone(), units: vec![unit(0), unit(1)], staging };
        let checked = sink.check(&staged, 64 << 20).await;
        let Outcome::Done(Receipt::Checked { units, .. }) = checked else { panic!("{checked:?}") };
        assert_eq!(units.iter().map(|u| u.rows).collect::<Vec<_>>(), [3, 3]);
        assert_ne!(units[0].checksum, units[1].checksum);
        let published = sink.publish(&run.publication(staged, &base)).await;
        assert!(matches!(published, Outcome::Done(Receipt::Published { rows: 6, .. })), "{published:?}");
        assert_eq!(world.ids(), "0 1 2 10 11 12");
    }
}
