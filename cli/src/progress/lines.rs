//! Plain lines, where nobody watches a terminal: every state, and rows at most every few seconds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use dpone_engine::run::{Event, UnitId};

/// The least time between two lines about rows.
const EVERY: Duration = Duration::from_secs(5);

/// Writes lines on stderr.
pub(crate) struct Lines {
    rows: RefCell<BTreeMap<UnitId, u64>>,
    last: Cell<Instant>,
    start: Instant,
}

impl Default for Lines {
    fn default() -> Self {
        let now = Instant::now();
        Self { rows: RefCell::default(), last: Cell::new(now), start: now }
    }
}

impl Lines {
    pub(super) fn fact(&self, event: &Event) {
        match event {
            Event::Moved { to } => self.say(to.name()),
            Event::AttemptStarted { attempt, .. } if *attempt > 1 => self.say(&format!("attempt {attempt}")),
            Event::Halted { why, .. } => self.say(&format!("stopping: {}", why.code)),
            Event::NotDone { why, .. } if why.transient => self.say(&format!("will try again: {}", why.code)),
            Event::Doubted { why, .. } => self.say(&format!("in doubt: {}", why.code)),
            _ => {}
        }
    }

    pub(super) fn progress(&self, unit: UnitId, rows: u64) {
        self.rows.borrow_mut().insert(unit, rows);
        if self.last.get().elapsed() >= EVERY {
            self.last.set(Instant::now());
            let total: u64 = self.rows.borrow().values().sum();
            let rate = total as f64 / self.start.elapsed().as_secs_f64().max(0.001);
            self.say(&format!("{total} rows read, {rate:.0} rows/s"));
        }
    }

    fn say(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "[{:>8.2}s] {text}", self.start.elapsed().as_secs_f64());
    }
}
