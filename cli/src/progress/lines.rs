//! Plain lines, where nobody watches a terminal: every step, and rows at most every few seconds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dpone_engine::report::units::{count, duration};
use dpone_engine::run::{Event, Receipt, UnitId};

use super::pulse::Pulse;
use super::stage::{Stage, rows};
use crate::stderr::Stderr;

/// The least time between two lines about rows.
const EVERY: Duration = Duration::from_secs(5);

/// Writes lines on stderr.
pub(crate) struct Lines {
    stage: RefCell<Stage>,
    rows: RefCell<BTreeMap<UnitId, u64>>,
    all: Cell<Option<u64>>,
    last: Cell<Instant>,
    start: Instant,
    stderr: Stderr,
    pulse: Pulse,
}

impl Lines {
    pub(super) fn new(stage: Stage, all: Option<u64>, stderr: Stderr) -> Self {
        let now = Instant::now();
        let pulse = Pulse::start(stage.step(), now, move |text, at| line(stderr, text, at));
        Self {
            stage: RefCell::new(stage),
            rows: RefCell::default(),
            all: Cell::new(all),
            last: Cell::new(now),
            start: now,
            stderr,
            pulse,
        }
    }

    pub(super) fn stderr(&self) -> Stderr {
        self.stderr
    }

    pub(super) fn fact(&self, event: &Event) {
        let mut stage = self.stage.borrow_mut();
        if let Some(text) = stage.fact(event) {
            let begun = matches!(event, Event::Moved { .. } | Event::AttemptStarted { .. });
            self.pulse.said(begun.then(|| stage.step()));
            line(self.stderr, &text, self.start.elapsed());
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
        self.pulse.said(None);
        line(self.stderr, text, self.start.elapsed());
    }
}

fn line(stderr: Stderr, text: &str, elapsed: Duration) {
    let seconds = elapsed.as_secs_f64();
    stderr.info(&format!("[{seconds:>7.2}s] {text}"), &[("message", text.into()), ("elapsed_s", seconds.into())]);
}
