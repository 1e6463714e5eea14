//! What a plan is, in 32 bytes. Low-entropy parts that could be guessed (boundaries, query text) take part through a
//! keyed digest, so that the public fingerprint gives none of them away.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{BudgetPlan, Concurrency, Coverage, Plan, VERSION};
use crate::codes::Code;
use crate::manifest::{
    BoundaryText, BoundaryType, Bounds, BoundsRole, ChunkPolicy, Connection, Consistency, ConsistencyAuthority,
    GapPolicy, NullBucket, PlannerPolicy, Quality, RangeCount, RangeMode, RangePolicy, Relation, ScanMode, SourceType,
    StagingTopology, Strategy, TextForm,
};
use crate::ranges::{Scope, UnitRange, boundary_digest};
use crate::refusal::Refusal;
use crate::run::facts::PublicationKind;
use crate::schema::Schema;

#[derive(Serialize)]
struct PlanForm<'a> {
    version: u32,
    source: SourceType,
    connection: &'a Connection,
    relation: String,
    schema: &'a Schema,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    text_forms: &'a BTreeMap<String, TextForm>,
    key: Option<&'a str>,
    policy: &'a str,
    consistency: Consistency,
    authority: &'a ConsistencyAuthority,
    topology: StagingTopology,
    coverage: Coverage,
    ranges: Vec<RangeForm>,
    concurrency: Concurrency,
    budget: BudgetPlan,
    chunks: &'a ChunkPolicy,
    strategy: &'a Strategy,
    quality: &'a Quality,
    target: &'a str,
    column_types: &'a [String],
    publication: PublicationKind,
}

#[derive(Serialize)]
struct RangeForm {
    ordinal: u32,
    kind: &'static str,
    lower: Option<String>,
    upper: Option<String>,
}

#[derive(Serialize)]
struct PolicyForm<'a> {
    version: u32,
    mode: RangeMode,
    column: Option<&'a str>,
    count: RangeCount,
    bounds: Vec<[Option<String>; 2]>,
    inclusive: Vec<[bool; 2]>,
    null: bool,
    bounds_role: BoundsRole,
    boundary_type: BoundaryType,
    null_bucket: NullBucket,
    gap_policy: GapPolicy,
    #[serde(skip_serializing_if = "Option::is_none")]
    planner: Option<PlannerPolicy>,
    scan: ScanMode,
    require_index: bool,
    workers: [u32; 4],
    inflight: [u64; 2],
    consistency: Consistency,
    topology: StagingTopology,
    group_key: &'a [String],
}

/// The fingerprint of everything that determines what is delivered.
pub(super) fn plan(plan: &Plan, key: &[u8; 32]) -> Result<String, Refusal> {
    let manifest = &plan.manifest;
    hash(&PlanForm {
        version: VERSION,
        source: manifest.source.kind,
        connection: &manifest.source.connection,
        relation: relation(&manifest.source.relation, key)?,
        schema: &plan.schema,
        text_forms: &manifest.source.text_forms,
        key: plan.key.as_ref().map(|c| c.name.as_str()),
        policy: &plan.policy_fingerprint,
        consistency: manifest.ranges.consistency,
        authority: &manifest.ranges.consistency_authority,
        topology: plan.topology,
        coverage: plan.coverage,
        ranges: plan.ranges.iter().map(|range| range_form(range, key)).collect(),
        concurrency: plan.concurrency,
        budget: plan.budget,
        chunks: &manifest.chunks,
        strategy: &manifest.sink.strategy,
        quality: &manifest.quality,
        target: &plan.target.target,
        column_types: &plan.target.column_types,
        publication: plan.target.publication,
    })
}

/// The fingerprint of the normalized range policy.
pub(super) fn policy(policy: &RangePolicy, key: &[u8; 32]) -> Result<String, Refusal> {
    let digest = |text: &BoundaryText| keyed(key, "stated bound", &text.0);
    let (bounds, inclusive, null) = match &policy.bounds {
        Bounds::Auto => (Vec::new(), Vec::new(), false),
        Bounds::Between { lower, upper } => (vec![[Some(digest(lower)), Some(digest(upper))]], Vec::new(), false),
        Bounds::Explicit { ranges, null } => (
            ranges.iter().map(|r| [r.lower.as_ref().map(digest), r.upper.as_ref().map(digest)]).collect(),
            ranges.iter().map(|r| [r.include_lower, r.include_upper]).collect(),
            *null,
        ),
    };
    hash(&PolicyForm {
        version: VERSION,
        mode: policy.mode,
        column: policy.column.as_deref(),
        count: policy.count,
        bounds,
        inclusive,
        null,
        bounds_role: policy.bounds_role,
        boundary_type: policy.boundary_type,
        null_bucket: policy.null_bucket,
        gap_policy: policy.gap_policy,
        planner: (!policy.planner.is_default()).then_some(policy.planner),
        scan: policy.scan,
        require_index: policy.require_index,
        workers: [policy.reader_workers, policy.upload_workers, policy.load_workers, policy.max_inflight_ranges],
        inflight: [policy.max_inflight_rows, policy.max_inflight_bytes],
        consistency: policy.consistency,
        topology: policy.staging_topology,
        group_key: &policy.group_key,
    })
}

fn range_form(range: &UnitRange, key: &[u8; 32]) -> RangeForm {
    let (kind, lower, upper) = match &range.scope {
        Scope::WholeTable => ("whole_table", None, None),
        Scope::Null => ("null", None, None),
        Scope::Interval { lower, upper } => {
            ("interval", Some(boundary_digest(key, lower)), Some(boundary_digest(key, upper)))
        }
    };
    RangeForm { ordinal: range.ordinal, kind, lower, upper }
}

fn relation(relation: &Relation, key: &[u8; 32]) -> Result<String, Refusal> {
    match relation {
        Relation::Table(table) => serde_json::to_string(table).map_err(|_| formless()),
        Relation::Query(sql) => Ok(keyed(key, "query", sql)),
    }
}

/// 128 bits of a keyed BLAKE3 over a text and what it is, in hex.
fn keyed(key: &[u8; 32], what: &str, text: &str) -> String {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(what.as_bytes()).update(&[0]).update(text.as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

fn hash(form: &impl Serialize) -> Result<String, Refusal> {
    // Struct fields are written in the order of their declaration, so equal forms give equal bytes.
    let bytes = serde_json::to_vec(form).map_err(|_| formless())?;
    Ok(crate::hex::encode(&Sha256::digest(&bytes)))
}

fn formless() -> Refusal {
    Refusal::new(Code::InternalError, "the plan has no canonical form")
}
