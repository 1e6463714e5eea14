use super::*;

fn read(ty: LogicalType, stated: bool, value: ValueRef<'_>) -> Result<String, Fault> {
    let mut scratch = Scratch::default();
    Conversion::new(&ty, true, stated).read(value, &mut scratch).map(|cell| format!("{cell:?}"))
}

fn text(v: &str) -> ValueRef<'_> {
    ValueRef::Text(v.as_bytes())
}

#[test]
fn a_cell_is_exactly_a_value_of_its_type() {
    let decimal = |precision, scale| LogicalType::Decimal { precision, scale };
    let timestamp = |digits, utc| LogicalType::Timestamp { digits, utc };
    let int = LogicalType::Int { bits: 64 };
    for (ty, value, expect) in [
        (int.clone(), ValueRef::Integer(i64::MIN), "Int(-9223372036854775808)"),
        (LogicalType::Int { bits: 8 }, ValueRef::Integer(-128), "Int(-128)"),
        (LogicalType::UInt { bits: 8 }, ValueRef::Integer(255), "UInt(255)"),
        (LogicalType::Float { bits: 64 }, ValueRef::Real(f64::INFINITY), "Float64(inf)"),
        (LogicalType::Float { bits: 64 }, ValueRef::Integer(-3), "Float64(-3.0)"),
        (LogicalType::Float { bits: 32 }, ValueRef::Real(1.5), "Float32(1.5)"),
        (LogicalType::Bool, ValueRef::Integer(1), "Bool(true)"),
        (LogicalType::Text, text("a\0b"), "Text(\"a\\0b\")"),
        (LogicalType::Binary, ValueRef::Blob(b"\0\xff"), "Binary([0, 255])"),
        (decimal(20, 4), ValueRef::Real(1.5), "Decimal(15000)"),
        (decimal(20, 4), ValueRef::Integer(-7), "Decimal(-70000)"),
        (decimal(20, 4), text("-0.0001"), "Decimal(-1)"),
        (decimal(5, 2), text("1.2000"), "Decimal(120)"),
        (
            decimal(38, 0),
            text("99999999999999999999999999999999999999"),
            "Decimal(99999999999999999999999999999999999999)",
        ),
        (decimal(15, 5), ValueRef::Real(0.1), "Decimal(10000)"),
        (decimal(38, 20), ValueRef::Real(1e-20), "Decimal(1)"),
        (decimal(10, 0), ValueRef::Real(-0.0), "Decimal(0)"),
        (LogicalType::Date, text("1970-01-01"), "Date(0)"),
        (LogicalType::Date, text("0001-01-01"), "Date(-719162)"),
        (LogicalType::Date, text("9999-12-31"), "Date(2932896)"),
        (LogicalType::Date, text("2024-02-29"), "Date(19782)"),
        (LogicalType::Time { digits: 3 }, text("23:59:59.999"), "Ticks(86399999)"),
        (LogicalType::Time { digits: 0 }, text("00:00:00.000"), "Ticks(0)"),
        (timestamp(6, false), text("1970-01-02 00:00:00.5"), "Ticks(86400500000)"),
        (timestamp(6, false), text("1969-12-31T23:59:59.999999"), "Ticks(-1)"),
        (timestamp(7, false), text("2262-04-11 23:47:16.8547758"), "Ticks(92233720368547758)"),
        (timestamp(9, true), text("1677-09-21 00:12:43.145224192Z"), "Ticks(-9223372036854775808)"),
        (timestamp(0, true), text("1970-01-01T03:00:00+03:00"), "Ticks(0)"),
        (timestamp(0, true), text("1970-01-01 00:00:01Z"), "Ticks(1)"),
        (
            LogicalType::Uuid,
            text("15FB045F-DB6A-269D-6473-023F3C936FCF"),
            "Uuid(29217143147194874168591890879102545871)",
        ),
        (LogicalType::Uuid, ValueRef::Blob(&[7; 16]), "Uuid(9341084582143408800955381380479911687)"),
        (int, ValueRef::Null, "Null"),
    ] {
        assert_eq!(read(ty.clone(), false, value), Ok(expect.to_owned()), "{ty} {value:?}");
    }
}

#[test]
fn a_stated_string_renders_every_number_exactly() {
    for (value, expect) in [
        (ValueRef::Integer(12_345_678_901), "12345678901"),
        (ValueRef::Integer(i64::MIN), "-9223372036854775808"),
        (ValueRef::Real(2.7), "2.7"),
        (ValueRef::Real(2.0), "2.0"),
        (ValueRef::Real(f64::MIN_POSITIVE), "2.2250738585072014e-308"),
        (ValueRef::Real(1.234_567_890_123_456_7e19), "1.2345678901234567e19"),
        (ValueRef::Real(f64::NEG_INFINITY), "-Infinity"),
        (text("abc"), "abc"),
    ] {
        assert_eq!(read(LogicalType::Text, true, value), Ok(format!("Text({expect:?})")), "{value:?}");
    }
}

#[test]
fn what_is_not_a_value_is_refused_and_never_mended() {
    let decimal = |precision, scale| LogicalType::Decimal { precision, scale };
    let timestamp = |digits, utc| LogicalType::Timestamp { digits, utc };
    let int = LogicalType::Int { bits: 64 };
    for (ty, stated, value) in [
        (int.clone(), false, text("abc")),
        (int.clone(), false, text("1")),
        (int.clone(), true, text("1")),
        (int, false, ValueRef::Real(2.0)),
        (LogicalType::Int { bits: 8 }, true, ValueRef::Integer(128)),
        (LogicalType::UInt { bits: 64 }, true, ValueRef::Integer(-1)),
        (LogicalType::Float { bits: 64 }, false, text("1.5")),
        (LogicalType::Float { bits: 64 }, false, ValueRef::Integer((1 << 53) + 1)),
        (LogicalType::Float { bits: 32 }, true, ValueRef::Real(0.1)),
        (LogicalType::Bool, false, ValueRef::Integer(2)),
        (LogicalType::Bool, false, text("true")),
        (LogicalType::Text, false, ValueRef::Integer(1)),
        (LogicalType::Text, false, ValueRef::Blob(b"a")),
        (LogicalType::Text, true, ValueRef::Blob(b"a")),
        (LogicalType::Text, false, ValueRef::Text(b"\xe9")),
        (LogicalType::Text, true, ValueRef::Text(b"\xed\xa0\x80")),
        (LogicalType::Binary, false, text("text")),
        (decimal(20, 4), false, ValueRef::Real(1.234_567_89)),
        (decimal(20, 4), false, ValueRef::Real(12_345_678_901_234_567_890.123_4)),
        (decimal(20, 4), false, ValueRef::Real(f64::INFINITY)),
        (decimal(5, 2), false, text("1.234")),
        (decimal(5, 2), false, text("1000")),
        (decimal(5, 2), false, text("1.")),
        (decimal(5, 2), false, text(".5")),
        (decimal(5, 2), false, text("1e2")),
        (decimal(5, 2), false, text(" 1")),
        (decimal(5, 2), false, text("")),
        (decimal(5, 2), false, ValueRef::Integer(1000)),
        (decimal(5, 2), false, ValueRef::Blob(b"1")),
        (LogicalType::Date, false, text("0000-00-00")),
        (LogicalType::Date, false, text("31/12/2024")),
        (LogicalType::Date, false, text("2023-02-29")),
        (LogicalType::Date, false, text("2024-1-1")),
        (LogicalType::Date, false, text("2024-01-01 ")),
        (LogicalType::Date, false, ValueRef::Integer(20_240_101)),
        (LogicalType::Time { digits: 0 }, false, text("24:00:00")),
        (LogicalType::Time { digits: 2 }, false, text("00:00:00.123")),
        (timestamp(6, false), false, text("2024-01-01")),
        (timestamp(6, false), false, text("2024-01-01 00:00:00Z")),
        (timestamp(6, false), false, text("2024-01-01 00:00:60")),
        (timestamp(3, false), false, text("2024-01-01 00:00:00.0001")),
        (timestamp(9, false), false, text("2300-01-01 00:00:00")),
        (timestamp(7, false), false, text("9999-12-31 00:00:00")),
        (timestamp(7, false), false, text("2262-04-11 23:47:16.8547759")),
        (timestamp(8, true), false, text("0001-01-01 00:00:00Z")),
        (timestamp(0, true), false, text("0001-01-01T00:00:00+01:00")),
        (LogicalType::Uuid, false, text("15FB045F-DB6A-269D-6473-023F3C936FC")),
        (LogicalType::Uuid, false, ValueRef::Blob(&[7; 15])),
    ] {
        let found = read(ty.clone(), stated, value);
        assert!(found.is_err(), "{ty} {value:?} is {found:?}");
    }
    let mut scratch = Scratch::default();
    let strict = Conversion::new(&LogicalType::Text, false, false);
    assert_eq!(strict.read(ValueRef::Null, &mut scratch), Err(Fault::Null));
}
