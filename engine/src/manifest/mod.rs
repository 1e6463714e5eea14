//! The manifest: what a user writes, checked in full and resolved into what a run works from.
//!
//! Pure: text in, [`Manifest`] or every [`Refusal`] out. Nothing is defaulted that is not documented on its type,
//! and no setting that this build cannot honour is ignored without a [`Notice`].

mod canonical;
mod check;
mod connection;
mod differences;
mod document;
mod logical;
mod node;
mod problems;
mod quality;
mod ranges;
mod resolve;
mod rules;
mod runtime;
mod secrets;
mod shape;
mod sink;
mod size;
mod snippet;
mod source;
mod support;
mod text_enum;

use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::refusal::Refusal;

pub use connection::{Connection, ConnectionSettings, ConnectionType, TableRef};
pub use logical::parse_type;
pub use problems::{Notice, located};
pub use quality::{Fidelity, Quality};
pub use ranges::{
    BoundaryText, BoundaryType, Bounds, BoundsRole, ChunkPolicy, Consistency, ConsistencyAuthority, ExplicitRange,
    GapPolicy, NullBucket, OnAuthorityLost, PlannerMode, PlannerPolicy, RangeCount, RangeMode, RangePolicy, ScanMode,
    SkewPolicy, StagingTopology,
};
pub use runtime::{
    DEFAULT_JOURNAL, Encryption, EncryptionMode, FailedPolicy, FileCleanup, Multipart, ObjectCleanup, Runtime, Storage,
    StorageProfile, StoreType, TempPolicy, TransferStore,
};
pub use shape::json_schema;
pub use sink::{Sink, SinkType, Strategy, StrategyMode};
pub use source::{Relation, Source, SourceType, TextForm};
pub use support::Support;

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

/// Greatest size of a manifest: 1 MiB.
pub const MAX_MANIFEST_BYTES: usize = 1 << 20;

/// A checked manifest with the settings that have no effect on its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The manifest.
    pub manifest: Manifest,
    /// What is written in it without effect, in the order of the rules; the plan shows these.
    pub notices: Vec<Notice>,
}

/// Reads and checks a manifest. `display_name` is what messages call the file.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text, at most 50 entries; never empty.
pub fn parse(text: &str, display_name: &str) -> Result<Manifest, Vec<Refusal>> {
    parse_with_notices(text, display_name).map(|parsed| parsed.manifest)
}

/// Like [`parse`], with the settings that have no effect.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_notices(text: &str, display_name: &str) -> Result<Parsed, Vec<Refusal>> {
    // Not cut like other foreign text: it has to be found again.
    let name: String = display_name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    // Places are counted from after a byte-order mark, as the YAML reader does.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut problems = problems::Problems::new(text, &name);
    if text.len() > MAX_MANIFEST_BYTES {
        problems.at("", None, Code::ManifestInvalidValue, "the manifest is larger than 1 MiB", "Shorten it.");
        return Err(problems.into_refusals());
    }
    let root = match node::read(text) {
        Ok(root) => root,
        Err(error) => {
            let schema = json_schema();
            if let Some(place) = &error.place {
                problems.show_keys(place.line, |name| shape::has_key(&schema, name));
            }
            let fix = "Correct the YAML at this place; indent with spaces, and quote text that holds `: ` or ` #`.";
            problems.at("", error.place, Code::ManifestSyntax, error.message, fix);
            return Err(problems.into_refusals());
        }
    };
    problems.set_root(&root);
    rules::apply(&root, &mut problems);
    let schema = json_schema();
    let checked = check::Checker { schema: &schema, problems: &mut problems, incomplete: false }.manifest(&root);
    let manifest = checked.and_then(|json| match serde_json::from_value(json) {
        Ok(document) => resolve::resolve(document, &mut problems),
        // The schema is generated from the types, so what it lets through they read.
        Err(_) => None,
    });
    match manifest {
        Some(manifest) if problems.len() == 0 => Ok(Parsed { manifest, notices: problems.take_notices() }),
        _ if problems.len() > 0 => Err(problems.into_refusals()),
        _ => Err(vec![
            Refusal::new(Code::InternalError, "the manifest passed its checks and cannot be read").at(name.as_str()),
        ]),
    }
}
