//! Seeds, found ones first; the same seed is the same story.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use dpone_sims::commands::seeds::{Choice, another_story, listed, play_all};
use dpone_sims::commands::{Place, plan};
use dpone_sims::fault::Plan;
use dpone_sims::scenario::play;

/// Seeds of one test run in a debug build. CI plays more, optimised.
const SEEDS: u64 = 1500;

/// The same for those whose journal is in SQLite.
const ON_DISK: u64 = 60;

fn check(place: Place, count: u64) {
    let failures = play_all(Choice { from: 0, count, place, until_broken: false }).failures;
    let replay = |(seed, broken)| format!("{broken:?}: cargo run -p dpone-sims -- replay {}", place.name(seed));
    let failures: Vec<String> = failures.into_iter().map(replay).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn no_seed_breaks_anything() {
    check(Place::Memory, SEEDS);
}

#[test]
fn no_seed_on_a_failing_disk_breaks_anything() {
    check(Place::Sqlite, ON_DISK);
}

#[test]
fn what_was_found_once_stays_found() {
    let names = listed().unwrap();
    assert!(names.len() >= 8, "the list of found seeds is there");
    for name in names {
        let broken = play(&plan(&name).unwrap()).broken;
        assert!(broken.is_empty(), "{name}: {broken:?}");
    }
}

#[test]
fn the_same_seed_is_the_same_story() {
    for (place, seeds) in [(Place::Memory, 0..40), (Place::Sqlite, 0..20)] {
        for seed in seeds {
            let plan = place.plan(seed);
            assert_eq!(another_story(&plan, &play(&plan)), None, "{}", place.name(seed));
        }
    }
}

#[test]
fn a_plan_is_what_its_text_says() {
    for seed in 0..200 {
        let plan = if seed % 2 == 0 { Place::Memory } else { Place::Sqlite }.plan(seed);
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan, "seed {seed}");
    }
}
