//! Everything a run does to the world outside its journal, each with the names it owns and the receipt it earns.

use serde::{Deserialize, Serialize};

use super::facts::{Key, UnitId, Why};
use crate::profile::UnitProfile;

/// A name that the run owns: drawn with a nonce when it is journalled, never computed again, never shared by tries.
pub type Name = String;

/// What an object holds, known before it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChunkFacts {
    /// Rows in the object.
    pub rows: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
}

/// Which of the two evidence documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Document {
    /// Seals what was done; cleanup is pending.
    Sealed,
    /// Bound to the sealed document's hash; records the cleanup.
    Cleanup,
}

/// What kind of thing an owned name denotes, and so who removes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnedKind {
    /// An object in the transfer store.
    Object,
    /// A staging place in the sink.
    Staging,
    /// What one try of a load wrote into staging.
    Load,
    /// A former content of the target, published by an earlier run of this journal.
    Superseded,
}

/// An effect: announced in the journal before it is attempted, settled there afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "effect")]
#[expect(missing_docs, reason = "the fields are named in the sentence above them")]
pub enum Effect {
    /// Take the target's claim for this run and epoch.
    Claim { epoch: u64 },
    /// Open every reader session on one state of the source.
    Open,
    /// Count the source's rows in that state.
    Count,
    /// Read one unit to its end. Its objects are effects of their own.
    Read { unit: UnitId, try_no: u32 },
    /// Write one chunk of a unit as one object.
    Put { read: Key, unit: UnitId, chunk: u32, object: Name, facts: ChunkFacts },
    /// Verify in the store every object that the units consist of.
    Verify,
    /// Create a staging place; for one unit in `per_partition`.
    Stage { staging: Name, unit: Option<UnitId> },
    /// Load a unit's objects into staging.
    Load { unit: UnitId, staging: Name, load: Name },
    /// Run every gate on staging and profile what it holds.
    Check,
    /// Make staging the target's content, once.
    Publish { publication: Name },
    /// Make an announced publication unexecutable unless it has already happened.
    Fence { publish: Key, fence: Name },
    /// Write an evidence document.
    Evidence { document: Document },
    /// Remove something the run owns.
    Drop { kind: OwnedKind, name: Name },
    /// Give the target's claim back.
    Release { epoch: u64 },
}

/// The kind of an [`Effect`], for tables and coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is documented at the Effect of the same name")]
pub enum EffectKind {
    Claim,
    Open,
    Count,
    Read,
    Put,
    Verify,
    Stage,
    Load,
    Check,
    Publish,
    Fence,
    Evidence,
    Drop,
    Release,
}

impl EffectKind {
    /// Every kind.
    pub const ALL: [EffectKind; 14] = [
        EffectKind::Claim,
        EffectKind::Open,
        EffectKind::Count,
        EffectKind::Read,
        EffectKind::Put,
        EffectKind::Verify,
        EffectKind::Stage,
        EffectKind::Load,
        EffectKind::Check,
        EffectKind::Publish,
        EffectKind::Fence,
        EffectKind::Evidence,
        EffectKind::Drop,
        EffectKind::Release,
    ];
}

impl Effect {
    /// Its kind.
    pub const fn kind(&self) -> EffectKind {
        match self {
            Effect::Claim { .. } => EffectKind::Claim,
            Effect::Open => EffectKind::Open,
            Effect::Count => EffectKind::Count,
            Effect::Read { .. } => EffectKind::Read,
            Effect::Put { .. } => EffectKind::Put,
            Effect::Verify => EffectKind::Verify,
            Effect::Stage { .. } => EffectKind::Stage,
            Effect::Load { .. } => EffectKind::Load,
            Effect::Check => EffectKind::Check,
            Effect::Publish { .. } => EffectKind::Publish,
            Effect::Fence { .. } => EffectKind::Fence,
            Effect::Evidence { .. } => EffectKind::Evidence,
            Effect::Drop { .. } => EffectKind::Drop,
            Effect::Release { .. } => EffectKind::Release,
        }
    }

    /// The name that this effect brings into the world, if any.
    pub fn owns(&self) -> Option<(OwnedKind, &Name)> {
        match self {
            Effect::Put { object, .. } => Some((OwnedKind::Object, object)),
            Effect::Stage { staging, .. } => Some((OwnedKind::Staging, staging)),
            Effect::Load { load, .. } => Some((OwnedKind::Load, load)),
            Effect::Claim { .. }
            | Effect::Open
            | Effect::Count
            | Effect::Read { .. }
            | Effect::Verify
            | Effect::Check
            | Effect::Publish { .. }
            | Effect::Fence { .. }
            | Effect::Evidence { .. }
            | Effect::Drop { .. }
            | Effect::Release { .. } => None,
        }
    }
}

/// One gate's result on staging.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GateResult {
    /// The gate as the manifest names it, with its column: `min_rows`, `unique(id)`.
    pub gate: String,
    /// `None` if it passed.
    pub failed: Option<Why>,
}

/// What an effect earned: the facts that later decisions and the evidence rest on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "receipt")]
#[expect(missing_docs, reason = "the fields are named in the sentence above them")]
pub enum Receipt {
    /// The claim is held.
    Claimed,
    /// The source state is open. A `persistent` one survives the process (an immutable source, a named snapshot).
    Opened { authority: String, persistent: bool },
    /// The source's rows in that state.
    Counted { rows: u64 },
    /// A unit was read to its end.
    Read { chunks: u32, source_bytes: u64, profile: UnitProfile },
    /// The object is there, whole. `checked_by` says how that is known (`store_checksum`, `read_back`).
    Put { checked_by: String },
    /// Every object is there, whole.
    Verified,
    /// The staging place is there, empty.
    Staged,
    /// The unit is in staging: `rows` counted on the target's side.
    Loaded { rows: u64 },
    /// Gates ran. `units` holds one profile per unit, or none where the sink cannot compute it.
    Checked { gates: Vec<GateResult>, units: Vec<UnitProfile> },
    /// The target holds the run's rows under that identity.
    Published { identity: String, rows: u64 },
    /// The announced publication can no longer happen, or has happened; a probe now tells which for good.
    Fenced,
    /// The document is written.
    Written { sha256: String, path: String },
    /// The name is gone.
    Dropped,
    /// The claim is given back.
    Released,
}

impl Receipt {
    /// The kind of effect that earns it.
    pub const fn kind(&self) -> EffectKind {
        match self {
            Receipt::Claimed => EffectKind::Claim,
            Receipt::Opened { .. } => EffectKind::Open,
            Receipt::Counted { .. } => EffectKind::Count,
            Receipt::Read { .. } => EffectKind::Read,
            Receipt::Put { .. } => EffectKind::Put,
            Receipt::Verified => EffectKind::Verify,
            Receipt::Staged => EffectKind::Stage,
            Receipt::Loaded { .. } => EffectKind::Load,
            Receipt::Checked { .. } => EffectKind::Check,
            Receipt::Published { .. } => EffectKind::Publish,
            Receipt::Fenced => EffectKind::Fence,
            Receipt::Written { .. } => EffectKind::Evidence,
            Receipt::Dropped => EffectKind::Drop,
            Receipt::Released => EffectKind::Release,
        }
    }
}

/// What a handler answers. There is no bare error: either it is known not to have happened and never will, or it is
/// not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome<T = Receipt> {
    /// It happened.
    Done(T),
    /// It did not happen and will not.
    NotDone(Why),
    /// It may have happened, or may yet.
    Unknown(Why),
}

/// What a probe saw of an effect whose outcome is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// Nothing of it is there.
    Nothing,
    /// Exactly what was intended is there.
    Ours,
    /// Something else stands in its place.
    Foreign,
    /// Publications only: it did not happen, and the target is no longer what it was to replace.
    BaseChanged,
    /// Publications only: it happened, and a later publication has since replaced it.
    Superseded,
    /// The probe itself failed.
    CannotTell,
}

impl Seen {
    /// Every answer.
    pub const ALL: [Seen; 6] =
        [Seen::Nothing, Seen::Ours, Seen::Foreign, Seen::BaseChanged, Seen::Superseded, Seen::CannotTell];
}
