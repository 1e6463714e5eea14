//! Counterexamples that the model found; `spec/findings.md` tells each.

use crate::manifest::Fidelity;
use crate::run::effect::EffectKind;
use crate::run::facts::{Base, LoadIsolation, PublicationKind, Retention, StagingFate, Topology};
use crate::run::{PlanFacts, Seen, Verdict, reconcile};

pub(super) fn plan() -> PlanFacts {
    PlanFacts {
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
    }
}

/// A claim's reply was lost and its retries failed; the release's reply was lost before it was executed, and its probe
/// saw no claim. Taking that for a release let the first claim land later and stand for ever.
#[test]
fn a_release_that_was_not_executed_keeps_no_late_claim_out() {
    for seen in Seen::ALL {
        assert_eq!(reconcile(EffectKind::Release, &plan(), seen), Verdict::Retry, "{seen:?}");
    }
}
