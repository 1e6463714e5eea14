//! From a manifest and what preflight found to a plan, or to every reason why there is none.
//!
//! Invariant: a plan is a pure function of the manifest, the facts and the context. Nothing in it is lowered, widened or
//! left out without an entry in `fallback` or `warnings`.

mod blocked;
mod budget;
mod build;
mod columns;
mod differences;
pub mod facts;
mod fingerprint;
mod impact;
mod policy;
mod record;
mod shape;

use serde::{Deserialize, Serialize};

pub use blocked::{Blocked, Finding};
pub use budget::BudgetPlan;
pub use build::build;
pub use facts::{RelationKind, SourceFacts, TargetFacts};
pub use policy::default_policy;

use crate::manifest::{Manifest, Notice};
use crate::ranges::UnitRange;
use crate::run::facts::{LoadIsolation, PublicationKind, StagingFate, Topology};
use crate::schema::{Column, Schema};

/// What the caller knows besides the two sides.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The journal's secret key: public fingerprints commit to boundaries and query text under it.
    pub journal_key: [u8; 32],
    /// The run of this journal that published the target's present content, if one did.
    pub base_owner: Option<String>,
    /// Whether a run of this journal published the target's former content. Only then may this run remove it.
    pub owns_former: bool,
    /// The manifest's file, as the operator named it.
    pub manifest_file: Option<String>,
    /// The manifest's settings without effect.
    pub notices: Vec<Notice>,
}

/// How many of each kind of work run at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Concurrency {
    /// Ranges read at the same time.
    pub readers: u32,
    /// Objects written at the same time.
    pub uploads: u32,
    /// Ranges loaded into staging at the same time.
    pub loads: u32,
}

/// Against what the rows of all ranges together are counted in the same source state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Against every row of the relation: a row that no range holds stops the run.
    Relation,
    /// Not counted: the manifest allows gaps, and rows in them are left out. Recorded as a waiver.
    Ranges,
    /// Not counted: the operator states that the source does not change. Recorded as a waiver.
    Waived,
    /// Not counted: one statement read everything, and no other one sees the same state. Recorded as a waiver.
    Statement,
}

/// The target, as preflight found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedTarget {
    /// The target as the operator knows it and as rivals must agree on it.
    pub target: String,
    /// Whether it exists.
    pub exists: bool,
    /// The identity of its present content, empty if there is none.
    pub base: String,
    /// The run of this journal that published it.
    pub base_owner: Option<String>,
    /// The former content that is removed after the publication.
    #[serde(default)]
    pub superseded: Option<String>,
    /// The statements that would create it.
    pub ddl: Vec<String>,
    /// What each column becomes there, by schema order.
    pub column_types: Vec<String>,
    /// How it publishes.
    pub publication: PublicationKind,
    /// What a doubtful load leaves behind.
    pub load_isolation: LoadIsolation,
    /// What becomes of staging after the publication.
    pub staging_fate: StagingFate,
    /// What readers of the target can see during a publication.
    pub atomicity: String,
}

/// A run's plan: everything that is fixed before its first source row is read.
///
/// Invariants: `ranges` is not empty and its ordinals are `0..n`; every count in `concurrency` is at least 1; with
/// shared staging one range is loaded at a time. It holds source values (boundaries, the manifest's query) and belongs
/// to the operator's journal; what is published comes from [`report`](crate::report).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this form; see [`VERSION`].
    pub version: u32,
    /// SHA-256, in hex, over everything that determines what is delivered and how; stable for equal inputs.
    pub fingerprint: String,
    /// SHA-256, in hex, over the normalized range policy.
    pub policy_fingerprint: String,
    /// The manifest's file, as the operator named it, for the commands that an operator is told to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_file: Option<String>,
    /// The resolved manifest.
    pub manifest: Manifest,
    /// The columns to deliver, in order.
    pub schema: Schema,
    /// What kind of thing is read.
    pub relation: RelationKind,
    /// Rows of the source as preflight counted or estimated them.
    pub source_rows: Option<u64>,
    /// The range column; `None` if the source is read as one range.
    pub key: Option<Column>,
    /// Whether a range of that column can be sought through an index.
    pub key_indexed: bool,
    /// The units of the run.
    pub ranges: Vec<UnitRange>,
    /// What the manifest asks for.
    pub requested: Concurrency,
    /// What the run works with.
    pub concurrency: Concurrency,
    /// The byte and row budget.
    pub budget: BudgetPlan,
    /// Where units are loaded.
    pub topology: Topology,
    /// What the ranges are counted against.
    pub coverage: Coverage,
    /// The target.
    pub target: PlannedTarget,
    /// Why ranges are not read in parallel although the manifest's mode `auto` would.
    pub fallback: Vec<Finding>,
    /// What an operator should know of and that stops nothing.
    pub warnings: Vec<Finding>,
}

/// The version of [`Plan`]'s form that this build writes and reads.
pub const VERSION: u32 = 1;
