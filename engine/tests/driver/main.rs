//! The driver against a world that does not answer.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use dpone_engine::budget::Amount;
use dpone_engine::driver::{Entry, Finish, Order, drive};
use dpone_engine::manifest::Fidelity;
use dpone_engine::plan::default_policy;
use dpone_engine::run::facts::{Base, LoadIsolation, PublicationKind, Retention, StagingFate, Topology};
use dpone_engine::run::{Event, PlanFacts, recover};
use futures_util::FutureExt;

mod silent;

use silent::{GRACE, Silent};

fn planned() -> Event {
    let plan = PlanFacts {
        manifest: "m".to_owned(),
        fingerprint: String::new(),
        units: 1,
        topology: Topology::SharedPerRun,
        load_isolation: LoadIsolation::Fenced,
        publication: PublicationKind::LedgerTransaction,
        staging_fate: StagingFate::Removed,
        coverage_required: false,
        fidelity: Fidelity::Off,
        base: Base { identity: String::new(), owner: None },
        superseded: None,
        target: "t".to_owned(),
        objects_after_success: Retention::Remove,
        objects_after_failure: Retention::Remove,
        document: String::new(),
    };
    Event::Planned { run: "r".to_owned(), plan }
}

/// A source that never lets go does not keep a runner that was asked to stop.
#[test]
fn a_source_that_does_not_close_is_waited_for_in_bounded_time() {
    let event = planned();
    let run = recover([&event]).unwrap();
    let amount = Amount { bytes: 1, rows: 1 };
    let order = Order {
        policy: default_policy(1, 1),
        budget: amount,
        grant: amount,
        check: 1,
        uploads: 1,
        journal: "j".to_owned(),
        backoff: 1,
        max_backoff: 1,
        stop_grace: GRACE,
        render: &|_, _, _, _| String::new(),
    };
    let finished = drive(&Silent, run, vec![Entry { seq: 1, at: 1, event }], 1, &order).now_or_never();
    assert_eq!(finished.map(|f| f.finish), Some(Finish::Suspended));
}
