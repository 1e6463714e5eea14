//! Logs, on stderr only.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;

use crate::args::{Global, LogFormat};

/// Begins to log as the options say; `DPONE_LOG` overrides how much.
pub(crate) fn start(global: &Global, color: bool) {
    let level = match (global.quiet, global.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, _) => "trace",
    };
    let filter = EnvFilter::try_from_env("DPONE_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Lenient).with_ansi(color);
    // A second subscriber can only be set by a mistake of this program; logs are then simply not shown twice.
    let _ = match global.log_format {
        LogFormat::Text => logs.try_init(),
        LogFormat::Json => logs.json().try_init(),
    };
}

/// Standard error, which may go away at any time: a run does not end because nobody reads its log.
struct Lenient;

impl Write for Lenient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().lock().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
