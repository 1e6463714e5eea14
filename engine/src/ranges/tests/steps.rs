use super::super::{KeyFacts, Scope, Step, UuidOrder, parse_value, plan_ranges_ordered, split_of};
use super::{I64, Split, column, int, plan, show};
use crate::codes::Code;
use crate::manifest::{BoundaryText, Bounds, ExplicitRange, RangeCount, RangePolicy};
use crate::schema::LogicalType;
use crate::value::Value;

fn steps(points: &[(i128, u64)]) -> Vec<Step> {
    points.iter().map(|(key, rows)| Step { key: int(*key), rows: *rows }).collect()
}

#[track_caller]
fn check(points: &[(i128, u64)], units: u32, least: u64, expect: &[&str]) {
    let split = Split::Steps { steps: steps(points), units, least };
    assert_eq!(show(&I64, &plan(&column(I64, false), split).unwrap()), expect);
}

#[test]
fn ranges_hold_about_as_many_rows_each() {
    let even: Vec<(i128, u64)> = (0..100).map(|k| (k * 10, 100)).collect();
    check(&even, 4, 1, &["(.., 250)", "[250, 500)", "[500, 750)", "[750, ..)"]);
    check(&even, 4, 5_000, &["(.., 500)", "[500, ..)"]);
    check(&even, 4, 1_000_000, &["(.., ..)"]);
    // Nine of ten rows are in the first tenth of the domain.
    let skewed: Vec<(i128, u64)> = (0..10).map(|k| (k, 900)).chain((1..10).map(|k| (k * 10, 100))).collect();
    check(&skewed, 3, 1, &["(.., 4)", "[4, 7)", "[7, ..)"]);
    check(&[], 4, 1, &["(.., ..)"]);
    check(&[(5, 0)], 4, 1, &["(.., ..)"]);
}

#[test]
fn a_hot_key_has_a_range_of_its_own() {
    check(&[(1, 10), (2, 10), (3, 1000), (4, 10), (5, 10)], 4, 1, &["(.., 3)", "[3, 4)", "[4, ..)"]);
    check(&[(3, 1000)], 4, 1, &["(.., ..)"]);
}

#[test]
fn a_distribution_that_is_none_is_refused() {
    let refused = |ty: LogicalType, keys: &[Value]| {
        let steps = keys.iter().map(|key| Step { key: key.clone(), rows: 1 }).collect();
        plan(&column(ty, false), Split::Steps { steps, units: 2, least: 1 }).unwrap_err().code
    };
    let text = |t: &str| Value::Text(t.into());
    assert_eq!(refused(I64, &[int(2), int(1)]), Code::RangeInvalid);
    assert_eq!(refused(I64, &[int(1), int(1)]), Code::RangeInvalid);
    assert_eq!(refused(I64, &[text("a")]), Code::SourceValueTypeMismatch);
    assert_eq!(refused(LogicalType::Text, &[text("a"), text("a")]), Code::RangeInvalid);
    assert_eq!(refused(LogicalType::Text, &[int(1)]), Code::UnsupportedBoundaryType);
    assert_eq!(refused(LogicalType::Bool, &[Value::Bool(true)]), Code::UnsupportedBoundaryType);
    assert_eq!(refused(LogicalType::Time { digits: 0 }, &[]), Code::UnsupportedBoundaryType);
}

#[test]
fn texts_are_cut_in_the_order_of_their_source() {
    // A collation that folds case: "a" < "B" < "c".
    let keys = ["a", "B", "c"].map(|key| Step { key: Value::Text(key.into()), rows: 10 });
    let split = Split::Steps { steps: keys.to_vec(), units: 3, least: 1 };
    let found = plan(&column(LogicalType::Text, true), split).unwrap();
    assert_eq!(show(&LogicalType::Text, &found), ["(.., B)", "[B, c)", "[c, ..)", "null"]);
}

#[test]
fn uuids_are_cut_where_they_sort_by_their_bytes() {
    let parse = |text: &str| parse_value(&LogicalType::Uuid, text).unwrap();
    let (least, most) = ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff");
    let facts = |uuid_order| KeyFacts { extent: Some((parse(least), parse(most))), uuid_order, ..KeyFacts::default() };
    let policy = RangePolicy { count: RangeCount::Fixed(2), ..super::policy::policy(Bounds::Auto) };
    let key = column(LogicalType::Uuid, false);
    let split = split_of(&policy, &key, &facts(UuidOrder::Bytes)).unwrap();
    let cut = "7fffffff-ffff-ffff-ffff-ffffffffffff";
    assert_eq!(show(&LogicalType::Uuid, &plan(&key, split).unwrap()), [format!("(.., {cut})"), format!("[{cut}, ..)")]);
    let refused = split_of(&policy, &key, &facts(UuidOrder::Unknown)).unwrap_err();
    assert_eq!(refused.code, Code::UnsupportedBoundaryType);
    assert!(parse_value(&LogicalType::Uuid, "7fffffffffff-ffff-ffff-ffff-ffffffff").is_err());
}

#[test]
fn uuids_of_sql_server_are_cut_by_its_own_account_only() {
    let parse = |text: &str| parse_value(&LogicalType::Uuid, text).unwrap();
    let key = column(LogicalType::Uuid, false);
    let texts = |policy: &RangePolicy, steps: Option<&[&str]>| {
        let steps = steps.map(|s| s.iter().map(|text| Step { key: parse(text), rows: 10 }).collect());
        let facts = KeyFacts { steps, uuid_order: UuidOrder::SqlServer, ..KeyFacts::default() };
        let split = split_of(policy, &key, &facts).map_err(|r| r.code)?;
        let found = plan_ranges_ordered(Some(&key), &split, facts.uuid_order).map_err(|r| r.code)?;
        Ok(show(&LogicalType::Uuid, &found))
    };
    // By its bytes the second is the least.
    let keys = ["ffffffff-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"];
    let auto = RangePolicy { count: RangeCount::Fixed(2), ..super::policy::policy(Bounds::Auto) };
    assert_eq!(texts(&auto, Some(&keys)), Ok(vec![format!("(.., {})", keys[1]), format!("[{}, ..)", keys[1])]));
    assert_eq!(texts(&auto, Some(&[keys[1], keys[0]])), Err(Code::RangeInvalid));
    let bound = |text: &str| BoundaryText(text.into());
    let between = Bounds::Between { lower: bound(keys[0]), upper: bound(keys[1]) };
    assert_eq!(texts(&super::policy::policy(between), None), Err(Code::UnsupportedBoundaryType));
    let range = |lower: &str, upper: &str| ExplicitRange {
        lower: Some(bound(lower)),
        upper: Some(bound(upper)),
        include_lower: true,
        include_upper: false,
    };
    let stated =
        |lower, upper| super::policy::policy(Bounds::Explicit { ranges: vec![range(lower, upper)], null: false });
    assert_eq!(texts(&stated(keys[0], keys[1]), None), Ok(vec![format!("[{}, {})", keys[0], keys[1])]));
    assert_eq!(texts(&stated(keys[1], keys[0]), None), Err(Code::RangeInvalid));
}

#[test]
fn a_range_up_to_the_greatest_uuid_is_open() {
    use super::super::StatedRange;
    use crate::manifest::GapPolicy;
    let most = Value::Uuid([0xff; 16]);
    let stated = |lower: Option<Value>, include_lower, upper: Option<Value>| Split::Explicit {
        ranges: vec![StatedRange { lower, upper, include_lower, include_upper: true }],
        gaps: GapPolicy::Reject,
        null: false,
    };
    let key = column(LogicalType::Uuid, false);
    let found = plan(&key, stated(None, true, Some(most.clone()))).unwrap();
    assert!(matches!(found[0].scope, Scope::Interval { .. }) && found[0].contains(Some(&most)));
    assert_eq!(plan(&key, stated(Some(most), false, None)).unwrap_err().code, Code::RangeInvalid);
}
