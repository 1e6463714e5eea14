//! Lines on stderr that are no results: text, or one JSON object a line, in the shape of the log's own lines.

use std::io::Write;

use dpone_engine::report::units::time;
use serde_json::{Map, Value, json};

use crate::args::LogFormat;
use crate::terminal::columns;
use crate::wrap::wrap;

/// Whether lines are JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stderr {
    json: bool,
}

impl Stderr {
    /// As `--log-format` says.
    pub(crate) fn new(format: LogFormat) -> Self {
        Self { json: format == LogFormat::Json }
    }

    /// Writes an error: as `text` says, or its `fields` that are not null. A reader that has gone away ends nothing.
    pub(crate) fn error(self, text: &str, fields: &[(&str, Value)]) {
        self.write("ERROR", text, fields);
    }

    /// Writes a line about what is being done.
    pub(crate) fn info(self, text: &str, fields: &[(&str, Value)]) {
        self.write("INFO", text, fields);
    }

    fn write(self, level: &str, text: &str, fields: &[(&str, Value)]) {
        let mut err = std::io::stderr().lock();
        let _ = match self.json {
            false => {
                let text = text.trim_end();
                match columns(&err) {
                    Some(columns) => writeln!(err, "{}", wrap(text, columns)),
                    None => writeln!(err, "{text}"),
                }
            }
            true => {
                let said = fields.iter().filter(|(_, value)| !value.is_null());
                let fields: Map<_, _> = said.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
                let line = json!({ "timestamp": time(now()), "level": level, "fields": fields, "target": "dpone" });
                writeln!(err, "{line}")
            }
        };
    }
}

/// Wall time, Unix milliseconds.
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
