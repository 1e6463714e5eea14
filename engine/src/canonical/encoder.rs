//! The encoder of the hot path: one call per cell, in schema order, then [`RowEncoder::finish_row`].

use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher24};

use super::{RowChecksum, tag};

/// Rows up to this size are hashed in one piece; of a larger one no copy is kept.
const INLINE_BYTES: usize = 64 * 1024;

/// Encodes rows, hashes each and adds the hashes up.
///
/// The caller gives every cell of the row in schema order through the method of its column's type: nothing here
/// knows the schema. Memory is bounded by `INLINE_BYTES` plus 33 bytes per column, however large a cell is.
#[derive(Debug)]
pub struct RowEncoder {
    buf: Vec<u8>,
    /// The hash of the row's first bytes, once they have left `buf`.
    begun: Option<SipHasher24>,
    checksum: RowChecksum,
}

impl Default for RowEncoder {
    fn default() -> Self {
        Self { buf: Vec::with_capacity(1024), begun: None, checksum: RowChecksum::default() }
    }
}

impl RowEncoder {
    /// An encoder without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// A NULL of any type.
    #[inline]
    pub fn null(&mut self) {
        self.buf.push(tag::NULL);
    }

    /// A boolean.
    #[inline]
    pub fn bool(&mut self, v: bool) {
        self.buf.extend_from_slice(&[tag::BOOL, u8::from(v)]);
    }

    /// A signed integer of any width.
    #[inline]
    pub fn int(&mut self, v: i64) {
        self.fixed::<9>(tag::INT, &v.to_le_bytes());
    }

    /// An unsigned integer of any width.
    #[inline]
    pub fn uint(&mut self, v: u64) {
        self.fixed::<9>(tag::UINT, &v.to_le_bytes());
    }

    /// A `float32`, bit for bit.
    #[inline]
    pub fn float32(&mut self, v: f32) {
        self.fixed::<5>(tag::FLOAT32, &v.to_bits().to_le_bytes());
    }

    /// A `float64`, bit for bit.
    #[inline]
    pub fn float64(&mut self, v: f64) {
        self.fixed::<9>(tag::FLOAT64, &v.to_bits().to_le_bytes());
    }

    /// The unscaled value of a decimal of at most 38 digits, at the column's scale.
    #[inline]
    pub fn decimal(&mut self, unscaled: i128) {
        self.fixed::<17>(tag::DECIMAL, &unscaled.to_le_bytes());
    }

    /// The unscaled value of a decimal of 39 to 76 digits, at the column's scale: 256 bits, little-endian.
    #[inline]
    pub fn wide_decimal(&mut self, unscaled: &[u8; 32]) {
        self.fixed::<33>(tag::WIDE_DECIMAL, unscaled);
    }

    /// A date, in days since 1970-01-01.
    #[inline]
    pub fn date(&mut self, days: i32) {
        self.fixed::<5>(tag::DATE, &days.to_le_bytes());
    }

    /// A time of day or timestamp, in ticks of the column's fractional digits.
    #[inline]
    pub fn ticks(&mut self, ticks: i64) {
        self.fixed::<9>(tag::TICKS, &ticks.to_le_bytes());
    }

    /// A text.
    #[inline]
    pub fn text(&mut self, v: &str) {
        self.sized(tag::TEXT, v.as_bytes());
    }

    /// A byte string.
    #[inline]
    pub fn binary(&mut self, v: &[u8]) {
        self.sized(tag::BINARY, v);
    }

    /// A UUID, in RFC 4122 order.
    #[inline]
    pub fn uuid(&mut self, v: &[u8; 16]) {
        self.fixed::<17>(tag::UUID, v);
    }

    /// Ends the row: adds its hash to the checksum, and returns it.
    #[inline]
    pub fn finish_row(&mut self) -> u128 {
        let hash = match self.begun.take() {
            None => SipHasher24::new().hash(&self.buf),
            Some(mut begun) => {
                begun.write(&self.buf);
                begun.finish128()
            }
        };
        self.buf.clear();
        let hash = u128::from(hash);
        self.checksum.add(hash);
        hash
    }

    /// The checksum of the rows that were ended.
    pub fn checksum(&self) -> RowChecksum {
        self.checksum
    }

    /// The bytes of the row under way that have not been hashed yet.
    #[cfg(test)]
    pub(super) fn pending(&self) -> &[u8] {
        &self.buf
    }

    /// `N` is the length of tag and value together.
    #[inline]
    fn fixed<const N: usize>(&mut self, tag: u8, value: &[u8]) {
        let mut cell = [tag; N];
        cell[1..].copy_from_slice(value);
        self.buf.extend_from_slice(&cell);
    }

    #[inline]
    fn sized(&mut self, tag: u8, bytes: &[u8]) {
        let short = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.fixed::<5>(tag, &short.to_le_bytes());
        if self.buf.len() + bytes.len() <= INLINE_BYTES {
            self.buf.extend_from_slice(bytes);
        } else {
            self.spill(short, bytes);
        }
    }

    #[cold]
    fn spill(&mut self, short: u32, bytes: &[u8]) {
        let begun = self.begun.get_or_insert_with(SipHasher24::new);
        begun.write(&self.buf);
        self.buf.clear();
        if short == u32::MAX {
            begun.write(&(bytes.len() as u64).to_le_bytes());
        }
        begun.write(bytes);
    }
}
