//! Smaller plans that break the same invariant.

use crate::fault::Plan;
use crate::scenario::{Outcome, play};

/// The smallest plan that is found by leaving faults out and making the run smaller, and that still breaks the
/// invariant of that name. `None` if the plan does not break it.
pub fn shrink(plan: &Plan, invariant: &str) -> Option<Plan> {
    shrink_with(plan, invariant, play)
}

/// [`shrink`] by another judge.
pub fn shrink_with(plan: &Plan, invariant: &str, judge: impl Fn(&Plan) -> Outcome) -> Option<Plan> {
    let breaks = |plan: &Plan| judge(plan).broken.iter().any(|b| b.invariant == invariant);
    if !breaks(plan) {
        return None;
    }
    let mut best = plan.clone();
    while let Some(smaller) = candidates(&best).into_iter().find(|c| breaks(c)) {
        best = smaller;
    }
    Some(best)
}

fn candidates(plan: &Plan) -> Vec<Plan> {
    let mut smaller = Vec::new();
    for at in 0..plan.faults.len() {
        let mut next = plan.clone();
        next.faults.remove(at);
        smaller.push(next);
    }
    for at in 0..plan.disk.as_ref().map_or(0, |disk| disk.faults.len()) {
        let mut next = plan.clone();
        if let Some(disk) = &mut next.disk {
            disk.faults.remove(at);
        }
        smaller.push(next);
    }
    if plan.disk.as_ref().is_some_and(|disk| disk.cut_between) {
        let mut next = plan.clone();
        next.disk.iter_mut().for_each(|disk| disk.cut_between = false);
        smaller.push(next);
    }
    let shape = plan.shape;
    let mut with = |change: &dyn Fn(&mut crate::fault::Shape)| {
        let mut next = plan.clone();
        change(&mut next.shape);
        if next.shape != shape {
            smaller.push(next);
        }
    };
    with(&|s| s.rows = s.rows.saturating_sub(1));
    with(&|s| s.rows /= 2);
    with(&|s| s.units = (s.units - 1).max(1));
    with(&|s| s.readers = 1);
    with(&|s| s.uploads = 1);
    with(&|s| s.chunk_rows = s.rows.max(1));
    with(&|s| s.per_partition = false);
    with(&|s| s.keep_failed = false);
    with(&|s| s.append = false);
    with(&|s| s.partitions = false);
    with(&|s| s.keep_delivered = false);
    with(&|s| s.owned_base = false);
    with(&|s| s.grace = false);
    with(&|s| s.persistent = false);
    with(&|s| s.counts_only = false);
    smaller
}
