//! `date`: days since 2000-01-01.

use super::Fault;

/// Days from 1970-01-01 to 2000-01-01.
const EPOCH: i32 = 10_957;
/// 0001-01-01 and 9999-12-31, in days since 1970-01-01.
const FIRST: i32 = -719_162;
const LAST: i32 = 2_932_896;

/// Days since 1970-01-01.
#[inline]
pub(super) fn read(field: &[u8]) -> Result<i32, Fault> {
    let days = i32::from_be_bytes(field.try_into().map_err(|_| Fault::Form)?);
    // Infinities are the two ends of the range of `i32`.
    days.checked_add(EPOCH).filter(|days| (FIRST..=LAST).contains(days)).ok_or(Fault::Range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_1_to_9999() {
        let check = |days: i32, expect| assert_eq!(read(&days.to_be_bytes()), expect, "{days}");
        check(0, Ok(10_957));
        check(-10_957, Ok(0));
        check(FIRST - EPOCH, Ok(FIRST));
        check(LAST - EPOCH, Ok(LAST));
        for days in [FIRST - EPOCH - 1, LAST - EPOCH + 1, i32::MAX, i32::MIN, i32::MAX - 1] {
            check(days, Err(Fault::Range));
        }
        assert_eq!(read(&[0; 8]), Err(Fault::Form));
    }
}
