//! Bytes: at rest in the store, or in the memory of a process, where they are measured.

use std::cell::Cell;
use std::rc::Rc;

use super::Row;

/// What an object holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The rows.
    pub rows: Vec<Row>,
    /// The size it claims.
    pub size: u64,
}

/// Measures what one process holds in memory, apart from the books of its budget.
#[derive(Clone, Debug, Default)]
pub struct Meter(Rc<Cell<(u64, u64)>>);

impl Meter {
    /// The most bytes that were held at one time.
    pub fn peak(&self) -> u64 {
        self.0.get().1
    }

    fn take(&self, bytes: u64) {
        let (now, peak) = self.0.get();
        self.0.set((now + bytes, peak.max(now + bytes)));
    }

    fn give(&self, bytes: u64) {
        let (now, peak) = self.0.get();
        self.0.set((now - bytes, peak));
    }
}

/// Bytes in a process's memory.
#[derive(Debug)]
pub struct Body {
    /// What they are.
    pub stored: Stored,
    meter: Meter,
}

impl Body {
    /// Bytes that the process of that meter holds from now on.
    pub fn new(stored: Stored, meter: &Meter) -> Self {
        meter.take(stored.size);
        Self { stored, meter: meter.clone() }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.meter.give(self.stored.size);
    }
}

impl dpone_engine::ports::Body for Body {
    fn size(&self) -> u64 {
        self.stored.size
    }
}
