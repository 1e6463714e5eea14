//! Which effect may be announced when, and which state may be reached when: the preconditions of `apply`.

use super::apply::ensure;
use super::effect::{Document, Effect};
use super::gates;
use super::run::{Fate, Run};
use super::state::State;

impl Run {
    /// What each kind of effect needs beyond the claim.
    pub(super) fn permits(&self, effect: &Effect) -> Result<(), &'static str> {
        let running = self.halted.is_none() && self.attempt > 0;
        match effect {
            Effect::Claim { epoch } => {
                ensure(*epoch == self.epoch && self.claim != Some(self.epoch), "a claim is taken once per epoch")
            }
            Effect::Open => ensure(
                running && self.state == State::Planned && self.authority.is_none(),
                "the source state is opened once",
            ),
            Effect::Count => ensure(running && self.state == State::Reading, "the source is counted while it is open"),
            Effect::Read { unit, .. } => {
                ensure(
                    running && self.state == State::Reading && self.authority.is_some(),
                    "units are read from an open source state",
                )?;
                let unit = self.units.get(*unit as usize).ok_or("a read unit is a planned unit")?;
                ensure(unit.read.is_none(), "a unit is read to its end once")
            }
            Effect::Put { read, unit, chunk, .. } => {
                let open = self.open.get(read).ok_or("an object is written by an open read")?;
                ensure(
                    matches!(&open.effect, Effect::Read { unit: u, .. } if u == unit),
                    "an object belongs to its read's unit",
                )?;
                ensure(running && !open.doubted, "a dead read writes nothing")?;
                ensure(!self.units[*unit as usize].chunks.contains_key(chunk), "a chunk is written once per read")
            }
            Effect::Verify => {
                ensure(running && self.state == State::RangeEof, "objects are verified once every unit has ended")
            }
            Effect::Stage { unit, .. } => {
                ensure(running && self.state == State::StageComplete, "staging is made once every object is verified")?;
                ensure(self.staging_slots().contains(unit), "staging is made in a slot of the topology")?;
                ensure(!self.staging.get(unit).is_some_and(|s| s.ready), "a slot has one staging place")
            }
            Effect::Load { unit, staging, .. } => {
                ensure(
                    running && self.state == State::StageComplete,
                    "units are loaded once every object is verified",
                )?;
                let slot =
                    self.staging.get(&self.staging_slot(*unit)).ok_or("a unit is loaded into its staging place")?;
                ensure(slot.ready && slot.name == *staging, "a unit is loaded into its staging place")?;
                let shared = self.staging_slot(*unit).is_none();
                let loading = self.open.values().any(|o| matches!(o.effect, Effect::Load { .. }));
                ensure(!(shared && loading), "shared staging is loaded one unit at a time")?;
                let unit = self.units.get(*unit as usize).ok_or("a loaded unit is a planned unit")?;
                ensure(unit.loaded.is_none(), "a unit is loaded once")
            }
            Effect::Check => ensure(running && self.state == State::LoadConfirmed, "gates run on confirmed staging"),
            Effect::Publish { .. } => ensure(
                running && self.state == State::QualityPassed && self.published.is_none(),
                "a publication follows passed gates",
            ),
            Effect::Fence { publish, .. } => {
                let open = self.open.get(publish).ok_or("a fence is for an announced publication")?;
                ensure(self.state == State::OutcomeUnknown && open.doubted, "a fence is for a publication in doubt")
            }
            Effect::Evidence { document: Document::Sealed } => ensure(
                matches!(self.state, State::Published | State::FailedPrepublication | State::OutcomeUnknown),
                "evidence seals an ended run",
            ),
            Effect::Evidence { document: Document::Cleanup } => ensure(
                matches!(self.state, State::EvidenceComplete | State::FailedPrepublication),
                "cleanup is recorded after it",
            ),
            Effect::Drop { kind, name } => {
                ensure(
                    self.open_publication().is_none() && self.state != State::OutcomeUnknown,
                    "nothing is removed while a publication is open or unknown",
                )?;
                ensure(
                    matches!(self.state, State::EvidenceComplete | State::FailedPrepublication),
                    "names are removed in cleanup",
                )?;
                let owned = self.owned.get(name).ok_or("only owned names are removed")?;
                ensure(owned.kind == *kind && owned.fate == Fate::Live, "only what is the run's to remove is removed")
            }
            Effect::Release { epoch } => {
                ensure(
                    *epoch == self.epoch && self.claim_standing,
                    "a standing claim is given back under the present epoch",
                )?;
                ensure(
                    matches!(self.state, State::EvidenceComplete | State::FailedPrepublication),
                    "the claim is given back in cleanup",
                )
            }
        }
    }

    pub(super) fn move_to(&mut self, to: State) -> Result<(), &'static str> {
        ensure(self.attempt > 0, "a run moves within an attempt")?;
        ensure(self.state.may_become(to), "there is no such transition")?;
        ensure(self.halted.is_none(), "a halted attempt does not go on")?;
        match to {
            State::Reading => ensure(self.authority.is_some(), "reading begins on an open source state")?,
            State::RangeEof => {
                ensure(self.units.iter().all(|u| u.read.is_some()), "every unit has ended")?;
                let covered = !self.plan.coverage_required || self.counted == Some(self.rows_read());
                ensure(covered, "the units cover the source")?;
            }
            State::StageComplete => ensure(self.verified, "every object is verified")?,
            State::LoadConfirmed => {
                ensure(self.units.iter().all(|u| u.loaded.is_some()), "every unit is loaded")?;
                ensure(self.rows_loaded() == self.rows_read(), "staging holds the rows that were read")?;
            }
            State::QualityPassed if self.state == State::LoadConfirmed => {
                ensure(gates::failure(self).is_none() && self.checked.is_some(), "every gate passed")?;
            }
            State::QualityPassed => ensure(
                self.open_publication().is_none() && self.published.is_none(),
                "the publication is proven absent",
            )?,
            State::OutcomeUnknown => {
                ensure(self.open_publication().is_some_and(|(_, o)| o.doubted), "the publication is in doubt")?
            }
            State::Published => {
                ensure(self.published.is_some(), "the publication is confirmed")?;
                self.evidence.clear();
            }
            State::EvidenceComplete => {
                ensure(self.evidence.contains_key(&Document::Sealed), "the evidence is written")?
            }
            State::CleanupComplete => {
                ensure(self.owned.values().all(|o| o.fate != Fate::Live), "nothing owned is left")?;
                ensure(self.open.is_empty() && !self.claim_standing, "nothing is open and the claim is given back")?;
                ensure(self.evidence.contains_key(&Document::Cleanup), "the cleanup is recorded")?;
            }
            State::Planned | State::FailedPrepublication => {
                return Err("only AttemptStarted and Halted lead there");
            }
        }
        self.state = to;
        Ok(())
    }
}
