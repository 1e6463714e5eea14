//! The sealed document's parts.

use schemars::JsonSchema;
use serde::Serialize;

use super::log::{Announced, AttemptView, Incident, Mark};
use super::quality::QualityView;
use super::ranges::RangeEvidence;
use crate::codes::FailureClass;
use crate::manifest::{Consistency, SinkType, SourceType, StagingTopology, Strategy};
use crate::plan::{Concurrency, Coverage, Finding};
use crate::report::policy::PolicyView;

/// The schema id of the sealed document.
pub const SCHEMA: &str = "dpone.native_transfer.columnar_range_parallelism.v1";

/// How the run stands when the document is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SealedOutcome {
    /// The target holds the run's rows, once.
    Delivered,
    /// The attempt failed and the target is as it was.
    Failed,
    /// It is not known whether the publication happened.
    Unknown,
}

/// What a run proves. Cleanup is pending in it; see the cleanup document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// `dpone.native_transfer.columnar_range_parallelism.v1`.
    pub schema: &'static str,
    /// The run.
    pub run_id: String,
    /// The manifest's name.
    pub manifest: String,
    /// The attempt that the ranges, the failure and the quality below are of.
    pub attempt: u32,
    /// The state it is in.
    pub state: &'static str,
    /// How the run stands.
    pub outcome: SealedOutcome,
    /// The last fact that the document rests on.
    pub sealed: Option<Mark>,
    /// SHA-256 of the normalized range policy.
    pub policy_fingerprint: String,
    /// SHA-256 of the plan.
    pub plan_fingerprint: String,
    /// The normalized range policy.
    pub policy: PolicyView,
    /// Where rows came from.
    pub source: SourceEvidence,
    /// Where rows went.
    pub target: TargetEvidence,
    /// Where ranges were staged.
    pub staging_topology: StagingTopology,
    /// The column that ranges cut; null with one range.
    pub range_column: Option<String>,
    /// The family of the boundaries' values; null with one range.
    pub boundary_family: Option<&'static str>,
    /// Every planned range.
    pub ranges: Vec<RangeEvidence>,
    /// How much ran at the same time.
    pub concurrency: ConcurrencyEvidence,
    /// Why ranges were not read in parallel under mode `auto`.
    pub fallback: Vec<Finding>,
    /// Sums over the ranges.
    pub totals: Totals,
    /// The most that was held at one time.
    pub high_water: HighWater,
    /// The proof that the ranges hold every row, or its waiver.
    pub coverage: CoverageEvidence,
    /// What the gates and the comparison with the source said.
    pub quality: QualityView,
    /// Every attempt.
    pub attempts: Vec<AttemptView>,
    /// How many runners worked on the run.
    pub runners: u32,
    /// What did not go as intended in any attempt, in the journal's order.
    pub incidents: Vec<Incident>,
    /// Why the attempt failed, or why its outcome is not known.
    pub failure: Option<FailureEvidence>,
    /// The publication.
    pub publication: PublicationEvidence,
    /// The cleanup.
    pub cleanup: PendingCleanup,
    /// What this document does not prove.
    #[serde(rename = "UNVERIFIED")]
    pub unverified: Vec<String>,
}

/// Where rows came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceEvidence {
    /// The source's type.
    #[serde(rename = "type")]
    pub kind: SourceType,
    /// What made all readers see one state.
    pub consistency: Consistency,
    /// The identity of that state; null if none was opened.
    pub authority: Option<String>,
    /// Whether that state outlives the process; null if none was opened.
    pub authority_persistent: Option<bool>,
    /// Whether it was lost before every range was read from it.
    pub authority_lost: bool,
}

/// Where rows went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TargetEvidence {
    /// The sink's type.
    #[serde(rename = "type")]
    pub kind: SinkType,
    /// The target as rivals must agree on it.
    pub target: String,
    /// What the publication does to it.
    pub strategy: Strategy,
    /// The identity of its content when the run was planned; empty if there was none.
    pub base: String,
}

/// How much ran at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConcurrencyEvidence {
    /// What the manifest asks for.
    pub requested: Concurrency,
    /// What the run was to work with.
    pub planned: Concurrency,
    /// The most that the journal shows in flight at one time.
    pub observed_max: Concurrency,
}

/// Sums over the ranges of the present attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// Planned ranges.
    pub ranges: usize,
    /// Ranges read to their end.
    pub ranges_eof: usize,
    /// Ranges confirmed in staging.
    pub ranges_staged: usize,
    /// Rows read.
    pub rows_read: u64,
    /// Rows confirmed in staging.
    pub rows_staged: u64,
    /// Rows published; null if nothing is known to be.
    pub rows_published: Option<u64>,
    /// Bytes of the values as the source gave them.
    pub source_bytes: u64,
    /// Objects.
    pub objects: usize,
    /// Bytes of the objects.
    pub object_bytes: u64,
}

/// The most that was held at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HighWater {
    /// The byte budget.
    pub budget_bytes: u64,
    /// The row budget.
    pub budget_rows: u64,
    /// Most bytes reserved at one time by the runner that wrote this document, every representation counted.
    pub reserved_bytes: u64,
    /// Most rows reserved at one time by that runner.
    pub reserved_rows: u64,
    /// Most bytes of objects announced and not yet settled at one time, measured from the journal.
    pub inflight_object_bytes: u64,
    /// Most rows in them, measured from the journal.
    pub inflight_object_rows: u64,
    /// Most ranges being read at one time, measured from the journal.
    pub inflight_ranges: u32,
}

/// The proof that the ranges together hold every row, or its waiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoverageEvidence {
    /// Against what the ranges were to be counted.
    pub against: Coverage,
    /// Rows counted in the same source state; null if they were not counted.
    pub counted_rows: Option<u64>,
    /// Rows of all ranges.
    pub rows_read: u64,
    /// Whether the two are equal; null if they cannot be compared yet.
    pub complete: Option<bool>,
    /// Why no count was required.
    pub waiver: Option<&'static str>,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailureEvidence {
    /// The class of the primary error.
    pub failure_class: FailureClass,
    /// The first error in the journal's order, which stopped everything.
    pub primary: PrimaryError,
    /// Other errors of the attempt, in the journal's order.
    pub attached: Vec<Incident>,
    /// What was given up because of it.
    pub cancelled: Vec<Incident>,
}

/// The error that stopped an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrimaryError {
    /// Where the attempt was stopped; null if the outcome is not known.
    pub halted: Option<Mark>,
    /// The stable code.
    pub code: String,
    /// One sentence.
    pub detail: String,
    /// The range it came from.
    pub range: Option<u32>,
}

/// The barrier before the publication, and its receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PublicationEvidence {
    /// What readers of the target can see during it.
    pub atomicity: String,
    /// Where each condition of the publication was met in the present attempt.
    pub barrier: Barrier,
    /// Every publication that was announced; at most one is confirmed.
    pub announced: Vec<Announced>,
    /// The receipt; null unless the publication is confirmed.
    pub receipt: Option<PublicationReceipt>,
}

/// The barrier: each is null if it was not reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Barrier {
    /// Every range was read to its end, and coverage holds or is waived.
    #[serde(rename = "RangeEOF")]
    pub range_eof: Option<Mark>,
    /// Every object was verified in the store.
    #[serde(rename = "StageComplete")]
    pub stage_complete: Option<Mark>,
    /// Every range is confirmed in staging.
    #[serde(rename = "LoadConfirmed")]
    pub load_confirmed: Option<Mark>,
    /// Every gate passed.
    #[serde(rename = "QualityPassed")]
    pub quality_passed: Option<Mark>,
}

/// The identity of what was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PublicationReceipt {
    /// The target's identity of it.
    pub identity: String,
    /// Its rows.
    pub rows: u64,
    /// Where it was confirmed.
    pub confirmed: Option<Mark>,
}

/// The cleanup, not done yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PendingCleanup {
    /// `pending`: its outcome is in the cleanup document.
    pub status: &'static str,
    /// Objects that are the run's to remove.
    pub objects: usize,
    /// Staging places and loads that are the run's to remove.
    pub staging: usize,
    /// Names that the manifest says to keep.
    pub kept: usize,
}
