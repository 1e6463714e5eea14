//! Plain lines, where nobody watches a terminal: every step, and rows at most every few seconds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use dpone_engine::report::units::{count, duration};
use dpone_engine::run::{Event, Receipt, UnitId};

use super::stage::{Stage, rows};

/// The least time between two lines about rows.
const EVERY: Duration = Duration::from_secs(5);

/// Writes lines on stderr.
pub(crate) struct Lines {
    stage: RefCell<Stage>,
    rows: RefCell<BTreeMap<UnitId, u64>>,
    all: Cell<Option<u64>>,
    last: Cell<Instant>,
    start: Instant,
}

impl Lines {
    pub(super) fn new(units: u32, all: Option<u64>) -> Self {
        let now = Instant::now();
        Self {
            stage: RefCell::new(Stage::new(units)),
            rows: RefCell::default(),
            all: Cell::new(all),
            last: Cell::new(now),
            start: now,
        }
    }

    pub(super) fn fact(&self, event: &Event) {
        let mut stage = self.stage.borrow_mut();
        if let Some(text) = stage.fact(event) {
            self.say(&text);
        }
        if let Some(text) = stage.loads(event).filter(|_| self.due()) {
            self.say(&text);
        }
        match event {
            Event::AttemptStarted { .. } => self.rows.borrow_mut().clear(),
            Event::Confirmed { receipt: Receipt::Counted { rows }, .. } => self.all.set(Some(*rows)),
            _ => {}
        }
    }

    pub(super) fn progress(&self, unit: UnitId, read: u64) {
        self.rows.borrow_mut().insert(unit, read);
        if !self.due() {
            return;
        }
        let read: u64 = self.rows.borrow().values().sum();
        let seconds = self.start.elapsed().as_secs_f64().max(0.001);
        let rate = read as f64 / seconds;
        let eta = self.all.get().filter(|all| *all > read && rate >= 1.0).map_or_else(String::new, |all| {
            format!(", eta {}", duration(((all - read) as f64 / rate * 1000.0) as u64))
        });
        self.say(&format!("{}, {} rows/s{eta}", rows(read, self.all.get()), count(rate as u64)));
    }

    fn due(&self) -> bool {
        let due = self.last.get().elapsed() >= EVERY;
        if due {
            self.last.set(Instant::now());
        }
        due
    }

    fn say(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "[{:>7.2}s] {text}", self.start.elapsed().as_secs_f64());
    }
}
