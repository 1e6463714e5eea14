//! Whatever is asked for and found: a plan that keeps its promises, or a reason.

use dpone_engine::plan::Plan;
use dpone_engine::ranges::{KeyFacts, UnitRange};
use dpone_engine::run::facts::Topology;
use dpone_engine::value::Value;
use proptest::prelude::*;

use super::World;

#[derive(Clone, Debug)]
struct Asked {
    mode: &'static str,
    readers: u32,
    inflight: u32,
    units: u32,
    loads: u32,
    per_partition: bool,
    bytes: u64,
    rows: u64,
    min_grant: u64,
    check_grant: u64,
    sessions: u32,
    indexed: bool,
    nullable: bool,
    extent: Option<(i64, i64)>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let limits = (1u32..=64, 1u32..=64, 1u32..=200, 1u32..=8, any::<bool>());
    let budget = (1u64..=1 << 24, 1u64..=1000, 0u64..=1 << 22, 0u64..=1 << 23);
    let found = (0u32..=70, any::<bool>(), any::<bool>(), proptest::option::of((any::<i64>(), any::<i64>())));
    (prop_oneof![Just("off"), Just("auto"), Just("required")], limits, budget, found).prop_map(
        |(mode, (readers, inflight, units, loads, per_partition), (bytes, rows, min_grant, check_grant), found)| {
            let (sessions, indexed, nullable, extent) = found;
            let extent = extent.map(|(a, b)| (a.min(b), a.max(b)));
            Asked {
                mode,
                readers,
                inflight,
                units,
                loads,
                per_partition,
                bytes,
                rows,
                min_grant,
                check_grant,
                sessions,
                indexed,
                nullable,
                extent,
            }
        },
    )
}

fn world(a: &Asked) -> World {
    let (topology, loads) = if a.per_partition { ("per_partition", a.loads) } else { ("shared_per_run", 1) };
    let mut world = World::with(&[
        ("num_partitions: 4", &format!("num_partitions: {}", a.units)),
        ("load_workers: 1", &format!("load_workers: {loads}")),
        (
            "mode: required\n        reader_workers: 3\n",
            &format!(
                "mode: {}\n        reader_workers: {}\n        max_inflight_ranges: {}\n        staging_topology: {topology}\n",
                a.mode, a.readers, a.inflight
            ),
        ),
        ("max_inflight_rows: 40000", &format!("max_inflight_rows: {}", a.rows)),
        ("max_inflight_bytes: 64MiB", &format!("max_inflight_bytes: {}", a.bytes)),
    ]);
    world.source.min_grant = a.min_grant;
    world.source.max_sessions = a.sessions;
    world.source.key_indexed = a.indexed;
    world.source.schema.columns[0].nullable = a.nullable;
    let extent = a.extent.map(|(min, max)| (Value::Int(min.into()), Value::Int(max.into())));
    world.source.key = Some(KeyFacts { extent, rows: None, ..KeyFacts::default() });
    world.target.check_grant = a.check_grant;
    world
}

/// Exactly one range holds each key.
fn once(ranges: &[UnitRange], key: Option<&Value>) -> bool {
    ranges.iter().filter(|range| range.contains(key)).count() == 1
}

proptest! {
    #[test]
    fn a_plan_or_a_reason(a in asked(), key in any::<i64>()) {
        match world(&a).build() {
            Err(blocked) => prop_assert!(!blocked.blockers.is_empty()),
            Ok(plan) => {
                let c = plan.concurrency;
                let b = plan.budget;
                prop_assert!(c.readers >= 1 && c.readers <= a.readers.min(a.inflight));
                prop_assert!(c.readers as usize <= plan.ranges.len());
                prop_assert!(c.loads >= 1 && (plan.topology == Topology::PerPartition || c.loads == 1));
                prop_assert!(b.grant_bytes >= a.min_grant.max(1) && b.grant_rows >= 1);
                prop_assert!(b.grant_bytes * u64::from(c.readers) <= b.bytes);
                prop_assert!(b.grant_rows * u64::from(c.readers) <= b.rows);
                prop_assert!(b.check_bytes <= b.bytes && b.check_bytes >= a.check_grant);
                prop_assert!(once(&plan.ranges, Some(&Value::Int(key.into()))));
                prop_assert!(!a.nullable || once(&plan.ranges, None));
                // Fewer readers than could be used are never planned without a word.
                if a.mode == "auto" && c.readers == 1 && a.readers.min(a.inflight).min(a.units) > 1 {
                    let few = plan.ranges.len() == 1 && a.extent.is_none_or(|(min, max)| min == max);
                    prop_assert!(!plan.fallback.is_empty() || few || a.sessions < a.readers);
                }
                prop_assert_eq!(Plan::from_document(&plan.facts().unwrap().document).unwrap(), plan);
            }
        }
    }
}
