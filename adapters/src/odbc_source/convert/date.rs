//! Dates as three numbers.

use odbc_api::sys::Date;

use crate::reading::Fault;
use crate::reading::text::{days_from_civil, days_in};

/// Days since 1970-01-01. What is no day of the calendar (MariaDB has day 0) is a fault.
#[inline]
pub(super) fn read(v: &Date) -> Result<i32, Fault> {
    days(v.year, v.month, v.day)
}

/// Days since 1970-01-01 of a year, a month and a day.
#[inline]
pub(super) fn days(year: i16, month: u16, day: u16) -> Result<i32, Fault> {
    if !(1..=9999).contains(&year) {
        return Err(Fault::Range);
    }
    let year = i32::from(year);
    match u8::try_from(month) {
        Ok(m @ 1..=12) if (1..=u16::from(days_in(year, m))).contains(&day) => {
            Ok(days_from_civil(year, i32::from(m), i32::from(day)))
        }
        _ => Err(Fault::Range),
    }
}
