//! What ranges are planned from.

use super::super::document::{PartitionStrategy, Partitioning};
use super::super::problems::Problems;
use super::super::ranges::{Consistency, PlannerMode, PlannerPolicy, RangeMode};
use super::super::source::SourceType;
use crate::codes::Code;

const AT: &str = "source.options.partitioning";

/// The name under which PostgreSQL has the place of a row.
const PLACE_OF_A_ROW: &str = "ctid";

/// The planner's policy and the column that ranges cut.
pub(super) fn resolve(
    given: &Partitioning,
    kind: SourceType,
    problems: &mut Problems<'_>,
) -> (PlannerPolicy, Option<String>) {
    let column = given.column.clone();
    // Other sources have their own rules about these settings.
    let planned = matches!(kind, SourceType::Postgres | SourceType::Mssql);
    if !planned || given.range_parallelism.mode == RangeMode::Off {
        return (PlannerPolicy::default(), column);
    }
    let stated = given.planner.mode.unwrap_or_default();
    let statistics = given.strategy == Some(PartitionStrategy::Stats);
    let mut mode = match (stated, statistics) {
        (PlannerMode::Auto | PlannerMode::Statistics, true) => PlannerMode::Statistics,
        (mode, false) => mode,
        (mode, true) => {
            problems.add(
                &format!("{AT}.planner.mode"),
                Code::OptionConflict,
                format!("`strategy: stats` plans from statistics, and `mode: {mode}` does not"),
                "Remove one of them.",
            );
            mode
        }
    };
    let places_cuts =
        given.ranges.is_some() || matches!(given.bounds, Some(super::super::document::BoundsDocument::Between(_)));
    let by_block = column.as_deref().is_none_or(|name| name == PLACE_OF_A_ROW);
    if mode == PlannerMode::Auto && by_block && !places_cuts && kind == SourceType::Postgres {
        mode = PlannerMode::Ctid;
    }
    if mode == PlannerMode::Ctid && kind != SourceType::Postgres {
        problems.add(
            &format!("{AT}.planner.mode"),
            Code::RouteUnsupported,
            format!("a source of type `{kind}` has no `ctid`"),
            "Name a column to cut, and use `planner.mode: auto`.",
        );
        return (PlannerPolicy::default(), column);
    }
    let mut conflict = |key: &str, text: &str, fix: &str| {
        problems.add(&format!("{AT}.{key}"), Code::OptionConflict, text, fix);
    };
    if places_cuts && matches!(mode, PlannerMode::Statistics | PlannerMode::Ctid) {
        let text = format!("the cuts are stated, so `mode: {mode}` has nothing to plan");
        conflict("planner.mode", &text, "Remove it, or the stated bounds or ranges.");
    }
    if mode == PlannerMode::Ctid && !by_block {
        conflict(
            "column",
            "`planner.mode: ctid` cuts by the table's blocks, and a column is named",
            "Remove one of them.",
        );
    }
    if mode == PlannerMode::Ctid
        && given.range_parallelism.consistency.unwrap_or_default() != Consistency::ExportedSnapshot
    {
        problems.add(
            &format!("{AT}.range_parallelism.consistency"),
            Code::ConsistencyModeUnsupported,
            "the place of a row means something in one snapshot only",
            "Use `consistency: exported_snapshot`, or name a column to cut.",
        );
    }
    let column = if mode == PlannerMode::Ctid { Some(PLACE_OF_A_ROW.to_owned()) } else { column };
    let default = PlannerPolicy::default();
    if given.planner.max_hot_partition_factor.is_some() {
        let reason =
            "ranges from statistics hold about as many rows each; only rows with one and the same key are more";
        problems.notice(&format!("{AT}.planner.max_hot_partition_factor"), reason);
    }
    let policy = PlannerPolicy {
        mode,
        skew_policy: given.planner.skew_policy.unwrap_or_default(),
        min_partition_rows: given.planner.min_partition_rows.unwrap_or(default.min_partition_rows),
    };
    (policy, column)
}
