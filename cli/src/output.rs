//! What is printed where: results on stdout, everything else on stderr.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use crate::args::{Color, Format, Global};
use crate::stderr::Stderr;
use crate::terminal;
use crate::wrap::wrap;

/// How this process prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// The format of results.
    pub(crate) format: Format,
    /// Whether progress and notes are left out.
    pub(crate) quiet: bool,
    /// Whether stderr is coloured.
    pub(crate) color: bool,
    /// Where everything that is no result goes.
    pub(crate) stderr: Stderr,
}

impl Output {
    /// As the options say.
    pub(crate) fn new(global: &Global) -> Self {
        let color = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        Self { format: global.format, quiet: global.quiet, color, stderr: Stderr::new(global.log_format) }
    }

    /// Prints a result for people. On a terminal, lines end where it ends.
    pub(crate) fn result(&self, text: &str) {
        match self.columns() {
            Some(columns) => self.exactly(&wrap(text, columns)),
            None => self.exactly(text),
        }
    }

    /// The columns of the terminal that a result for people goes to; `None` if it goes elsewhere.
    pub(crate) fn columns(&self) -> Option<usize> {
        terminal::columns(io::stdout()).filter(|_| self.format == Format::Text)
    }

    /// Prints a result as it is. A reader that has gone away ends nothing.
    pub(crate) fn exactly(&self, text: &str) {
        match print(text) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {}
            Err(e) => {
                LOST.store(true, Ordering::Relaxed);
                let text = format!("the result could not be written to stdout: {}", e.kind());
                self.refusals(&[Refusal::new(Code::OutputNotWritten, text)]);
            }
        }
    }

    /// Whether a result could not be written.
    pub(crate) fn is_lost() -> bool {
        LOST.load(Ordering::Relaxed)
    }

    /// Prints a JSON value as a result.
    pub(crate) fn json(&self, value: &serde_json::Value) {
        self.exactly(&serde_json::to_string_pretty(value).unwrap_or_default());
    }

    /// Prints anything that has a JSON form as a result.
    pub(crate) fn value(&self, value: &impl serde::Serialize) {
        self.exactly(&serde_json::to_string_pretty(value).unwrap_or_default());
    }

    /// Prints how a run failed, what mends it, and what to run next.
    pub(crate) fn failure(&self, code: &str, detail: &str, fix: Option<&str>, next: Option<&str>) {
        let mut text = format!("{}: {detail}\n", self.paint("1;31", &format!("error[{code}]")));
        for (what, said) in [("fix:", fix), ("next:", next)] {
            if let Some(said) = said {
                text.push_str(&format!("  {} {said}\n", self.paint("1;36", what)));
            }
        }
        text.push_str(&self.see(code));
        let fields = [("message", detail.into()), ("code", code.into()), ("fix", fix.into()), ("next", next.into())];
        self.stderr.error(&text, &fields);
    }

    /// Prints refusals: code, sentence, place, snippet, what to do.
    pub(crate) fn refusals(&self, refusals: &[Refusal]) {
        for (i, refusal) in refusals.iter().enumerate() {
            let mut text = self.refusal(refusal);
            if i + 1 == refusals.len() {
                text.push_str(&self.see(refusals[0].code.as_str()));
            }
            let fields = [
                ("message", refusal.message.as_str().into()),
                ("code", refusal.code.as_str().into()),
                ("place", refusal.place.as_deref().into()),
                ("fix", refusal.fix.as_deref().into()),
            ];
            self.stderr.error(&text, &fields);
        }
    }

    fn see(&self, code: &str) -> String {
        self.dim(&format!("see: dpone explain {code}"))
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

/// Whether a result could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes a result on stdout.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{text}{newline}")?;
    out.flush()
}
