#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::prelude::*;

use super::{ColumnProfile, Difference, Mismatch, PREFIX_BYTES, RowProfiler, UnitProfile, compare};
use crate::codes::Code;
use crate::manifest::Fidelity;
use crate::schema::{Column, LogicalType, Schema};
use crate::value::Value;

const I64: LogicalType = LogicalType::Int { bits: 64 };

fn schema(types: &[LogicalType]) -> Schema {
    let column = |(i, ty): (usize, &LogicalType)| Column {
        name: format!("c{i}"),
        ty: ty.clone(),
        nullable: true,
        declared: String::new(),
    };
    Schema { columns: types.iter().enumerate().map(column).collect() }
}

/// A row of an integer and a text, as the mutations below need.
type Row = (Option<i64>, Option<&'static str>);

fn profile_at(rows: &[Row], level: Fidelity) -> UnitProfile {
    let mut profiler = RowProfiler::new(&schema(&[I64, LogicalType::Text]), level);
    for (number, text) in rows {
        match number {
            Some(v) => profiler.int(*v),
            None => profiler.null(),
        }
        match text {
            Some(v) => profiler.text(v),
            None => profiler.null(),
        }
        profiler.end_row();
    }
    profiler.finish().unwrap()
}

fn profile(rows: &[Row]) -> UnitProfile {
    profile_at(rows, Fidelity::Rows)
}

const ROWS: [Row; 6] = [
    (Some(1), Some("a")),
    (Some(2), Some("b")),
    (Some(3), None),
    (None, Some("d")),
    (Some(5), Some("")),
    (Some(6), Some("f")),
];

/// What `sink` is found out by, at each level from `counts` up.
#[track_caller]
fn mutation(sink: &[Row], counts: &[Difference], columns: &[Difference], rows: &[Difference]) {
    for (level, expect) in [(Fidelity::Counts, counts), (Fidelity::Columns, columns), (Fidelity::Rows, rows)] {
        let found = compare(&profile(&ROWS), &profile(sink), level);
        let found: Vec<Difference> = found.into_iter().map(|m| m.difference).collect();
        assert_eq!(found, expect, "{level}");
    }
    assert_eq!(compare(&profile(&ROWS), &profile(sink), Fidelity::Off), []);
}

#[test]
fn equal_rows_in_any_order_have_one_profile() {
    let mut rows = ROWS;
    rows.reverse();
    mutation(&rows, &[], &[], &[]);
}

#[test]
fn a_column_shifted_by_one_row_is_caught() {
    let shifted: Vec<Row> = (0..6).map(|i| (ROWS[i].0, ROWS[(i + 1) % 6].1)).collect();
    // Each column alone still holds the same values: only whole rows show it.
    mutation(&shifted, &[], &[], &[Difference::Checksum]);
}

#[test]
fn a_duplicated_pair_is_caught() {
    let twice_more = |row: Row| [&ROWS[..], &[row, row]].concat();
    let rows = Difference::Rows { source: 6, sink: 8 };
    mutation(&twice_more(ROWS[1]), &[rows], &[rows], &[rows, Difference::Checksum]);
    assert_eq!(xor(&ROWS), xor(&twice_more(ROWS[1])), "XOR cancels a row that comes twice more");

    // One pair in place of another: counts, NULLs and extremes agree, and so would XOR.
    let (source, sink) = (twice_more(ROWS[1]), twice_more(ROWS[4]));
    assert_eq!(xor(&source), xor(&sink));
    let found = compare(&profile(&source), &profile(&sink), Fidelity::Rows);
    assert_eq!(found, [Mismatch { column: None, difference: Difference::Checksum }]);
}

fn xor(rows: &[Row]) -> u128 {
    rows.iter().map(|row| profile(&[*row]).checksum).fold(0, |a, b| a ^ b)
}

#[test]
fn a_dropped_null_is_caught() {
    let nulls = Difference::Nulls { source: 1, sink: 0 };
    let mut zero = ROWS;
    zero[3].0 = Some(0);
    mutation(&zero, &[], &[nulls, Difference::Minimum], &[nulls, Difference::Minimum, Difference::Checksum]);
    let mut empty = ROWS;
    empty[2].1 = Some("");
    mutation(&empty, &[], &[nulls], &[nulls, Difference::Checksum]);
    // A NULL that moves to another row keeps every count and extreme.
    let mut moved = ROWS;
    (moved[1].1, moved[2].1) = (moved[2].1, moved[1].1);
    mutation(&moved, &[], &[], &[Difference::Checksum]);
}

#[test]
fn mismatches_name_the_column_and_no_value() {
    let mut sink = profile(&ROWS);
    sink.columns[1].nulls = 7;
    sink.columns[1].max = None;
    let found = compare(&profile(&ROWS), &sink, Fidelity::Rows);
    let schema = schema(&[I64, LogicalType::Text]);
    let text: Vec<String> = found.iter().map(|m| m.describe(&schema)).collect();
    assert_eq!(text, ["1 NULLs of column \"c1\" were read and 7 are held", "the maximum of column \"c1\" differs"]);
    let minimum = Mismatch { column: Some(0), difference: Difference::Minimum };
    assert_eq!(minimum.to_string(), "the minimum of column 1 differs");
}

#[test]
fn a_side_that_profiled_no_columns_does_not_pass_for_equal() {
    let counted = profile_at(&ROWS, Fidelity::Counts);
    let found = compare(&profile(&ROWS), &counted, Fidelity::Columns);
    assert_eq!(found, [Mismatch { column: None, difference: Difference::Columns { source: 2, sink: 0 } }]);
    assert_eq!(compare(&profile(&ROWS), &counted, Fidelity::Counts), []);
}

#[test]
fn a_level_computes_what_it_compares() {
    let counts = profile_at(&ROWS, Fidelity::Counts);
    assert_eq!(counts, UnitProfile { rows: 6, ..UnitProfile::default() });
    let columns = profile_at(&ROWS, Fidelity::Columns);
    assert_eq!(columns, UnitProfile { checksum: 0, ..profile(&ROWS) });
}

/// One cell of every type, by the method that takes it.
type Cell = fn(&mut RowProfiler);

#[test]
fn every_type_has_its_extremes() {
    let check = |ty: LogicalType, cells: &[Cell], expect: Option<(Value, Value)>| {
        let mut profiler = RowProfiler::new(&schema(std::slice::from_ref(&ty)), Fidelity::Rows);
        for cell in cells {
            cell(&mut profiler);
            profiler.end_row();
        }
        profiler.null();
        profiler.end_row();
        let (min, max) = expect.unzip();
        assert!(profiler.finish().unwrap().columns == [ColumnProfile { nulls: 1, min, max }], "{ty}");
    };
    let int = |a, b| Some((Value::Int(a), Value::Int(b)));
    let bytes = |a: &[u8], b: &[u8]| Some((Value::Bytes(a.to_vec()), Value::Bytes(b.to_vec())));
    check(I64, &[], None);
    check(I64, &[|p| p.int(i64::MAX)], int(i64::MAX.into(), i64::MAX.into()));
    check(I64, &[|p| p.int(3), |p| p.int(-3)], int(-3, 3));
    check(LogicalType::UInt { bits: 64 }, &[|p| p.uint(u64::MAX), |p| p.uint(0)], int(0, u64::MAX.into()));
    check(LogicalType::Bool, &[|p| p.bool(false)], Some((Value::Bool(false), Value::Bool(false))));
    check(LogicalType::Bool, &[|p| p.bool(true), |p| p.bool(false)], Some((Value::Bool(false), Value::Bool(true))));
    check(LogicalType::Date, &[|p| p.date(-1), |p| p.date(1)], Some((Value::Date(-1), Value::Date(1))));
    let ticks = |ticks| Value::Ticks { ticks, digits: 7 };
    check(LogicalType::Time { digits: 7 }, &[|p| p.ticks(5)], Some((ticks(5), ticks(5))));
    let stamps = LogicalType::Timestamp { digits: 7, utc: true };
    check(stamps, &[|p| p.ticks(5), |p| p.ticks(-5)], Some((ticks(-5), ticks(5))));
    let decimal = |unscaled| Value::Decimal { unscaled, scale: 2 };
    let narrow = LogicalType::Decimal { precision: 38, scale: 2 };
    check(narrow, &[|p| p.decimal(1 << 100), |p| p.decimal(-1)], Some((decimal(-1), decimal(1 << 100))));
    check(LogicalType::Decimal { precision: 39, scale: 2 }, &[|p| p.wide_decimal(&[1; 32])], None);
    let uuid = |b: u8| Value::Uuid([b; 16]);
    check(LogicalType::Uuid, &[|p| p.uuid(&[0x80; 16]), |p| p.uuid(&[0x7f; 16])], Some((uuid(0x7f), uuid(0x80))));
    check(LogicalType::Text, &[|p| p.text("b"), |p| p.text(""), |p| p.text("a")], bytes(b"", b"b"));
    check(LogicalType::Binary, &[|p| p.binary(&[0xff]), |p| p.binary(&[0, 0])], bytes(&[0, 0], &[0xff]));

    let floats = |a, b| Some((Value::from_f64(a), Value::from_f64(b)));
    let f64s = LogicalType::Float { bits: 64 };
    check(f64s.clone(), &[|p| p.float64(0.0), |p| p.float64(-0.0)], floats(-0.0, 0.0));
    let cells: [Cell; 3] = [|p| p.float64(f64::INFINITY), |p| p.float64(f64::NAN), |p| p.float64(f64::NEG_INFINITY)];
    check(f64s, &cells, floats(f64::NEG_INFINITY, f64::NAN));
    let f32s = LogicalType::Float { bits: 32 };
    check(f32s.clone(), &[|p| p.float32(1.5), |p| p.float32(f32::MIN_POSITIVE)], floats(f32::MIN_POSITIVE.into(), 1.5));
    // A signalling NaN keeps its payload.
    let signalling = f64::from_bits(0x7ff0_0000_2000_0000);
    check(f32s, &[|p| p.float32(f32::from_bits(0x7f80_0001))], floats(signalling, signalling));
}

#[test]
fn cells_that_are_not_the_schemas_are_found_out() {
    let cases: [&[Cell]; 6] = [
        &[|p| p.text("x"), |p| p.text("x"), |p| p.end_row()],
        &[|p| p.date(1), |p| p.text("x"), |p| p.end_row()],
        &[|p| p.int(1), |p| p.end_row()],
        &[|p| p.int(1), |p| p.text("x"), |p| p.null(), |p| p.end_row()],
        &[|p| p.int(1), |p| p.text("x"), |p| p.int(1), |p| p.end_row()],
        &[|p| p.int(1), |p| p.text("x")],
    ];
    for calls in cases {
        for level in [Fidelity::Columns, Fidelity::Rows] {
            let mut profiler = RowProfiler::new(&schema(&[I64, LogicalType::Text]), level);
            calls.iter().for_each(|call| call(&mut profiler));
            assert_eq!(profiler.finish().unwrap_err().code, Code::InternalError);
        }
    }
}

#[test]
fn profiles_of_other_schemas_do_not_merge() {
    let of = |ty: LogicalType, cell: Cell| {
        let mut profiler = RowProfiler::new(&schema(&[ty]), Fidelity::Rows);
        cell(&mut profiler);
        profiler.end_row();
        profiler.finish().unwrap()
    };
    let decimal = |scale| of(LogicalType::Decimal { precision: 9, scale }, |p| p.decimal(1));
    let int = of(I64, |p| p.int(1));
    for (mut a, b) in [(int.clone(), decimal(0)), (decimal(1), decimal(2)), (int.clone(), profile(&ROWS))] {
        let before = a.clone();
        assert_eq!(a.merge(&b).unwrap_err().code, Code::InternalError);
        assert!(a == before);
    }
    let mut full = UnitProfile { rows: u64::MAX, ..int.clone() };
    assert_eq!(full.merge(&int).unwrap_err().code, Code::InternalError);
}

#[test]
fn json_keeps_every_bit() {
    for checksum in [0, 1, u128::MAX] {
        let profile = UnitProfile { checksum, ..profile(&ROWS) };
        let text = serde_json::to_string(&profile).unwrap();
        assert!(serde_json::from_str::<UnitProfile>(&text).unwrap() == profile);
        let tree = serde_json::to_value(&profile).unwrap();
        assert!(serde_json::from_value::<UnitProfile>(tree).unwrap() == profile);
    }
    for bad in ["\"\"", "1", "\"+0000000000000000000000000000001\"", "\"0000000000000000000000000000000g\""] {
        let text = format!("{{\"rows\":0,\"checksum\":{bad},\"columns\":[]}}");
        assert!(serde_json::from_str::<UnitProfile>(&text).is_err(), "{bad}");
    }
}

fn rows() -> impl Strategy<Value = Vec<(Option<i64>, Option<Vec<u8>>)>> {
    let byte = prop_oneof![Just(0u8), Just(1), any::<u8>()];
    let long = prop::collection::vec(byte.clone(), 0..12);
    // Around the eight bytes that decide most comparisons, and around the prefix that takes part.
    let edge = (prop::collection::vec(byte, 0..3), 0usize..=2, any::<bool>()).prop_map(|(end, around, far)| {
        let mut v = vec![7u8; if far { PREFIX_BYTES } else { 8 } - around];
        v.extend(end);
        v
    });
    let bytes = prop_oneof![long, edge];
    prop::collection::vec((prop::option::of(any::<i64>()), prop::option::of(bytes)), 0..40)
}

fn of(rows: &[(Option<i64>, Option<Vec<u8>>)]) -> UnitProfile {
    let mut profiler = RowProfiler::new(&schema(&[I64, LogicalType::Binary]), Fidelity::Rows);
    for (number, bytes) in rows {
        match number {
            Some(v) => profiler.int(*v),
            None => profiler.null(),
        }
        match bytes {
            Some(v) => profiler.binary(v),
            None => profiler.null(),
        }
        profiler.end_row();
    }
    profiler.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_the_profile_of_all_rows_in_any_order(parts in prop::collection::vec(rows(), 3), seed: u64) {
        let all = parts.concat();
        let mut shuffled = all.clone();
        shuffled.sort_by_key(|(n, b)| (n.unwrap_or(9) as u64).wrapping_mul(seed | 1) ^ b.as_ref().map_or(0, Vec::len) as u64);
        let [a, b, c] = [0, 1, 2].map(|i| of(&parts[i]));
        let merge = |x: &UnitProfile, y: &UnitProfile| {
            let mut x = x.clone();
            x.merge(y).unwrap();
            x
        };
        let whole = of(&shuffled);
        prop_assert!(merge(&merge(&a, &b), &c) == whole);
        prop_assert!(merge(&a, &merge(&b, &c)) == whole);
        prop_assert!(merge(&c, &merge(&b, &a)) == whole);
        prop_assert!(merge(&UnitProfile::default(), &whole) == whole);
        prop_assert!(merge(&whole, &UnitProfile::default()) == whole);
    }

    #[test]
    fn extremes_are_those_of_the_values(rows in rows()) {
        let found = of(&rows);
        let numbers = || rows.iter().filter_map(|row| row.0);
        let int = |v: i64| Value::Int(v.into());
        prop_assert!(found.columns[0].min == numbers().min().map(int) && found.columns[0].max == numbers().max().map(int));
        let prefixes = || rows.iter().filter_map(|row| row.1.as_ref()).map(|v| &v[..v.len().min(PREFIX_BYTES)]);
        let bytes = |v: &[u8]| Value::Bytes(v.to_vec());
        prop_assert!(found.columns[1].min == prefixes().min().map(bytes));
        prop_assert!(found.columns[1].max == prefixes().max().map(bytes));
        let nulls = rows.iter().filter(|row| row.1.is_none()).count() as u64;
        prop_assert_eq!(found.columns[1].nulls, nulls);
    }
}
