//! A wall clock that is set back holds nothing up.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use dpone_sims::fault::{Fault, Kind, Plan, Site};
use dpone_sims::scenario::play_traced;

/// Wherever the clock goes back by an hour while tries are waiting for their time, the run ends within minutes.
#[test]
fn waits_are_not_by_the_wall_clock() {
    for nth in 1..40 {
        let mut plan = Plan::of_seed(7);
        plan.faults = vec![
            Fault { site: Site::Append, nth, kind: Kind::ClockBack },
            Fault { site: Site::Put, nth: 1, kind: Kind::Refused },
            Fault { site: Site::Load, nth: 1, kind: Kind::Refused },
            Fault { site: Site::Drop, nth: 1, kind: Kind::Refused },
        ];
        plan.shape.tries = 4;
        let outcome = play_traced(&plan);
        assert!(outcome.broken.is_empty(), "{nth}: {:?}", outcome.broken);
        let last = outcome.trace.last().unwrap();
        let ended: u64 = last.split_whitespace().next().unwrap().parse().unwrap();
        assert!(ended < 600_000, "clock set back at append {nth}: ended at {ended} ms");
    }
}
