use std::collections::BTreeSet;

use super::super::{Bound, boundary_digest};
use crate::value::Value;

#[test]
fn digests_differ_by_key_kind_type_and_value() {
    let values = || {
        [
            Value::Int(1),
            Value::Int(2),
            Value::Date(1),
            Value::Decimal { unscaled: 1, scale: 0 },
            Value::Decimal { unscaled: 1, scale: 1 },
            Value::Ticks { ticks: 1, digits: 0 },
            Value::Text("1".into()),
            Value::Bytes(b"1".to_vec()),
        ]
    };
    let mut seen = BTreeSet::new();
    for key in [[0u8; 32], [1u8; 32]] {
        let bounds = values().into_iter().flat_map(|v| [Bound::Inclusive(v.clone()), Bound::Exclusive(v)]);
        for bound in bounds.chain([Bound::Open]) {
            let digest = boundary_digest(&key, &bound);
            assert_eq!(digest, boundary_digest(&key, &bound));
            assert!(digest.len() == 32 && digest.bytes().all(|b| b.is_ascii_hexdigit()));
            assert!(seen.insert(digest));
        }
    }
}

#[test]
fn a_digest_is_the_same_in_every_release() {
    let digest = boundary_digest(&[7; 32], &Bound::Inclusive(Value::Int(-5)));
    assert_eq!(digest, "7255451aa004bf5d40bc2a6e56effc02");
}
