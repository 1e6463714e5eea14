//! Timestamps as seven numbers, the last in nanoseconds.

use odbc_api::sys::Timestamp;

use super::date::days;
use crate::reading::Fault;
use crate::reading::text::ticks;

/// Ticks of that many fractional digits since 1970-01-01.
#[inline]
pub(super) fn read(v: &Timestamp, digits: u8) -> Result<i64, Fault> {
    let day = days(v.year, v.month, v.day)?;
    if v.hour > 23 || v.minute > 59 || v.second > 59 || v.fraction > 999_999_999 {
        return Err(Fault::Range);
    }
    let second = i64::from(day) * 86_400 + i64::from(v.hour) * 3600 + i64::from(v.minute) * 60 + i64::from(v.second);
    let per_tick = 10_u32.pow(9 - u32::from(digits.min(9)));
    if !v.fraction.is_multiple_of(per_tick) {
        return Err(Fault::Digits);
    }
    ticks(second, i64::from(v.fraction / per_tick), digits).ok_or(Fault::Range)
}
