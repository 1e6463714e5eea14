//! Fingerprints: stable for equal inputs, different where it matters, and silent about values.

use dpone_engine::ranges::KeyFacts;
use dpone_engine::value::Value;

use super::World;

/// A change here is a change of what fingerprints in journals and evidence mean.
#[test]
fn golden() {
    let plan = World::new().plan();
    let serial = World::with(&[("mode: required", "mode: off")]).plan();
    assert_eq!(
        [plan.fingerprint, plan.policy_fingerprint, serial.fingerprint],
        [
            "9dbad82f9c5d1f40edbeeccd79938a9efbeb1217984845cd6ba476ce8d028188",
            "9805da4e373af5ac8ee1929b0374dc2c1dadb54850f602c9423ae6968f49587c",
            "c0125414e96648bf60b72179079da881e228a08710f78fe6fc902fbb29dc100b",
        ]
    );
}

#[test]
fn equal_inputs_equal_fingerprints() {
    let (a, b) = (World::new().plan(), World::new().plan());
    assert_eq!(a.fingerprint, b.fingerprint);
    // What a run changes by itself, and where it keeps things, is no part of it.
    let mut world = World::with(&[("name: orders\nsource", "name: other\nsource")]);
    world.target.base = "seven".into();
    world.target.exists = true;
    world.source.key.as_mut().unwrap().rows = Some(5);
    assert_eq!(world.plan().fingerprint, a.fingerprint);
}

#[test]
fn whatever_determines_the_delivery_takes_part() {
    let base = World::new().plan().fingerprint;
    let changes: &[(&str, &str)] = &[
        ("num_partitions: 4", "num_partitions: 5"),
        ("path: shop.db", "path: other.db"),
        ("  table: {name: orders}\n  options", "  table: {name: order}\n  options"),
        ("reader_workers: 3", "reader_workers: 2"),
        ("max_inflight_bytes: 64MiB", "max_inflight_bytes: 65MiB"),
        ("{mode: full_refresh}", "{mode: append}"),
        ("min_rows: 1", "min_rows: 2"),
        ("mode: required\n", "mode: required\n        consistency: immutable\n"),
        ("mode: required\n", "mode: required\n        staging_topology: per_partition\n"),
    ];
    let mut seen = vec![base];
    for change in changes {
        seen.push(World::with(&[*change]).plan().fingerprint);
    }
    let alter: &[fn(&mut World)] = &[
        |w| w.source.schema.columns[2].nullable = false,
        |w| w.source.schema.columns[2].name = "remark".into(),
        |w| w.target.target = "elsewhere".into(),
        |w| {
            w.source.key =
                Some(KeyFacts { extent: Some((Value::Int(1), Value::Int(2000))), rows: None, ..KeyFacts::default() })
        },
        |w| w.context.journal_key = [8; 32],
        |w| {
            w.manifest =
                w.manifest.replace("table: {name: orders}\n  options", "query: select * from orders\n  options")
        },
    ];
    for alter in alter {
        let mut world = World::new();
        alter(&mut world);
        seen.push(world.plan().fingerprint);
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count, "two different plans have one fingerprint");
}
