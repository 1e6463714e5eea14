//! A plan as the journal keeps it.

use super::{Coverage, Plan, VERSION};
use crate::codes::Code;
use crate::manifest::{FailedPolicy, TempPolicy};
use crate::refusal::Refusal;
use crate::run::PlanFacts;
use crate::run::facts::{Base, Retention};

impl Plan {
    /// The plan as a run's first fact: what the machine depends on, and the whole plan as canonical JSON.
    ///
    /// # Errors
    /// `internal_error`, when the plan has no JSON form, which its types rule out.
    pub fn facts(&self) -> Result<PlanFacts, Refusal> {
        let document = serde_json::to_string(self)
            .map_err(|_| Refusal::new(Code::InternalError, "the plan has no canonical form"))?;
        let cleanup = &self.manifest.runtime.storage.transfer_store.cleanup;
        let target = &self.target;
        Ok(PlanFacts {
            manifest: self.manifest.name.clone(),
            fingerprint: self.fingerprint.clone(),
            units: u32::try_from(self.ranges.len())
                .map_err(|_| Refusal::new(Code::InternalError, "a plan has too many ranges"))?,
            topology: self.topology,
            load_isolation: target.load_isolation,
            publication: target.publication,
            staging_fate: target.staging_fate,
            coverage_required: self.coverage == Coverage::Relation,
            fidelity: self.manifest.quality.fidelity,
            base: Base { identity: target.base.clone(), owner: target.base_owner.clone() },
            superseded: target.superseded.clone(),
            target: target.target.clone(),
            objects_after_success: match cleanup.temp_objects {
                TempPolicy::Eager | TempPolicy::OnSuccess => Retention::Remove,
                TempPolicy::Retain => Retention::Keep,
            },
            objects_after_failure: match cleanup.failed_objects {
                FailedPolicy::Keep => Retention::Keep,
                FailedPolicy::Delete => Retention::Remove,
            },
            document,
        })
    }

    /// Reads back what [`Plan::facts`] wrote into `document`. A resumed run executes this plan, not a new one.
    ///
    /// # Errors
    /// `journal_newer` if a newer build wrote it, `journal_corrupt` if it cannot be read.
    pub fn from_document(document: &str) -> Result<Self, Refusal> {
        #[derive(serde::Deserialize)]
        struct Version {
            version: u32,
        }
        // What serde_json says can quote the text, which holds source values; only the position is kept.
        let corrupt = |error: serde_json::Error| {
            Refusal::new(Code::JournalCorrupt, "a run's recorded plan cannot be read back")
                .at(format!("recorded plan, byte column {}", error.column()))
                .fix("Check the journal with `dpone journal verify`.")
        };
        let Version { version } = serde_json::from_str(document).map_err(corrupt)?;
        if version > VERSION {
            return Err(Refusal::new(Code::JournalNewer, "the run's plan was recorded by a newer dpone")
                .fix("Resume it with that version."));
        }
        let plan: Self = serde_json::from_str(document).map_err(corrupt)?;
        if plan.ranges.is_empty() || (0..).zip(&plan.ranges).any(|(ordinal, range): (u32, _)| ordinal != range.ordinal)
        {
            return Err(Refusal::new(Code::JournalCorrupt, "a run's recorded plan has no numbered ranges")
                .fix("Check the journal with `dpone journal verify`."));
        }
        Ok(plan)
    }

    /// This plan, worked on with the worker counts and the budget of a newer one: what a resumed run may change.
    #[must_use]
    pub fn resumed_with(mut self, newer: &Plan) -> Self {
        self.requested = newer.requested;
        self.concurrency = newer.concurrency;
        self.budget = newer.budget;
        if self.topology == crate::run::facts::Topology::SharedPerRun {
            self.concurrency.loads = 1;
        }
        self
    }
}
