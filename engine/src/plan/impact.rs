//! What reading a plan's ranges does to the source, and other things worth knowing before the run.

use super::blocked::Finding;
use super::facts::{RelationKind, SourceFacts, TargetFacts};
use super::{Context, Coverage};
use crate::manifest::{Bounds, BoundsRole, Consistency, Manifest, Quality, StrategyMode};

/// Everything worth a warning, in a fixed order.
pub(super) fn warnings(
    manifest: &Manifest,
    source: &SourceFacts,
    target: &TargetFacts,
    context: &Context,
    units: usize,
    coverage: Coverage,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |code: &str, message: String, fix: Option<&str>| found.push(Finding::new(code, message, fix));
    for notice in &context.notices {
        say("manifest_setting_without_effect", format!("{}: {}", notice.path, notice.reason), None);
    }
    if manifest.source.columns.is_none() && source.relation != RelationKind::Query {
        let fix = "List the columns that are needed in source.options.columns.";
        say("source_select_star", "every column of the source is read".to_owned(), Some(fix));
    }
    if source.relation == RelationKind::View {
        let fix = "Inspect the view's query plan, or read from a table.";
        say("source_view_over_view_risk", "the source is a view and may wrap other views".to_owned(), Some(fix));
    }
    if units > 1 && !source.key_indexed {
        let column = manifest.ranges.column.as_deref().unwrap_or_default();
        let text = format!("no index on \"{column}\" is known, so each range may scan the whole source");
        say("source_boundary_index_unknown", text, Some("Add an index on the range column."));
    }
    if manifest.ranges.consistency == Consistency::Immutable {
        let text = "the source is taken to be immutable on the operator's word; nothing here checks it";
        say("consistency_unverified", text.to_owned(), None);
    }
    let stated = matches!(manifest.ranges.bounds, Bounds::Between { .. });
    if stated && manifest.ranges.bounds_role == BoundsRole::Stride {
        let text = "the stated bounds only place the cuts: rows outside of them are delivered, too";
        let fix = "To read only what lies within them, set planner.bounds_role to filter.";
        say("bounds_only_place_cuts", text.to_owned(), Some(fix));
    }
    if coverage == Coverage::Ranges {
        let text = "gaps between the stated ranges are allowed; rows in them are not delivered";
        say("coverage_of_ranges_only", text.to_owned(), None);
    }
    if manifest.sink.strategy.mode == StrategyMode::PartitionReplace {
        let text = "partitions that do not occur in what is read stay as they are: an empty source replaces nothing";
        say("unread_partitions_stay", text.to_owned(), None);
    }
    unchecked(&manifest.quality, &mut say);
    source.warnings.iter().for_each(|text| say("source_condition", text.clone(), None));
    target.warnings.iter().for_each(|text| say("target_condition", text.clone(), None));
    found
}

fn unchecked(quality: &Quality, say: &mut impl FnMut(&str, String, Option<&str>)) {
    use crate::manifest::Fidelity;
    let what = match quality.fidelity {
        Fidelity::Rows => return,
        Fidelity::Columns => "rows are not compared as wholes: a value moved between rows would not be found",
        Fidelity::Counts => "only row counts are compared with what was read",
        Fidelity::Off => "nothing is compared with what was read",
    };
    say("fidelity_reduced", what.to_owned(), Some("Set quality.fidelity to rows."));
}
