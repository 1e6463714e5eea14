//! What is printed where: results on stdout, everything else on stderr.

use std::io::{self, IsTerminal, Write};

use dpone_engine::refusal::Refusal;

use crate::args::{Color, Format, Global};

/// How this process prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// The format of results.
    pub(crate) format: Format,
    /// Whether progress and notes are left out.
    pub(crate) quiet: bool,
    color: bool,
}

impl Output {
    /// As the options say.
    pub(crate) fn new(global: &Global) -> Self {
        let color = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        Self { format: global.format, quiet: global.quiet, color }
    }

    /// Prints a result. A reader that has gone away ends nothing.
    pub(crate) fn result(&self, text: &str) {
        let mut out = io::stdout().lock();
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(out, "{text}{newline}");
        let _ = out.flush();
    }

    /// Prints a JSON value as a result.
    pub(crate) fn json(&self, value: &serde_json::Value) {
        self.result(&serde_json::to_string_pretty(value).unwrap_or_default());
    }

    /// Prints anything that has a JSON form as a result.
    pub(crate) fn value(&self, value: &impl serde::Serialize) {
        self.result(&serde_json::to_string_pretty(value).unwrap_or_default());
    }

    /// Prints how a run failed, and what to run next.
    pub(crate) fn failure(&self, code: &str, detail: &str, fix: Option<&str>, next: Option<&str>) {
        let mut err = io::stderr().lock();
        let _ = writeln!(err, "{}: {detail}", self.paint("1;31", &format!("error[{code}]")));
        for (what, text) in [("fix:", fix), ("next:", next)] {
            if let Some(text) = text {
                let _ = writeln!(err, "  {} {text}", self.paint("1;36", what));
            }
        }
        let _ = writeln!(err, "{}", self.dim(&format!("see: dpone explain {code}")));
    }

    /// Prints refusals: code, sentence, place, snippet, what to do.
    pub(crate) fn refusals(&self, refusals: &[Refusal]) {
        let mut err = io::stderr().lock();
        for refusal in refusals {
            let _ = write!(err, "{}", self.refusal(refusal));
        }
        if let [first, ..] = refusals {
            let _ = writeln!(err, "{}", self.dim(&format!("see: dpone explain {}", first.code)));
        }
    }

    fn refusal(&self, refusal: &Refusal) -> String {
        let head = format!("error[{}]", refusal.code);
        let mut text = format!("{}: {}\n", self.paint("1;31", &head), refusal.message);
        if let Some(place) = &refusal.place {
            text.push_str(&format!("  {} {place}\n", self.paint("1;34", "-->")));
        }
        if let Some(snippet) = &refusal.snippet {
            for line in snippet.lines() {
                text.push_str(&format!("   {line}\n"));
            }
        }
        if let Some(fix) = &refusal.fix {
            text.push_str(&format!("  {} {fix}\n", self.paint("1;36", "fix:")));
        }
        text
    }

    fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(&self, style: &str, text: &str) -> String {
        if self.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
