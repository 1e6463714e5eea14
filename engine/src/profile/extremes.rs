//! The running minimum and maximum of a column, without an allocation per value.

use std::cmp::Ordering;

use super::PREFIX_BYTES;
use crate::schema::LogicalType;
use crate::value::{Value, total_order};

/// The extremes of one column, by the family of its type.
#[derive(Debug)]
pub(super) enum Extremes {
    Bool(Span<bool>),
    Int(Span<i64>),
    UInt(Span<u64>),
    /// By [`total_order32`].
    Float32(Span<i32>),
    /// By [`total_order`].
    Float64(Span<i64>),
    Decimal(Span<i128>, u8),
    /// Of more than 38 digits: not profiled.
    WideDecimal,
    Date(Span<i32>),
    Ticks(Span<i64>, u8),
    Text(Box<Prefixes>),
    Binary(Box<Prefixes>),
    /// By RFC 4122 bytes.
    Uuid(Span<u128>),
}

impl Extremes {
    pub(super) fn of(ty: &LogicalType) -> Self {
        match *ty {
            LogicalType::Bool => Self::Bool(Span { min: true, max: false }),
            LogicalType::Int { .. } => Self::Int(Span { min: i64::MAX, max: i64::MIN }),
            LogicalType::UInt { .. } => Self::UInt(Span { min: u64::MAX, max: u64::MIN }),
            LogicalType::Float { bits: 32 } => Self::Float32(Span { min: i32::MAX, max: i32::MIN }),
            LogicalType::Float { .. } => Self::Float64(Span { min: i64::MAX, max: i64::MIN }),
            LogicalType::Decimal { precision: ..=38, scale } => {
                Self::Decimal(Span { min: i128::MAX, max: i128::MIN }, scale)
            }
            LogicalType::Decimal { .. } => Self::WideDecimal,
            LogicalType::Date => Self::Date(Span { min: i32::MAX, max: i32::MIN }),
            LogicalType::Time { digits } | LogicalType::Timestamp { digits, .. } => {
                Self::Ticks(Span { min: i64::MAX, max: i64::MIN }, digits)
            }
            LogicalType::Text => Self::Text(Box::default()),
            LogicalType::Binary => Self::Binary(Box::default()),
            LogicalType::Uuid => Self::Uuid(Span { min: u128::MAX, max: u128::MIN }),
        }
    }

    /// The minimum and maximum, if there was a value.
    pub(super) fn values(&self) -> Option<(Value, Value)> {
        match self {
            Self::Bool(span) => span.values(Value::Bool),
            Self::Int(span) => span.values(|v| Value::Int(v.into())),
            Self::UInt(span) => span.values(|v| Value::Int(v.into())),
            Self::Float32(span) => span.values(|key| Value::Float(widen(key))),
            Self::Float64(span) => span.values(Value::Float),
            Self::Decimal(span, scale) => span.values(|unscaled| Value::Decimal { unscaled, scale: *scale }),
            Self::WideDecimal => None,
            Self::Date(span) => span.values(Value::Date),
            Self::Ticks(span, digits) => span.values(|v| Value::Ticks { ticks: v.into(), digits: *digits }),
            Self::Text(prefixes) | Self::Binary(prefixes) => prefixes.values(),
            Self::Uuid(span) => span.values(|v| Value::Uuid(v.to_be_bytes())),
        }
    }
}

/// A running minimum and maximum. Before the first value `min` is the type's greatest and `max` its least.
#[derive(Debug)]
pub(super) struct Span<T> {
    min: T,
    max: T,
}

impl<T: Copy + Ord> Span<T> {
    #[inline]
    pub(super) fn see(&mut self, v: T) {
        self.min = self.min.min(v);
        self.max = self.max.max(v);
    }

    fn values(&self, wrap: impl Fn(T) -> Value) -> Option<(Value, Value)> {
        (self.min <= self.max).then(|| (wrap(self.min), wrap(self.max)))
    }
}

/// Integer order is then IEEE 754 `totalOrder`.
#[inline]
pub(super) fn total_order32(v: f32) -> i32 {
    let bits = v.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

/// The key of the `float64` with the value of that `float32` key. A conversion by the processor could change the
/// payload of a NaN, so NaNs are widened by their bits.
fn widen(key: i32) -> i64 {
    let bits = (key ^ (((key >> 31) as u32) >> 1) as i32) as u32;
    let value = f32::from_bits(bits);
    if !value.is_nan() {
        return total_order(f64::from(value));
    }
    let (sign, payload) = (u64::from(bits >> 31), u64::from(bits & 0x007f_ffff));
    total_order(f64::from_bits(sign << 63 | 0x7ff << 52 | payload << 29))
}

/// The running least and greatest prefix of byte strings.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    seen: bool,
    min: Prefix,
    max: Prefix,
}

impl Prefixes {
    #[inline]
    pub(super) fn see(&mut self, v: &[u8]) {
        let v = v.get(..PREFIX_BYTES).unwrap_or(v);
        let key = leading(v);
        if !self.seen {
            self.seen = true;
            self.min.set(key, v);
            self.max.set(key, v);
        } else if self.min.order(key, v).is_lt() {
            self.min.set(key, v);
        } else if self.max.order(key, v).is_gt() {
            self.max.set(key, v);
        }
    }

    fn values(&self) -> Option<(Value, Value)> {
        let value = |prefix: &Prefix| Value::Bytes(prefix.bytes().to_vec());
        self.seen.then(|| (value(&self.min), value(&self.max)))
    }
}

#[derive(Debug)]
struct Prefix {
    /// The first eight bytes, padded with zeros: never above the key of a greater string.
    key: u64,
    len: usize,
    bytes: [u8; PREFIX_BYTES],
}

impl Default for Prefix {
    fn default() -> Self {
        Self { key: 0, len: 0, bytes: [0; PREFIX_BYTES] }
    }
}

impl Prefix {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// How `v` stands to this prefix. Most values are decided by their first eight bytes.
    #[inline]
    fn order(&self, key: u64, v: &[u8]) -> Ordering {
        key.cmp(&self.key).then_with(|| match (v.get(8..), self.bytes().get(8..)) {
            (Some(rest), Some(own)) => rest.cmp(own),
            // One of them has no more than eight bytes and is equal so far: it is a prefix of the other, or they
            // differ in zeros at the end.
            _ => v.len().cmp(&self.len),
        })
    }

    /// `v` is at most `PREFIX_BYTES` long.
    fn set(&mut self, key: u64, v: &[u8]) {
        if let Some(bytes) = self.bytes.get_mut(..v.len()) {
            bytes.copy_from_slice(v);
            self.key = key;
            self.len = v.len();
        }
    }
}

/// The first eight bytes as a big-endian number, padded with zeros.
#[inline]
fn leading(v: &[u8]) -> u64 {
    if let Some(first) = v.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    // Two loads that may overlap, rather than a copy of a length that the compiler does not know.
    if let (Some(first), Some(last)) = (v.first_chunk::<4>(), v.last_chunk::<4>()) {
        let (first, last) = (u64::from(u32::from_be_bytes(*first)), u64::from(u32::from_be_bytes(*last)));
        return first << 32 | last << (8 * (8 - v.len()));
    }
    v.iter().zip([56, 48, 40]).fold(0, |key, (byte, shift)| key | u64::from(*byte) << shift)
}
