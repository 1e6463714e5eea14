//! Where something can go wrong, and what.

use serde::{Deserialize, Serialize};

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
            Site::Append => {
                &[CrashBefore, CrashAfter, Pause, Stop, Abandon, AppendLost, AppendUntold, ClockBack, Rival]
            }
            Site::Open => &[CrashBefore, Pause, Stop, Refused, Denied, SourceChanges],
            Site::Count => &[CrashBefore, Pause, Stop, Refused, SourceChanges, StateGone],
            Site::Read => &[CrashBefore, Pause, Stop, Refused, SourceChanges, StateGone, WideRow, GiantRow, RowMissed],
            Site::Put => &[
                CrashBefore,
                CrashAfter,
                Pause,
                Stop,
                Refused,
                LostReply,
                NotSent,
                LateLanding,
                PartialWrite,
                Foreign,
                DiskFull,
            ],
            Site::Head => &[CrashBefore, CannotTell, StaleRead],
            Site::Get => &[CrashBefore, Refused, ObjectVanishes],
            Site::Claim => {
                &[CrashBefore, CrashAfter, Pause, Stop, Refused, Denied, LostReply, NotSent, LateLanding, ForeignClaim]
            }
            Site::Stage => {
                &[CrashBefore, CrashAfter, Pause, Stop, Refused, Denied, LostReply, NotSent, LateLanding, Foreign]
            }
            Site::Load => &[
                CrashBefore,
                CrashAfter,
                Pause,
                Stop,
                Refused,
                LostReply,
                NotSent,
                LateLanding,
                PartialWrite,
                DiskFull,
                RowMissed,
                Corrupt,
            ],
            Site::Check => &[CrashBefore, CrashAfter, Pause, Stop, Refused, GateFails, ForeignPublish],
            Site::Publish => &[
                CrashBefore,
                CrashAfter,
                Pause,
                Stop,
                Refused,
                Denied,
                LostReply,
                NotSent,
                LateLanding,
                Foreign,
                ForeignPublish,
            ],
            Site::Fence => &[CrashBefore, CrashAfter, Pause, Stop, Refused, LostReply, NotSent, LateLanding],
            Site::Probe => &[CrashBefore, CannotTell, StaleRead, StateGone, ForeignClaim, ForeignPublish],
            Site::Delete => &[CrashBefore, CrashAfter, Pause, Stop, Refused, LostReply, NotSent, LateLanding],
            Site::Drop | Site::Release => {
                &[CrashBefore, CrashAfter, Pause, Stop, Refused, Denied, LostReply, NotSent, LateLanding]
            }
            Site::Evidence => {
                &[CrashBefore, CrashAfter, Pause, Stop, Refused, LostReply, NotSent, LateLanding, DiskFull]
            }
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
    /// The process freezes before the call does anything; another takes over, and much later it goes on.
    Pause,
    /// The process is asked to stop while the call is under way.
    Stop,
    /// The call is refused with a transient cause and does nothing.
    Refused,
    /// The call is refused for good and does nothing.
    Denied,
    /// The call does everything and its reply is lost.
    LostReply,
    /// The call does nothing, ever, and its reply is lost.
    NotSent,
    /// The call's reply is lost and it does everything later, whoever is alive then.
    LateLanding,
    /// Half of it is written and the reply is lost.
    PartialWrite,
    /// Something else stands under the name already.
    Foreign,
    /// Another run takes the target's claim, if it is free, and gives it back later.
    ForeignClaim,
    /// Something else changes the target's content.
    ForeignPublish,
    /// The disk is full.
    DiskFull,
    /// The probe cannot be answered.
    CannotTell,
    /// The answer is that of a moment ago.
    StaleRead,
    /// The object is gone.
    ObjectVanishes,
    /// The source state that should have survived its process is gone.
    StateGone,
    /// Someone writes to the source.
    SourceChanges,
    /// A row that needs a larger grant.
    WideRow,
    /// A row that is larger than the whole budget.
    GiantRow,
    /// A row is left out and nobody is told.
    RowMissed,
    /// The target changes a value and counts right.
    Corrupt,
    /// A gate of the manifest fails.
    GateFails,
    /// The append fails and is not there.
    AppendLost,
    /// The append fails for the runner and is there.
    AppendUntold,
    /// The wall clock jumps back.
    ClockBack,
    /// A second runner takes the run over while this one goes on.
    Rival,
    /// The process is asked to stop, and whoever takes the run over from then on gives it up.
    Abandon,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 29] = [
        Kind::CrashBefore,
        Kind::CrashAfter,
        Kind::Pause,
        Kind::Stop,
        Kind::Refused,
        Kind::Denied,
        Kind::LostReply,
        Kind::NotSent,
        Kind::LateLanding,
        Kind::PartialWrite,
        Kind::Foreign,
        Kind::ForeignClaim,
        Kind::ForeignPublish,
        Kind::DiskFull,
        Kind::CannotTell,
        Kind::StaleRead,
        Kind::ObjectVanishes,
        Kind::StateGone,
        Kind::SourceChanges,
        Kind::WideRow,
        Kind::GiantRow,
        Kind::RowMissed,
        Kind::Corrupt,
        Kind::GateFails,
        Kind::AppendLost,
        Kind::AppendUntold,
        Kind::ClockBack,
        Kind::Rival,
        Kind::Abandon,
    ];
}
