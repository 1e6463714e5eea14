//! The manifest: what a user writes, checked in full and resolved into what a run works from.
//!
//! Pure: text in, [`Manifest`] or every [`Refusal`] out. Nothing is defaulted that is not documented on its type,
//! and no setting that this build cannot honour is ignored without a [`Notice`].

mod canonical;
mod connection;
mod logical;
mod quality;
mod ranges;
mod runtime;
mod sink;
mod source;
mod text_enum;

use serde::{Deserialize, Serialize};

pub use connection::{Connection, ConnectionSettings, ConnectionType, TableRef};
pub use logical::parse_type;
pub use quality::{Fidelity, Quality};
pub use ranges::{
    BoundaryText, BoundaryType, Bounds, BoundsRole, ChunkPolicy, Consistency, ConsistencyAuthority, ExplicitRange,
    GapPolicy, NullBucket, OnAuthorityLost, RangeCount, RangeMode, RangePolicy, ScanMode, StagingTopology,
};
pub use runtime::{
    Encryption, EncryptionMode, FailedPolicy, FileCleanup, Multipart, ObjectCleanup, Runtime, Storage, StorageProfile,
    StoreType, TempPolicy, TransferStore,
};
pub use sink::{Sink, SinkType, Strategy, StrategyMode};
pub use source::{Relation, Source, SourceType};

/// A manifest, checked and with every default filled in.
///
/// Invariants: those of its parts; it holds no credential. Its [`canonical form`](Manifest::canonical_json) is what
/// a run's journal keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name of the pipeline, `[a-z0-9_-]{1,64}`.
    pub name: String,
    /// Where rows come from.
    pub source: Source,
    /// How the source is cut into ranges, and how many are in flight.
    pub ranges: RangePolicy,
    /// When chunks are sealed.
    pub chunks: ChunkPolicy,
    /// Where rows go.
    pub sink: Sink,
    /// What staging must show before publication.
    pub quality: Quality,
    /// Where the run keeps what it needs.
    pub runtime: Runtime,
}
