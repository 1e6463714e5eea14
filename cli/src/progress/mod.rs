//! What a run shows while it runs: bars on a terminal, a line now and then elsewhere.

mod bars;
mod lines;

use std::io::IsTerminal;

use dpone_engine::ports::Observer;
use dpone_engine::run::{Event, UnitId};

use bars::Bars;
use lines::Lines;

/// The watcher of one run.
pub(crate) enum Progress {
    /// Shows nothing.
    Silent,
    /// One bar per range and one for all.
    Bars(Bars),
    /// Plain lines on stderr.
    Lines(Lines),
}

impl Progress {
    /// What suits the output: `units` ranges of about `rows` rows together, if that is known.
    pub(crate) fn new(silent: bool, units: u32, rows: Option<u64>) -> Self {
        if silent {
            Self::Silent
        } else if std::io::stderr().is_terminal() {
            Self::Bars(Bars::new(units, rows))
        } else {
            Self::Lines(Lines::default())
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
    fn fact(&self, _seq: u64, event: &Event) {
        match self {
            Self::Silent => {}
            Self::Bars(bars) => bars.fact(event),
            Self::Lines(lines) => lines.fact(event),
        }
    }

    fn progress(&self, unit: UnitId, rows: u64, bytes: u64) {
        match self {
            Self::Silent => {}
            Self::Bars(bars) => bars.progress(unit, rows, bytes),
            Self::Lines(lines) => lines.progress(unit, rows),
        }
    }
}
