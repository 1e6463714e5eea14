//! Values as the server writes them in text, read back. Each answers `None` for what is none of that type.

const MICROS: u8 = 6;

/// Digits with an optional sign.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = sign(text);
    let value = digits_of(digits)?;
    let value = if negative { -i128::from(value) } else { i128::from(value) };
    i64::try_from(value).ok()
}

/// Digits without a sign.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    digits_of(text)
}

/// A decimal of exactly `scale` fractional digits, unscaled; `None` as well if it has more than 38 digits.
pub(super) fn decimal(text: &[u8], scale: u8) -> Option<i128> {
    let (negative, whole, part) = parts(text, scale)?;
    let mut total: i128 = 0;
    for digit in whole.iter().chain(part) {
        total = total.checked_mul(10)?.checked_add(i128::from(digit_of(*digit)?))?;
    }
    Some(if negative { -total } else { total })
}

/// A decimal of exactly `scale` fractional digits, unscaled, in two's complement of 256 bits, little-endian.
pub(super) fn wide_decimal(text: &[u8], scale: u8) -> Option<[u8; 32]> {
    let (negative, whole, part) = parts(text, scale)?;
    let mut limbs = [0_u64; 4];
    for digit in whole.iter().chain(part) {
        let mut carry = u128::from(digit_of(*digit)?);
        for limb in &mut limbs {
            let product = u128::from(*limb) * 10 + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        if carry != 0 || limbs[3] >> 63 != 0 {
            return None;
        }
    }
    if negative {
        let mut carry = true;
        for limb in &mut limbs {
            (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
        }
    }
    let mut bytes = [0; 32];
    for (to, limb) in bytes.chunks_exact_mut(8).zip(limbs) {
        to.copy_from_slice(&limb.to_le_bytes());
    }
    Some(bytes)
}

/// `YYYY-MM-DD`, with more digits or ` BC` where the year needs them, as days since 1970-01-01.
pub(super) fn date(text: &[u8]) -> Option<i32> {
    let (text, before) = before_christ(text);
    i32::try_from(days(text, before)?).ok()
}

/// `HH:MM:SS` and a fraction, in ticks of so many digits.
pub(super) fn time(text: &[u8], digits: u8) -> Option<i64> {
    ticks(clock(text)?, digits)
}

/// A date, a space and a time, and `+00` exactly if the type is an instant; in ticks of so many digits since 1970-01-01.
pub(super) fn timestamp(text: &[u8], digits: u8, utc: bool) -> Option<i64> {
    let (text, before) = before_christ(text);
    let text = if utc { text.strip_suffix(b"+00")? } else { text };
    let space = text.iter().position(|b| *b == b' ')?;
    let days = days(&text[..space], before)?;
    let micros = days.checked_mul(86_400_000_000)?.checked_add(clock(&text[space + 1..])?)?;
    ticks(micros, digits)
}

/// 36 characters.
pub(super) fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    if text.len() != 36 || [8, 13, 18, 23].iter().any(|at| text[*at] != b'-') {
        return None;
    }
    let mut bytes = [0; 16];
    let mut digits = text.iter().enumerate().filter(|(at, _)| ![8, 13, 18, 23].contains(at)).map(|(_, b)| *b);
    for byte in &mut bytes {
        *byte = nibble(digits.next()?)? << 4 | nibble(digits.next()?)?;
    }
    Some(bytes)
}

/// `\x` and two digits per byte, into a buffer that is emptied first.
pub(super) fn bytes(text: &[u8], to: &mut Vec<u8>) -> Option<()> {
    to.clear();
    let digits = text.strip_prefix(b"\\x")?;
    if digits.len() % 2 != 0 {
        return None;
    }
    for pair in digits.chunks_exact(2) {
        to.push(nibble(pair[0])? << 4 | nibble(pair[1])?);
    }
    Some(())
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

fn digit_of(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

fn digits_of(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |total, byte| total.checked_mul(10)?.checked_add(digit_of(*byte)?.into()))
}

/// Sign, and the digits before and after the point.
fn parts(text: &[u8], scale: u8) -> Option<(bool, &[u8], &[u8])> {
    let (negative, digits) = sign(text);
    let (whole, part) = match digits.iter().position(|b| *b == b'.') {
        Some(at) => (&digits[..at], &digits[at + 1..]),
        None => (digits, &digits[digits.len()..]),
    };
    (!whole.is_empty() && part.len() == usize::from(scale)).then_some((negative, whole, part))
}

fn before_christ(text: &[u8]) -> (&[u8], bool) {
    match text.strip_suffix(b" BC") {
        Some(rest) => (rest, true),
        None => (text, false),
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar.
fn days(text: &[u8], before_christ: bool) -> Option<i64> {
    let (rest, [dash, day @ ..]) = text.split_last_chunk::<3>()?;
    let (year, [other, month @ ..]) = rest.split_last_chunk::<3>()?;
    if (*dash, *other) != (b'-', b'-') || year.len() < 4 {
        return None;
    }
    let year = i64::try_from(digits_of(year)?).ok().filter(|year| (1..=10_000_000).contains(year))?;
    let year = if before_christ { 1 - year } else { year };
    let (month, day) = (digits_of(month)? as i64, digits_of(day)? as i64);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years from March on, so that the leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Microseconds of a time of day.
fn clock(text: &[u8]) -> Option<i64> {
    let (clock, part) = text.split_at_checked(8)?;
    let [h1, h2, b':', m1, m2, b':', s1, s2] = clock else { return None };
    let two = |a: &u8, b: &u8| Some(i64::from(digit_of(*a)? * 10 + digit_of(*b)?));
    let (hours, minutes, seconds) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let mut micros = 0;
    if let Some((point, digits)) = part.split_first() {
        let missing = usize::from(MICROS).checked_sub(digits.len())?;
        if *point != b'.' {
            return None;
        }
        micros = digits_of(digits)? as i64 * 10_i64.pow(missing as u32);
    }
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros)
}

/// Microseconds in ticks of so many digits, if they are a whole number of them.
fn ticks(micros: i64, digits: u8) -> Option<i64> {
    let per = 10_i64.pow(u32::from(MICROS.checked_sub(digits)?));
    (micros % per == 0).then(|| micros / per)
}

fn nibble(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, value) in [
            ("0", Some(0)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("", None),
            ("-", None),
            ("1.0", None),
        ] {
            assert_eq!(integer(text.as_bytes()), value, "{text}");
        }
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), None);
        for (text, scale, value) in [
            ("0.00", 2, Some(0)),
            ("-0.01", 2, Some(-1)),
            ("12", 0, Some(12)),
            ("12.3", 2, None),
            ("12.345", 2, None),
            ("NaN", 0, None),
            (".5", 1, None),
        ] {
            assert_eq!(decimal(text.as_bytes(), scale), value, "{text}");
            let wide = wide_decimal(text.as_bytes(), scale).map(|b| (b[0], b[31]));
            assert_eq!(wide, value.map(|v| (v as u8, if v < 0 { 0xff } else { 0 })), "{text}");
        }
        assert_eq!(wide_decimal("9".repeat(78).as_bytes(), 0), None);
        assert!(wide_decimal("9".repeat(76).as_bytes(), 0).is_some());
    }

    #[test]
    fn moments() {
        for (text, value) in [
            ("1970-01-01", Some(0)),
            ("1969-12-31", Some(-1)),
            ("2000-02-29", Some(11_016)),
            ("1900-02-29", None),
            ("0001-01-01", Some(-719_162)),
            ("0001-12-31 BC", Some(-719_163)),
            ("10000-01-01", Some(2_932_897)),
            ("2024-13-01", None),
            ("infinity", None),
        ] {
            assert_eq!(date(text.as_bytes()), value, "{text}");
        }
        assert_eq!(time(b"23:59:59.999", 3), Some(86_399_999));
        assert_eq!(time(b"23:59:59.9999", 3), None);
        assert_eq!(time(b"24:00:00", 0), None);
        assert_eq!(timestamp(b"1970-01-01 00:00:00.5+00", 6, true), Some(500_000));
        assert_eq!(timestamp(b"1969-12-31 23:59:59.5", 1, false), Some(-5));
        assert_eq!(timestamp(b"1970-01-01 00:00:00+01", 6, true), None);
        assert_eq!(timestamp(b"1970-01-01 00:00:00+00", 6, false), None);
        assert_eq!(timestamp(b"0001-12-31 00:00:00+00 BC", 0, true), Some(-719_163 * 86_400));
    }

    #[test]
    fn others() {
        assert_eq!(uuid(b"01ababab-abab-abab-abab-abababababab").map(|id| (id[0], id[15])), Some((1, 0xab)));
        assert_eq!(uuid(b"01ababab-abab-abab-ababaabababababab"), None);
        let mut to = vec![9];
        assert_eq!((bytes(b"\\x00ff", &mut to), to.as_slice()), (Some(()), &[0, 255][..]));
        assert_eq!(bytes(b"\\x0", &mut to), None);
    }
}
