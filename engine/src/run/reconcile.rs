//! What follows from what a probe saw. One row per kind of effect and sight, and no wildcard: a new kind or a new
//! sight does not compile until every row for it is written.

use super::effect::{EffectKind, Seen};
use super::facts::{LoadIsolation, PlanFacts};
use crate::codes::Code;

/// What becomes of an effect in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It happened: record the receipt that the probe brought.
    Confirm,
    /// It did not happen and no longer can, or its name is one that nobody reads: a new try may begin under a new key.
    Retry,
    /// As `Retry`, but the staging place that it was sent to is given up with everything in it.
    Poison,
    /// It cannot go on like this, and the target is untouched.
    Halt(Code),
    /// Still in doubt: look again later, under a bound, then leave it to an operator.
    Stay,
}

/// The table.
///
/// A `Retry` is safe by one of three reasons, which the comments name: *local* (the effect leaves nothing outside the
/// process, or only something idempotent), *named* (what may still land has a name that no one will read), or
/// *fenced* (it can no longer execute).
#[rustfmt::skip]
pub fn reconcile(kind: EffectKind, plan: &PlanFacts, seen: Seen) -> Verdict {
    use EffectKind::*;
    use Verdict::*;
    match (kind, seen) {
        // The claim is compared and set under run and epoch: sending it again is idempotent.
        (Claim, Seen::Ours)        => Confirm,
        (Claim, Seen::Nothing)     => Retry, // local
        (Claim, Seen::Foreign)     => Halt(Code::TargetClaimedElsewhere),
        (Claim, Seen::BaseChanged | Seen::Superseded | Seen::CannotTell) => Stay,

        // A source state is held by a process, or is persistent and can be recognised.
        (Open, Seen::Ours)         => Confirm,
        (Open, Seen::Nothing | Seen::Foreign) => Retry, // local; apply notes a lost authority
        (Open, Seen::BaseChanged | Seen::Superseded | Seen::CannotTell) => Stay,

        // Reads leave nothing behind; a dead read's objects are effects of their own.
        (Count | Read | Verify | Check, Seen::Nothing) => Retry, // local
        (Count | Read | Verify | Check, Seen::Ours | Seen::Foreign | Seen::BaseChanged | Seen::Superseded | Seen::CannotTell) => Retry, // local

        (Put, Seen::Ours)          => Confirm,
        (Put, Seen::Nothing)       => Retry, // named
        (Put, Seen::Foreign)       => Halt(Code::ObjectKeyConflict),
        (Put, Seen::CannotTell)    => Retry, // named
        (Put, Seen::BaseChanged | Seen::Superseded) => Stay,

        (Stage, Seen::Ours)        => Confirm,
        (Stage, Seen::Nothing)     => Retry, // named
        (Stage, Seen::Foreign)     => Halt(Code::StagingNameConflict),
        (Stage, Seen::CannotTell)  => Retry, // named
        (Stage, Seen::BaseChanged | Seen::Superseded) => Stay,

        (Load, Seen::Ours)         => Confirm,
        (Load, Seen::Nothing)      => match plan.load_isolation {
            LoadIsolation::Fenced         => Retry, // fenced or named, as the sink promises
            LoadIsolation::PoisonsStaging => Poison,
        },
        (Load, Seen::Foreign)      => Poison,
        (Load, Seen::CannotTell)   => Stay,
        (Load, Seen::BaseChanged | Seen::Superseded) => Stay,

        // Reached only after the fence (see `decide`), so `Nothing` and `BaseChanged` are final.
        (Publish, Seen::Ours)        => Confirm,
        (Publish, Seen::Superseded)  => Confirm,
        (Publish, Seen::Nothing)     => Retry, // fenced
        (Publish, Seen::BaseChanged) => Retry, // fenced; the next try finds the base changed and is refused
        (Publish, Seen::Foreign)     => Stay,  // a publication that is not ours stands where ours was announced
        (Publish, Seen::CannotTell)  => Stay,

        // A fence is idempotent: it only ever disables.
        (Fence, Seen::Ours)        => Confirm,
        (Fence, Seen::Nothing)     => Retry, // local
        (Fence, Seen::Foreign | Seen::BaseChanged | Seen::Superseded | Seen::CannotTell) => Retry, // local

        // The document's content follows from the log and its name is the run's: writing it again is idempotent.
        (Evidence, Seen::Ours)     => Confirm,
        (Evidence, Seen::Nothing | Seen::Foreign | Seen::BaseChanged | Seen::Superseded | Seen::CannotTell) => Retry, // local

        // A name is never reused, so removing it again cannot hit anything else.
        (Drop, Seen::Nothing)      => Confirm,
        (Drop, Seen::Ours)         => Retry, // named
        (Drop, Seen::Foreign)      => Confirm, // what stands there now is not ours, so ours is gone
        (Drop, Seen::BaseChanged | Seen::Superseded | Seen::CannotTell) => Retry, // named

        // Giving back again is idempotent, and only a release that was executed keeps a late claim of its epoch out.
        (Release, Seen::Nothing | Seen::Ours | Seen::Foreign | Seen::BaseChanged | Seen::Superseded | Seen::CannotTell) => Retry, // local
    }
}
