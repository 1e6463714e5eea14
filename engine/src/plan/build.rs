//! Builds a plan, or collects every blocker.

use super::blocked::{Blocked, Finding};
use super::budget::{BudgetPlan, divide};
use super::facts::{SourceFacts, TargetFacts};
use super::shape::{self, Shape};
use super::{Context, Coverage, Plan, PlannedTarget, VERSION, columns, fingerprint, impact};
use crate::codes::Code;
use crate::manifest::{Bounds, Consistency, GapPolicy, Manifest, RangeMode, RangePolicy, ScanMode, SourceType};
use crate::refusal::Refusal;
use crate::run::facts::Topology;

const PARALLEL: &str = "source.options.partitioning.range_parallelism";

/// The plan of a manifest, given what preflight found.
///
/// # Errors
/// [`Blocked`] with every blocker.
pub fn build(
    manifest: &Manifest,
    source: &SourceFacts,
    target: &TargetFacts,
    context: &Context,
) -> Result<Plan, Box<Blocked>> {
    let mut blockers = Vec::new();
    columns::check(manifest, source, &mut blockers);
    consistency(manifest, &mut blockers);
    let same = source.same_as.is_some() && source.same_as == target.same_as;
    if same || source.as_target.as_ref() == Some(&target.target) {
        blockers.push(
            Refusal::new(Code::OptionConflict, "the sink is the very table that is read")
                .at("sink.table")
                .fix("Publish into another table. A query may read a table that it is published into."),
        );
    }
    let (shape, budget, fallback) = choose(manifest, source, target, &mut blockers);
    let policy = &manifest.ranges;
    let coverage = coverage(policy, &shape);
    let mut warnings = impact::warnings(manifest, source, target, context, shape.ranges.len(), coverage);
    warnings.extend(shape.limited.clone());
    let block = |blockers, warnings| {
        let (manifest, policy) = (Some(manifest.name.clone()), Some(policy.clone()));
        Err(Box::new(Blocked { manifest, policy, blockers, warnings }))
    };
    let Some(budget) = budget.filter(|_| blockers.is_empty()) else {
        return block(blockers, warnings);
    };
    let base_owner = context.base_owner.clone().filter(|owner| target.base_run.as_ref() == Some(owner));
    let mut plan = Plan {
        version: VERSION,
        fingerprint: String::new(),
        policy_fingerprint: String::new(),
        manifest_file: context.manifest_file.clone(),
        manifest: manifest.clone(),
        schema: source.schema.clone(),
        relation: source.relation,
        source_rows: source.key.as_ref().and_then(|key| key.rows),
        key: shape.key,
        key_indexed: source.key_indexed,
        ranges: shape.ranges,
        requested: shape::requested(policy),
        concurrency: shape.concurrency,
        budget,
        topology: shape.topology,
        coverage,
        target: PlannedTarget {
            target: target.target.clone(),
            exists: target.exists,
            base: target.base.clone(),
            base_owner,
            superseded: target.former.as_ref().filter(|_| context.owns_former).map(|former| former.identity.clone()),
            ddl: target.ddl.clone(),
            column_types: target.column_types.clone(),
            publication: target.publication,
            load_isolation: target.load_isolation,
            staging_fate: target.staging_fate,
            atomicity: target.atomicity.to_owned(),
        },
        fallback,
        warnings,
    };
    let prints = fingerprint::policy(policy, &context.journal_key).and_then(|print| {
        plan.policy_fingerprint = print;
        fingerprint::plan(&plan, &context.journal_key)
    });
    match prints {
        Ok(print) => plan.fingerprint = print,
        Err(refusal) => return block(vec![refusal], plan.warnings),
    }
    Ok(plan)
}

/// Parallel ranges if every condition holds; else one range, with the reasons under mode `auto` or as blockers.
fn choose(
    manifest: &Manifest,
    source: &SourceFacts,
    target: &TargetFacts,
    blockers: &mut Vec<Refusal>,
) -> (Shape, Option<BudgetPlan>, Vec<Finding>) {
    let policy = &manifest.ranges;
    let mut fallback = Vec::new();
    if policy.mode == RangeMode::Auto && policy.scan == ScanMode::SingleScanChunks {
        let text = "scan.mode asks for one scan, so the source is read as one range";
        fallback.push(Finding::new("single_scan_chunks", text, None));
    } else if policy.mode != RangeMode::Off {
        match shape::parallel(manifest, source, target) {
            Ok((shape, budget)) => return (shape, Some(budget), fallback),
            Err(reasons) if policy.mode == RangeMode::Auto && may_fall_back(policy, &reasons) => {
                fallback = reasons.iter().map(Finding::from).collect();
            }
            Err(reasons) => blockers.extend(reasons),
        }
    }
    let shape = shape::serial(policy);
    if !blockers.is_empty() {
        return (shape, None, fallback);
    }
    if !target.topologies.contains(&Topology::SharedPerRun) {
        blockers.push(shape::no_topology(Topology::SharedPerRun));
    }
    match divide(manifest, source, target, shape.concurrency.readers) {
        Ok(budget) => (shape, Some(budget), fallback),
        Err(refusal) => {
            blockers.push(refusal);
            (shape, None, fallback)
        }
    }
}

/// Whether one range delivers what the parallel ones would have: the reasons are conditions of parallel reading, not
/// mistakes, and no stated interval decides which rows are read.
fn may_fall_back(policy: &RangePolicy, reasons: &[Refusal]) -> bool {
    let condition = |code| {
        matches!(
            code,
            Code::UnsupportedBoundaryType
                | Code::SourceStatsLowConfidence
                | Code::RangeRequiresIndex
                | Code::GroupIntegrityUnproven
                | Code::WindowFunctionUnproven
                | Code::ConsistencyModeUnsupported
                | Code::StagingTopologyUnsupported
                | Code::BudgetTooSmall
                | Code::ColumnarRangePreReadByteAdmissionUnavailable
        )
    };
    !matches!(policy.bounds, Bounds::Explicit { .. }) && reasons.iter().all(|reason| condition(reason.code))
}

/// What a source can have its readers see one state by.
pub(super) fn consistencies(kind: SourceType) -> &'static [Consistency] {
    match kind {
        SourceType::Sqlite | SourceType::Postgres => &[Consistency::ExportedSnapshot, Consistency::Immutable],
        SourceType::Mssql => &[
            Consistency::Statement,
            Consistency::Immutable,
            Consistency::DatabaseSnapshot,
            Consistency::TemporalAsOf,
            Consistency::WriteExclusion,
        ],
        SourceType::Mysql | SourceType::Odbc | SourceType::Files | SourceType::Mongodb => {
            &[Consistency::Statement, Consistency::Immutable, Consistency::WriteExclusion]
        }
    }
}

/// The authority must be one that the source has. This holds in every mode: a stated point in time or snapshot says
/// which rows are meant.
fn consistency(manifest: &Manifest, blockers: &mut Vec<Refusal>) {
    let modes = consistencies(manifest.source.kind);
    let asked = manifest.ranges.consistency;
    if !modes.contains(&asked) {
        let names: Vec<_> = modes.iter().map(|mode| mode.as_str()).collect();
        blockers.push(
            Refusal::new(
                Code::ConsistencyModeUnsupported,
                format!("a source of type {} has no consistency `{asked}`", manifest.source.kind),
            )
            .at(format!("{PARALLEL}.consistency"))
            .fix(format!("Use one of: {}.", names.join(", "))),
        );
    }
}

fn coverage(policy: &RangePolicy, shape: &Shape) -> Coverage {
    let gaps = policy.gap_policy == GapPolicy::AllowExplicit && matches!(policy.bounds, Bounds::Explicit { .. });
    match policy.consistency {
        Consistency::Immutable => Coverage::Waived,
        Consistency::Statement => Coverage::Statement,
        _ if gaps && shape.key.is_some() => Coverage::Ranges,
        _ => Coverage::Relation,
    }
}
