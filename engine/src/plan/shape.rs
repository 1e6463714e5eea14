//! How the source is cut and how much of it is in flight.

use super::Concurrency;
use super::blocked::Finding;
use super::budget::{BudgetPlan, divide};
use super::build::consistencies;
use super::facts::{RelationKind, SourceFacts, TargetFacts};
use crate::codes::Code;
use crate::manifest::{Consistency, Manifest, RangeMode, RangePolicy, Relation, SourceType};
use crate::ranges::{
    KeyFacts, Scope, SqlDialect, UnitRange, check_group_key, check_query_groups, plan_ranges_ordered, split_of,
};
use crate::refusal::Refusal;
use crate::run::facts::Topology;
use crate::schema::Column;

const PLACE: &str = "source.options.partitioning";
const PARALLEL: &str = "source.options.partitioning.range_parallelism";

/// The units of a run and its concurrency.
pub(super) struct Shape {
    pub(super) key: Option<Column>,
    pub(super) ranges: Vec<UnitRange>,
    pub(super) concurrency: Concurrency,
    pub(super) topology: Topology,
    /// Why fewer workers are used than the manifest allows.
    pub(super) limited: Option<Finding>,
}

/// What the manifest asks for.
pub(super) fn requested(policy: &RangePolicy) -> Concurrency {
    Concurrency { readers: policy.reader_workers, uploads: policy.upload_workers, loads: policy.load_workers }
}

/// One range, one reader, one staging place.
pub(super) fn serial(policy: &RangePolicy) -> Shape {
    let uploads = if policy.mode == RangeMode::Off { 1 } else { policy.upload_workers };
    Shape {
        key: None,
        ranges: vec![UnitRange { ordinal: 0, scope: Scope::WholeTable }],
        concurrency: Concurrency { readers: 1, uploads, loads: 1 },
        topology: Topology::SharedPerRun,
        limited: None,
    }
}

/// Ranges as the policy asks for them, or every reason why not.
pub(super) fn parallel(
    manifest: &Manifest,
    source: &SourceFacts,
    target: &TargetFacts,
) -> Result<(Shape, BudgetPlan), Vec<Refusal>> {
    let policy = &manifest.ranges;
    let mut reasons = Vec::new();
    if !target.topologies.contains(&policy.staging_topology) {
        reasons.push(no_topology(policy.staging_topology));
    }
    if source.max_sessions < 2 && policy.reader_workers > 1 {
        let text =
            format!("the source gives one session on one state, and {} readers are asked for", policy.reader_workers);
        reasons.push(
            Refusal::new(Code::ConsistencyModeUnsupported, text)
                .at(format!("{PARALLEL}.reader_workers"))
                .fix("Set reader_workers to 1, or mode to auto."),
        );
    }
    // The column itself is checked with the other columns; without it nothing more can be said.
    let Some(column) = policy.column.as_deref().and_then(|name| key_column(name, source)) else {
        reasons.extend(source.key_refused.clone());
        return Err(reasons);
    };
    reasons.extend(check_group_key(&column.name, &policy.group_key).err());
    if let Some(refusal) = &source.key_refused {
        reasons.push(refusal.clone());
        return Err(reasons);
    }
    let facts = source.key.clone().unwrap_or_default();
    let ranges = match cut(policy, column, &facts) {
        Ok(ranges) => ranges,
        Err(refusal) => {
            reasons.push(refusal);
            return Err(reasons);
        }
    };
    let units = u32::try_from(ranges.len()).unwrap_or(u32::MAX);
    reasons.extend(windows(manifest, source, units));
    reasons.extend(statements(manifest, units));
    if units > 1 && policy.require_index && !source.key_indexed {
        let text = format!("no index on \"{}\" is known, so each range would scan the whole source", column.name);
        reasons.push(
            Refusal::new(Code::RangeRequiresIndex, text)
                .at(format!("{PLACE}.column"))
                .fix("Add an index on the column, split by an indexed one, or set mode to off."),
        );
    }
    let readers = policy.reader_workers.min(policy.max_inflight_ranges).min(units).min(source.max_sessions).max(1);
    let budget = divide(manifest, source, target, readers);
    if let Err(refusal) = &budget {
        reasons.push(refusal.clone());
    }
    let Some(budget) = budget.ok().filter(|_| reasons.is_empty()) else { return Err(reasons) };
    let loads = match policy.staging_topology {
        Topology::SharedPerRun => 1,
        Topology::PerPartition => policy.load_workers.min(units),
    };
    let limited = (source.max_sessions < policy.reader_workers).then(|| {
        let text = format!(
            "the source gives {} sessions on one state; reader_workers allows {}",
            source.max_sessions, policy.reader_workers
        );
        Finding::new("source_sessions_limited", text, None)
    });
    let whole = ranges.iter().all(|range| range.scope == Scope::WholeTable);
    let shape = Shape {
        key: (!whole).then(|| column.clone()),
        ranges,
        concurrency: Concurrency { readers, uploads: policy.upload_workers, loads },
        topology: policy.staging_topology,
        limited,
    };
    Ok((shape, budget))
}

/// The range column of that name; it need not be delivered.
pub(super) fn key_column<'a>(name: &str, source: &'a SourceFacts) -> Option<&'a Column> {
    let named = source.key_column.as_ref().filter(|column| column.name == name);
    named.or_else(|| source.schema.column(name).map(|(_, column)| column))
}

fn cut(policy: &RangePolicy, column: &Column, facts: &KeyFacts) -> Result<Vec<UnitRange>, Refusal> {
    plan_ranges_ordered(Some(column), &split_of(policy, column, facts)?, facts.uuid_order)
}

/// Each statement sees a state of its own.
fn statements(manifest: &Manifest, units: u32) -> Option<Refusal> {
    let modes = consistencies(manifest.source.kind);
    let asked = manifest.ranges.consistency;
    // That a source has no such mode is said by itself.
    if units <= 1 || asked != Consistency::Statement || !modes.contains(&asked) {
        return None;
    }
    let modes = modes.iter().filter(|mode| **mode != asked);
    let names: Vec<_> = modes.map(|mode| mode.as_str()).collect();
    let text = "several statements would see several states of the source, and nothing is named that keeps it still";
    Some(
        Refusal::new(Code::ConsistencyModeUnsupported, text)
            .at(format!("{PARALLEL}.consistency"))
            .fix(format!("State what keeps it still: {}.", names.join(", "))),
    )
}

/// A window over rows that several ranges hold would see only some of them.
fn windows(manifest: &Manifest, source: &SourceFacts, units: u32) -> Option<Refusal> {
    let dialect = match manifest.source.kind {
        SourceType::Sqlite => SqlDialect::Sqlite,
        SourceType::Postgres => SqlDialect::Postgres,
        SourceType::Mysql => SqlDialect::Mysql,
        SourceType::Mssql => SqlDialect::Mssql,
        SourceType::Odbc | SourceType::Files | SourceType::Mongodb => SqlDialect::Generic,
    };
    let group_key = &manifest.ranges.group_key;
    let check = |sql: &str| check_query_groups(sql, dialect, group_key, units).err();
    let query = match &manifest.source.relation {
        Relation::Query(sql) => check(sql),
        Relation::Table(_) => None,
    };
    query.or_else(|| {
        let unknown = source.relation == RelationKind::View && source.view_sql.is_empty();
        let view = if unknown { check("") } else { source.view_sql.iter().find_map(|sql| check(sql)) };
        let place = match manifest.source.relation {
            Relation::Query(_) => "source.query",
            Relation::Table(_) => "source.table",
        };
        view.map(|refusal| refusal.at(place))
    })
}

pub(super) fn no_topology(topology: Topology) -> Refusal {
    Refusal::new(Code::StagingTopologyUnsupported, format!("the sink has no staging of topology `{topology}`"))
        .at(format!("{PARALLEL}.staging_topology"))
        .fix("Use the other staging_topology.")
}
