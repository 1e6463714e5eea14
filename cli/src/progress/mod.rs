//! What a run shows while it runs: bars on a terminal, a line now and then elsewhere, and logs for who asks for them.

mod bars;
mod lines;
mod pulse;
mod stage;

use std::io::IsTerminal;

use dpone_engine::plan::Plan;
use dpone_engine::ports::Observer;
use dpone_engine::run::{Event, UnitId};

use crate::args::{Global, LogFormat};
use crate::stderr::Stderr;
use bars::Bars;
use lines::Lines;
use stage::Stage;

/// The watcher of one run.
pub(crate) enum Progress {
    /// Shows nothing.
    Silent,
    /// One bar per range that is being read and one for all.
    Bars(Bars),
    /// Plain lines on stderr.
    Lines(Lines),
}

impl Progress {
    /// What suits the options and the output.
    pub(crate) fn new(global: &Global, plan: &Plan, abandon: bool, stderr: Stderr) -> Self {
        let (stage, rows) = (Stage::of(plan, abandon), plan.source_rows);
        // Log lines and bars would write over each other.
        let bars = std::io::stderr().is_terminal() && global.verbose == 0 && global.log_format == LogFormat::Text;
        match (global.no_progress || global.quiet, bars) {
            (true, _) => Self::Silent,
            (false, true) => Self::Bars(Bars::new(stage, rows)),
            (false, false) => Self::Lines(Lines::new(stage, rows, stderr)),
        }
    }

    /// Writes a line beside what is shown; from any thread.
    pub(crate) fn announcer(&self) -> Box<dyn Fn(&str) + Send> {
        match self {
            Self::Silent => Box::new(|_| {}),
            Self::Bars(bars) => {
                let above = bars.above();
                Box::new(move |text| {
                    let _ = above.println(text);
                })
            }
            Self::Lines(lines) => {
                let stderr = lines.stderr();
                Box::new(move |text| stderr.info(text, &[("message", text.into())]))
            }
        }
    }

    /// Takes everything off the screen.
    pub(crate) fn finish(&self) {
        if let Self::Bars(bars) = self {
            bars.finish();
        }
    }
}

impl Observer for Progress {
    fn fact(&self, seq: u64, event: &Event) {
        log(seq, event);
        match self {
            Self::Silent => {}
            Self::Bars(bars) => bars.fact(event),
            Self::Lines(lines) => lines.fact(event),
        }
    }

    fn progress(&self, unit: UnitId, rows: u64, bytes: u64) {
        tracing::trace!(unit, rows, bytes, "read");
        match self {
            Self::Silent => {}
            Self::Bars(bars) => bars.progress(unit, rows, bytes),
            Self::Lines(lines) => lines.progress(unit, rows),
        }
    }
}

/// Facts as log lines: kinds, keys and codes, no value of a source.
fn log(seq: u64, event: &Event) {
    match event {
        Event::Moved { to } => tracing::info!(seq, state = to.name(), "state"),
        Event::AttemptStarted { attempt, .. } => tracing::info!(seq, attempt, "attempt started"),
        Event::TakenOver { epoch } => tracing::info!(seq, epoch, "runner started"),
        Event::Halted { why, .. } => tracing::info!(seq, code = %why.code, "halted"),
        Event::Intended { key, effect } => tracing::debug!(seq, key = key.0, effect = ?effect.kind(), "intended"),
        Event::Confirmed { key, receipt } => tracing::debug!(seq, key = key.0, effect = ?receipt.kind(), "confirmed"),
        Event::NotDone { key, why, .. } => tracing::info!(seq, key = key.0, code = %why.code, "not done"),
        Event::Doubted { key, why } => tracing::info!(seq, key = key.0, code = %why.code, "in doubt"),
        other => tracing::debug!(seq, kind = ?other.kind(), "fact"),
    }
}
