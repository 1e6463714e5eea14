//! Values in their text form, each read exactly or not at all.

mod decimal;
mod moment;
mod uuid;

pub(crate) use decimal::{NotADecimal, decimal};
pub(crate) use moment::{NotATimestamp, days_from_civil, days_in, parse_date, parse_time, parse_timestamp, ticks};
pub(crate) use uuid::parse as parse_uuid;
