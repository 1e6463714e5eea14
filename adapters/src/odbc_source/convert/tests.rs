#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use dpone_engine::manifest::Fidelity;
use dpone_engine::profile::RowProfiler;
use dpone_engine::schema::{Column, LogicalType, Schema};
use dpone_engine::value::Value;

use super::*;

/// What a field becomes: the least value of the profile, which is the value itself, and the array holds as much.
fn read(ty: &LogicalType, carrier: Carrier, field: Field<'_>) -> Result<Option<Value>, Fault> {
    let column = Column { name: "c".into(), ty: ty.clone(), nullable: true, declared: String::new() };
    let schema = Schema { columns: vec![column.clone()] };
    let odbc = OdbcColumn { column, expression: String::new(), carrier, length: None };
    let mut profiler = RowProfiler::new(&schema, Fidelity::Rows);
    let mut builder = ColumnBuilder::new(ty, 1, 64).unwrap();
    let mut scratch = String::new();
    Conversion::new(&odbc).unwrap().take(field, &mut scratch, &mut profiler, &mut builder).unwrap()?;
    profiler.end_row();
    Ok(profiler.finish().unwrap().columns[0].min.clone())
}

#[test]
fn texts_of_numbers_and_moments() {
    let decimal = |precision, scale| LogicalType::Decimal { precision, scale };
    let stamp = |digits, utc| LogicalType::Timestamp { digits, utc };
    let unscaled = |unscaled, scale| Ok(Some(Value::Decimal { unscaled, scale }));
    let ticks = |ticks, digits| Ok(Some(Value::Ticks { ticks, digits }));
    for (ty, text, expect) in [
        (
            decimal(38, 10),
            "1234567890123456789012345678.0123456789",
            unscaled(12_345_678_901_234_567_890_123_456_780_123_456_789, 10),
        ),
        (decimal(18, 4), "-.0001", unscaled(-1, 4)),
        (decimal(4, 2), "100.00", Err(Fault::Precision)),
        (decimal(4, 2), "1.001", Err(Fault::Scale)),
        (decimal(4, 2), "NaN", Err(Fault::NotFinite)),
        (decimal(4, 2), "1e1", Err(Fault::Form)),
        (LogicalType::UInt { bits: 64 }, "18446744073709551615", Ok(Some(Value::Int(u64::MAX.into())))),
        (LogicalType::Int { bits: 64 }, "9223372036854775808", Err(Fault::Form)),
        (LogicalType::Date, "0001-01-01", Ok(Some(Value::Date(-719_162)))),
        (LogicalType::Date, "2024-02-30", Err(Fault::Form)),
        (LogicalType::Time { digits: 7 }, "23:59:59.1234567", ticks(863_991_234_567, 7)),
        (LogicalType::Time { digits: 7 }, "24:00:00", Err(Fault::Form)),
        (stamp(7, true), "1970-01-01 00:00:01.0000001 +00:00", ticks(10_000_001, 7)),
        (stamp(7, true), "1970-01-01 03:30:00.0000000 +03:30", ticks(0, 7)),
        (stamp(0, false), "1970-01-01 00:00:01", ticks(1, 0)),
        (stamp(0, false), "1970-01-01 00:00:01 +01:00", Err(Fault::Form)),
        (
            LogicalType::Uuid,
            "6F9619FF-8B86-D011-B42D-00C04FC964FF",
            Ok(Some(Value::Uuid(0x6F96_19FF_8B86_D011_B42D_00C0_4FC9_64FF_u128.to_be_bytes()))),
        ),
        (LogicalType::Uuid, "6F9619FF", Err(Fault::Form)),
    ] {
        assert_eq!(read(&ty, Carrier::Ascii(64), Field::Ascii(text.as_bytes())), expect, "{ty} {text}");
    }
}

#[test]
fn moments_as_numbers() {
    let check = |fields: (i16, u16, u16, u16, u32), digits, expect| {
        let (year, month, day, hour, fraction) = fields;
        let v = Timestamp { year, month, day, hour, minute: 0, second: 0, fraction };
        let ty = LogicalType::Timestamp { digits, utc: false };
        assert_eq!(read(&ty, Carrier::Timestamp, Field::Timestamp(&v)), expect, "{v:?}");
    };
    let ticks = |ticks, digits| Ok(Some(Value::Ticks { ticks, digits }));
    check((1970, 1, 1, 0, 100), 7, ticks(1, 7));
    check((1970, 1, 1, 1, 3_000_000), 3, ticks(3_600_003, 3));
    check((1970, 1, 1, 0, 150), 7, Err(Fault::Digits));
    check((1970, 1, 1, 24, 0), 3, Err(Fault::Range));
    check((2024, 2, 0, 0, 0), 3, Err(Fault::Range));
    check((0, 1, 1, 0, 0), 3, Err(Fault::Range));
    check((9999, 12, 31, 23, 999_999_000), 6, ticks(253_402_297_200_999_999, 6));
    for (date, expect) in [
        (Date { year: 2024, month: 2, day: 29 }, Ok(Some(Value::Date(19_782)))),
        (Date { year: 2023, month: 2, day: 29 }, Err(Fault::Range)),
        (Date { year: 2024, month: 13, day: 1 }, Err(Fault::Range)),
    ] {
        assert_eq!(read(&LogicalType::Date, Carrier::Date, Field::Date(&date)), expect);
    }
}

#[test]
fn texts_are_utf16_or_refused() {
    let wide = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
    for text in ["plain", "имя 😀", "a\0b", ""] {
        let value = read(&LogicalType::Text, Carrier::Wide(40), Field::Wide(&wide(text)));
        assert_eq!(value, Ok(Some(Value::Bytes(text.as_bytes().to_vec()))));
    }
    assert_eq!(read(&LogicalType::Text, Carrier::LongWide, Field::Wide(&[0x61, 0xD800])), Err(Fault::Encoding));
    assert_eq!(read(&LogicalType::Text, Carrier::Ascii(4), Field::Ascii(b"\xff")), Err(Fault::Encoding));
}

#[test]
fn integers_stay_within_their_width() {
    for (ty, carrier, v, expect) in [
        (LogicalType::UInt { bits: 8 }, Carrier::UInt8, 255, Ok(Some(Value::Int(255)))),
        (LogicalType::UInt { bits: 8 }, Carrier::Int16, 256, Err(Fault::Form)),
        (LogicalType::UInt { bits: 8 }, Carrier::Int16, -1, Err(Fault::Form)),
        (LogicalType::Int { bits: 16 }, Carrier::Int32, -32_769, Err(Fault::Form)),
        (LogicalType::Int { bits: 64 }, Carrier::Int64, i64::MIN, Ok(Some(Value::Int(i64::MIN.into())))),
        (LogicalType::Bool, Carrier::Bit, 2, Err(Fault::Form)),
    ] {
        assert_eq!(read(&ty, carrier, Field::Int(v)), expect, "{ty} {v}");
    }
}
