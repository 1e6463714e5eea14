//! Numbers as exact text.

use std::io::Write as _;

/// Where a number's text is put for the time of one cell.
#[derive(Debug)]
pub(crate) struct Scratch([u8; 40]);

impl Default for Scratch {
    fn default() -> Self {
        Self([0; 40])
    }
}

impl Scratch {
    /// An integer's digits.
    pub(super) fn integer(&mut self, v: i64) -> &str {
        self.put(format_args!("{v}"))
    }

    /// The shortest text that reads back as the same double, with an exponent where the plain form is long.
    pub(super) fn real(&mut self, v: f64) -> &str {
        if v.is_infinite() {
            return if v > 0.0 { "Infinity" } else { "-Infinity" };
        }
        self.put(format_args!("{v:?}"))
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) -> &str {
        let room = self.0.len();
        let mut rest = &mut self.0[..];
        // Twenty-five bytes are the most that an i64 or the shortest form of an f64 takes.
        let _ = rest.write_fmt(text);
        let used = room - rest.len();
        std::str::from_utf8(&self.0[..used]).unwrap_or_default()
    }
}
