//! The profiler of the hot path: one call per cell, in schema order, then [`RowProfiler::end_row`].

use super::extremes::{Extremes, total_order32};
use super::{ColumnProfile, UnitProfile};
use crate::canonical::RowEncoder;
use crate::codes::Code;
use crate::manifest::Fidelity;
use crate::refusal::Refusal;
use crate::schema::Schema;
use crate::value::total_order;

/// Profiles and checksums rows as they pass: counts, extremes and encoding in one step per cell.
///
/// Every row gives each cell through the method of its column's type, in schema order. A caller that does not is
/// found out by [`RowProfiler::finish`], never by a wrong profile. Below [`Fidelity::Columns`] cells are ignored and
/// may be left out. Memory is bounded by the schema, whatever the values are.
#[derive(Debug)]
pub struct RowProfiler {
    level: Fidelity,
    columns: Vec<Column>,
    /// The next cell's column.
    at: usize,
    rows: u64,
    encoder: RowEncoder,
    misused: bool,
}

#[derive(Debug)]
struct Column {
    nulls: u64,
    extremes: Extremes,
}

/// One method per kind of cell: the column's extremes see the key, and the encoder gets the value.
macro_rules! cells {
    ($($(#[$doc:meta])* $name:ident($v:ident: $ty:ty) = $pattern:pat => $see:expr;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub fn $name(&mut self, $v: $ty) {
                if self.level < Fidelity::Columns {
                    return;
                }
                match self.columns.get_mut(self.at) {
                    Some(Column { extremes: $pattern, .. }) => $see,
                    _ => self.misused = true,
                }
                self.at += 1;
                if self.level >= Fidelity::Rows {
                    self.encoder.$name($v);
                }
            }
        )*
    };
}

impl RowProfiler {
    /// A profiler of rows of that schema.
    pub fn new(schema: &Schema, level: Fidelity) -> Self {
        let column = |ty| Column { nulls: 0, extremes: Extremes::of(ty) };
        let columns = match level {
            Fidelity::Off | Fidelity::Counts => Vec::new(),
            Fidelity::Columns | Fidelity::Rows => schema.columns.iter().map(|c| column(&c.ty)).collect(),
        };
        Self { level, columns, at: 0, rows: 0, encoder: RowEncoder::new(), misused: false }
    }

    /// A NULL of any type.
    #[inline]
    pub fn null(&mut self) {
        if self.level < Fidelity::Columns {
            return;
        }
        match self.columns.get_mut(self.at) {
            Some(column) => column.nulls += 1,
            None => self.misused = true,
        }
        self.at += 1;
        if self.level >= Fidelity::Rows {
            self.encoder.null();
        }
    }

    cells! {
        /// A boolean.
        bool(v: bool) = Extremes::Bool(span) => span.see(v);
        /// A signed integer of any width.
        int(v: i64) = Extremes::Int(span) => span.see(v);
        /// An unsigned integer of any width.
        uint(v: u64) = Extremes::UInt(span) => span.see(v);
        /// A `float32`, bit for bit.
        float32(v: f32) = Extremes::Float32(span) => span.see(total_order32(v));
        /// A `float64`, bit for bit.
        float64(v: f64) = Extremes::Float64(span) => span.see(total_order(v));
        /// The unscaled value of a decimal of at most 38 digits, at the column's scale.
        decimal(v: i128) = Extremes::Decimal(span, _) => span.see(v);
        /// The unscaled value of a decimal of 39 to 76 digits, at the column's scale: 256 bits, little-endian.
        wide_decimal(v: &[u8; 32]) = Extremes::WideDecimal => ();
        /// A date, in days since 1970-01-01.
        date(v: i32) = Extremes::Date(span) => span.see(v);
        /// A time of day or timestamp, in ticks of the column's fractional digits.
        ticks(v: i64) = Extremes::Ticks(span, _) => span.see(v);
        /// A text.
        text(v: &str) = Extremes::Text(prefixes) => prefixes.see(v.as_bytes());
        /// A byte string.
        binary(v: &[u8]) = Extremes::Binary(prefixes) => prefixes.see(v);
        /// A UUID, in RFC 4122 order.
        uuid(v: &[u8; 16]) = Extremes::Uuid(span) => span.see(u128::from_be_bytes(*v));
    }

    /// Ends the row.
    #[inline]
    pub fn end_row(&mut self) {
        self.rows += 1;
        if self.level < Fidelity::Columns {
            return;
        }
        self.misused |= self.at != self.columns.len();
        self.at = 0;
        if self.level >= Fidelity::Rows {
            self.encoder.finish_row();
        }
    }

    /// How many rows were ended.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The profile of the rows that were ended.
    ///
    /// # Errors
    /// `internal_error` if a row's cells were not those of the schema, or a row was begun and not ended.
    pub fn finish(&self) -> Result<UnitProfile, Refusal> {
        if self.misused || self.at != 0 {
            return Err(Refusal::new(Code::InternalError, "a row's cells are not those of its schema"));
        }
        let columns = self.columns.iter().map(|column| {
            let (min, max) = column.extremes.values().unzip();
            ColumnProfile { nulls: column.nulls, min, max }
        });
        Ok(UnitProfile { rows: self.rows, checksum: self.encoder.checksum().0, columns: columns.collect() })
    }
}
