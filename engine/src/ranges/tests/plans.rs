use super::super::{StatedRange, check_boundary_type, check_group_key, parse_value};
use super::{I64, Split, column, int, plan, plan_ranges, show};
use crate::codes::Code;
use crate::manifest::{BoundsRole, GapPolicy};
use crate::schema::LogicalType;
use crate::value::Value;

#[track_caller]
fn auto(ty: LogicalType, nullable: bool, extent: Option<(&str, &str)>, units: u32, expect: &[&str]) {
    let extent = extent.map(|(min, max)| (parse_value(&ty, min).unwrap(), parse_value(&ty, max).unwrap()));
    let found = plan(&column(ty.clone(), nullable), Split::Auto { extent, units }).unwrap();
    assert_eq!(show(&ty, &found), expect);
    assert!((0..).zip(&found).all(|(ordinal, unit)| unit.ordinal == ordinal));
}

#[test]
fn integers_are_cut_evenly_and_open_at_both_ends() {
    auto(I64, false, Some(("1", "1000")), 4, &["(.., 251)", "[251, 501)", "[501, 751)", "[751, ..)"]);
    auto(I64, true, Some(("0", "1000")), 2, &["(.., 500)", "[500, ..)", "null"]);
    auto(I64, false, Some(("-3", "3")), 3, &["(.., -1)", "[-1, 1)", "[1, ..)"]);
    let cuts = [
        "(.., -4611686018427387904)",
        "[-4611686018427387904, 0)",
        "[0, 4611686018427387904)",
        "[4611686018427387904, ..)",
    ];
    auto(I64, false, Some(("-9223372036854775808", "9223372036854775807")), 4, &cuts);
    let u64s = LogicalType::UInt { bits: 64 };
    auto(
        u64s,
        false,
        Some(("0", "18446744073709551615")),
        2,
        &["(.., 9223372036854775808)", "[9223372036854775808, ..)"],
    );
}

#[test]
fn exact_types_keep_every_digit() {
    let nines = "9".repeat(38);
    let decimal = LogicalType::Decimal { precision: 38, scale: 0 };
    auto(decimal, false, Some((&format!("-{nines}"), &nines)), 2, &["(.., 0)", "[0, ..)"]);
    let money = LogicalType::Decimal { precision: 10, scale: 2 };
    auto(money, false, Some(("-0.01", "0.02")), 4, &["(.., 0.00)", "[0.00, 0.01)", "[0.01, 0.02)", "[0.02, ..)"]);
    auto(
        LogicalType::Date,
        true,
        Some(("2024-02-28", "2024-03-01")),
        3,
        &["(.., 2024-02-29)", "[2024-02-29, 2024-03-01)", "[2024-03-01, ..)", "null"],
    );
    let naive = LogicalType::Timestamp { digits: 7, utc: false };
    let extent = Some(("2024-01-01T00:00:00.0000001", "2024-01-01T00:00:00.0000004"));
    auto(naive, false, extent, 2, &["(.., 2024-01-01T00:00:00.0000003)", "[2024-01-01T00:00:00.0000003, ..)"]);
    let nanos = LogicalType::Timestamp { digits: 9, utc: true };
    let ends = Some(("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"));
    auto(nanos, false, ends, 2, &["(.., 5000-07-02T12:00:00.000000000Z)", "[5000-07-02T12:00:00.000000000Z, ..)"]);
}

#[test]
fn fewer_values_than_units_give_fewer_ranges() {
    auto(I64, false, Some(("7", "7")), 8, &["(.., ..)"]);
    auto(I64, true, Some(("7", "7")), 8, &["(.., ..)", "null"]);
    auto(I64, false, Some(("7", "9")), 8, &["(.., 8)", "[8, 9)", "[9, ..)"]);
    auto(I64, true, None, 8, &["(.., ..)", "null"]);
    auto(I64, true, None, 1, &["all"]);
    auto(I64, true, Some(("1", "9")), 1, &["all"]);
    auto(
        LogicalType::Int { bits: 8 },
        false,
        Some(("-128", "127")),
        10_000,
        &full_int8().iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

fn full_int8() -> Vec<String> {
    let mut ranges = vec!["(.., -127)".to_owned()];
    ranges.extend((-127..127).map(|k| format!("[{k}, {})", k + 1)));
    ranges.push("[127, ..)".into());
    ranges
}

#[test]
fn stride_bounds_choose_cuts_and_filter_bounds_choose_rows() {
    let split = |lower, upper, units, role| Split::Between { lower: int(lower), upper: int(upper), units, role };
    let check = |split, expect: &[&str]| assert_eq!(show(&I64, &plan(&column(I64, true), split).unwrap()), expect);
    check(split(100, 200, 2, BoundsRole::Stride), &["(.., 150)", "[150, ..)", "null"]);
    check(split(100, 200, 1, BoundsRole::Stride), &["all"]);
    check(split(100, 200, 2, BoundsRole::Filter), &["[100, 150)", "[150, 200]", "null"]);
    check(split(100, 200, 1, BoundsRole::Filter), &["[100, 200]", "null"]);
    check(split(7, 7, 9, BoundsRole::Filter), &["[7, 7]", "null"]);
    let refused = plan(&column(I64, false), split(2, 1, 2, BoundsRole::Stride)).unwrap_err();
    assert_eq!(refused.code, Code::RangeInvalid);
}

#[test]
fn without_a_column_the_table_is_one_unit() {
    let found = plan_ranges(None, &Split::Auto { extent: None, units: 8 }).unwrap();
    assert!(found.len() == 1 && found[0].contains(None) && found[0].contains(Some(&int(1))));
}

#[test]
fn types_without_an_exact_number_line_are_refused() {
    let check = |ty: LogicalType, one: Option<Code>| {
        let column = column(ty, false);
        let refused = |units| check_boundary_type(&column, units).err().map(|r| r.code);
        assert_eq!(refused(2), Some(Code::UnsupportedBoundaryType));
        assert_eq!(refused(1), one);
        let split = Split::Auto { extent: None, units: 2 };
        assert_eq!(plan(&column, split).unwrap_err().code, Code::UnsupportedBoundaryType);
        let stated = Split::Explicit { ranges: vec![range(None, None)], gaps: GapPolicy::Reject, null: false };
        assert_eq!(plan(&column, stated).unwrap_err().code, Code::UnsupportedBoundaryType);
    };
    check(LogicalType::Time { digits: 7 }, Some(Code::UnsupportedBoundaryType));
    for ty in [LogicalType::Text, LogicalType::Binary, LogicalType::Bool] {
        check(ty, None);
    }
    check(LogicalType::Float { bits: 64 }, None);
    check(LogicalType::Decimal { precision: 39, scale: 0 }, None);
}

#[test]
fn bad_numbers_of_units_and_foreign_extremes_are_refused() {
    let code = |units, extent| plan(&column(I64, false), Split::Auto { extent, units }).unwrap_err().code;
    assert_eq!(code(0, None), Code::ManifestInvalidValue);
    assert_eq!(code(10_001, None), Code::ManifestInvalidValue);
    assert_eq!(code(2, Some((int(1), Value::Text("x".into())))), Code::SourceValueTypeMismatch);
    assert_eq!(code(2, Some((int(1), int(1 << 70)))), Code::SourceValueTypeMismatch);
    assert_eq!(code(2, Some((int(3), int(1)))), Code::RangeInvalid);
}

fn range(lower: Option<i128>, upper: Option<i128>) -> StatedRange {
    StatedRange { lower: lower.map(int), upper: upper.map(int), include_lower: true, include_upper: false }
}

fn ends(lower: i128, include_lower: bool, upper: i128, include_upper: bool) -> StatedRange {
    StatedRange { lower: Some(int(lower)), upper: Some(int(upper)), include_lower, include_upper }
}

#[track_caller]
fn explicit(ranges: Vec<StatedRange>, gaps: GapPolicy, nullable: bool, expect: Result<&[&str], usize>) {
    match (plan(&column(I64, nullable), Split::Explicit { ranges, gaps, null: false }), expect) {
        (Ok(found), Ok(expect)) => assert_eq!(show(&I64, &found), expect),
        (Err(refusal), Err(number)) => {
            assert_eq!(refusal.code, Code::RangeInvalid);
            assert!(refusal.message.starts_with(&format!("interval {number} ")), "{refusal}");
        }
        (found, _) => panic!("{:?}", found.map(|f| show(&I64, &f))),
    }
}

#[test]
fn explicit_ranges_are_taken_as_stated() {
    use GapPolicy::{AllowExplicit, Reject};
    let r = range;
    explicit(vec![r(Some(1), Some(5)), r(Some(5), Some(9))], Reject, false, Ok(&["[1, 5)", "[5, 9)"]));
    explicit(vec![r(None, Some(5)), r(Some(5), None)], Reject, true, Ok(&["(.., 5)", "[5, ..)", "null"]));
    explicit(vec![r(None, None)], Reject, false, Ok(&["(.., ..)"]));
    explicit(vec![r(Some(1), Some(5)), ends(5, true, 9, true)], Reject, false, Ok(&["[1, 5)", "[5, 9]"]));
    explicit(vec![ends(1, true, 5, true), ends(5, false, 9, true)], Reject, false, Ok(&["[1, 5]", "(5, 9]"]));
    explicit(vec![ends(1, true, 5, true), ends(6, true, 9, false)], Reject, false, Ok(&["[1, 5]", "[6, 9)"]));
    explicit(vec![r(Some(1), Some(5)), r(Some(7), Some(9))], AllowExplicit, false, Ok(&["[1, 5)", "[7, 9)"]));
    let stated = Split::Explicit { ranges: vec![r(None, None)], gaps: Reject, null: true };
    assert_eq!(show(&I64, &plan(&column(I64, false), stated).unwrap()), ["(.., ..)", "null"]);
    let none = Split::Explicit { ranges: vec![], gaps: Reject, null: true };
    assert_eq!(plan(&column(I64, true), none).unwrap_err().code, Code::ManifestInvalidValue);
}

#[test]
fn explicit_ranges_that_overlap_gap_or_hold_nothing_are_refused() {
    use GapPolicy::{AllowExplicit, Reject};
    let r = range;
    explicit(vec![r(Some(1), Some(5)), r(Some(7), Some(9))], Reject, false, Err(2));
    explicit(vec![r(Some(1), Some(5)), r(Some(4), Some(9))], AllowExplicit, false, Err(2));
    explicit(vec![r(Some(5), Some(9)), r(Some(1), Some(5))], AllowExplicit, false, Err(2));
    explicit(vec![ends(1, true, 5, true), ends(5, true, 9, false)], Reject, false, Err(2));
    explicit(vec![ends(1, true, 5, false), ends(5, false, 9, false)], Reject, false, Err(2));
    explicit(vec![r(Some(1), None), r(Some(5), None)], AllowExplicit, false, Err(2));
    explicit(vec![r(None, Some(5)), r(None, Some(9))], AllowExplicit, false, Err(2));
    explicit(vec![r(Some(5), Some(5))], Reject, false, Err(1));
    explicit(vec![ends(5, false, 6, false)], Reject, false, Err(1));
    explicit(vec![r(Some(1 << 64), None)], Reject, true, Err(1));
}

#[test]
fn bounds_take_the_columns_own_scale() {
    let ty = LogicalType::Decimal { precision: 10, scale: 3 };
    let half = Value::Decimal { unscaled: 5, scale: 1 };
    let ranges = [(None, Some(half.clone())), (Some(half), None)].map(|(lower, upper)| StatedRange {
        lower,
        upper,
        include_lower: true,
        include_upper: false,
    });
    let found = plan(
        &column(ty.clone(), false),
        Split::Explicit { ranges: ranges.to_vec(), gaps: GapPolicy::Reject, null: false },
    )
    .unwrap();
    assert_eq!(show(&ty, &found), ["(.., 0.500)", "[0.500, ..)"]);
    assert!(found[0].contains(Some(&Value::Decimal { unscaled: 499, scale: 3 })));
}

#[test]
fn a_group_key_must_hold_the_range_column() {
    let check = |key: &[&str]| {
        let key: Vec<String> = key.iter().map(|&c| c.to_owned()).collect();
        check_group_key("k", &key).map_err(|r| r.code)
    };
    assert_eq!(check(&[]), Ok(()));
    assert_eq!(check(&["a", "k"]), Ok(()));
    assert_eq!(check(&["a", "K"]), Err(Code::GroupIntegrityUnproven));
}
