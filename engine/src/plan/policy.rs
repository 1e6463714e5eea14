//! The machine's limits that a plan implies.

use super::{Concurrency, Plan};
use crate::manifest::OnAuthorityLost;
use crate::run::Policy;

/// Names removed at the same time.
const DROPPERS: u32 = 4;
/// Tries of one effect.
const MAX_TRIES: u32 = 4;
/// Probes of one effect in doubt.
const MAX_PROBES: u32 = 6;
/// Attempts that one runner starts by itself.
const MAX_ATTEMPTS: u32 = 3;

/// The limits for that many readers and loaders; times and requests are the runner's to fill in.
pub const fn default_policy(readers: u32, loaders: u32) -> Policy {
    Policy {
        now: 0,
        readers,
        ranges: readers,
        loaders,
        droppers: DROPPERS,
        max_tries: MAX_TRIES,
        max_probes: MAX_PROBES,
        max_attempts: MAX_ATTEMPTS,
        on_authority_lost: OnAuthorityLost::Reread,
        restart_from: None,
        superseded_grace: 0,
        stopping: false,
        abandon: false,
    }
}

impl Plan {
    /// The limits that a runner of this plan works under.
    pub fn policy(&self) -> Policy {
        let Concurrency { readers, loads, .. } = self.concurrency;
        Policy {
            ranges: self.manifest.ranges.max_inflight_ranges.clamp(readers, 2 * readers),
            on_authority_lost: self.manifest.ranges.on_authority_lost,
            ..default_policy(readers, loads)
        }
    }
}
