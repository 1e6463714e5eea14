//! Text, which is UTF-8: the server converts it, but for a database without an encoding.

use super::Fault;

#[inline]
pub(super) fn read(field: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(field).map_err(|_| Fault::Encoding)
}
