use super::super::{KeyFacts, StatedRange, split_of};
use super::{I64, Split, column, int};
use crate::codes::Code;
use crate::manifest::{
    BoundaryText, BoundaryType, Bounds, BoundsRole, Consistency, ConsistencyAuthority, ExplicitRange, GapPolicy,
    NullBucket, OnAuthorityLost, PlannerPolicy, RangeCount, RangeMode, RangePolicy, ScanMode, StagingTopology,
};
use crate::schema::{Column, LogicalType};

pub(super) fn policy(bounds: Bounds) -> RangePolicy {
    RangePolicy {
        mode: RangeMode::Required,
        column: Some("k".into()),
        count: RangeCount::Fixed(4),
        bounds,
        bounds_role: BoundsRole::Filter,
        boundary_type: BoundaryType::Auto,
        null_bucket: NullBucket::Separate,
        gap_policy: GapPolicy::AllowExplicit,
        planner: PlannerPolicy::default(),
        scan: ScanMode::Auto,
        require_index: false,
        reader_workers: 1,
        upload_workers: 1,
        load_workers: 1,
        max_inflight_ranges: 1,
        max_inflight_rows: 1,
        max_inflight_bytes: 1,
        consistency: Consistency::Immutable,
        consistency_authority: ConsistencyAuthority::default(),
        on_authority_lost: OnAuthorityLost::Reread,
        staging_topology: StagingTopology::SharedPerRun,
        group_key: vec![],
    }
}

fn text(text: &str) -> BoundaryText {
    BoundaryText(text.into())
}

fn split(policy: &RangePolicy, ty: LogicalType, rows: Option<u64>) -> Result<Split, (Code, Option<String>)> {
    let facts = KeyFacts { extent: Some((int(1), int(9))), rows, ..KeyFacts::default() };
    split_of(policy, &column(ty, false), &facts).map_err(|r| (r.code, r.place))
}

#[test]
fn every_form_of_bounds_is_read() {
    let extent = Some((int(1), int(9)));
    assert_eq!(split(&policy(Bounds::Auto), I64, None), Ok(Split::Auto { extent, units: 4 }));

    let between = policy(Bounds::Between { lower: text("-3"), upper: text("8") });
    let expect = Split::Between { lower: int(-3), upper: int(8), units: 4, role: BoundsRole::Filter };
    assert_eq!(split(&between, I64, None), Ok(expect));

    let range = ExplicitRange { lower: Some(text("3")), upper: None, include_lower: false, include_upper: true };
    let explicit = policy(Bounds::Explicit { ranges: vec![range], null: true });
    let stated = StatedRange { lower: Some(int(3)), upper: None, include_lower: false, include_upper: true };
    let expect = Split::Explicit { ranges: vec![stated], gaps: GapPolicy::AllowExplicit, null: true };
    assert_eq!(split(&explicit, I64, None), Ok(expect));
}

#[test]
fn a_bound_that_the_column_cannot_hold_is_refused_with_its_place() {
    let place = |name: &str| Some(format!("source.options.partitioning.{name}"));
    let between = policy(Bounds::Between { lower: text("1"), upper: text("1.5") });
    assert_eq!(split(&between, I64, None), Err((Code::RangeInvalid, place("bounds.upper"))));
    let range = ExplicitRange { lower: Some(text("x")), upper: None, include_lower: true, include_upper: false };
    let explicit = policy(Bounds::Explicit { ranges: vec![range], null: false });
    assert_eq!(split(&explicit, I64, None), Err((Code::RangeInvalid, place("ranges"))));
}

#[test]
fn a_rowversion_is_a_number_in_either_notation() {
    let check = |declared: &str, lower: &str, expect: Result<i128, Code>| {
        let key = Column { declared: declared.into(), ..column(LogicalType::UInt { bits: 64 }, false) };
        let range = ExplicitRange { lower: Some(text(lower)), upper: None, include_lower: true, include_upper: false };
        let family = if expect.is_ok() { BoundaryType::Rowversion } else { BoundaryType::Auto };
        let policy =
            RangePolicy { boundary_type: family, ..policy(Bounds::Explicit { ranges: vec![range], null: false }) };
        let found = split_of(&policy, &key, &KeyFacts::default()).map_err(|r| r.code);
        let found = found.map(|split| match split {
            Split::Explicit { ranges, .. } => ranges[0].lower.clone(),
            _ => None,
        });
        assert!(found == expect.map(|v| Some(int(v))), "{declared} {lower}");
    };
    check("rowversion", "0x00000000000011AC", Ok(4524));
    check("timestamp", "4524", Ok(4524));
    check("timestamp", "0xffffffffffffffff", Ok(u64::MAX.into()));
    check("timestamp", "0x", Err(Code::RangeInvalid));
    check("timestamp", "0x+1", Err(Code::RangeInvalid));
    check("timestamp", "0x10000000000000000", Err(Code::RangeInvalid));
    check("bigint unsigned", "0x1", Err(Code::RangeInvalid));
}

#[test]
fn rows_per_range_choose_the_number_of_ranges() {
    let check = |rows, max, counted, expect| {
        let policy = RangePolicy { count: RangeCount::TargetRows { rows, max }, ..policy(Bounds::Auto) };
        let Ok(Split::Auto { units, .. }) = split(&policy, I64, counted) else { panic!() };
        assert_eq!(units, expect);
    };
    check(100, 64, Some(0), 1);
    check(100, 64, Some(100), 1);
    check(100, 64, Some(101), 2);
    check(1, 64, Some(u64::MAX), 64);
    check(100, 64, None, 64);
}

#[test]
fn a_named_family_must_be_the_columns() {
    let decimal = || LogicalType::Decimal { precision: 9, scale: 2 };
    let check = |boundary_type, ty: LogicalType, fits: bool| {
        let policy = RangePolicy { boundary_type, ..policy(Bounds::Auto) };
        let place = Some("source.options.partitioning.planner.boundary_type".to_owned());
        let refused = Some((Code::UnsupportedBoundaryType, place));
        assert_eq!(split(&policy, ty, None).err(), if fits { None } else { refused });
    };
    check(BoundaryType::Numeric, I64, true);
    check(BoundaryType::Numeric, decimal(), true);
    check(BoundaryType::Integer, decimal(), false);
    check(BoundaryType::Decimal, decimal(), true);
    check(BoundaryType::Date, LogicalType::Date, true);
    check(BoundaryType::Date, LogicalType::Timestamp { digits: 0, utc: false }, false);
    check(BoundaryType::Timestamp, LogicalType::Timestamp { digits: 0, utc: true }, true);
    check(BoundaryType::Uniqueidentifier, I64, false);
    check(BoundaryType::Rowversion, LogicalType::UInt { bits: 64 }, false);
    check(BoundaryType::Text, I64, false);
    check(BoundaryType::Text, LogicalType::Text, true);
    check(BoundaryType::Auto, LogicalType::Text, true);
}
