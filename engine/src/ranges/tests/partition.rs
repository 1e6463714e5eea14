use proptest::prelude::*;

use super::super::{StatedRange, parse_value, render_value};
use super::{I64, Scope, Split, UnitRange, column, int, plan};
use crate::manifest::{BoundsRole, GapPolicy};
use crate::schema::LogicalType;
use crate::value::Value;

/// A splittable type and its values at the ends and anywhere between.
fn typed() -> impl Strategy<Value = (LogicalType, [Value; 3])> {
    let bits = || prop_oneof![Just(8u8), Just(16), Just(32), Just(64)];
    let ints = bits().prop_flat_map(|bits| {
        let half = 1i128 << (bits - 1);
        values(LogicalType::Int { bits }, -half..half, Value::Int)
    });
    let unsigned = bits().prop_flat_map(|bits| values(LogicalType::UInt { bits }, 0..1i128 << bits, Value::Int));
    let decimals = (1u8..=38).prop_flat_map(|p| (Just(p), 0..=p)).prop_flat_map(|(precision, scale)| {
        let limit = 10i128.pow(precision.into());
        let wrap = move |unscaled| Value::Decimal { unscaled, scale };
        values(LogicalType::Decimal { precision, scale }, 1 - limit..limit, wrap)
    });
    let dates = values(LogicalType::Date, -719_162..2_932_897, |day| Value::Date(day as i32));
    let times = (0u8..=9, any::<bool>()).prop_flat_map(|(digits, utc)| {
        let day = 86_400 * 10i128.pow(digits.into());
        let wrap = move |ticks| Value::Ticks { ticks, digits };
        values(LogicalType::Timestamp { digits, utc }, -719_162 * day..2_932_897 * day, wrap)
    });
    prop_oneof![ints, unsigned, decimals, dates, times]
}

fn values(
    ty: LogicalType,
    domain: std::ops::Range<i128>,
    wrap: impl Fn(i128) -> Value + Clone,
) -> impl Strategy<Value = (LogicalType, [Value; 3])> {
    let (low, high) = (domain.start, domain.end - 1);
    let near = (low..=high, 0i128..12).prop_map(move |(v, d)| v.saturating_add(d).min(high));
    let one = prop_oneof![4 => low..=high, 1 => Just(low), 1 => Just(high), 1 => low..=low.saturating_add(12).min(high), 1 => near];
    [one.clone(), one.clone(), one].prop_map(move |raw| (ty.clone(), raw.map(wrap.clone())))
}

fn owners(units: &[UnitRange], key: Option<&Value>) -> usize {
    units.iter().filter(|unit| unit.contains(key)).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_key_has_exactly_one_range((ty, [a, b, key]) in typed(), units in 1u32..=64, stated: bool, nullable: bool) {
        let (min, max) = if a <= b { (a, b) } else { (b, a) };
        let split = if stated {
            Split::Between { lower: min.clone(), upper: max.clone(), units, role: BoundsRole::Stride }
        } else {
            Split::Auto { extent: Some((min.clone(), max.clone())), units }
        };
        let found = plan(&column(ty, nullable), split).unwrap();
        // Any key, inside the bounds or not, at them, or at a cut.
        let cuts = found.iter().filter_map(|unit| match &unit.scope {
            Scope::Interval { lower: super::Bound::Inclusive(cut), .. } => Some(cut),
            _ => None,
        });
        for key in [&min, &max, &key].into_iter().chain(cuts.clone()) {
            prop_assert_eq!(owners(&found, Some(key)), 1);
        }
        prop_assert_eq!(owners(&found, None), usize::from(nullable || found.len() == 1 && units == 1));
        let cuts: Vec<_> = cuts.collect();
        prop_assert!(cuts.windows(2).all(|w| w[0] < w[1]));
        prop_assert!(cuts.iter().all(|cut| min < **cut && **cut <= max));
        prop_assert!((0..).zip(&found).all(|(ordinal, unit)| unit.ordinal == ordinal));
        prop_assert!(found.len() <= units as usize + usize::from(nullable));
    }

    #[test]
    fn small_spans_are_cut_evenly(low in any::<i64>(), span in 0i128..200, units in 2u32..40) {
        let high = (i128::from(low) + span).min(i64::MAX.into());
        let split = Split::Auto { extent: Some((int(low.into()), int(high))), units };
        let found = plan(&column(I64, false), split).unwrap();
        let distinct = (high - i128::from(low) + 1) as usize;
        prop_assert_eq!(found.len(), distinct.min(units as usize));
        let sizes = found.iter().map(|u| (i128::from(low)..=high).filter(|&k| u.contains(Some(&int(k)))).count());
        let (least, most) = (sizes.clone().min().unwrap(), sizes.max().unwrap());
        prop_assert!(least >= 1 && most - least <= 1);
    }

    #[test]
    fn accepted_explicit_ranges_never_overlap(
        raw in prop::collection::vec((0i128..30, 0i128..30, any::<bool>(), any::<bool>()), 1..6),
    ) {
        let stated = raw.iter().map(|&(lower, upper, include_lower, include_upper)| StatedRange {
            lower: Some(int(lower)), upper: Some(int(upper)), include_lower, include_upper,
        });
        if let Ok(found) = plan(&column(I64, false), Split::Explicit { ranges: stated.collect(), gaps: GapPolicy::Reject, null: false }) {
            let counts: Vec<usize> = (-1..32).map(|k| owners(&found, Some(&int(k)))).collect();
            prop_assert!(counts.iter().all(|&n| n <= 1));
            // Contiguous: the covered keys are one block.
            let covered: Vec<_> = counts.iter().enumerate().filter(|(_, n)| **n == 1).map(|(i, _)| i).collect();
            prop_assert_eq!(covered.last().unwrap() - covered[0] + 1, covered.len());
        }
    }

    #[test]
    fn text_reads_back((ty, values) in typed()) {
        for value in values {
            let text = render_value(&ty, &value);
            prop_assert!(parse_value(&ty, &text) == Ok(value), "{}", text);
        }
    }

    #[test]
    fn no_text_panics(text in "[-0-9.:TZ+é ]{0,30}", digits in 0u8..=9, utc: bool) {
        for ty in [I64, LogicalType::Date, LogicalType::Decimal { precision: 38, scale: 9 }, LogicalType::Timestamp { digits, utc }] {
            let _ = parse_value(&ty, &text);
        }
    }
}
