//! Decimals as text: no driver's binary form keeps 38 digits on every platform.

use arrow::datatypes::i256;
use dpone_engine::profile::RowProfiler;

use crate::columnar::ColumnBuilder;
use crate::reading::Fault;
use crate::reading::text::{NotADecimal, decimal};

/// A decimal column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    precision: u8,
    scale: u8,
}

/// Digits that 128 bits hold.
const NARROW: u8 = 38;

impl Decimal {
    pub(super) const fn new(precision: u8, scale: u8) -> Self {
        Self { precision, scale }
    }

    #[inline]
    pub(super) fn take(
        self,
        text: Result<&[u8], Fault>,
        profiler: &mut RowProfiler,
        builder: &mut ColumnBuilder,
    ) -> Option<Result<u64, Fault>> {
        let text = match text {
            Ok(text) => text,
            Err(fault) => return Some(Err(fault)),
        };
        if self.precision <= NARROW {
            return match self.narrow(text) {
                Ok(v) => {
                    profiler.decimal(v);
                    builder.decimal(v).then_some(Ok(0))
                }
                Err(fault) => Some(Err(fault)),
            };
        }
        match self.wide(text) {
            Ok(v) => {
                let bytes = v.to_le_bytes();
                profiler.wide_decimal(&bytes);
                builder.wide_decimal(&bytes).then_some(Ok(0))
            }
            Err(fault) => Some(Err(fault)),
        }
    }

    fn narrow(self, text: &[u8]) -> Result<i128, Fault> {
        let v = decimal(text, self.scale).map_err(|why| fault(text, why))?;
        let limit = 10_i128.checked_pow(u32::from(self.precision)).ok_or(Fault::Precision)?;
        if -limit < v && v < limit { Ok(v) } else { Err(Fault::Precision) }
    }

    /// Whole and fraction apart, each of which 128 bits hold, where they do; else digit by digit.
    fn wide(self, text: &[u8]) -> Result<i256, Fault> {
        let text = std::str::from_utf8(text).map_err(|_| Fault::Form)?;
        let (negative, body) =
            text.strip_prefix('-').map_or((false, text.strip_prefix('+').unwrap_or(text)), |b| (true, b));
        let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
        let plain = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        if !plain(whole) || !plain(fraction) || (whole.is_empty() && fraction.is_empty()) || body.ends_with('.') {
            return Err(fault(text.as_bytes(), NotADecimal::Form));
        }
        let scale = usize::from(self.scale);
        let (kept, rest) = fraction.split_at_checked(scale).unwrap_or((fraction, ""));
        if rest.bytes().any(|c| c != b'0') {
            return Err(Fault::Scale);
        }
        let digits = format!("{whole}{kept:0<scale$}");
        let digits = digits.trim_start_matches('0');
        if digits.len() > usize::from(self.precision) {
            return Err(Fault::Precision);
        }
        let v = if digits.is_empty() { Some(i256::ZERO) } else { i256::from_string(digits) };
        let v = v.ok_or(Fault::Precision)?;
        Ok(if negative { v.wrapping_neg() } else { v })
    }
}

#[cold]
fn fault(text: &[u8], why: NotADecimal) -> Fault {
    match why {
        // PostgreSQL's driver hands these over in columns that it describes as decimal.
        NotADecimal::Form
            if ["nan", "infinity", "-infinity", "inf", "-inf"]
                .iter()
                .any(|t| text.eq_ignore_ascii_case(t.as_bytes())) =>
        {
            Fault::NotFinite
        }
        // A text that does not end inside its buffer, too, has another form than was planned.
        NotADecimal::Form => Fault::Form,
        NotADecimal::Scale => Fault::Scale,
        NotADecimal::Precision => Fault::Precision,
    }
}
