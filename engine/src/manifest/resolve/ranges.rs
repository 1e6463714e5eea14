//! Ranges, workers and budgets.

use super::super::document::{BoundsDocument, Partitioning, RangeDocument, SourceOptions};
use super::super::problems::Problems;
use super::super::ranges::{
    Bounds, BoundsRole, ExplicitRange, GapPolicy, RangeCount, RangeMode, RangePolicy, ScanMode, StagingTopology,
};
use super::super::source::SourceType;
use super::{agree, consistency, planner, unique};
use crate::codes::Code;

const AT: &str = "source.options.partitioning";
const PARALLEL: &str = "source.options.partitioning.range_parallelism";

/// Default of `max_inflight_rows`.
const DEFAULT_ROWS: u64 = 200_000;
/// Default of `max_inflight_bytes`: 64 MiB.
const DEFAULT_BYTES: u64 = 64 << 20;
/// Greatest `max_inflight_bytes`: 1 TiB.
const MOST_BYTES: u64 = 1 << 40;
/// Greatest number of ranges.
const MOST_RANGES: u32 = 10_000;

pub(super) fn resolve(options: &SourceOptions, kind: SourceType, problems: &mut Problems<'_>) -> Option<RangePolicy> {
    let none = Partitioning::default();
    let given = options.partitioning.as_ref().unwrap_or(&none);
    let parallel = &given.range_parallelism;
    let snapshot = &options.native_transfer.snapshot;
    let off = parallel.mode == RangeMode::Off;
    let before = problems.len();

    let readers = agree(
        (&format!("{PARALLEL}.reader_workers"), parallel.reader_workers),
        (&format!("{AT}.export_workers"), given.export_workers),
        problems,
    );
    let loaders = agree(
        (&format!("{AT}.load_workers"), given.load_workers),
        (&format!("{PARALLEL}.load_workers"), parallel.load_workers),
        problems,
    );
    let bounds = bounds(given, problems);
    let count = count(given, readers.unwrap_or(1), problems);
    let max_inflight_bytes = parallel.max_inflight_bytes.map_or(DEFAULT_BYTES, |size| size.0);
    if max_inflight_bytes > MOST_BYTES {
        problems.add(
            &format!("{PARALLEL}.max_inflight_bytes"),
            Code::ManifestInvalidValue,
            "the byte budget is larger than 1TiB",
            "Lower it.",
        );
    }
    single_loader(parallel.staging_topology, loaders, given, problems);
    limits(&snapshot.execution, readers, loaders, problems);
    scan(snapshot.scan.mode, off, given, problems);
    let consistency = parallel.consistency.unwrap_or_else(|| consistency::default_of(kind));
    consistency::check(consistency, &parallel.consistency_authority, problems);
    unique(&parallel.group_key, &format!("{PARALLEL}.group_key"), problems);
    if given.planner.bounds_role == BoundsRole::Filter && matches!(bounds, Some(Bounds::Between { .. })) {
        problems.add(
            &format!("{AT}.planner.bounds_role"),
            Code::RouteUnsupported,
            "this build does not leave out rows outside stated bounds",
            "Use `bounds_role: stride`, or put the condition into `source.query`.",
        );
    }
    let (planner, column) = planner::resolve(given, kind, problems);
    if !off && column.is_none() {
        problems.add(
            &format!("{AT}.column"),
            Code::ManifestInvalidValue,
            format!("`range_parallelism.mode: {}` needs a column to cut", parallel.mode),
            "Add `column` under `source.options.partitioning`.",
        );
    }
    if off {
        idle(given, problems);
        if parallel.gap_policy == GapPolicy::AllowExplicit {
            problems.add(
                &format!("{PARALLEL}.gap_policy"),
                Code::OptionConflict,
                "with `mode: off` the whole source is read, gaps between ranges too",
                "Set `mode: required`, or use `gap_policy: reject`.",
            );
        }
    }
    if problems.len() > before {
        return None;
    }

    let one_or = |workers: Option<u32>, default: u32| if off { 1 } else { workers.unwrap_or(default) };
    let reader_workers = one_or(readers, 1);
    Some(RangePolicy {
        mode: parallel.mode,
        column,
        count: if off { RangeCount::Fixed(1) } else { count },
        bounds: bounds.filter(|_| !off).unwrap_or(Bounds::Auto),
        bounds_role: given.planner.bounds_role,
        boundary_type: given.planner.boundary_type,
        null_bucket: given.planner.null_bucket,
        gap_policy: parallel.gap_policy,
        planner,
        scan: snapshot.scan.mode,
        require_index: snapshot.scan.require_index_for_range.unwrap_or(true),
        reader_workers,
        upload_workers: one_or(parallel.upload_workers, reader_workers),
        load_workers: one_or(loaders, 1),
        max_inflight_ranges: one_or(parallel.max_inflight_ranges, reader_workers.saturating_mul(2)),
        max_inflight_rows: parallel.max_inflight_rows.unwrap_or(DEFAULT_ROWS),
        max_inflight_bytes,
        consistency,
        consistency_authority: parallel.consistency_authority.clone(),
        on_authority_lost: parallel.on_authority_lost,
        staging_topology: parallel.staging_topology,
        group_key: parallel.group_key.clone(),
    })
}

fn count(given: &Partitioning, readers: u32, problems: &mut Problems<'_>) -> RangeCount {
    if given.ranges.is_some() {
        let others = [
            ("bounds", given.bounds.is_some()),
            ("num_partitions", given.num_partitions.is_some()),
            ("target_rows_per_partition", given.target_rows_per_partition.is_some()),
            ("max_partitions", given.max_partitions.is_some()),
        ];
        for (name, _) in others.iter().filter(|(_, there)| *there) {
            problems.add(
                &format!("{AT}.{name}"),
                Code::OptionConflict,
                format!("`ranges` states every interval, so `{name}` has nothing to say"),
                format!("Remove `{name}` or `ranges`."),
            );
        }
    }
    match (given.num_partitions, given.target_rows_per_partition) {
        (Some(_), Some(_)) => {
            problems.add(
                &format!("{AT}.target_rows_per_partition"),
                Code::OptionConflict,
                "`num_partitions` and `target_rows_per_partition` both state how many ranges there are",
                "Keep one of them.",
            );
            RangeCount::Fixed(1)
        }
        (None, Some(rows)) => RangeCount::TargetRows { rows, max: given.max_partitions.unwrap_or(MOST_RANGES) },
        (fixed, None) => {
            let fixed = fixed.unwrap_or(readers);
            if given.max_partitions.is_some_and(|max| fixed > max) {
                problems.add(
                    &format!("{AT}.max_partitions"),
                    Code::OptionConflict,
                    "there would be more ranges than `max_partitions`",
                    "Raise `max_partitions`, or lower `num_partitions`.",
                );
            }
            RangeCount::Fixed(fixed)
        }
    }
}

fn bounds(given: &Partitioning, problems: &mut Problems<'_>) -> Option<Bounds> {
    if let Some(ranges) = &given.ranges {
        return explicit(ranges, problems);
    }
    if given.range_parallelism.gap_policy == GapPolicy::AllowExplicit {
        problems.add(
            &format!("{PARALLEL}.gap_policy"),
            Code::OptionConflict,
            "`gap_policy: allow_explicit` needs explicit `ranges`",
            "State `ranges`, or use `gap_policy: reject`.",
        );
    }
    Some(match &given.bounds {
        None | Some(BoundsDocument::Auto(_)) => Bounds::Auto,
        Some(BoundsDocument::Between(b)) => Bounds::Between { lower: b.lower.clone(), upper: b.upper.clone() },
    })
}

/// Structure only: order, overlap and gaps need the column's type.
fn explicit(given: &[RangeDocument], problems: &mut Problems<'_>) -> Option<Bounds> {
    let before = problems.len();
    let mut ranges = Vec::with_capacity(given.len());
    let mut null = false;
    for (index, range) in given.iter().enumerate() {
        let path = format!("{AT}.ranges[{index}]");
        let refuse = |message: &str, fix: &str, problems: &mut Problems<'_>| {
            problems.add(&path, Code::RangeInvalid, message, fix);
        };
        let interval = range.lower.is_some()
            || range.upper.is_some()
            || range.include_lower.is_some()
            || range.include_upper.is_some();
        let is_null = range.null == Some(true) || range.null_bucket == Some(true);
        if is_null && (interval || range.null == Some(false) || range.null_bucket == Some(false)) {
            refuse("the NULL bucket has no ends", "Write `{null: true}` alone.", problems);
        } else if is_null && null {
            refuse("there are two NULL buckets", "Keep one of them.", problems);
        } else if is_null {
            null = true;
        } else {
            let include_lower = range.include_lower.unwrap_or(range.lower.is_some());
            let include_upper = range.include_upper.unwrap_or(false);
            if include_lower && range.lower.is_none() || include_upper && range.upper.is_none() {
                refuse(
                    "an open end cannot be included",
                    "Give the end a value, or remove the `include_…` key.",
                    problems,
                );
            }
            let (lower, upper) = (range.lower.clone(), range.upper.clone());
            ranges.push(ExplicitRange { lower, upper, include_lower, include_upper });
        }
    }
    if ranges.is_empty() && problems.len() == before {
        problems.add(
            &format!("{AT}.ranges"),
            Code::RangeInvalid,
            "`ranges` names no interval",
            "Add one with `lower` and `upper`.",
        );
    }
    (problems.len() == before).then_some(Bounds::Explicit { ranges, null })
}

/// A range's receipt in a shared table is a count before and after its load, so loads must not overlap.
fn single_loader(topology: StagingTopology, loaders: Option<u32>, given: &Partitioning, problems: &mut Problems<'_>) {
    if topology != StagingTopology::SharedPerRun || loaders.unwrap_or(1) == 1 {
        return;
    }
    let at =
        if given.load_workers.is_some() { format!("{AT}.load_workers") } else { format!("{PARALLEL}.load_workers") };
    problems.add(
        &at,
        Code::SharedStagingRequiresSingleLoader,
        "`staging_topology: shared_per_run` loads one range at a time",
        "Set `load_workers: 1`, or `staging_topology: per_partition` under `range_parallelism`.",
    );
}

fn limits(
    execution: &super::super::document::SnapshotExecution,
    readers: Option<u32>,
    loaders: Option<u32>,
    problems: &mut Problems<'_>,
) {
    let base = "source.options.native_transfer.snapshot.execution";
    for (name, limit, what, workers) in [
        ("max_parallel_exports", execution.max_parallel_exports, "reader_workers", readers),
        ("max_parallel_loads", execution.max_parallel_loads, "load_workers", loaders),
    ] {
        if limit.is_some_and(|limit| workers.unwrap_or(1) > limit) {
            problems.add(
                &format!("{base}.{name}"),
                Code::OptionConflict,
                format!("`{what}` is more than `{name}`"),
                format!("Lower `{what}`, or raise `{name}`."),
            );
        }
    }
}

fn scan(mode: ScanMode, off: bool, given: &Partitioning, problems: &mut Problems<'_>) {
    let at = "source.options.native_transfer.snapshot.scan.mode";
    if mode == ScanMode::SingleScanChunks && given.range_parallelism.mode == RangeMode::Required {
        problems.add(
            at,
            Code::OptionConflict,
            "one scan cannot be read in parallel ranges",
            "Use `scan.mode: auto`, or `range_parallelism.mode: off`.",
        );
    }
    if mode == ScanMode::RangePartitioned && off {
        problems.add(
            at,
            Code::OptionConflict,
            "a range scan needs `range_parallelism`",
            "Set `range_parallelism.mode` to `required` or `auto`, or use `scan.mode: auto`.",
        );
    }
}

/// With mode `off` the run has one range and one reader; what would have shaped others is noted.
fn idle(given: &Partitioning, problems: &mut Problems<'_>) {
    let p = &given.range_parallelism;
    for (path, there) in [
        (format!("{AT}.column"), given.column.is_some()),
        (format!("{AT}.num_partitions"), given.num_partitions.is_some()),
        (format!("{AT}.bounds"), given.bounds.is_some()),
        (format!("{AT}.ranges"), given.ranges.is_some()),
        (format!("{AT}.target_rows_per_partition"), given.target_rows_per_partition.is_some()),
        (format!("{AT}.max_partitions"), given.max_partitions.is_some()),
        (format!("{AT}.export_workers"), given.export_workers.is_some_and(|n| n > 1)),
        (format!("{PARALLEL}.reader_workers"), p.reader_workers.is_some_and(|n| n > 1)),
        (format!("{AT}.load_workers"), given.load_workers.is_some_and(|n| n > 1)),
        (format!("{PARALLEL}.load_workers"), p.load_workers.is_some_and(|n| n > 1)),
        (format!("{PARALLEL}.upload_workers"), p.upload_workers.is_some_and(|n| n > 1)),
        (format!("{PARALLEL}.max_inflight_ranges"), p.max_inflight_ranges.is_some_and(|n| n > 1)),
    ] {
        if there {
            problems.notice(&path, "`range_parallelism.mode` is off: one range, one reader");
        }
    }
}
