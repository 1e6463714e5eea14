//! `numeric`: a number of digits to the base of 10,000, where the first stands, a sign and how many digits are shown.

use super::Fault;

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const MINUS_INFINITY: u16 = 0xf000;
/// Decimal digits in one digit to the base of 10,000.
const PER_DIGIT: i32 = 4;
/// The most places that a number is shifted by at once: their power of ten has 64 bits.
const LONGEST_STEP: u32 = 18;

/// A number that is built from its first digit on.
trait Sum: Copy {
    const ZERO: Self;

    /// `self` × 10^`places` + `digits`, where `places` is 18 at most; `None` if it cannot hold that.
    fn and(self, places: u32, digits: u64) -> Option<Self>;
}

impl Sum for u128 {
    const ZERO: Self = 0;

    #[inline]
    fn and(self, places: u32, digits: u64) -> Option<Self> {
        self.checked_mul(10_u128.pow(places))?.checked_add(digits.into())
    }
}

/// 256 bits, the lowest first.
type Limbs = [u64; 4];

impl Sum for Limbs {
    const ZERO: Self = [0; 4];

    #[inline]
    fn and(mut self, places: u32, digits: u64) -> Option<Self> {
        let power = 10_u128.pow(places);
        let mut carry = u128::from(digits);
        for limb in &mut self {
            // Two factors of 64 bits and a carry of 64 bits have no more than 128.
            let product = u128::from(*limb) * power + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        (carry == 0).then_some(self)
    }
}

/// The sign of a field, and its magnitude at that scale.
#[inline]
fn magnitude<S: Sum + PartialEq>(field: &[u8], scale: i32) -> Result<(bool, S), Fault> {
    let Some(([n, n2, w, w2, s, s2, _, _], digits)) = field.split_first_chunk::<8>() else {
        return Err(Fault::Form);
    };
    let (count, weight) = (u16::from_be_bytes([*n, *n2]), i16::from_be_bytes([*w, *w2]));
    let negative = match u16::from_be_bytes([*s, *s2]) {
        0 => false,
        NEGATIVE => true,
        NAN | INFINITY | MINUS_INFINITY => return Err(Fault::NotFinite),
        _ => return Err(Fault::Form),
    };
    let (digits, []) = digits.as_chunks::<2>() else { return Err(Fault::Form) };
    if digits.len() != usize::from(count) {
        return Err(Fault::Form);
    }
    // How many places the present digit stands left of the last place of the scale.
    let mut places = i32::from(weight) * PER_DIGIT + scale;
    let mut value = S::ZERO;
    for digit in digits {
        let digit = u64::from(u16::from_be_bytes(*digit));
        if digit >= 10_000 {
            return Err(Fault::Form);
        }
        let kept = match places {
            0.. => digit,
            -3..0 => {
                let dropped = 10_u64.pow(places.unsigned_abs());
                if digit % dropped != 0 {
                    return Err(Fault::Scale);
                }
                digit / dropped
            }
            _ if digit != 0 => return Err(Fault::Scale),
            _ => 0,
        };
        let shift = PER_DIGIT.min(PER_DIGIT + places).max(0).unsigned_abs();
        value = value.and(shift, kept).ok_or(Fault::Precision)?;
        places -= PER_DIGIT;
    }
    let mut rest = (places + PER_DIGIT).max(0).unsigned_abs();
    // A value that is not zero ends this by being too large.
    while value != S::ZERO && rest > 0 {
        let step = rest.min(LONGEST_STEP);
        value = value.and(step, 0).ok_or(Fault::Precision)?;
        rest -= step;
    }
    Ok((negative, value))
}

/// A decimal column of at most 38 digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    scale: i32,
    /// 10 to the power of the precision: the least magnitude that is too large.
    limit: u128,
}

impl Decimal {
    pub(super) fn new(precision: u8, scale: u8) -> Option<Self> {
        let limit = 10_u128.checked_pow(u32::from(precision)).filter(|_| (1..=38).contains(&precision))?;
        Some(Self { scale: i32::from(scale), limit })
    }

    /// The unscaled value at the column's scale.
    #[inline]
    pub(super) fn read(self, field: &[u8]) -> Result<i128, Fault> {
        let (negative, value) = magnitude::<u128>(field, self.scale)?;
        if value >= self.limit {
            return Err(Fault::Precision);
        }
        // Below 10^38 and so within i128.
        let value = i128::try_from(value).map_err(|_| Fault::Precision)?;
        Ok(if negative { -value } else { value })
    }
}

/// A decimal column of 39 to 76 digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideDecimal {
    scale: i32,
    /// 10 to the power of the precision: the least magnitude that is too large.
    limit: Limbs,
}

impl WideDecimal {
    pub(super) fn new(precision: u8, scale: u8) -> Option<Self> {
        let limit = (0..precision).try_fold([1, 0, 0, 0], |power: Limbs, _| power.and(1, 0));
        Some(Self { scale: i32::from(scale), limit: limit.filter(|_| (39..=76).contains(&precision))? })
    }

    /// The unscaled value at the column's scale, in two's complement.
    pub(super) fn read(self, field: &[u8]) -> Result<Limbs, Fault> {
        let (negative, mut value) = magnitude::<Limbs>(field, self.scale)?;
        // Below 10^76 and so within 255 bits.
        if value.iter().rev().ge(self.limit.iter().rev()) {
            return Err(Fault::Precision);
        }
        if negative {
            let mut carry = true;
            for limb in &mut value {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        Ok(value)
    }
}

/// A value of 256 bits, little-endian.
pub(super) fn bytes(value: Limbs) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (to, limb) in bytes.chunks_exact_mut(8).zip(value) {
        to.copy_from_slice(&limb.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use arrow::datatypes::i256;
    use proptest::prelude::*;

    use super::*;

    /// The form in which the server sends that number, by its own rules: no zero digit at either end.
    fn sent(negative: bool, whole: &str, fraction: &str) -> Vec<u8> {
        let whole = format!("{}{whole}", "0".repeat((4 - whole.len() % 4) % 4));
        let shown = fraction.len();
        let fraction = format!("{fraction}{}", "0".repeat((4 - shown % 4) % 4));
        let all = format!("{whole}{fraction}");
        let mut digits: Vec<u16> =
            all.as_bytes().chunks(4).map(|c| std::str::from_utf8(c).unwrap().parse().unwrap()).collect();
        let mut weight = i16::try_from(whole.len() / 4).unwrap() - 1;
        while digits.first() == Some(&0) {
            digits.remove(0);
            weight -= 1;
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            weight = 0;
        }
        let sign = if negative && !digits.is_empty() { NEGATIVE } else { 0 };
        field(&digits, weight, sign, u16::try_from(shown).unwrap())
    }

    fn field(digits: &[u16], weight: i16, sign: u16, shown: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&u16::try_from(digits.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(&weight.to_be_bytes());
        bytes.extend_from_slice(&sign.to_be_bytes());
        bytes.extend_from_slice(&shown.to_be_bytes());
        digits.iter().for_each(|d| bytes.extend_from_slice(&d.to_be_bytes()));
        bytes
    }

    fn decimal(precision: u8, scale: u8) -> Decimal {
        Decimal::new(precision, scale).unwrap()
    }

    #[test]
    fn exact_or_refused() {
        let check = |(precision, scale): (u8, u8), whole: &str, fraction: &str, expect| {
            assert_eq!(decimal(precision, scale).read(&sent(true, whole, fraction)), expect, "{whole}.{fraction}");
        };
        check((5, 2), "123", "45", Ok(-12_345));
        check((5, 2), "123", "4500", Ok(-12_345));
        check((5, 2), "123", "4501", Err(Fault::Scale));
        check((5, 2), "1000", "00", Err(Fault::Precision));
        check((5, 2), "0", "0", Ok(0));
        check((5, 2), "0", "00000001", Err(Fault::Scale));
        check((7, 0), "12300", "", Ok(-12_300));
        check((5, 5), "0", "00001", Ok(-1));
        check((38, 0), &"9".repeat(38), "", Ok(-(10_i128.pow(38) - 1)));
        check((38, 0), &format!("1{}", "0".repeat(38)), "", Err(Fault::Precision));
        check((38, 38), "0", &"9".repeat(38), Ok(-(10_i128.pow(38) - 1)));
        check((38, 37), "9", &"9".repeat(37), Ok(-(10_i128.pow(38) - 1)));
        check((38, 10), &"9".repeat(28), &"9".repeat(10), Ok(-(10_i128.pow(38) - 1)));
        check((38, 10), &"9".repeat(29), "", Err(Fault::Precision));
        check((38, 10), &"9".repeat(2000), "", Err(Fault::Precision));
        check((38, 0), "0", &format!("{}1", "0".repeat(2000)), Err(Fault::Scale));
    }

    /// The value of digits, in limbs of two's complement.
    fn limbs(negative: bool, digits: &str) -> Limbs {
        let value = i256::from_string(digits).unwrap();
        let bytes = if negative { value.wrapping_neg() } else { value }.to_le_bytes();
        std::array::from_fn(|at| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().unwrap()))
    }

    #[test]
    fn wide_ones_are_exact_or_refused() {
        let check = |(precision, scale): (u8, u8), whole: &str, fraction: &str, expect: Result<&str, Fault>| {
            for negative in [false, true] {
                let found = WideDecimal::new(precision, scale).unwrap().read(&sent(negative, whole, fraction));
                assert_eq!(found, expect.map(|digits| limbs(negative, digits)), "{negative} {whole}.{fraction}");
            }
        };
        let nines = |n: usize| "9".repeat(n);
        check((76, 0), &nines(76), "", Ok(&nines(76)));
        check((76, 10), &nines(66), &nines(10), Ok(&nines(76)));
        check((76, 76), "0", &nines(76), Ok(&nines(76)));
        check((76, 76), "0", &format!("{}1", "0".repeat(75)), Ok("1"));
        check((76, 75), "1", "", Ok(&format!("1{}", "0".repeat(75))));
        check((76, 76), "0", "", Ok("0"));
        check((39, 0), &nines(39), "", Ok(&nines(39)));
        check((39, 0), &format!("1{}", "0".repeat(39)), "", Err(Fault::Precision));
        check((76, 0), &format!("1{}", "0".repeat(76)), "", Err(Fault::Precision));
        check((76, 0), &nines(77), "", Err(Fault::Precision));
        check((76, 10), &nines(67), "", Err(Fault::Precision));
        check((76, 10), &nines(2000), "", Err(Fault::Precision));
        check((76, 10), "1", &format!("{}1", "0".repeat(10)), Err(Fault::Scale));
        check((76, 76), "0", &format!("{}1", "0".repeat(76)), Err(Fault::Scale));
        let wide = WideDecimal::new(50, 2).unwrap();
        assert_eq!(wide.read(&field(&[], 0, NAN, 0)), Err(Fault::NotFinite));
        assert_eq!(wide.read(&field(&[1], i16::MAX, 0, 0)), Err(Fault::Precision));
        assert_eq!(wide.read(&field(&[0], i16::MAX, 0, 0)), Ok([0; 4]));
        for precision in [0, 38, 77, 78, 255] {
            assert!(WideDecimal::new(precision, 0).is_none(), "{precision}");
        }
        assert_eq!(bytes(limbs(true, "2"))[..9], [0xfe, 255, 255, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    fn what_is_no_number() {
        let d = decimal(10, 2);
        for sign in [NAN, INFINITY, MINUS_INFINITY] {
            assert_eq!(d.read(&field(&[], 0, sign, 0)), Err(Fault::NotFinite));
        }
        for wrong in [vec![], vec![0; 7], vec![0; 9], field(&[10_000], 0, 0, 0), field(&[], 0, 0x1234, 0)] {
            assert_eq!(d.read(&wrong), Err(Fault::Form));
        }
        assert_eq!(d.read(&[0, 9, 0, 0, 0, 0, 0, 0]), Err(Fault::Form));
        assert_eq!(d.read(&field(&[1], i16::MAX, 0, 0)), Err(Fault::Precision));
        assert_eq!(d.read(&field(&[1], i16::MIN, 0, 0)), Err(Fault::Scale));
        assert_eq!(d.read(&field(&[0], i16::MAX, 0, 0)), Ok(0));
        assert!(Decimal::new(39, 0).is_none() && Decimal::new(0, 0).is_none());
    }

    proptest! {
        #[test]
        fn any_wide_decimal_comes_back(negative: bool, digits in "[0-9]{1,76}", scale in 0_u8..=76) {
            let padded = format!("{digits:0>width$}", width = usize::from(scale) + 1);
            let (whole, fraction) = padded.split_at(padded.len() - usize::from(scale));
            let found = WideDecimal::new(76, scale).unwrap().read(&sent(negative, whole, fraction));
            prop_assert_eq!(found, Ok(limbs(negative, &digits)));
        }

        #[test]
        fn any_bytes_are_a_wide_one_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60), scale in 0_u8..=76) {
            let _ = WideDecimal::new(76, scale).unwrap().read(&bytes);
        }

        #[test]
        fn any_decimal_comes_back(value in -(10_i128.pow(38) - 1)..10_i128.pow(38), scale in 0_u8..=38) {
            let digits = format!("{:0width$}", value.unsigned_abs(), width = usize::from(scale) + 1);
            let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
            prop_assert_eq!(decimal(38, scale).read(&sent(value < 0, whole, fraction)), Ok(value));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40), scale in 0_u8..=38) {
            if let Ok(value) = decimal(38, scale).read(&bytes) {
                prop_assert!(value.unsigned_abs() < 10_u128.pow(38));
            }
        }
    }
}
