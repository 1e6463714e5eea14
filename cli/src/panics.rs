//! What a defect of this program looks like to its user: a code, a place in the program, and no value of a source.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic;
use std::process;

use dpone_engine::codes::Code;

use crate::exit;
use crate::stderr::Stderr;

const FIX: &str = "Report it with that place. The journal is whole: `--resume` continues the run.";

/// From now on a panic of any thread prints `internal_error` and ends the process with exit code 1. What the panic
/// says is not printed: it may hold what was being read.
pub(crate) fn install(stderr: Stderr) {
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or_else(String::new, |l| format!(" at {}:{}", l.file(), l.line()));
        let code = Code::InternalError;
        let message = format!("dpone stopped because of a defect in itself{place}");
        let backtrace = Backtrace::capture();
        let captured = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
        let shown = captured.as_deref().unwrap_or_default();
        let text = format!("error[{code}]: {message}\n  fix: {FIX}\n{shown}see: dpone explain {code}");
        let fields = [
            ("message", message.into()),
            ("code", code.as_str().into()),
            ("fix", FIX.into()),
            ("backtrace", captured.clone().into()),
        ];
        stderr.error(&text, &fields);
        process::exit(i32::from(exit::INTERNAL));
    }));
}
