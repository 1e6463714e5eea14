//! Dates, times of day and timestamps in ISO 8601 text.

use crate::columnar::stored_digits;

/// Why a text is not a timestamp of the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotATimestamp {
    /// It has another form.
    Form,
    /// It has a time zone, and the column has none.
    Zone,
    /// It is outside of the range of its type.
    Range,
}

const SECONDS_PER_DAY: i64 = 86_400;
/// 0001-01-01 and the day after 9999-12-31.
const FIRST_DAY: i64 = -719_162;
const END_DAY: i64 = 2_932_897;

/// `YYYY-MM-DD`, in days since 1970-01-01; years 0001 to 9999.
#[inline]
pub(crate) fn parse_date(text: &[u8]) -> Option<i32> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let year = i32::from(two(y1, y2)?) * 100 + i32::from(two(y3, y4)?);
    let (month, day) = (two(m1, m2)?, two(d1, d2)?);
    if year == 0 || !(1..=12).contains(&month) || day == 0 || day > days_in(year, month) {
        return None;
    }
    Some(days_from_civil(year, i32::from(month), i32::from(day)))
}

/// `HH:MM:SS[.f]`, in ticks of that many fractional digits.
#[inline]
pub(crate) fn parse_time(text: &[u8], digits: u8) -> Option<i64> {
    let (seconds, rest) = seconds(text)?;
    let (fraction, rest) = fraction(rest, digits)?;
    rest.is_empty().then(|| seconds * 10_i64.pow(u32::from(digits)) + fraction)
}

/// `YYYY-MM-DD HH:MM:SS[.f]` with a blank or a `T`, in ticks since 1970-01-01. `Z` or an offset may follow if `utc`.
#[inline]
pub(crate) fn parse_timestamp(text: &[u8], digits: u8, utc: bool) -> Result<i64, NotATimestamp> {
    let parts = text.split_at_checked(10).and_then(|(date, rest)| Some((parse_date(date)?, rest)));
    let (Some((days, [b' ' | b'T', rest @ ..])), true) = (parts, digits <= 9) else { return Err(NotATimestamp::Form) };
    let (seconds, rest) = seconds(rest).ok_or(NotATimestamp::Form)?;
    let (fraction, rest) = fraction(rest, digits).ok_or(NotATimestamp::Form)?;
    let mut second = i64::from(days) * SECONDS_PER_DAY + seconds;
    if !rest.is_empty() {
        let offset = offset(rest).ok_or(NotATimestamp::Form)?;
        if !utc {
            return Err(NotATimestamp::Zone);
        }
        second -= offset;
    }
    if !(FIRST_DAY * SECONDS_PER_DAY..END_DAY * SECONDS_PER_DAY).contains(&second) {
        return Err(NotATimestamp::Range);
    }
    ticks(second, fraction, digits).ok_or(NotATimestamp::Range)
}

/// Seconds since 1970 and a fraction in ticks, together in ticks; `None` if they have no value in the unit that such ticks
/// are stored in.
#[inline]
pub(crate) fn ticks(second: i64, fraction: i64, digits: u8) -> Option<i64> {
    let ticks = i128::from(second) * 10_i128.pow(u32::from(digits)) + i128::from(fraction);
    let stored = ticks * 10_i128.pow(u32::from(stored_digits(digits) - digits));
    i64::try_from(stored).ok().and_then(|_| i64::try_from(ticks).ok())
}

#[inline]
fn two(a: u8, b: u8) -> Option<u8> {
    (a.is_ascii_digit() && b.is_ascii_digit()).then(|| (a - b'0') * 10 + (b - b'0'))
}

/// `HH:MM:SS` in seconds, and what follows. There is no leap second and no 24:00.
#[inline]
fn seconds(text: &[u8]) -> Option<(i64, &[u8])> {
    let &[h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = text else { return None };
    let (hour, minute, second) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
    (hour < 24 && minute < 60 && second < 60)
        .then(|| (i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second), rest))
}

/// An optional fraction in ticks, and what follows; digits beyond `digits` must be zeros.
#[inline]
fn fraction(text: &[u8], digits: u8) -> Option<(i64, &[u8])> {
    let [b'.', rest @ ..] = text else { return Some((0, text)) };
    let (mut ticks, mut count) = (0_i64, 0_u8);
    let length = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    let (figures, rest) = rest.split_at_checked(length)?;
    if figures.is_empty() {
        return None;
    }
    for c in figures {
        if count < digits {
            ticks = ticks * 10 + i64::from(c - b'0');
            count += 1;
        } else if *c != b'0' {
            return None;
        }
    }
    Some((ticks * 10_i64.pow(u32::from(digits - count)), rest))
}

/// `Z` or `±HH:MM`, in seconds.
fn offset(text: &[u8]) -> Option<i64> {
    match *text {
        [b'Z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hour, minute) = (two(h1, h2)?, two(m1, m2)?);
            let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60;
            (hour < 24 && minute < 60).then_some(if sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

pub(crate) fn days_in(year: i32, month: u8) -> u8 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar, counted in 400-year cycles from a March.
pub(crate) fn days_from_civil(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let cycle = year.div_euclid(400);
    let year_of_cycle = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    cycle * 146_097 + year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year - 719_468
}
