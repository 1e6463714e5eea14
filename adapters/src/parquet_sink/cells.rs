//! A decoded cell, to the profiler and to the unique gate.

use dpone_engine::profile::RowProfiler;

use crate::columnar::decode::{Cell, wide_bytes};

/// Shows a cell to a profiler.
#[inline]
pub(super) fn show(cell: Cell<'_>, to: &mut RowProfiler) {
    match cell {
        Cell::Null => to.null(),
        Cell::Bool(v) => to.bool(v),
        Cell::Int(v) => to.int(v),
        Cell::UInt(v) => to.uint(v),
        Cell::Float32(v) => to.float32(v),
        Cell::Float64(v) => to.float64(v),
        Cell::Decimal(v) => to.decimal(v),
        Cell::WideDecimal(v) => to.wide_decimal(&wide_bytes(v)),
        Cell::Date(v) => to.date(v),
        Cell::Ticks(v) => to.ticks(v),
        Cell::Text(v) => to.text(v),
        Cell::Binary(v) => to.binary(v),
        Cell::Uuid(v) => to.uuid(v),
    }
}

/// Appends bytes that are equal exactly for equal values of the column; nothing for NULL, which equals nothing.
/// As in SQL, the two zeros of a float are equal, and here NaN equals NaN.
pub(super) fn key(cell: Cell<'_>, to: &mut Vec<u8>) -> bool {
    match cell {
        Cell::Null => return false,
        Cell::Bool(v) => to.push(u8::from(v)),
        Cell::Int(v) | Cell::Ticks(v) => to.extend(v.to_be_bytes()),
        Cell::UInt(v) => to.extend(v.to_be_bytes()),
        Cell::Float32(v) => to.extend(float_key(v.into())),
        Cell::Float64(v) => to.extend(float_key(v)),
        Cell::Decimal(v) => to.extend(v.to_be_bytes()),
        Cell::WideDecimal(v) => to.extend(wide_bytes(v)),
        Cell::Date(v) => to.extend(v.to_be_bytes()),
        Cell::Text(v) => to.extend(v.as_bytes()),
        Cell::Binary(v) => to.extend(v),
        Cell::Uuid(v) => to.extend(v),
    }
    true
}

fn float_key(v: f64) -> [u8; 8] {
    let v = if v.is_nan() { f64::NAN } else { v + 0.0 };
    v.to_bits().to_be_bytes()
}
