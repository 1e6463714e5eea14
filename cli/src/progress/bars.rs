//! Bars on a terminal.

use std::cell::RefCell;
use std::time::Duration;

use dpone_engine::run::{Effect, Event, Receipt, UnitId};
use indicatif::{HumanBytes, HumanCount, MultiProgress, ProgressBar, ProgressStyle};

/// More ranges than this share the bar of all.
const MOST_BARS: u32 = 16;

/// One bar per range being read, and one for all.
pub(crate) struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    state: ProgressBar,
    units: RefCell<Vec<Option<ProgressBar>>>,
    rows: RefCell<Vec<u64>>,
    shown: bool,
}

impl Bars {
    pub(super) fn new(units: u32, rows: Option<u64>) -> Self {
        let all = MultiProgress::new();
        let total = all.add(match rows {
            Some(rows) => ProgressBar::new(rows)
                .with_style(style("{prefix:>10} [{bar:32}] {human_pos}/{human_len} rows  {per_sec}  eta {eta}")),
            None => ProgressBar::no_length().with_style(style("{prefix:>10} {spinner} {human_pos} rows  {per_sec}")),
        });
        total.set_prefix("total");
        let state = all.add(ProgressBar::new_spinner().with_style(style("{prefix:>10} {spinner} {msg}")));
        state.set_prefix("state");
        state.enable_steady_tick(Duration::from_millis(120));
        Self {
            all,
            total,
            state,
            units: RefCell::new(vec![None; units as usize]),
            rows: RefCell::new(vec![0; units as usize]),
            shown: units <= MOST_BARS,
        }
    }

    pub(super) fn fact(&self, event: &Event) {
        match event {
            Event::Moved { to } => self.state.set_message(to.name()),
            Event::AttemptStarted { attempt, .. } if *attempt > 1 => {
                self.state.set_message(format!("attempt {attempt}"))
            }
            Event::Halted { why, .. } => self.state.set_message(format!("stopping: {}", why.code)),
            Event::Intended { effect: Effect::Read { unit, .. }, .. } if self.shown => {
                let bar = self.all.insert_before(&self.total, ProgressBar::new_spinner());
                bar.set_style(style("{prefix:>10} {spinner} {msg}"));
                bar.set_prefix(format!("range {unit}"));
                if let Some(slot) = self.units.borrow_mut().get_mut(*unit as usize) {
                    *slot = Some(bar);
                }
            }
            Event::Confirmed { receipt: Receipt::Read { .. }, .. } => {
                for slot in self.units.borrow_mut().iter_mut() {
                    if let Some(bar) = slot.take_if(|bar| bar.is_finished()) {
                        self.all.remove(&bar);
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn progress(&self, unit: UnitId, rows: u64, bytes: u64) {
        let mut all = self.rows.borrow_mut();
        if let Some(slot) = all.get_mut(unit as usize) {
            *slot = rows;
        }
        self.total.set_position(all.iter().sum());
        if let Some(Some(bar)) = self.units.borrow().get(unit as usize) {
            bar.set_message(format!("{} rows  {}", HumanCount(rows), HumanBytes(bytes)));
            bar.tick();
        }
    }

    pub(super) fn finish(&self) {
        self.state.finish_and_clear();
        self.total.finish_and_clear();
        for bar in self.units.borrow().iter().flatten() {
            bar.finish_and_clear();
        }
        let _ = self.all.clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
