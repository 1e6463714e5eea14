//! `time`: microseconds since midnight, of which the last can be 24:00:00.

use super::Fault;

const DAY: i64 = 86_400_000_000;

/// Ticks of `per_tick` microseconds since midnight.
#[inline]
pub(super) fn read(field: &[u8], per_tick: i64) -> Result<i64, Fault> {
    let micros = i64::from_be_bytes(field.try_into().map_err(|_| Fault::Form)?);
    match micros {
        DAY => Err(Fault::Midnight),
        0..DAY if micros % per_tick == 0 => Ok(micros / per_tick),
        0..DAY => Err(Fault::Digits),
        _ => Err(Fault::Form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_no_24th_hour() {
        let check = |micros: i64, per, expect| assert_eq!(read(&micros.to_be_bytes(), per), expect, "{micros}");
        check(0, 1, Ok(0));
        check(DAY - 1, 1, Ok(DAY - 1));
        check(DAY, 1, Err(Fault::Midnight));
        check(DAY + 1, 1, Err(Fault::Form));
        check(-1, 1, Err(Fault::Form));
        check(1_500_000, 1000, Ok(1500));
        check(1_500_001, 1000, Err(Fault::Digits));
        assert_eq!(read(&[0; 12], 1), Err(Fault::Form));
    }
}
