//! The encoder of the hot path: one call per cell, in schema order, then [`RowEncoder::finish_row`].

use twox_hash::XxHash3_128;

use super::{RowChecksum, tag};

/// The bytes of a row that are kept before they are hashed. No cell of a fixed size is larger.
const BUFFER_BYTES: usize = 16 * 1024;

/// Encodes rows, hashes each and adds the hashes up.
///
/// The caller gives every cell of the row in schema order through the method of its column's type: nothing here
/// knows the schema. Memory is fixed, however large a row is.
pub struct RowEncoder {
    /// The row's bytes that have not been hashed yet: the first `len`.
    buf: Box<[u8]>,
    len: usize,
    /// The hash of the row's first bytes, once they have left `buf`.
    begun: Option<Box<XxHash3_128>>,
    checksum: RowChecksum,
}

impl std::fmt::Debug for RowEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the bytes: they are values of the source.
        f.debug_struct("RowEncoder").field("len", &self.len).field("checksum", &self.checksum).finish_non_exhaustive()
    }
}

impl Default for RowEncoder {
    fn default() -> Self {
        let buf = vec![0; BUFFER_BYTES].into_boxed_slice();
        Self { buf, len: 0, begun: None, checksum: RowChecksum::default() }
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
        self.fixed(tag::NULL, []);
    }

    /// A boolean.
    #[inline]
    pub fn bool(&mut self, v: bool) {
        self.fixed(tag::BOOL, [u8::from(v)]);
    }

    /// A signed integer of any width.
    #[inline]
    pub fn int(&mut self, v: i64) {
        self.fixed(tag::INT, v.to_le_bytes());
    }

    /// An unsigned integer of any width.
    #[inline]
    pub fn uint(&mut self, v: u64) {
        self.fixed(tag::UINT, v.to_le_bytes());
    }

    /// A `float32`, bit for bit.
    #[inline]
    pub fn float32(&mut self, v: f32) {
        self.fixed(tag::FLOAT32, v.to_bits().to_le_bytes());
    }

    /// A `float64`, bit for bit.
    #[inline]
    pub fn float64(&mut self, v: f64) {
        self.fixed(tag::FLOAT64, v.to_bits().to_le_bytes());
    }

    /// The unscaled value of a decimal of at most 38 digits, at the column's scale.
    #[inline]
    pub fn decimal(&mut self, unscaled: i128) {
        self.fixed(tag::DECIMAL, unscaled.to_le_bytes());
    }

    /// The unscaled value of a decimal of 39 to 76 digits, at the column's scale: 256 bits, little-endian.
    #[inline]
    pub fn wide_decimal(&mut self, unscaled: &[u8; 32]) {
        self.fixed(tag::WIDE_DECIMAL, *unscaled);
    }

    /// A date, in days since 1970-01-01.
    #[inline]
    pub fn date(&mut self, days: i32) {
        self.fixed(tag::DATE, days.to_le_bytes());
    }

    /// A time of day or timestamp, in ticks of the column's fractional digits.
    #[inline]
    pub fn ticks(&mut self, ticks: i64) {
        self.fixed(tag::TICKS, ticks.to_le_bytes());
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
        self.fixed(tag::UUID, *v);
    }

    /// Ends the row: adds its hash to the checksum, and returns it.
    #[inline]
    pub fn finish_row(&mut self) -> u128 {
        let row = self.buf.get(..self.len).unwrap_or_default();
        let hash = match self.begun.take() {
            None => XxHash3_128::oneshot(row),
            Some(mut begun) => {
                begun.write(row);
                begun.finish_128()
            }
        };
        self.len = 0;
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
        &self.buf[..self.len]
    }

    /// `N` is the length of the value.
    #[inline]
    fn fixed<const N: usize>(&mut self, tag: u8, value: [u8; N]) {
        match self.buf.get_mut(self.len..self.len + 1 + N) {
            Some([first, rest @ ..]) => {
                *first = tag;
                rest.copy_from_slice(&value);
                self.len += 1 + N;
            }
            _ => {
                self.spill(&[tag]);
                self.spill(&value);
            }
        }
    }

    #[inline]
    fn sized(&mut self, tag: u8, bytes: &[u8]) {
        let Some(short) = u32::try_from(bytes.len()).ok().filter(|len| *len < u32::MAX) else {
            self.fixed(tag, u32::MAX.to_le_bytes());
            self.spill(&(bytes.len() as u64).to_le_bytes());
            return self.spill(bytes);
        };
        self.fixed(tag, short.to_le_bytes());
        match self.buf.get_mut(self.len..self.len + bytes.len()) {
            Some(to) => {
                to.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.spill(bytes),
        }
    }

    /// Hashes what is buffered, and then `bytes`.
    #[cold]
    fn spill(&mut self, bytes: &[u8]) {
        let begun = self.begun.get_or_insert_with(|| Box::new(XxHash3_128::new()));
        begun.write(self.buf.get(..self.len).unwrap_or_default());
        begun.write(bytes);
        self.len = 0;
    }
}
