//! What keeps a run from being resumed, named.

use super::World;

#[track_caller]
fn differ(changes: &[(&str, &str)], alter: fn(&mut World), expect: &[&str]) {
    let mut old = World::new();
    old.target.exists = true;
    let mut world = World::with(changes);
    world.target.exists = true;
    alter(&mut world);
    assert_eq!(old.plan().differences(&world.plan()), expect);
}

#[test]
fn nothing_that_a_running_source_or_the_run_itself_changes() {
    differ(&[], |_| {}, &[]);
    differ(&[], |w| w.source.key = None, &[]);
    differ(&[], |w| w.target.base = "published meanwhile".into(), &[]);
    differ(&[("reader_workers: 3", "reader_workers: 1")], |_| {}, &[]);
    differ(&[], |w| w.target.ddl.clear(), &[]);
}

#[test]
fn settings_columns_and_the_target() {
    differ(
        &[("num_partitions: 4", "num_partitions: 5")],
        |_| {},
        &["manifest: source.options.partitioning.num_partitions"],
    );
    differ(
        &[],
        |w| {
            let mut added = w.source.schema.columns[2].clone();
            added.name = "z".into();
            w.source.schema.columns.push(added);
            w.target.column_types.push("TEXT".into());
        },
        &["source column \"z\": was added"],
    );
    differ(
        &[],
        |w| {
            w.source.schema.columns.remove(1);
            w.target.column_types.remove(1);
        },
        &["source column \"amount\": was removed"],
    );
    differ(&[], |w| w.source.schema.columns.swap(1, 2), &["source columns: their order changed"]);
    differ(
        &[],
        |w| w.source.schema.columns[1].ty = dpone_engine::schema::LogicalType::Text,
        &["source column \"amount\": was decimal(12,2), is text"],
    );
    differ(
        &[],
        |w| w.source.schema.columns[2].declared = "VARCHAR(100)".into(),
        &["source column \"note\": was declared TEXT, is VARCHAR(100)"],
    );
    differ(&[], |w| w.source.schema.columns[2].nullable = false, &["source column \"note\": it is NOT NULL now"]);
    differ(&[], |w| w.target.target = "elsewhere".into(), &["target: was sqlite:/data/dwh.db#orders, is elsewhere"]);
    differ(
        &[],
        |w| {
            w.target.base = "published meanwhile".into();
            w.target.column_types[2] = "BLOB".into();
        },
        &[],
    );
    differ(&[], |w| w.target.column_types[2] = "BLOB".into(), &["target column \"note\": was TEXT, is BLOB"]);
}

#[test]
fn a_resumed_run_keeps_its_ranges_and_takes_the_new_workers() {
    let old = World::new().plan();
    let new = World::with(&[("reader_workers: 3", "reader_workers: 1")]).plan();
    let resumed = old.clone().resumed_with(&new);
    assert_eq!(resumed.ranges, old.ranges);
    assert_eq!(resumed.concurrency.readers, 1);
    assert_eq!(resumed.fingerprint, old.fingerprint);
}
