//! Decimals as the server's binary `numeric`: digits to the base of 10000, aligned at the decimal point.

/// Decimal digits of the largest number of 256 bits.
const DIGITS: usize = 78;

/// Appends the field of `unscaled` × 10^-`scale`, its length included.
pub(super) fn push(unscaled: i128, scale: u8, to: &mut Vec<u8>) {
    let mut digits = [0; DIGITS];
    let mut rest = unscaled.unsigned_abs();
    let mut count = 0;
    // Most decimals fit into 64 bits, which divide many times faster.
    while rest > u128::from(u64::MAX) {
        digits[count] = (rest % 10) as u8;
        rest /= 10;
        count += 1;
    }
    let mut rest = rest as u64;
    while rest > 0 {
        digits[count] = (rest % 10) as u8;
        rest /= 10;
        count += 1;
    }
    push_digits(&digits[..count], unscaled < 0, scale, to);
}

/// The same of a number of 256 bits in two's complement, little-endian.
pub(super) fn push_wide(unscaled: &[u8; 32], scale: u8, to: &mut Vec<u8>) {
    let negative = unscaled[31] & 0x80 != 0;
    let mut limbs = [0_u32; 8];
    for (limb, bytes) in limbs.iter_mut().zip(unscaled.chunks_exact(4)) {
        *limb = bytes.iter().rev().fold(0, |limb, byte| limb << 8 | u32::from(*byte));
    }
    if negative {
        let mut carry = true;
        for limb in &mut limbs {
            (*limb, carry) = (!*limb).overflowing_add(u32::from(carry));
        }
    }
    let mut digits = [0; DIGITS];
    let mut count = 0;
    while limbs.iter().any(|limb| *limb != 0) {
        let mut rest = 0_u64;
        for limb in limbs.iter_mut().rev() {
            let part = rest << 32 | u64::from(*limb);
            *limb = (part / 10) as u32;
            rest = part % 10;
        }
        digits[count] = rest as u8;
        count += 1;
    }
    push_digits(&digits[..count], negative, scale, to);
}

/// `digits` from the lowest on, without zeros at the top.
fn push_digits(digits: &[u8], negative: bool, scale: u8, to: &mut Vec<u8>) {
    let scale = usize::from(scale);
    // Zeros below the lowest digit complete its group.
    let pad = (4 - scale % 4) % 4;
    let digit = |at: usize| at.checked_sub(pad).and_then(|at| digits.get(at)).copied().unwrap_or(0);
    let group = |at: usize| (0..4).rev().fold(0_u16, |group, i| group * 10 + u16::from(digit(4 * at + i)));
    let fraction = (scale + pad) / 4;
    let above = if digits.is_empty() { 0 } else { (digits.len() + pad).div_ceil(4) };
    let below = (0..above).take_while(|at| group(*at) == 0).count();
    let weight = above as i16 - fraction as i16 - 1;
    let count = above - below;
    to.extend((8 + 2 * count as i32).to_be_bytes());
    to.extend((count as i16).to_be_bytes());
    to.extend((if count == 0 { 0 } else { weight }).to_be_bytes());
    to.extend((if negative && count > 0 { 0x4000_u16 } else { 0 }).to_be_bytes());
    to.extend((scale as i16).to_be_bytes());
    for at in (below..above).rev() {
        to.extend(group(at).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head and the groups of the field, without its length.
    fn field(push: impl FnOnce(&mut Vec<u8>)) -> Vec<i16> {
        let mut bytes = Vec::new();
        push(&mut bytes);
        let (length, rest) = bytes.split_at(4);
        assert_eq!(length, (rest.len() as i32).to_be_bytes());
        rest.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect()
    }

    #[test]
    fn digits_are_grouped_from_the_decimal_point() {
        for (unscaled, scale, expect) in [
            (0, 2, &[0, 0, 0, 2][..]),
            (1, 0, &[1, 0, 0, 0, 1]),
            (-110, 2, &[2, 0, 0x4000, 2, 1, 1000]),
            (10_000, 0, &[1, 1, 0, 0, 1]),
            (100_000_001, 0, &[3, 2, 0, 0, 1, 0, 1]),
            (5, 4, &[1, -1, 0, 4, 5]),
            (5, 9, &[1, -3, 0, 9, 5000]),
            (123_456_789, 5, &[3, 0, 0, 5, 1234, 5678, 9000]),
            (10_i128.pow(37), 38, &[1, -1, 0, 38, 1000]),
        ] {
            assert_eq!(field(|to| push(unscaled, scale, to)), expect, "{unscaled} {scale}");
            let mut wide = [if unscaled < 0 { 0xff } else { 0 }; 32];
            wide[..16].copy_from_slice(&unscaled.to_le_bytes());
            assert_eq!(field(|to| push_wide(&wide, scale, to)), expect, "{unscaled} {scale}");
        }
        let most = field(|to| {
            push_wide(
                &[0xff; 31].iter().copied().chain([0x7f]).collect::<Vec<_>>().try_into().unwrap_or([0; 32]),
                0,
                to,
            )
        });
        assert_eq!((most[0], most[1], &most[4..7]), (20, 19, &[5, 7896, 446][..]));
        assert_eq!(field(|to| push(i128::MIN, 0, to))[..6], [10, 9, 0x4000, 0, 170, 1411]);
    }
}
