//! Bars on a terminal: one per range that is being read, one for all rows, and what is being done.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use dpone_engine::report::units::{bytes, count, duration};
use dpone_engine::run::{Effect, Event, Key, Receipt, UnitId};
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use super::stage::Stage;
use crate::terminal::columns;

/// More ranges than this are read at once without a bar of their own.
const MOST_BARS: usize = 16;
/// Steps of a spinner.
const TICK: Duration = Duration::from_millis(100);

/// Draws on stderr until it is told to finish.
pub(crate) struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    work: ProgressBar,
    stage: RefCell<Stage>,
    readers: RefCell<BTreeMap<Key, (UnitId, ProgressBar)>>,
    rows: RefCell<BTreeMap<UnitId, u64>>,
    begun: Cell<bool>,
}

impl Bars {
    pub(super) fn new(stage: Stage, rows: Option<u64>) -> Self {
        let all = MultiProgress::new();
        let total = all.add(ProgressBar::no_length());
        total.set_style(total_style(rows.is_some()));
        if let Some(rows) = rows {
            total.set_length(rows);
        }
        let work = all.add(ProgressBar::new_spinner().with_style(style("{spinner} {wide_msg}")));
        work.set_message("opening the source");
        work.enable_steady_tick(TICK);
        Self {
            all,
            total,
            work,
            stage: RefCell::new(stage),
            readers: RefCell::default(),
            rows: RefCell::default(),
            begun: Cell::new(false),
        }
    }

    /// Where lines can be written without disturbing the bars.
    pub(super) fn above(&self) -> MultiProgress {
        self.all.clone()
    }

    pub(super) fn fact(&self, event: &Event) {
        let mut stage = self.stage.borrow_mut();
        if let Some(text) = stage.fact(event).or_else(|| stage.loads(event)) {
            self.work.set_message(text);
        }
        match event {
            Event::AttemptStarted { .. } => self.rows.borrow_mut().clear(),
            Event::Intended { key, effect: Effect::Read { unit, .. } } => self.begin(*key, *unit),
            Event::Confirmed { receipt: Receipt::Counted { rows }, .. } => {
                self.total.set_style(total_style(true));
                self.total.set_length(*rows);
            }
            Event::Confirmed { key, .. }
            | Event::NotDone { key, .. }
            | Event::Doubted { key, .. }
            | Event::Poisoned { key } => {
                if let Some((_, bar)) = self.readers.borrow_mut().remove(key) {
                    bar.finish_and_clear();
                    self.all.remove(&bar);
                }
            }
            _ => {}
        }
    }

    fn begin(&self, key: Key, unit: UnitId) {
        if !self.begun.replace(true) {
            self.total.reset_eta();
            self.total.reset_elapsed();
        }
        let mut readers = self.readers.borrow_mut();
        if readers.len() < MOST_BARS {
            let bar = self.all.insert_before(&self.total, ProgressBar::new_spinner());
            bar.set_style(style("{spinner} {prefix:<5} {msg}"));
            bar.set_prefix(format!("r{unit}"));
            bar.set_message("reading");
            readers.insert(key, (unit, bar));
        }
    }

    pub(super) fn progress(&self, unit: UnitId, rows: u64, encoded: u64) {
        let mut all = self.rows.borrow_mut();
        all.insert(unit, rows);
        let read = all.values().sum();
        if self.total.length().is_some_and(|length| length < read) {
            self.total.set_length(read);
        }
        self.total.set_position(read);
        if let Some((_, bar)) = self.readers.borrow().values().find(|(of, _)| *of == unit) {
            bar.set_message(format!("{:>13} rows  {}", count(rows), bytes(encoded)));
            bar.tick();
        }
    }

    pub(super) fn finish(&self) {
        for (_, bar) in self.readers.borrow().values() {
            bar.finish_and_clear();
        }
        self.total.finish_and_clear();
        self.work.finish_and_clear();
        let _ = self.all.clear();
    }
}

fn total_style(bounded: bool) -> ProgressStyle {
    // The widest line of numbers takes about sixty columns.
    let width = columns(std::io::stderr()).unwrap_or(80).saturating_sub(62).clamp(8, 30);
    let bounded_line = format!("  {{bar:{width}}} {{rows}} of {{all}} rows{{rate}}{{eta}}");
    style(if bounded { &bounded_line } else { "  {rows} rows{rate}" })
        .progress_chars("━╸─")
        .with_key("rows", |s: &ProgressState, w: &mut dyn std::fmt::Write| {
            let _ = w.write_str(&count(s.pos()));
        })
        .with_key("all", |s: &ProgressState, w: &mut dyn std::fmt::Write| {
            let _ = w.write_str(&count(s.len().unwrap_or(s.pos())));
        })
        .with_key("rate", |s: &ProgressState, w: &mut dyn std::fmt::Write| {
            // Before the first rows there is no rate, and no end in sight.
            if s.pos() > 0 {
                let _ = write!(w, "  {} rows/s", count(s.per_sec() as u64));
            }
        })
        .with_key("eta", |s: &ProgressState, w: &mut dyn std::fmt::Write| {
            if s.pos() > 0 && s.len().is_some_and(|all| all > s.pos()) {
                let seconds = s.eta().as_secs();
                let _ = write!(w, "  eta {}", duration(seconds.saturating_mul(1000)));
            }
        })
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
