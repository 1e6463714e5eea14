//! A plan tells everything and does nothing.

use super::world::World;

#[test]
fn a_plan_has_no_side_effects() {
    let world = World::new(50);
    let before = world.listing();
    for format in ["text", "json", "md"] {
        let plan = world.run(&["plan", "m.yaml", "--format", format]).with(0, "");
        assert!(plan.out.contains("full_refresh"), "{plan}");
    }
    assert_eq!(world.listing(), before);
    // Nor when there is a journal and a target.
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
    let before = world.listing();
    world.run(&["plan", "m.yaml"]).with(0, "");
    assert_eq!(world.listing(), before);
}

/// A digest under a key that everybody knows gives its boundary away.
#[test]
fn digests_are_keyed_by_the_journal_or_by_nothing_known() {
    let world = World::new(50);
    let digests = || {
        let plan = world.run(&["plan", "m.yaml", "--format", "json"]).with(0, "").json();
        let ranges = &plan["columnar_fast_path"]["details"]["range_parallelism"]["ranges"];
        let hash = ranges[0]["upper"]["hash"].as_str().map(str::to_owned);
        (hash.unwrap(), plan["fingerprint"].as_str().unwrap().to_owned())
    };
    let (one, other) = (digests(), digests());
    assert!(one.0 != other.0 && one.1 != other.1, "{one:?} {other:?}");
    world.run(&["run", "m.yaml", "-q"]).with(0, "");
    assert_eq!(digests(), digests());
}

#[test]
fn boundaries_are_shown_only_if_asked_for() {
    let world = World::new(50);
    let hidden = world.run(&["plan", "m.yaml"]).with(0, "").out;
    let shown = world.run(&["plan", "m.yaml", "--show-values"]).with(0, "").out;
    assert_ne!(hidden, shown);
    assert!(hidden.contains("k < b1") && !shown.contains("k < b1"));
}
