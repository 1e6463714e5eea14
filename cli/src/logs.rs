//! Logs, on stderr only.

use std::env;
use std::io::{self, Write};

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use tracing_subscriber::EnvFilter;

use crate::args::{Global, LogFormat};

const VARIABLE: &str = "DPONE_LOG";
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Begins to log as the options say; `DPONE_LOG` overrides how much.
///
/// # Errors
/// A refusal if `DPONE_LOG` is no filter.
pub(crate) fn start(global: &Global, color: bool) -> Result<(), Refusal> {
    let level = match (global.quiet, global.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, _) => "trace",
    };
    let filter = match env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
        Some(text) => text.to_str().ok_or_else(|| "it is not UTF-8".to_owned()).and_then(read).map_err(refused)?,
        None => EnvFilter::new(level),
    };
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Lenient).with_ansi(color);
    // A second subscriber can only be set by a mistake of this program; logs are then simply not shown twice.
    let _ = match global.log_format {
        LogFormat::Text => logs.try_init(),
        LogFormat::Json => logs.json().try_init(),
    };
    Ok(())
}

/// A filter. A single word is a level here: a level that is misspelled would be the name of a module, and silence all logs.
fn read(text: &str) -> Result<EnvFilter, String> {
    if !text.contains('[') {
        for word in text.split(',').map(str::trim).filter(|part| !part.contains('=')) {
            if !LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level)) {
                return Err(format!("{:?} is no level", word.chars().take(40).collect::<String>()));
            }
        }
    }
    EnvFilter::try_new(text).map_err(|error| error.to_string())
}

fn refused(why: String) -> Refusal {
    let fix = format!("Set it to one of {}, or to `MODULE=LEVEL,…`; or unset it.", LEVELS.join(", "));
    Refusal::new(Code::UsageInvalid, format!("{VARIABLE} cannot be read: {why}")).fix(fix)
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
