//! Boundary values as a manifest states them.

use jiff::civil;

use super::axis::Axis;
use super::plan::unsupported;
use super::uuid_order::UuidOrder;
use crate::codes::Code;
use crate::refusal::Refusal;
use crate::schema::LogicalType;
use crate::value::Value;

/// The value of that type that a manifest scalar states, exactly.
///
/// Integers are digits with an optional `-`; decimals add `.` and digits; dates are `YYYY-MM-DD`; timestamps
/// are `YYYY-MM-DD[ T]HH:MM:SS[.fraction]`, or a date alone for its midnight, and end in `Z` or `±HH:MM` if and
/// only if the column is an instant; uuids are 8-4-4-4-12 hexadecimal digits. Digits beyond the column's precision must be zeros.
///
/// # Errors
/// `range_invalid` if the text is not exactly a value of the type; `unsupported_boundary_type` if values of the
/// type cannot be boundaries. The caller adds the place.
pub fn parse_value(ty: &LogicalType, text: &str) -> Result<Value, Refusal> {
    let Some(axis) = Axis::of(ty, UuidOrder::Bytes) else {
        return Err(unsupported("the partition column", ty));
    };
    let value = match *ty {
        LogicalType::Decimal { scale, .. } => number(text, scale).map(|unscaled| Value::Decimal { unscaled, scale }),
        LogicalType::Uuid => uuid(text).map(Value::Uuid),
        LogicalType::Date => date(text).and_then(days).map(Value::Date),
        LogicalType::Timestamp { digits, utc } => timestamp(text, digits, utc),
        _ => number(text, 0).map(Value::Int),
    };
    value.filter(|value| axis.position(value).is_some()).ok_or_else(|| {
        let fix = match ty {
            LogicalType::Uuid => "Write it as 32 hexadecimal digits in groups of 8-4-4-4-12.",
            LogicalType::Date => "Write it as YYYY-MM-DD, in the years 0001 to 9999.",
            LogicalType::Timestamp { utc: true, .. } => {
                "Write it as YYYY-MM-DDTHH:MM:SS with a fraction no finer than the column's and Z or an offset."
            }
            LogicalType::Timestamp { .. } => {
                "Write it as YYYY-MM-DDTHH:MM:SS with a fraction no finer than the column's and no time zone."
            }
            _ => "Write it in plain digits, within the column's range and no finer than its scale.",
        };
        Refusal::new(Code::RangeInvalid, format!("the bound is not exactly a value of type {ty}")).fix(fix)
    })
}

/// Digits with an optional sign and fraction, as an integer of 10^-`scale`.
fn number(text: &str, scale: u8) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, part) = match digits.split_once('.') {
        Some((whole, part)) if !part.is_empty() => (whole, part),
        Some(_) => return None,
        None => (digits, ""),
    };
    if whole.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    let fraction = fraction(part, scale)?;
    for digit in whole.bytes().chain(fraction) {
        let digit = i128::from(char::from(digit).to_digit(10)?);
        total = total.checked_mul(10)?;
        total = if negative { total.checked_sub(digit)? } else { total.checked_add(digit)? };
    }
    Some(total)
}

/// Exactly `scale` digits of a fraction; `None` if digits that are not zero lie beyond.
fn fraction(part: &str, scale: u8) -> Option<impl Iterator<Item = u8>> {
    let scale = usize::from(scale);
    let exact = part.bytes().skip(scale).all(|digit| digit == b'0');
    let digits = part.bytes().take(scale).chain(std::iter::repeat_n(b'0', scale.saturating_sub(part.len())));
    exact.then_some(digits)
}

/// `8-4-4-4-12` hexadecimal digits.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let grouped =
        text.len() == 36 && text.bytes().enumerate().all(|(i, b)| (b == b'-') == matches!(i, 8 | 13 | 18 | 23));
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let plain = grouped && digits.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then(|| u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes))?
}

/// `YYYY-MM-DD`.
fn date(text: &str) -> Option<civil::Date> {
    let b = text.as_bytes();
    if b.len() != 10 || b[4] != b'-' || b[7] != b'-' {
        return None;
    }
    let year = i16::try_from(digits(text.get(0..4)?)?).ok()?;
    let month = i8::try_from(digits(text.get(5..7)?)?).ok()?;
    civil::Date::new(year, month, i8::try_from(digits(text.get(8..10)?)?).ok()?).ok()
}

fn days(date: civil::Date) -> Option<i32> {
    let epoch = civil::date(1970, 1, 1);
    Some(date.since((jiff::Unit::Day, epoch)).ok()?.get_days())
}

fn timestamp(text: &str, precision: u8, utc: bool) -> Option<Value> {
    let days = days(date(text.get(..10)?)?)?;
    let rest = text.get(10..)?;
    let (time, zone) = if utc { split_zone(rest)? } else { (rest, 0) };
    let mut seconds = i128::from(days) * 86_400 - zone;
    let mut part = 0;
    if let Some(clock) = time.strip_prefix([' ', 'T']) {
        let (clock, digits) = clock.split_once('.').map_or((clock, None), |(clock, digits)| (clock, Some(digits)));
        seconds += seconds_of_day(clock)?;
        if let Some(digits) = digits {
            part = number(&format!("0.{digits}"), precision)?;
        }
    } else if utc || !time.is_empty() {
        return None;
    }
    let ticks = seconds * 10i128.checked_pow(u32::from(precision))? + part;
    Some(Value::Ticks { ticks, digits: precision })
}

/// `HH:MM:SS`. There is no second 60: no type here can hold it.
fn seconds_of_day(clock: &str) -> Option<i128> {
    let b = clock.as_bytes();
    if b.len() != 8 || b[2] != b':' || b[5] != b':' {
        return None;
    }
    let (hour, minute) = (digits(clock.get(0..2)?)?, digits(clock.get(3..5)?)?);
    let second = digits(clock.get(6..8)?)?;
    (hour < 24 && minute < 60 && second < 60).then(|| i128::from(hour * 3600 + minute * 60 + second))
}

/// What is before the zone, and the zone in seconds east of UTC.
fn split_zone(text: &str) -> Option<(&str, i128)> {
    if let Some(rest) = text.strip_suffix('Z') {
        return Some((rest, 0));
    }
    let (rest, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let sign = match zone.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone[1..].split_once(':')?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours < 24 && minutes < 60).then(|| (rest, sign * i128::from(hours * 3600 + minutes * 60)))
}

/// A number of up to nine plain digits.
fn digits(text: &str) -> Option<u32> {
    let plain = (1..=9).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}
