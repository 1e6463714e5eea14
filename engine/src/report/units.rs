//! Numbers as people read them.

/// Bytes with a binary unit, one decimal: `64.0 MiB`. Exact below 1 KiB.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut unit = 0;
    let mut scale = 1024u64;
    while unit + 1 < UNITS.len() && n / scale >= 1024 {
        scale *= 1024;
        unit += 1;
    }
    let tenths = u128::from(n) * 10 / u128::from(scale);
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A count with its digits in groups of three: `1 234 567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Milliseconds as a duration: `340 ms`, `12.3 s`, `4 min 05 s`, `2 h 03 min`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", seconds, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A Unix time in milliseconds as `2026-01-31T12:00:00.000Z`; times beyond year 9999 as milliseconds.
pub fn time(unix_ms: u64) -> String {
    let stamp = i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    stamp.map_or_else(|| format!("{unix_ms} ms"), |stamp| format!("{stamp:.3}"))
}

#[cfg(test)]
mod tests {
    use super::{bytes, count, duration, time};

    #[test]
    fn numbers_read_well_and_never_round_up() {
        for (n, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (64 << 20, "64.0 MiB"),
            ((1 << 30) - 1, "1023.9 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1 000"), (1_234_567, "1 234 567")] {
            assert_eq!(count(n), text);
        }
        for (ms, text) in
            [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (61_000, "1 min 01 s"), (7_380_000, "2 h 03 min")]
        {
            assert_eq!(duration(ms), text);
        }
        assert_eq!(time(1_767_225_600_000), "2026-01-01T00:00:00.000Z");
        assert_eq!(time(u64::MAX), format!("{} ms", u64::MAX));
    }
}
