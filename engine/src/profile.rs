//! What was seen in a unit's rows: counts, extremes and an order-independent checksum, on either side of a run.
//!
//! `spec/fidelity.md` defines every number here, so that a sink can compute its side by its own means.

mod compare;
mod extremes;
mod profiler;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use compare::{Difference, Mismatch, compare};
pub use profiler::RowProfiler;

use crate::codes::Code;
use crate::refusal::Refusal;
use crate::value::Value;

/// How many bytes of a text or binary value take part in a minimum or maximum.
pub const PREFIX_BYTES: usize = 64;

/// One column's part of a [`UnitProfile`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnProfile {
    /// How many NULLs.
    pub nulls: u64,
    /// The least value that is not NULL. For text and binary: [`Value::Bytes`] of the least prefix. `None` if there is
    /// no value, or the type has no extremes (decimals of more than 38 digits).
    pub min: Option<Value>,
    /// The greatest value that is not NULL, likewise.
    pub max: Option<Value>,
}

/// The profile of some rows; profiles of disjoint rows merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnitProfile {
    /// How many rows.
    pub rows: u64,
    /// Sum modulo 2^128 of the rows' hashes; 0 where rows were not hashed. JSON has it as 32 hexadecimal digits.
    #[serde(with = "hex")]
    pub checksum: u128,
    /// One entry per column, in schema order; empty where columns were not profiled.
    pub columns: Vec<ColumnProfile>,
}

impl UnitProfile {
    /// Adds the profile of other rows, taken under the same schema and level. The order of merging does not matter,
    /// and the default profile changes nothing.
    ///
    /// # Errors
    /// `internal_error` if the two cannot be profiles of one schema and level.
    pub fn merge(&mut self, other: &Self) -> Result<(), Refusal> {
        let foreign = || Refusal::new(Code::InternalError, "profiles of different schemas were merged");
        let rows = self.rows.checked_add(other.rows).ok_or_else(foreign)?;
        if *other == Self::default() {
            return Ok(());
        }
        if *self == Self::default() {
            *self = other.clone();
            return Ok(());
        }
        if self.columns.len() != other.columns.len() {
            return Err(foreign());
        }
        let mut columns = Vec::with_capacity(self.columns.len());
        for (a, b) in self.columns.iter().zip(&other.columns) {
            columns.push(ColumnProfile {
                nulls: a.nulls.checked_add(b.nulls).ok_or_else(foreign)?,
                min: extreme(&a.min, &b.min, Value::lt).ok_or_else(foreign)?,
                max: extreme(&a.max, &b.max, Value::gt).ok_or_else(foreign)?,
            });
        }
        *self = Self { rows, checksum: self.checksum.wrapping_add(other.checksum), columns };
        Ok(())
    }
}

/// The better of two extremes; the outer `None` if they are not values of one type.
fn extreme(a: &Option<Value>, b: &Option<Value>, better: fn(&Value, &Value) -> bool) -> Option<Option<Value>> {
    match (a, b) {
        (Some(a), Some(b)) if !a.is_comparable_with(b) => None,
        (Some(a), Some(b)) => Some(Some(if better(b, a) { b.clone() } else { a.clone() })),
        (one, other) => Some(one.clone().or_else(|| other.clone())),
    }
}

/// A JSON number holds no 128 bits that every reader keeps.
mod hex {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(v: &u128, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("{v:032x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u128, D::Error> {
        let text = String::deserialize(d)?;
        let plain = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let number = plain.then(|| u128::from_str_radix(&text, 16).ok()).flatten();
        number.ok_or_else(|| serde::de::Error::custom("a checksum is 32 hexadecimal digits"))
    }
}
