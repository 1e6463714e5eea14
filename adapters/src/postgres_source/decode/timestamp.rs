//! `timestamp` and `timestamptz`: microseconds since 2000-01-01T00:00:00, the latter in UTC.

use super::Fault;

/// Microseconds from 1970-01-01 to 2000-01-01.
const EPOCH: i64 = 946_684_800_000_000;
/// The first and last microsecond of the years 0001 to 9999, since 1970-01-01.
const FIRST: i64 = -62_135_596_800_000_000;
const LAST: i64 = 253_402_300_799_999_999;

/// Ticks of `per_tick` microseconds since 1970-01-01.
#[inline]
pub(super) fn read(field: &[u8], per_tick: i64) -> Result<i64, Fault> {
    let micros = i64::from_be_bytes(field.try_into().map_err(|_| Fault::Form)?);
    // Infinities are the two ends of the range of `i64`.
    let micros = micros.checked_add(EPOCH).filter(|m| (FIRST..=LAST).contains(m)).ok_or(Fault::Range)?;
    if micros % per_tick == 0 { Ok(micros / per_tick) } else { Err(Fault::Digits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_1_to_9999_and_no_digit_lost() {
        let check = |micros: i64, per, expect| assert_eq!(read(&micros.to_be_bytes(), per), expect, "{micros}");
        check(0, 1, Ok(EPOCH));
        check(-EPOCH, 1, Ok(0));
        check(-EPOCH - 1, 1, Ok(-1));
        check(-EPOCH - 1000, 1000, Ok(-1));
        check(-EPOCH - 1, 1000, Err(Fault::Digits));
        check(FIRST - EPOCH, 1, Ok(FIRST));
        check(LAST - EPOCH, 1, Ok(LAST));
        for micros in [FIRST - EPOCH - 1, LAST - EPOCH + 1, i64::MAX, i64::MIN] {
            check(micros, 1, Err(Fault::Range));
        }
        assert_eq!(read(&[0; 4], 1), Err(Fault::Form));
    }
}
