//! The canonical encoding of a row and the order-independent checksum over rows: `spec/fidelity.md`.
//!
//! Both sides of a run compute the same checksum from what they hold, whatever form they hold it in. A change to
//! this encoding would make every older receipt incomparable: it is versioned by the specification and pinned by
//! `spec/fidelity-vectors.json`.

mod encoder;
#[cfg(test)]
mod tests;

pub use encoder::RowEncoder;

/// One byte before every cell. The tag says how many bytes follow, so that no two rows of one schema share an
/// encoding.
pub(crate) mod tag {
    /// NULL of any type; nothing follows.
    pub(crate) const NULL: u8 = 0x00;
    /// One byte, 0 or 1.
    pub(crate) const BOOL: u8 = 0x01;
    /// `i64`, little-endian, for every signed width.
    pub(crate) const INT: u8 = 0x02;
    /// `u64`, little-endian, for every unsigned width.
    pub(crate) const UINT: u8 = 0x03;
    /// The bits of a binary32, little-endian.
    pub(crate) const FLOAT32: u8 = 0x04;
    /// The bits of a binary64, little-endian.
    pub(crate) const FLOAT64: u8 = 0x05;
    /// The unscaled `i128`, little-endian, of a decimal of at most 38 digits.
    pub(crate) const DECIMAL: u8 = 0x06;
    /// The unscaled 256-bit integer, little-endian two's complement, of a decimal of 39 to 76 digits.
    pub(crate) const WIDE_DECIMAL: u8 = 0x07;
    /// Days since 1970-01-01 as `i32`, little-endian.
    pub(crate) const DATE: u8 = 0x08;
    /// Ticks of the type's fractional digits as `i64`, little-endian; time of day and timestamp.
    pub(crate) const TICKS: u8 = 0x09;
    /// Length and UTF-8 bytes.
    pub(crate) const TEXT: u8 = 0x0a;
    /// Length and bytes.
    pub(crate) const BINARY: u8 = 0x0b;
    /// 16 bytes in RFC 4122 order.
    pub(crate) const UUID: u8 = 0x0c;
}

/// The checksum of a set of rows: the sum of their hashes modulo 2^128.
///
/// A sum, not XOR: two equal rows add up where XOR would cancel them. Sums of disjoint sets add up to the sum of
/// their union, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowChecksum(pub u128);

impl RowChecksum {
    /// Adds one row by its hash.
    #[inline]
    pub fn add(&mut self, row_hash: u128) {
        self.0 = self.0.wrapping_add(row_hash);
    }

    /// Adds the rows of another set.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}
