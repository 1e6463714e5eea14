//! Values as exact text, for output that the operator asked to show them in.

use std::fmt::Write as _;

use jiff::Span;
use jiff::civil;

use crate::schema::LogicalType;
use crate::value::Value;

/// The exact text of a value of that type: dates and times in ISO form, bytes in hexadecimal, everything else as
/// digits. [`parse_value`](super::parse_value) reads it back wherever the type can be a boundary.
///
/// The result is source data: show it only under `--show-values`.
pub fn render_value(ty: &LogicalType, value: &Value) -> String {
    match value {
        Value::Bool(v) => v.to_string(),
        Value::Int(v) => v.to_string(),
        Value::Decimal { unscaled, scale } => decimal(*unscaled, *scale),
        Value::Float(_) => value.to_f64().map(|v| format!("{v:?}")).unwrap_or_default(),
        Value::Date(days) => date(i128::from(*days)),
        Value::Ticks { ticks, digits } => ticks_text(ty, *ticks, *digits),
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => format!("0x{}", hex(bytes)),
        Value::Uuid(b) => {
            let groups = [&b[0..4], &b[4..6], &b[6..8], &b[8..10], &b[10..16]];
            groups.map(hex).join("-")
        }
    }
}

fn decimal(unscaled: i128, scale: u8) -> String {
    let scale = usize::from(scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

fn date(days: i128) -> String {
    let day = i64::try_from(days).ok().and_then(|days| Span::new().try_days(days).ok());
    match day.and_then(|span| civil::date(1970, 1, 1).checked_add(span).ok()) {
        Some(date) => date.to_string(),
        None => format!("day {days} of 1970"),
    }
}

fn ticks_text(ty: &LogicalType, ticks: i128, digits: u8) -> String {
    let Some(per_second) = 10i128.checked_pow(u32::from(digits)) else {
        return format!("{ticks} ticks of 1e-{digits} s");
    };
    let (second, part) = (ticks.div_euclid(per_second), ticks.rem_euclid(per_second));
    let (day, second) = (second.div_euclid(86_400), second.rem_euclid(86_400));
    let mut text = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if digits > 0 {
        // Writing to a String cannot fail.
        let _ = write!(text, ".{part:0>width$}", width = usize::from(digits));
    }
    match ty {
        LogicalType::Time { .. } => text,
        LogicalType::Timestamp { utc: true, .. } => format!("{}T{text}Z", date(day)),
        _ => format!("{}T{text}", date(day)),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
