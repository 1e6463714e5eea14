use super::super::{parse_value, render_value};
use super::I64;
use crate::codes::Code;
use crate::schema::LogicalType;
use crate::value::Value;

#[track_caller]
fn parse(ty: LogicalType, text: &str, expect: Option<Value>) {
    let found = parse_value(&ty, text);
    assert!(found.clone().ok() == expect, "{ty} {text}");
    if let Err(refusal) = found {
        assert_eq!(refusal.code, Code::RangeInvalid);
        assert!(text.is_empty() || !refusal.to_string().contains(text));
    }
}

#[test]
fn integers() {
    let int = |v| Some(Value::Int(v));
    parse(I64, "-9223372036854775808", int(i64::MIN.into()));
    parse(I64, "0", int(0));
    parse(LogicalType::UInt { bits: 64 }, "18446744073709551615", int(u64::MAX.into()));
    parse(LogicalType::UInt { bits: 8 }, "255", int(255));
    for text in ["9223372036854775808", "", "-", "+1", "1e3", "0x1", " 1", "1.5", "1.", "1_000", &"9".repeat(99)] {
        parse(I64, text, None);
    }
    parse(LogicalType::UInt { bits: 8 }, "256", None);
    parse(LogicalType::UInt { bits: 8 }, "-1", None);
}

#[test]
fn decimals() {
    let ty = LogicalType::Decimal { precision: 5, scale: 2 };
    let dec = |unscaled| Some(Value::Decimal { unscaled, scale: 2 });
    parse(ty.clone(), "-0.01", dec(-1));
    parse(ty.clone(), "-999.99", dec(-99999));
    parse(ty.clone(), "7", dec(700));
    parse(ty.clone(), "1.2", dec(120));
    parse(ty.clone(), "1.2300", dec(123));
    for text in ["1.234", "1000", "1000.00", ".5", "1.", "1.2.3", "--1", "NaN", "1.-2"] {
        parse(ty.clone(), text, None);
    }
}

#[test]
fn dates_and_timestamps() {
    let date = |text, days: Option<i32>| parse(LogicalType::Date, text, days.map(Value::Date));
    date("1970-01-01", Some(0));
    date("0001-01-01", Some(-719_162));
    date("9999-12-31", Some(2_932_896));
    date("2024-02-29", Some(19_782));
    for text in
        ["2023-02-29", "0000-01-01", "2024-2-9", "2024-01-01T00:00:00", "2024-13-01", "24-01-0001", "+024-01-01"]
    {
        date(text, None);
    }

    let stamp = |digits, utc, text: &str, ticks: Option<i128>| {
        parse(LogicalType::Timestamp { digits, utc }, text, ticks.map(|ticks| Value::Ticks { ticks, digits }));
    };
    stamp(3, false, "1970-01-01T00:00:01.5", Some(1500));
    stamp(3, false, "1970-01-01 00:00:01.500000", Some(1500));
    stamp(3, false, "1969-12-31T23:59:59.999", Some(-1));
    stamp(0, false, "1970-01-02", Some(86_400));
    stamp(7, false, "1970-01-01T00:00:00.0000001", Some(1));
    stamp(0, true, "1970-01-01T00:00:00Z", Some(0));
    stamp(0, true, "1970-01-01T02:00:00+02:00", Some(0));
    stamp(0, true, "1969-12-31T21:30:00-02:30", Some(0));
    // Finer than the column, a zone where there is none, none where there must be one, hours that are not.
    stamp(3, false, "1970-01-01T00:00:01.0005", None);
    stamp(0, false, "1970-01-01T00:00:00Z", None);
    stamp(0, true, "1970-01-01T00:00:00", None);
    stamp(0, true, "1970-01-01", None);
    for text in [
        "1970-01-01T24:00:00",
        "1970-01-01T00:60:00",
        "1970-01-01T00:00:60",
        "1970-01-01T00:00",
        "1970-01-01x00:00:00",
        "1970-01-01T00:00:00.",
    ] {
        stamp(0, false, text, None);
    }
    for text in [
        "1970-01-01T00:00:00+2:00",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+02:60",
        "0001-01-01T00:00:00+00:01",
        "é970-01-01T00:00:00",
    ] {
        stamp(0, true, text, None);
    }
}

#[test]
fn types_that_are_no_boundaries_are_refused_as_such() {
    for ty in [LogicalType::Text, LogicalType::Time { digits: 0 }, LogicalType::Float { bits: 64 }] {
        assert_eq!(parse_value(&ty, "1").unwrap_err().code, Code::UnsupportedBoundaryType);
    }
}

#[test]
fn values_are_shown_exactly() {
    let check = |ty: LogicalType, value, expect: &str| assert_eq!(render_value(&ty, &value), expect);
    check(LogicalType::Bool, Value::Bool(true), "true");
    check(LogicalType::Float { bits: 64 }, Value::from_f64(-0.0), "-0.0");
    check(LogicalType::Float { bits: 64 }, Value::from_f64(f64::NAN), "NaN");
    check(LogicalType::Float { bits: 64 }, Value::from_f64(0.1), "0.1");
    check(
        LogicalType::Decimal { precision: 38, scale: 38 },
        Value::Decimal { unscaled: -1, scale: 38 },
        &format!("-0.{}1", "0".repeat(37)),
    );
    let digits = 3;
    check(LogicalType::Time { digits }, Value::Ticks { ticks: 86_399_999, digits }, "23:59:59.999");
    check(LogicalType::Timestamp { digits, utc: true }, Value::Ticks { ticks: -1, digits }, "1969-12-31T23:59:59.999Z");
    check(LogicalType::Date, Value::Date(i32::MAX), "day 2147483647 of 1970");
    check(LogicalType::Text, Value::Text("é".into()), "é");
    check(LogicalType::Binary, Value::Bytes(vec![0, 255]), "0x00ff");
    let id = std::array::from_fn(|i| i as u8);
    check(LogicalType::Uuid, Value::Uuid(id), "00010203-0405-0607-0809-0a0b0c0d0e0f");
}
