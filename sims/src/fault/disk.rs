//! Faults of the disk that the journal is on, as data.

use serde::{Deserialize, Serialize};

use crate::rng::Rng;

/// What SQLite asks of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the call of the same name")]
pub enum Op {
    Read,
    Write,
    Sync,
    Truncate,
    Delete,
}

/// What goes wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// It fails and does nothing. What was written before a sync that failed may still become durable, or not.
    Fails,
    /// Half of it is written, and it fails.
    Half,
    /// The disk is full, for this write and every later one of the same runner.
    Full,
    /// The machine loses power before it does anything.
    PowerCut,
}

/// What a cut of the power leaves of the writes since a file's last sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    /// Nothing: a disk that keeps everything in its cache until it is told otherwise.
    Nothing,
    /// Everything: the process died and the machine did not.
    Everything,
    /// Those up to some moment, the last of them torn.
    UpToSomeMoment,
    /// Any of them, in parts of a sector: torn pages, and later writes without earlier ones.
    Any,
}

/// One fault of the disk: the `nth` call of its kind, from 1, over the life of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DiskFault {
    /// Which call.
    pub op: Op,
    /// Which of them.
    pub nth: u32,
    /// What happens.
    pub trouble: Trouble,
}

/// A disk, and what goes wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskPlan {
    /// What is left when the power is cut.
    pub left: Left,
    /// Whether the machine loses its power whenever no process is alive any more.
    pub cut_between: bool,
    /// What goes wrong.
    pub faults: Vec<DiskFault>,
}

impl Op {
    /// Every call.
    pub const ALL: [Op; 5] = [Op::Read, Op::Write, Op::Sync, Op::Truncate, Op::Delete];

    /// What can go wrong with it.
    pub const fn troubles(self) -> &'static [Trouble] {
        use Trouble::{Fails, Full, Half, PowerCut};
        match self {
            Op::Read => &[Fails],
            Op::Write => &[Fails, Half, Full, PowerCut],
            Op::Sync | Op::Truncate | Op::Delete => &[Fails, PowerCut],
        }
    }

    /// How many of them a run makes at least, if it goes far.
    const fn reach(self) -> u64 {
        match self {
            Op::Read => 150,
            Op::Write => 250,
            Op::Sync => 90,
            Op::Truncate => 4,
            Op::Delete => 6,
        }
    }
}

impl Left {
    /// Every answer.
    pub const ALL: [Left; 4] = [Left::Nothing, Left::Everything, Left::UpToSomeMoment, Left::Any];
}

impl DiskPlan {
    /// A seed's disk.
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed).fork(0xD15C);
        let left = *rng.pick(&Left::ALL).unwrap_or(&Left::Nothing);
        let cut_between = rng.odds(2, 3);
        let mut faults: Vec<DiskFault> = Vec::new();
        for _ in 0..rng.below(5) {
            let Some(&op) = rng.pick(&Op::ALL) else { continue };
            let Some(&trouble) = rng.pick(op.troubles()) else { continue };
            let nth = 1 + rng.below(op.reach()) as u32;
            if !faults.iter().any(|f| f.op == op && f.nth == nth) {
                faults.push(DiskFault { op, nth, trouble });
            }
        }
        faults.sort_unstable();
        Self { left, cut_between, faults }
    }
}
