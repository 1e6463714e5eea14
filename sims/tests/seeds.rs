//! Seeds, found ones first; the same seed is the same story.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use dpone_sims::commands::{plan, seeds};
use dpone_sims::fault::Plan;
use dpone_sims::scenario::{play, play_traced};

/// Seeds of one test run in a debug build. CI plays more, optimised.
const SEEDS: u64 = 1500;

#[test]
fn no_seed_breaks_anything() {
    let failures = seeds::play_all(0, SEEDS, false).failures;
    let replay = |(seed, broken)| format!("{broken:?}: cargo run -p dpone-sims -- replay {seed}");
    let failures: Vec<String> = failures.into_iter().map(replay).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_was_found_once_stays_found() {
    let list = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/seeds.txt")).unwrap();
    let named = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let names: Vec<String> = list.lines().filter(|l| !l.starts_with('#')).filter_map(named).collect();
    assert!(names.len() >= 8, "the list of found seeds is there");
    for name in names {
        let what = if name.ends_with(".json") { format!("{}/{name}", env!("CARGO_MANIFEST_DIR")) } else { name };
        let broken = play(&plan(&what).unwrap()).broken;
        assert!(broken.is_empty(), "{what}: {broken:?}");
    }
}

#[test]
fn the_same_seed_is_the_same_story() {
    for seed in 0..40 {
        let plan = Plan::of_seed(seed);
        let (first, second) = (play_traced(&plan), play_traced(&plan));
        assert_eq!(first.trace, second.trace, "seed {seed}");
        let untraced = play(&plan);
        assert_eq!((first.entries, first.calls), (untraced.entries, untraced.calls), "seed {seed}");
    }
}

#[test]
fn a_plan_is_what_its_text_says() {
    for seed in 0..200 {
        let plan = Plan::of_seed(seed);
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan, "seed {seed}");
    }
}
