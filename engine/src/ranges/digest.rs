//! Commitments to boundaries, for documents that must not show them.

use super::Bound;
use crate::value::Value;

/// What a public document shows in place of a boundary: 128 bits of a keyed BLAKE3 over its kind, type and exact
/// value, as 32 hexadecimal digits.
///
/// Keys are few and guessable, so an unkeyed hash would give them away; `key` stays in the journal.
pub fn boundary_digest(key: &[u8; 32], bound: &Bound) -> String {
    let mut hasher = blake3::Hasher::new_keyed(key);
    match bound {
        Bound::Open => {
            hasher.update(&[0]);
        }
        Bound::Inclusive(value) => update(hasher.update(&[1]), value),
        Bound::Exclusive(value) => update(hasher.update(&[2]), value),
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// A type tag and the value. Nothing follows, so that lengths need no prefix.
fn update(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Bool(v) => hasher.update(&[1, u8::from(*v)]),
        Value::Int(v) => hasher.update(&[2]).update(&v.to_le_bytes()),
        Value::Decimal { unscaled, scale } => hasher.update(&[3, *scale]).update(&unscaled.to_le_bytes()),
        Value::Float(v) => hasher.update(&[4]).update(&v.to_le_bytes()),
        Value::Date(v) => hasher.update(&[5]).update(&v.to_le_bytes()),
        Value::Ticks { ticks, digits } => hasher.update(&[6, *digits]).update(&ticks.to_le_bytes()),
        Value::Text(v) => hasher.update(&[7]).update(v.as_bytes()),
        Value::Bytes(v) => hasher.update(&[8]).update(v),
        Value::Uuid(v) => hasher.update(&[9]).update(v),
    };
}
