//! Byte sizes: an integer is bytes, a string is one positive number and a unit.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Units by name. The last letter is always `B`, so `64M` or `64Mb` is refused rather than guessed.
const UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ByteSize(pub(super) u64);

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A size: an integer is bytes; a string is one positive number and a unit (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB), such as `64MiB`.",
            "type": ["integer", "string"],
            "format": "dpone-byte-size",
            "minimum": 1,
            "pattern": "^[0-9]+(\\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB|kB|KB|MB|GB|TB)$",
        })
    }
}

/// Reads a size with its unit, exactly; the error says what is wrong with it.
pub(super) fn parse_with_unit(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(split);
    if number.is_empty() {
        return Err("does not start with a positive number".into());
    }
    if rest.is_empty() {
        return Err("has no unit".into());
    }
    // One space between number and unit reads the same to everybody; any other blank does not.
    let unit = rest.strip_prefix(' ').unwrap_or(rest);
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(match UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
            Some((name, _)) => format!("has a unit that is spelled `{name}`"),
            None => "does not end in a known unit".into(),
        });
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
        return Err("does not start with one decimal number".into());
    }
    let too_large = || "is too large".to_owned();
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let bytes = whole.checked_mul(*factor).ok_or_else(too_large)?;
    let bytes = bytes.checked_add(fraction_bytes(fraction, *factor)?).ok_or_else(too_large)?;
    if bytes == 0 {
        return Err("is zero".into());
    }
    Ok(bytes)
}

/// `0.<digits>` of `factor` bytes, when that is a whole number of bytes.
fn fraction_bytes(digits: &str, factor: u64) -> Result<u64, String> {
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let not_whole = || "is not a whole number of bytes".to_owned();
    // 2^40 has 40 binary digits, so no more than 40 decimal places can be exact; u128 holds 38.
    let places = u32::try_from(digits.len()).ok().filter(|p| *p <= 26).ok_or_else(not_whole)?;
    let scaled =
        digits.parse::<u128>().map_err(|_| not_whole())?.checked_mul(u128::from(factor)).ok_or_else(not_whole)?;
    let unit = 10u128.pow(places);
    if scaled % unit != 0 {
        return Err(not_whole());
    }
    u64::try_from(scaled / unit).map_err(|_| not_whole())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::parse_with_unit;

    #[test]
    fn sizes_are_exact_or_refused() {
        for (text, bytes) in [
            ("64MiB", 64 << 20),
            ("64 MiB", 64 << 20),
            ("1GiB", 1 << 30),
            ("512KiB", 512 << 10),
            ("10MB", 10_000_000),
            ("1.5GiB", 3 << 29),
            ("0.5KiB", 512),
            ("1B", 1),
            ("16777215TiB", 16_777_215 << 40),
        ] {
            assert_eq!(parse_with_unit(text).unwrap(), bytes, "{text}");
        }
        for (text, why) in [
            ("64 M iB", "known unit"),
            ("6 4MiB", "known unit"),
            ("64  MiB", "known unit"),
            (" 64MiB", "positive number"),
            ("-1MiB", "positive number"),
            ("+1MiB", "positive number"),
            ("MiB", "positive number"),
            ("", "positive number"),
            ("0MiB", "zero"),
            ("0.0MiB", "zero"),
            ("0.3KiB", "whole number"),
            ("1.5B", "whole number"),
            ("1.00000000000000000000000000001TiB", "whole number"),
            ("1..5MiB", "one decimal"),
            ("1.MiB", "one decimal"),
            (".5MiB", "one decimal"),
            ("64", "no unit"),
            ("64mib", "`MiB`"),
            ("64M", "known unit"),
            ("16777216TiB", "too large"),
            ("99999999999999999999B", "too large"),
            ("1e3MiB", "known unit"),
            ("64MiB ", "known unit"),
        ] {
            assert!(parse_with_unit(text).unwrap_err().contains(why), "{text}");
        }
    }
}
