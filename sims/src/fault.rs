//! Faults as data: what goes wrong, where, at which occurrence. A plan can be written down, replayed and shrunk.

use serde::{Deserialize, Serialize};

use crate::rng::Rng;

/// A place where something can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the port call or the moment of the same name")]
pub enum Site {
    Append,
    Open,
    Count,
    Read,
    Put,
    Head,
    Get,
    Delete,
    Claim,
    Stage,
    Load,
    Check,
    Publish,
    Fence,
    Probe,
    Drop,
    Release,
    Evidence,
}

impl Site {
    /// Every site.
    pub const ALL: [Site; 18] = [
        Site::Append,
        Site::Open,
        Site::Count,
        Site::Read,
        Site::Put,
        Site::Head,
        Site::Get,
        Site::Delete,
        Site::Claim,
        Site::Stage,
        Site::Load,
        Site::Check,
        Site::Publish,
        Site::Fence,
        Site::Probe,
        Site::Drop,
        Site::Release,
        Site::Evidence,
    ];

    /// The faults that mean something there.
    pub const fn kinds(self) -> &'static [Kind] {
        use Kind::*;
        match self {
            Site::Append => &[CrashBefore, CrashAfter, AppendLost, AppendUntold, ClockBack, Rival],
            Site::Open | Site::Count => &[CrashBefore, CrashAfter, Refused, SourceChanges],
            Site::Read => &[CrashBefore, CrashAfter, Refused, SourceChanges, WideRow],
            Site::Put => {
                &[CrashBefore, CrashAfter, Refused, LostReply, NotSent, LateLanding, PartialWrite, Foreign, DiskFull]
            }
            Site::Head => &[CrashBefore, CannotTell, StaleRead],
            Site::Get => &[CrashBefore, Refused, ObjectVanishes],
            Site::Claim | Site::Stage | Site::Load | Site::Publish => {
                &[CrashBefore, CrashAfter, Refused, LostReply, NotSent, LateLanding]
            }
            Site::Check => &[CrashBefore, CrashAfter, Refused],
            Site::Fence | Site::Delete | Site::Drop | Site::Release | Site::Evidence => {
                &[CrashBefore, CrashAfter, Refused, LostReply, NotSent]
            }
            Site::Probe => &[CrashBefore, CannotTell],
        }
    }
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The process dies before the call does anything.
    CrashBefore,
    /// The process dies after the call did everything and before it hears of it.
    CrashAfter,
    /// The call is refused with a transient cause and does nothing.
    Refused,
    /// The call does everything and its reply is lost.
    LostReply,
    /// The call does nothing, ever, and its reply is lost.
    NotSent,
    /// The call's reply is lost and it does everything later, whoever is alive then.
    LateLanding,
    /// Half of the object is written, under its key, and the reply is lost.
    PartialWrite,
    /// Something else stands under the key already.
    Foreign,
    /// The disk is full.
    DiskFull,
    /// The probe cannot be answered.
    CannotTell,
    /// The store does not show what was written a moment ago.
    StaleRead,
    /// The object is gone.
    ObjectVanishes,
    /// Someone writes to the source.
    SourceChanges,
    /// A row that needs a larger grant.
    WideRow,
    /// The append fails and is not there.
    AppendLost,
    /// The append fails for the runner and is there.
    AppendUntold,
    /// The wall clock jumps back.
    ClockBack,
    /// A second runner takes the run over while this one goes on.
    Rival,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 18] = [
        Kind::CrashBefore,
        Kind::CrashAfter,
        Kind::Refused,
        Kind::LostReply,
        Kind::NotSent,
        Kind::LateLanding,
        Kind::PartialWrite,
        Kind::Foreign,
        Kind::DiskFull,
        Kind::CannotTell,
        Kind::StaleRead,
        Kind::ObjectVanishes,
        Kind::SourceChanges,
        Kind::WideRow,
        Kind::AppendLost,
        Kind::AppendUntold,
        Kind::ClockBack,
        Kind::Rival,
    ];
}

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
    /// Whether the source state survives its process.
    pub persistent: bool,
    /// Whether a lost source state stops the attempt.
    pub stop_on_loss: bool,
    /// Whether objects of a failed attempt are kept.
    pub keep_failed: bool,
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
}

impl Plan {
    /// The scenario of a seed. Each seed leaves some kinds of fault out altogether, so that the rest is met in depth.
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let shape = Shape {
            units: 1 + rng.below(4) as u32,
            rows: rng.below(24) as u32,
            chunk_rows: 1 + rng.below(6) as u32,
            readers: 1 + rng.below(3) as u32,
            uploads: 1 + rng.below(3) as u32,
            per_partition: rng.odds(1, 2),
            poisons: rng.odds(1, 3),
            pointer: rng.odds(1, 2),
            append: rng.odds(1, 3),
            persistent: rng.odds(1, 3),
            stop_on_loss: rng.odds(1, 6),
            keep_failed: rng.odds(1, 3),
        };
        let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|_| rng.odds(2, 3)).collect();
        let count = rng.below(9);
        let mut faults: Vec<Fault> = Vec::new();
        for _ in 0..count {
            let Some(&site) = rng.pick(&Site::ALL) else { continue };
            let possible: Vec<Kind> = site.kinds().iter().copied().filter(|k| kinds.contains(k)).collect();
            let Some(&kind) = rng.pick(&possible) else { continue };
            let reach = if site == Site::Append { 40 } else { 8 };
            let nth = 1 + rng.below(reach) as u32;
            if !faults.iter().any(|f| f.site == site && f.nth == nth) {
                faults.push(Fault { site, nth, kind });
            }
        }
        faults.sort_unstable();
        Self { seed, shape, faults }
    }
}
