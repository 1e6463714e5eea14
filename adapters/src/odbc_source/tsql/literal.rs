//! Boundaries as literals of the column's own type.
//!
//! A literal of another type makes the server convert the column, which no index survives, and compares a `datetime` at its
//! 1/300 of a second with more digits than it has.

use dpone_engine::ranges::render_value;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::quote::text;

/// Milliseconds that a `datetime` has as the last digit of a second's thousandths.
const TICKS: [i128; 3] = [0, 3, 7];

/// A boundary of a column of that type, as [`CatalogType::spelled`](super::facts::CatalogType::spelled) gives it, with the
/// collation of a text behind it.
pub(super) fn literal(value: &Value, declared: &str) -> String {
    let base = declared.split(['(', ' ']).next().unwrap_or_default();
    match value {
        Value::Int(v) if matches!(base, "timestamp" | "rowversion") => format!("0x{v:016X}"),
        Value::Int(v) => format!("CAST({v} AS {declared})"),
        Value::Decimal { .. } => format!("CAST({} AS {declared})", render_value(&LogicalType::Bool, value)),
        // The shortest digits that read back as the same float.
        Value::Float(_) => format!("CAST({:E} AS {declared})", value.to_f64().unwrap_or_default()),
        Value::Date(_) => format!("CAST('{}' AS date)", render_value(&LogicalType::Date, value)),
        Value::Ticks { ticks, digits } => moment(*ticks, *digits, base, declared),
        Value::Uuid(_) => format!("CONVERT(uniqueidentifier, '{}')", render_value(&LogicalType::Uuid, value)),
        Value::Text(v) => text_of(v, base, declared),
        Value::Bool(_) | Value::Bytes(_) => "NULL".to_owned(),
    }
}

fn moment(ticks: i128, digits: u8, base: &str, declared: &str) -> String {
    let utc = base == "datetimeoffset";
    let value = Value::Ticks { ticks: next(ticks, base), digits };
    let written = render_value(&LogicalType::Timestamp { digits, utc }, &value);
    let written = written.strip_suffix('Z').map_or(written.clone(), |moment| format!("{moment}+00:00"));
    format!("CONVERT({declared}, '{written}', 126)")
}

/// The least moment that the column can hold and that is not below. Ranges are half-open, so that they hold the same rows
/// with it.
fn next(ticks: i128, base: &str) -> i128 {
    match base {
        "datetime" => {
            let (tens, digit) = (ticks.div_euclid(10), ticks.rem_euclid(10));
            TICKS.iter().find(|tick| **tick >= digit).map_or((tens + 1) * 10, |tick| tens * 10 + tick)
        }
        "smalldatetime" => (ticks + 59).div_euclid(60) * 60,
        _ => ticks,
    }
}

/// Whether a column of that type can hold the moment: a `datetime` counts in 1/300 of a second, a `smalldatetime` in
/// minutes, and both have fewer years.
pub(super) fn is_held(value: &Value, declared: &str) -> bool {
    // 1753-01-01, 1900-01-01 and 2079-06-07 in seconds since 1970-01-01.
    const FIRST: i128 = -6_847_804_800;
    const FIRST_SMALL: i128 = -2_208_988_800;
    const END_SMALL: i128 = 3_453_321_600;
    match (value, declared) {
        (Value::Ticks { ticks, .. }, "datetime") => next(*ticks, declared) == *ticks && *ticks >= FIRST * 1000,
        (Value::Ticks { ticks, .. }, "smalldatetime") => {
            next(*ticks, declared) == *ticks && (FIRST_SMALL..END_SMALL).contains(ticks)
        }
        (Value::Decimal { unscaled, .. }, "money") => i64::try_from(*unscaled).is_ok(),
        (Value::Decimal { unscaled, .. }, "smallmoney") => i32::try_from(*unscaled).is_ok(),
        _ => true,
    }
}

/// The column's own collation and kind: a `varchar` that is compared with an `nvarchar` is converted, and some collations
/// sort the two differently.
fn text_of(value: &str, base: &str, declared: &str) -> String {
    let (ty, collation) = declared.split_once(" COLLATE ").map_or((declared, ""), |(ty, name)| (ty, name));
    let collated = if collation.is_empty() { text(value) } else { format!("{} COLLATE {collation}", text(value)) };
    match base {
        "char" | "varchar" => format!("CAST({collated} AS {ty})"),
        _ => collated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(ticks: i128, digits: u8) -> Value {
        Value::Ticks { ticks, digits }
    }

    #[test]
    fn literals_carry_the_type_and_every_digit() {
        let text = |t: &str| Value::Text(t.into());
        for (value, declared, expect) in [
            (Value::Int(-5), "bigint", "CAST(-5 AS bigint)"),
            (Value::Int(i64::MIN.into()), "bigint", "CAST(-9223372036854775808 AS bigint)"),
            (Value::Int(4524), "timestamp", "0x00000000000011AC"),
            (Value::Int(u64::MAX.into()), "rowversion", "0xFFFFFFFFFFFFFFFF"),
            (Value::Decimal { unscaled: -1, scale: 10 }, "decimal(38,10)", "CAST(-0.0000000001 AS decimal(38,10))"),
            (Value::Decimal { unscaled: 15, scale: 4 }, "money", "CAST(0.0015 AS money)"),
            (Value::from_f64(0.1), "float", "CAST(1E-1 AS float)"),
            (Value::from_f64(-1.5e300), "float", "CAST(-1.5E300 AS float)"),
            (Value::Date(0), "date", "CAST('1970-01-01' AS date)"),
            (ticks(-1, 7), "datetime2(7)", "CONVERT(datetime2(7), '1969-12-31T23:59:59.9999999', 126)"),
            (ticks(0, 0), "datetime2(0)", "CONVERT(datetime2(0), '1970-01-01T00:00:00', 126)"),
            (ticks(1, 7), "datetimeoffset(7)", "CONVERT(datetimeoffset(7), '1970-01-01T00:00:00.0000001+00:00', 126)"),
            (
                Value::Uuid([0xab; 16]),
                "uniqueidentifier",
                "CONVERT(uniqueidentifier, 'abababab-abab-abab-abab-abababababab')",
            ),
            (text("it's"), "nvarchar(20) COLLATE Latin1_General_CI_AS", "N'it''s' COLLATE Latin1_General_CI_AS"),
            (
                text("é"),
                "varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS",
                "CAST(N'é' COLLATE SQL_Latin1_General_CP1_CI_AS AS varchar(20))",
            ),
            (text("a"), "char(5)", "CAST(N'a' AS char(5))"),
        ] {
            assert_eq!(literal(&value, declared), expect);
        }
    }

    #[test]
    fn a_cut_between_two_values_of_a_coarse_type_moves_to_the_upper_one() {
        let datetime = |ms: i128, expect: &str| {
            assert_eq!(literal(&ticks(ms, 3), "datetime"), format!("CONVERT(datetime, '{expect}', 126)"));
        };
        datetime(0, "1970-01-01T00:00:00.000");
        datetime(1, "1970-01-01T00:00:00.003");
        datetime(3, "1970-01-01T00:00:00.003");
        datetime(4, "1970-01-01T00:00:00.007");
        datetime(8, "1970-01-01T00:00:00.010");
        datetime(-1, "1970-01-01T00:00:00.000");
        datetime(-3, "1969-12-31T23:59:59.997");
        let small = |seconds: i128, expect: &str| {
            assert_eq!(
                literal(&ticks(seconds, 0), "smalldatetime"),
                format!("CONVERT(smalldatetime, '{expect}', 126)")
            );
        };
        small(60, "1970-01-01T00:01:00");
        small(61, "1970-01-01T00:02:00");
        small(-1, "1970-01-01T00:00:00");
    }

    #[test]
    fn what_a_column_cannot_hold_is_known() {
        let check = |value: Value, declared: &str, expect: bool| {
            assert_eq!(is_held(&value, declared), expect, "{declared}");
        };
        check(ticks(1_522_584_001_003, 3), "datetime", true);
        check(ticks(1_522_584_001_004, 3), "datetime", false);
        check(ticks(-6_847_804_800_000, 3), "datetime", true);
        check(ticks(-6_847_804_800_010, 3), "datetime", false);
        check(ticks(60, 0), "smalldatetime", true);
        check(ticks(61, 0), "smalldatetime", false);
        check(ticks(3_453_321_540, 0), "smalldatetime", true);
        check(ticks(3_453_321_600, 0), "smalldatetime", false);
        check(ticks(-2_208_988_860, 0), "smalldatetime", false);
        check(ticks(1, 7), "datetime2(7)", true);
        check(Value::Decimal { unscaled: i64::MAX.into(), scale: 4 }, "money", true);
        check(Value::Decimal { unscaled: i128::from(i64::MAX) + 1, scale: 4 }, "money", false);
        check(Value::Decimal { unscaled: 1 << 31, scale: 4 }, "smallmoney", false);
    }
}
