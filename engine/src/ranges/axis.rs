//! The number line of a column type: every value of the type is one whole position on it, so that splitting and
//! comparing is exact integer arithmetic whatever the type.

use super::uuid_order::UuidOrder;
use crate::schema::LogicalType;
use crate::value::Value;

/// 0001-01-01 and 9999-12-31 in days since 1970-01-01.
pub(super) const FIRST_DAY: i32 = -719_162;
pub(super) const LAST_DAY: i32 = 2_932_896;

/// Moves the order of `u128` to that of `i128`.
const SIGN: u128 = 1 << 127;

const SECONDS_PER_DAY: i128 = 86_400;

/// The number line of a type whose values can be split into ranges.
///
/// Invariant: positions are in the values' own order and neighbours differ by 1. For all types but `uuid`, which fills
/// `i128`, `lowest..=highest` leaves room for one position more on either side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    kind: Kind,
    lowest: i128,
    highest: i128,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Int,
    Decimal { scale: u8 },
    Date,
    Ticks { digits: u8 },
    Uuid(UuidOrder),
}

impl Axis {
    /// The number line of that type, or `None` if the type cannot be split here.
    ///
    /// `time` has none by contract; text and binary order is the server's; floats have no even steps; whether the order
    /// of uuids is known is for [`split_of`](super::split_of) to ask;
    /// decimals of more than 38 digits do not fit `i128`.
    pub(super) fn of(ty: &LogicalType, uuids: UuidOrder) -> Option<Self> {
        let (kind, lowest, highest) = match *ty {
            LogicalType::Int { bits: bits @ 1..=64 } => {
                let half = 1i128 << (bits - 1);
                (Kind::Int, -half, half - 1)
            }
            LogicalType::UInt { bits: bits @ 1..=64 } => (Kind::Int, 0, (1i128 << bits) - 1),
            LogicalType::Decimal { precision: precision @ 1..=38, scale } => {
                let limit = 10i128.pow(u32::from(precision)) - 1;
                (Kind::Decimal { scale }, -limit, limit)
            }
            LogicalType::Date => (Kind::Date, i128::from(FIRST_DAY), i128::from(LAST_DAY)),
            LogicalType::Timestamp { digits: digits @ 0..=9, .. } => {
                let per_day = SECONDS_PER_DAY * 10i128.pow(u32::from(digits));
                let lowest = i128::from(FIRST_DAY) * per_day;
                (Kind::Ticks { digits }, lowest, (i128::from(LAST_DAY) + 1) * per_day - 1)
            }
            LogicalType::Uuid => (Kind::Uuid(uuids), i128::MIN, i128::MAX),
            _ => return None,
        };
        Some(Self { kind, lowest, highest })
    }

    /// Where that value lies; `None` if it is not exactly a value of the type.
    pub(super) fn position(&self, value: &Value) -> Option<i128> {
        let position = match (self.kind, value) {
            (Kind::Int, Value::Int(v)) => *v,
            (Kind::Decimal { scale }, Value::Decimal { unscaled, scale: from }) => rescale(*unscaled, *from, scale)?,
            (Kind::Uuid(order), Value::Uuid(bytes)) => (u128::from_be_bytes(order.sorted(bytes)) ^ SIGN) as i128,
            (Kind::Date, Value::Date(days)) => i128::from(*days),
            (Kind::Ticks { digits }, Value::Ticks { ticks, digits: from }) => rescale(*ticks, *from, digits)?,
            _ => return None,
        };
        (self.lowest..=self.highest).contains(&position).then_some(position)
    }

    /// The value at a position that lies on the line.
    pub(super) fn value(&self, position: i128) -> Value {
        match self.kind {
            Kind::Int => Value::Int(position),
            Kind::Uuid(order) => Value::Uuid(order.restored(&(position as u128 ^ SIGN).to_be_bytes())),
            Kind::Decimal { scale } => Value::Decimal { unscaled: position, scale },
            Kind::Date => Value::Date(i32::try_from(position).unwrap_or(LAST_DAY)),
            Kind::Ticks { digits } => Value::Ticks { ticks: position, digits },
        }
    }
}

/// The same number with another count of fractional digits; `None` unless it stays exact.
fn rescale(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    let factor = 10i128.checked_pow(u32::from(from.abs_diff(to)))?;
    if from <= to { unscaled.checked_mul(factor) } else { (unscaled % factor == 0).then(|| unscaled / factor) }
}
