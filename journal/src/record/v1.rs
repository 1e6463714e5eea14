//! Version 1 of every record: the shapes that stand in journals for good. They are copies of the engine's facts on
//! purpose: the engine may change its types, these may not change any more.

use wincode::{SchemaRead, SchemaWrite};

/// `Planned`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Planned {
    pub(crate) run: String,
    pub(crate) manifest: String,
    pub(crate) fingerprint: String,
    pub(crate) units: u32,
    pub(crate) topology: u8,
    pub(crate) load_isolation: u8,
    pub(crate) publication: u8,
    pub(crate) staging_fate: u8,
    pub(crate) coverage_required: bool,
    pub(crate) fidelity: u8,
    pub(crate) base_identity: String,
    pub(crate) base_owner: Option<String>,
    pub(crate) target: String,
    pub(crate) objects_after_success: u8,
    pub(crate) objects_after_failure: u8,
    pub(crate) document: String,
}

/// `AttemptStarted`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct AttemptStarted {
    pub(crate) attempt: u32,
    pub(crate) adopted: Vec<u32>,
}

/// `TakenOver`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct TakenOver {
    pub(crate) epoch: u64,
}

/// `Intended`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Intended {
    pub(crate) key: u32,
    pub(crate) effect: Effect,
}

/// An announced effect.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) enum Effect {
    Claim { epoch: u64 },
    Open,
    Count,
    Read { unit: u32, try_no: u32 },
    Put { read: u32, unit: u32, chunk: u32, object: String, rows: u64, bytes: u64, sha256: [u8; 32] },
    Verify,
    Stage { staging: String, unit: Option<u32> },
    Load { unit: u32, staging: String, load: String },
    Check,
    Publish { publication: String },
    Fence { publish: u32, fence: String },
    Evidence { document: u8 },
    Drop { kind: u8, name: String },
    Release { epoch: u64 },
}

/// `Confirmed`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Confirmed {
    pub(crate) key: u32,
    pub(crate) receipt: Receipt,
}

/// What an effect earned.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) enum Receipt {
    Claimed,
    Opened { authority: String, persistent: bool },
    Counted { rows: u64 },
    Read { chunks: u32, source_bytes: u64, profile: Profile },
    Put { checked_by: String },
    Verified,
    Staged,
    Loaded { rows: u64 },
    Checked { gates: Vec<Gate>, units: Vec<Profile> },
    Published { identity: String, rows: u64 },
    Fenced,
    Written { sha256: String, path: String },
    Dropped,
    Released,
}

/// One gate's result.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Gate {
    pub(crate) gate: String,
    pub(crate) failed: Option<Why>,
}

/// The profile of a unit's rows. The checksum is two halves, the high one first.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Profile {
    pub(crate) rows: u64,
    pub(crate) checksum_high: u64,
    pub(crate) checksum_low: u64,
    pub(crate) columns: Vec<Column>,
}

/// One column of a profile.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Column {
    pub(crate) nulls: u64,
    pub(crate) min: Option<Value>,
    pub(crate) max: Option<Value>,
}

/// A value. 128-bit integers are 16 bytes, little-endian two's complement.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) enum Value {
    Bool(bool),
    Int([u8; 16]),
    Decimal { unscaled: [u8; 16], scale: u8 },
    Float(i64),
    Date(i32),
    Ticks { ticks: [u8; 16], digits: u8 },
    Text(String),
    Bytes(Vec<u8>),
    Uuid([u8; 16]),
}

/// A cause.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Why {
    pub(crate) code: String,
    pub(crate) detail: String,
    pub(crate) transient: bool,
}

/// `NotDone`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct NotDone {
    pub(crate) key: u32,
    pub(crate) why: Why,
    pub(crate) not_before: u64,
}

/// `Doubted`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Doubted {
    pub(crate) key: u32,
    pub(crate) why: Why,
}

/// `Probed`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Probed {
    pub(crate) key: u32,
    pub(crate) seen: u8,
    pub(crate) not_before: u64,
}

/// `Poisoned`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Poisoned {
    pub(crate) key: u32,
}

/// `Moved`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Moved {
    pub(crate) to: u8,
}

/// `Halted`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Halted {
    pub(crate) why: Why,
    pub(crate) key: Option<u32>,
}

/// `Deferred`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Deferred {
    pub(crate) name: String,
    pub(crate) not_before: u64,
}

/// `Closed`.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Closed {
    pub(crate) reserved: u8,
}
