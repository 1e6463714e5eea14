//! Shrinking keeps what is broken, and nothing that is not needed for it.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use dpone_sims::fault::{Fault, Kind, Plan, Site};
use dpone_sims::invariants::Broken;
use dpone_sims::scenario::{Outcome, play};
use dpone_sims::shrink::shrink_with;

/// A judge that takes two things for broken, each met by one kind of fault.
fn judge(plan: &Plan) -> Outcome {
    let mut outcome = play(plan);
    for (kind, invariant) in [(Kind::ClockBack, "the clock"), (Kind::DiskFull, "the disk")] {
        if outcome.met.iter().any(|(_, k)| *k == kind) {
            outcome.broken.push(Broken::new(invariant, String::new()));
        }
    }
    outcome
}

#[test]
fn only_what_breaks_the_same_invariant_is_kept() {
    let fault = |site, nth, kind| Fault { site, nth, kind };
    let wanted = fault(Site::Append, 3, Kind::ClockBack);
    let mut plan = Plan::of_seed(7);
    plan.shape.rows = 9;
    plan.faults = vec![
        fault(Site::Append, 2, Kind::AppendUntold),
        wanted,
        fault(Site::Put, 1, Kind::DiskFull),
        fault(Site::Put, 2, Kind::DiskFull),
    ];
    plan.faults.sort_unstable();
    let smallest = shrink_with(&plan, "the clock", judge).unwrap();
    assert_eq!(smallest.faults, [wanted]);
    assert!(smallest.shape.rows == 0 && smallest.shape.units == 1, "{:?}", smallest.shape);
    let other = shrink_with(&plan, "the disk", judge).unwrap();
    assert!(matches!(other.faults.as_slice(), [Fault { kind: Kind::DiskFull, .. }]), "{:?}", other.faults);
}

#[test]
fn a_plan_that_breaks_nothing_has_no_smallest() {
    assert_eq!(shrink_with(&Plan::of_seed(7), "the clock", play), None);
}
