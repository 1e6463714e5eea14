//! Decimals in their plain form.

/// Why a text is not a decimal of the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotADecimal {
    /// It has another form.
    Form,
    /// More digits after the point.
    Scale,
    /// More digits before the point than can be read.
    Precision,
}

/// `[+-][digits][.digits]` with at least one digit, as the unscaled value at that scale; digits beyond the scale must be
/// zeros. Some servers leave a single zero before the point out.
#[inline]
pub(crate) fn decimal(text: &[u8], scale: u8) -> Result<i128, NotADecimal> {
    let (negative, body) = sign(text);
    let mut unscaled = 0_i128;
    let (mut figures, mut fraction, mut point) = (0_usize, 0_u8, false);
    for &c in body {
        match c {
            b'.' if !point => point = true,
            b'0'..=b'9' => {
                let digit = i128::from(c - b'0');
                figures += 1;
                if point {
                    if fraction == scale {
                        if digit != 0 {
                            return Err(NotADecimal::Scale);
                        }
                        continue;
                    }
                    fraction += 1;
                }
                unscaled = unscaled.checked_mul(10).and_then(|u| u.checked_add(digit)).ok_or(NotADecimal::Precision)?;
            }
            _ => return Err(NotADecimal::Form),
        }
    }
    if figures == 0 || body.last() == Some(&b'.') {
        return Err(NotADecimal::Form);
    }
    let shift = 10_i128.checked_pow(u32::from(scale - fraction));
    let unscaled = shift.and_then(|shift| unscaled.checked_mul(shift)).ok_or(NotADecimal::Precision)?;
    Ok(if negative { -unscaled } else { unscaled })
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', body @ ..] => (true, body),
        [b'+', body @ ..] => (false, body),
        body => (false, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_exact_or_refused() {
        let largest = "99999999999999999999999999999999999999";
        for (text, scale, expect) in [
            ("0", 0, Ok(0)),
            ("-0.10000", 5, Ok(-10_000)),
            (".5", 4, Ok(5_000)),
            ("-.0001", 4, Ok(-1)),
            ("3240.0000", 2, Ok(324_000)),
            ("+1", 2, Ok(100)),
            (largest, 0, Ok(10_i128.pow(38) - 1)),
            ("1.001", 2, Err(NotADecimal::Scale)),
            ("", 2, Err(NotADecimal::Form)),
            (".", 2, Err(NotADecimal::Form)),
            ("-", 2, Err(NotADecimal::Form)),
            ("1.", 2, Err(NotADecimal::Form)),
            ("1e5", 2, Err(NotADecimal::Form)),
            ("NaN", 2, Err(NotADecimal::Form)),
            ("1,5", 2, Err(NotADecimal::Form)),
            (largest, 2, Err(NotADecimal::Precision)),
        ] {
            assert_eq!(decimal(text.as_bytes(), scale), expect, "{text}");
        }
    }
}
