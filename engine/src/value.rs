//! A single typed value: a range boundary, a minimum or a maximum.
//!
//! Values are *source data*. They live in the plan and the journal, which belong to the operator, and never in
//! errors, logs or evidence; `Debug` therefore does not show them.

use serde::{Deserialize, Serialize};

/// One value of a [`LogicalType`](crate::schema::LogicalType), in a form with exact arithmetic and order.
///
/// Invariant: the derived order is the order of the values themselves only within one variant (and, for
/// decimals and timestamps, one scale); planners never compare across.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type", content = "value")]
pub enum Value {
    /// true or false.
    Bool(bool),
    /// Any signed or unsigned integer type.
    Int(i128),
    /// `unscaled` × 10^-`scale`.
    Decimal {
        /// The digits as one integer.
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
    /// Wraps a float so that the derived order is IEEE 754 `totalOrder`.
    pub fn from_f64(v: f64) -> Self {
        let bits = v.to_bits() as i64;
        Self::Float(bits ^ (((bits >> 63) as u64) >> 1) as i64)
    }

    /// The float that [`Value::from_f64`] wrapped; `None` for another variant.
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Self::Float(k) => Some(f64::from_bits((k ^ (((k >> 63) as u64) >> 1) as i64) as u64)),
            _ => None,
        }
    }
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

#[cfg(test)]
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
    fn debug_shows_no_source_value() {
        assert_eq!(format!("{:?}", Value::Text("secret".into())), "Text(..)");
    }
}
