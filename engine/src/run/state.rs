//! The states of a run and every transition between them.

use serde::{Deserialize, Serialize};

/// Where an attempt of a run stands. The names are part of the public contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum State {
    /// The plan is fixed; nothing has been read in this attempt.
    Planned,
    /// The source state is open and units are being read.
    Reading,
    /// Every unit was read to its end and the units together cover the source.
    #[serde(rename = "RangeEOF")]
    RangeEof,
    /// Every object of every unit was verified in the store.
    StageComplete,
    /// Every unit is in staging, confirmed by what the target holds.
    LoadConfirmed,
    /// Every gate on staging passed.
    QualityPassed,
    /// A publication was announced and it is not known whether it happened.
    OutcomeUnknown,
    /// The target holds the run's rows, once.
    Published,
    /// The evidence of the publication is written.
    EvidenceComplete,
    /// Everything the run owned is gone or handed over. The end of a delivered run.
    CleanupComplete,
    /// The attempt failed and the target is as it was. `run --resume` starts the next attempt.
    FailedPrepublication,
}

impl State {
    /// Every state, in the order of a healthy run, then the failed ones.
    pub const ALL: [State; 11] = [
        State::Planned,
        State::Reading,
        State::RangeEof,
        State::StageComplete,
        State::LoadConfirmed,
        State::QualityPassed,
        State::OutcomeUnknown,
        State::Published,
        State::EvidenceComplete,
        State::CleanupComplete,
        State::FailedPrepublication,
    ];

    /// The state's public name.
    pub const fn name(self) -> &'static str {
        match self {
            State::Planned => "Planned",
            State::Reading => "Reading",
            State::RangeEof => "RangeEOF",
            State::StageComplete => "StageComplete",
            State::LoadConfirmed => "LoadConfirmed",
            State::QualityPassed => "QualityPassed",
            State::OutcomeUnknown => "OutcomeUnknown",
            State::Published => "Published",
            State::EvidenceComplete => "EvidenceComplete",
            State::CleanupComplete => "CleanupComplete",
            State::FailedPrepublication => "FailedPrepublication",
        }
    }

    /// Every transition there is. What else must hold for one is in `apply`.
    ///
    /// A new attempt (`AttemptStarted`) also leads back to `Planned`, from any state in which the target is known to
    /// be untouched: see [`State::may_restart`].
    #[rustfmt::skip]
    pub const fn may_become(self, to: State) -> bool {
        use State::*;
        matches!(
            (self, to),
            (Planned,        Reading)          // the source state is open
            | (Reading,      RangeEof)         // every unit ended, coverage holds
            | (RangeEof,     StageComplete)    // every object verified
            | (StageComplete, LoadConfirmed)   // every unit counted in staging
            | (LoadConfirmed, QualityPassed)   // every gate passed
            | (QualityPassed, Published)       // the publication is confirmed
            | (QualityPassed, OutcomeUnknown)  // the publication is in doubt
            | (OutcomeUnknown, Published)      // reconciled: it happened
            | (OutcomeUnknown, QualityPassed)  // reconciled: absent, and can no longer happen
            | (Published,    EvidenceComplete) // the evidence is written
            | (EvidenceComplete, CleanupComplete) // nothing owned is left
            | (Planned,       FailedPrepublication)
            | (Reading,       FailedPrepublication)
            | (RangeEof,      FailedPrepublication)
            | (StageComplete, FailedPrepublication)
            | (LoadConfirmed, FailedPrepublication)
            | (QualityPassed, FailedPrepublication) // only if the publication is proven absent
        )
    }

    /// Whether a new attempt may start here.
    pub const fn may_restart(self) -> bool {
        use State::*;
        matches!(
            self,
            Planned | Reading | RangeEof | StageComplete | LoadConfirmed | QualityPassed | FailedPrepublication
        )
    }

    /// Whether the target may already hold, or may yet receive, the run's rows.
    pub const fn is_past_publication(self) -> bool {
        use State::*;
        matches!(self, OutcomeUnknown | Published | EvidenceComplete | CleanupComplete)
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
