//! A single typed value: a range boundary, a minimum or a maximum.
//!
//! Values are *source data*. They live in the plan and the journal, which belong to the operator, and never in
//! errors, logs or evidence; `Debug` therefore does not show them.

use serde::{Deserialize, Serialize};

/// One value of a [`LogicalType`](crate::schema::LogicalType), in a form with exact arithmetic and order.
///
/// Invariant: the derived order is the order of the values themselves only within one variant (and, for
/// decimals and timestamps, one scale); planners never compare across. In JSON, integers are text: a JSON number
/// holds no 128 bits that every reader keeps.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type", content = "value")]
pub enum Value {
    /// true or false.
    Bool(bool),
    /// Any signed or unsigned integer type.
    Int(#[serde(with = "digits")] i128),
    /// `unscaled` × 10^-`scale`.
    Decimal {
        /// The digits as one integer.
        #[serde(with = "digits")]
        unscaled: i128,
        /// How many of them are fractional.
        scale: u8,
    },
    /// A float in total order: the bits mapped so that integer order is IEEE 754 `totalOrder`.
    /// Build and read it with [`Value::from_f64`] and [`Value::to_f64`].
    Float(i64),
    /// Days since 1970-01-01.
    Date(i32),
    /// Time of day or timestamp: `ticks` of 10^-`digits` seconds (since midnight or 1970-01-01T00:00:00).
    Ticks {
        /// Number of ticks.
        #[serde(with = "digits")]
        ticks: i128,
        /// Fractional digits of a second that one tick is worth.
        digits: u8,
    },
    /// Text, ordered by its UTF-8 bytes.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// UUID in RFC 4122 order.
    Uuid([u8; 16]),
}

impl Value {
    /// Whether the derived order is the order of these two values: one variant and, where there is one, one scale.
    pub fn is_comparable_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Decimal { scale: a, .. }, Self::Decimal { scale: b, .. }) => a == b,
            (Self::Ticks { digits: a, .. }, Self::Ticks { digits: b, .. }) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Wraps a float so that the derived order is IEEE 754 `totalOrder`.
    pub fn from_f64(v: f64) -> Self {
        Self::Float(total_order(v))
    }

    /// The float that [`Value::from_f64`] wrapped; `None` for another variant.
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Self::Float(k) => Some(f64::from_bits((k ^ (((k >> 63) as u64) >> 1) as i64) as u64)),
            _ => None,
        }
    }
}

/// The bits of a float, mapped so that integer order is IEEE 754 `totalOrder`.
#[inline]
pub(crate) fn total_order(v: f64) -> i64 {
    let bits = v.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self {
            Self::Bool(_) => "Bool",
            Self::Int(_) => "Int",
            Self::Decimal { .. } => "Decimal",
            Self::Float(_) => "Float",
            Self::Date(_) => "Date",
            Self::Ticks { .. } => "Ticks",
            Self::Text(_) => "Text",
            Self::Bytes(_) => "Bytes",
            Self::Uuid(_) => "Uuid",
        };
        write!(f, "{kind}(..)")
    }
}

/// Integers as decimal text.
mod digits {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(v: &i128, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(v)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<i128, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(|_| serde::de::Error::custom("not an integer of 128 bits"))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::Value;

    #[test]
    fn floats_are_kept_bit_for_bit_and_in_total_order() {
        let order = [f64::NEG_INFINITY, -1e308, -0.0, 0.0, 5e-324, 1.5, f64::INFINITY, f64::NAN];
        for v in order {
            assert_eq!(Value::from_f64(v).to_f64().map(f64::to_bits), Some(v.to_bits()));
        }
        assert!(order.windows(2).all(|w| Value::from_f64(w[0]) < Value::from_f64(w[1])));
    }

    #[test]
    fn json_keeps_every_bit() {
        let extremes = [i128::MIN, -1, 0, 1 << 64, i128::MAX];
        let values = extremes.into_iter().flat_map(|v| {
            [Value::Int(v), Value::Decimal { unscaled: v, scale: 2 }, Value::Ticks { ticks: v, digits: 9 }]
        });
        for value in values {
            let text = serde_json::to_string(&value).unwrap();
            assert!(serde_json::from_str::<Value>(&text).unwrap() == value);
            let tree = serde_json::to_value(&value).unwrap();
            assert!(serde_json::from_value::<Value>(tree).unwrap() == value);
        }
    }

    #[test]
    fn debug_shows_no_source_value() {
        assert_eq!(format!("{:?}", Value::Text("secret".into())), "Text(..)");
    }
}
