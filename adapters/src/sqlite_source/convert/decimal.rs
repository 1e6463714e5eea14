//! Decimals, from whatever class SQLite chose to store them in.

use std::io::Write as _;

use rusqlite::types::ValueRef;

use super::{Fault, class};
use crate::reading::text::{NotADecimal, decimal};

const NOT_EXACT: Fault = Fault::Value("a real that is not an exact decimal of that precision and scale");
const TOO_LARGE: Fault = Fault::Value("a number with more digits than the precision and scale allow");

/// The unscaled value. `limit` is 10 to the power of the precision.
pub(super) fn read(value: ValueRef<'_>, limit: i128, scale: u8) -> Result<i128, Fault> {
    let unscaled = match value {
        ValueRef::Integer(v) => power(scale).and_then(|p| i128::from(v).checked_mul(p)).ok_or(TOO_LARGE)?,
        ValueRef::Real(v) => decimal_of_real(v, scale).ok_or(NOT_EXACT)?,
        ValueRef::Text(v) => parse(v, scale)?,
        ValueRef::Null | ValueRef::Blob(_) => return Err(Fault::Class(class(value))),
    };
    if -limit < unscaled && unscaled < limit { Ok(unscaled) } else { Err(TOO_LARGE) }
}

fn power(scale: u8) -> Option<i128> {
    10_i128.checked_pow(u32::from(scale))
}

/// The decimal that a double stands for, at that scale: the one of at most 15 significant digits that reads back as the
/// same double. Every decimal of at most 15 digits survives being stored as a double; with more, what was written is no
/// longer known.
fn decimal_of_real(v: f64, scale: u8) -> Option<i128> {
    if !v.is_finite() {
        return None;
    }
    // The shortest text that reads back, such as `-1.2345e2`: sign, up to 17 digits, exponent.
    let mut buffer = [0_u8; 32];
    let mut rest = &mut buffer[..];
    rest.write_fmt(format_args!("{v:e}")).ok()?;
    let used = 32 - rest.len();
    let text = std::str::from_utf8(buffer.get(..used)?).ok()?;
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |m| (true, m));
    let (mut digits, mut count, mut after_point, mut seen_point) = (0_i128, 0_u32, 0_i32, false);
    for c in mantissa.bytes() {
        if c == b'.' {
            seen_point = true;
            continue;
        }
        digits = digits * 10 + i128::from(c - b'0');
        count += 1;
        after_point += i32::from(seen_point);
    }
    if count > 15 {
        return None;
    }
    // v = digits × 10^(exponent - after_point)
    let shift = exponent - after_point + i32::from(scale);
    let factor = 10_i128.checked_pow(shift.unsigned_abs());
    let unscaled = match (shift >= 0, factor) {
        _ if digits == 0 => 0,
        (true, Some(factor)) => digits.checked_mul(factor)?,
        (false, Some(factor)) if digits % factor == 0 => digits / factor,
        _ => return None,
    };
    Some(if negative { -unscaled } else { unscaled })
}

/// Text as [`decimal`] reads it, but for a missing digit before the point.
fn parse(text: &[u8], scale: u8) -> Result<i128, Fault> {
    const NOT_A_DECIMAL: Fault = Fault::Value("a text that is not a decimal");
    if matches!(text, [b'.', ..] | [b'-' | b'+', b'.', ..]) {
        return Err(NOT_A_DECIMAL);
    }
    decimal(text, scale).map_err(|why| match why {
        NotADecimal::Form => NOT_A_DECIMAL,
        NotADecimal::Scale | NotADecimal::Precision => TOO_LARGE,
    })
}
