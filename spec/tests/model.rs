//! Small versions of the model's configurations, for the daily loop; `dpone-spec check` explores them in full.

use dpone_spec::check::explore;
use dpone_spec::model::config::{Config, Faults};

/// One fault of any kind, in every variant.
fn check(config: Config, least: usize) {
    let one = Faults { total: 1, ..config.faults };
    for variant in (Config { faults: one, ..config }).variants() {
        let found = explore(variant, 1);
        assert!(found.failures.is_empty(), "{}: {:#?}", found.config.variant(), found.failures);
        assert!(found.unique >= least, "{}: only {} states", found.config.variant(), found.unique);
    }
}

#[test]
fn two_ranges_one_fault() {
    check(Config::A, 2_000);
}

#[test]
fn rivals_one_fault() {
    check(Config::B, 1_800);
}

#[test]
fn three_ranges_one_fault() {
    check(Config::C, 2_000);
}
