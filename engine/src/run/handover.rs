//! What changes hands when a publication succeeds.

use super::effect::OwnedKind;
use super::facts::{Retention, StagingFate};
use super::run::{Fate, Owned, Run};

impl Run {
    /// What changes hands when the target becomes the run's rows.
    pub(super) fn publish(&mut self, identity: &str, rows: u64) {
        self.published = Some((identity.to_owned(), rows));
        let keep = self.plan.objects_after_success == Retention::Keep;
        let delivered = self.plan.staging_fate == StagingFate::Delivered;
        let staging: Vec<_> = self.staging.values().map(|s| s.name.clone()).collect();
        let loads: Vec<_> = self.units.iter().filter_map(|u| u.loaded.as_ref()).map(|(name, _)| name.clone()).collect();
        for (name, owned) in &mut self.owned {
            let part = match owned.kind {
                OwnedKind::Staging => staging.contains(name),
                OwnedKind::Load => loads.contains(name),
                OwnedKind::Object | OwnedKind::Superseded => false,
            };
            if part && delivered {
                owned.fate = Fate::Delivered;
            } else if owned.kind == OwnedKind::Object && keep && owned.fate == Fate::Live {
                owned.fate = Fate::Kept;
            }
        }
        if let Some(name) = self.plan.superseded.clone().filter(|name| name != identity) {
            self.owned.insert(name, Owned { kind: OwnedKind::Superseded, fate: Fate::Live });
        }
    }
}
