//! Faults as data: what goes wrong, where, at which occurrence. A plan can be written down, replayed and shrunk.

mod disk;
mod site;

use serde::{Deserialize, Serialize};

use crate::rng::Rng;
pub use disk::{DiskFault, DiskPlan, Left, Op, Trouble};
pub use site::{Kind, Site};

/// Where things go wrong from the publication on.
const LATE: [Site; 9] = [
    Site::Append,
    Site::Claim,
    Site::Publish,
    Site::Publish,
    Site::Fence,
    Site::Fence,
    Site::Probe,
    Site::Drop,
    Site::Release,
];

/// One fault: the `nth` call at a site, from 1, over the life of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fault {
    /// Where.
    pub site: Site,
    /// Which call.
    pub nth: u32,
    /// What.
    pub kind: Kind,
}

/// The shape of the run that is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Units.
    pub units: u32,
    /// Rows of the source.
    pub rows: u32,
    /// Rows of one chunk.
    pub chunk_rows: u32,
    /// Readers, and sessions.
    pub readers: u32,
    /// Puts at the same time.
    pub uploads: u32,
    /// Whether every unit has a staging place of its own.
    pub per_partition: bool,
    /// Whether loads can land late and poison their staging.
    pub poisons: bool,
    /// Whether the target is a dataset behind a pointer manifest.
    pub pointer: bool,
    /// Whether rows are added to the target.
    pub append: bool,
    /// Whether only rows of the partitions that are read are replaced; not with `append`.
    #[serde(default)]
    pub partitions: bool,
    /// Whether the source state survives its process.
    pub persistent: bool,
    /// Whether a lost source state stops the attempt.
    pub stop_on_loss: bool,
    /// Whether objects of a failed attempt are kept.
    pub keep_failed: bool,
    /// Whether objects of a delivered run are kept.
    #[serde(default)]
    pub keep_delivered: bool,
    /// Whether an earlier run of the same journal published what the target holds.
    #[serde(default)]
    pub owned_base: bool,
    /// Whether that content is left for its readers for a while.
    #[serde(default)]
    pub grace: bool,
    /// Whether the target can only count what it holds, so that values are not compared.
    #[serde(default)]
    pub counts_only: bool,
    /// Tries of one effect.
    #[serde(default = "usual_tries")]
    pub tries: u32,
}

const fn usual_tries() -> u32 {
    4
}

/// A whole scenario as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What delays are drawn from.
    pub seed: u64,
    /// The run.
    pub shape: Shape,
    /// What goes wrong, by site and number.
    pub faults: Vec<Fault>,
    /// The disk of the journal, if that is in SQLite rather than in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskPlan>,
}

impl Plan {
    /// The scenario of a seed. Each seed leaves some kinds of fault out altogether, so that the rest is met in depth.
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut shape = Shape {
            units: 1 + rng.below(4) as u32,
            rows: rng.below(24) as u32,
            chunk_rows: 1 + rng.below(6) as u32,
            readers: 1 + rng.below(3) as u32,
            uploads: 1 + rng.below(3) as u32,
            per_partition: rng.odds(1, 2),
            poisons: rng.odds(1, 3),
            pointer: rng.odds(1, 2),
            append: rng.odds(1, 3),
            partitions: false,
            persistent: rng.odds(1, 3),
            stop_on_loss: rng.odds(1, 6),
            keep_failed: rng.odds(1, 3),
            keep_delivered: rng.odds(1, 4),
            owned_base: rng.odds(1, 3),
            grace: rng.odds(1, 2),
            counts_only: rng.odds(1, 3),
            tries: 1 + rng.below(4) as u32,
        };
        // Not drawn: what a seed's other choices are stays as it was.
        shape.partitions = !shape.append && !shape.pointer && seed % 2 == 1;
        let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|_| rng.odds(2, 3)).collect();
        let count = rng.below(9);
        // Some seeds look closely at the publication and what follows it.
        let late = rng.odds(1, 3);
        let sites: &[Site] = if late { &LATE } else { &Site::ALL };
        let mut faults: Vec<Fault> = Vec::new();
        if late {
            let doubts = [Kind::LostReply, Kind::NotSent, Kind::LateLanding, Kind::CrashAfter, Kind::Pause];
            faults.extend(rng.pick(&doubts).map(|&kind| Fault { site: Site::Publish, nth: 1, kind }));
        }
        for _ in 0..count {
            let Some(&site) = rng.pick(sites) else { continue };
            let possible: Vec<Kind> = site.kinds().iter().copied().filter(|k| kinds.contains(k)).collect();
            let Some(&kind) = rng.pick(&possible) else { continue };
            let reach = match site {
                Site::Append => 40,
                Site::Fence | Site::Publish | Site::Check => 3,
                _ => 8,
            };
            let nth = 1 + rng.below(reach) as u32;
            if !faults.iter().any(|f| f.site == site && f.nth == nth) {
                faults.push(Fault { site, nth, kind });
            }
        }
        faults.sort_unstable();
        Self { seed, shape, faults, disk: None }
    }

    /// The same scenario with its journal in SQLite, on a disk that fails.
    pub fn on_disk(self) -> Self {
        Self { disk: Some(DiskPlan::of_seed(self.seed)), ..self }
    }
}
