//! SHA-256 as the documents and messages show it.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// SHA-256 of bytes in segments.
pub fn sha256_of(segments: &[bytes::Bytes]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    segments.iter().for_each(|s| hasher.update(s));
    hasher.finalize().into()
}
