//! What a defect of this program looks like to its user: a code, a place in the program, and no value of a source.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic;
use std::process;

use dpone_engine::codes::Code;

use crate::exit;

/// From now on a panic of any thread prints `internal_error` and ends the process with exit code 1. What the panic
/// says is not printed: it may hold what was being read.
pub(crate) fn install() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |l| format!(" at {}:{}", l.file(), l.line()));
        let code = Code::InternalError;
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "error[{code}]: dpone stopped because of a defect in itself{place}");
        let _ = writeln!(err, "  fix: Report it with that place. The journal is whole: `--resume` continues the run.");
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            let _ = writeln!(err, "{backtrace}");
        }
        let _ = writeln!(err, "see: dpone explain {code}");
        process::exit(i32::from(exit::INTERNAL));
    }));
}
