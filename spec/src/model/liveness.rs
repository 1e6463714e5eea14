//! I12: from every reachable state, once faults stop, the run ends within a bound.
//!
//! The way of a state is deterministic: the runner goes on, replies arrive, probes can tell, nothing lands late, and an
//! operator resumes what has ended without being settled. Ways meet, so each state is walked through once.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};

use super::canonical;
use super::config::Faults;
use super::{RunModel, State, Step};

/// The most steps that a run may need to end, resumes included.
const BOUND: u16 = 200;

const SHARDS: usize = 64;

/// Steps to the end, by state.
#[derive(Debug)]
pub(super) struct Memo {
    shards: Vec<Mutex<HashMap<u64, u16>>>,
    longest: AtomicU16,
}

impl Default for Memo {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), longest: AtomicU16::new(0) }
    }
}

impl Memo {
    fn shard(&self, mark: u64) -> std::sync::MutexGuard<'_, HashMap<u64, u16>> {
        let shard = &self.shards[(mark % SHARDS as u64) as usize];
        shard.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn longest(&self) -> u16 {
        self.longest.load(Ordering::Relaxed)
    }
}

impl RunModel {
    /// Whether the run ends from here within [`BOUND`] steps, at the latest after being resumed.
    pub(super) fn settles(&self, from: &State) -> bool {
        let mut state = from.clone();
        state.faults = Faults::default();
        state.late.clear();
        let mut way = Vec::new();
        let end = loop {
            let mark = canonical::mark(&state, &self.config);
            if let Some(steps) = self.settled.shard(mark).get(&mark) {
                break *steps;
            }
            way.push(mark);
            if way.len() > BOUND as usize {
                return false;
            }
            let Some(step) = state.faultless_step() else { break 0 };
            state.take(&step, &self.config);
            if state.broken.is_some() {
                return false;
            }
        };
        for (distance, mark) in (1..).zip(way.iter().rev()) {
            let steps = end + distance;
            self.settled.shard(*mark).insert(*mark, steps);
            self.settled.longest.fetch_max(steps, Ordering::Relaxed);
        }
        end as usize + way.len() <= BOUND as usize
    }
}

impl State {
    /// The next step if no fault happens; `None` at the end.
    fn faultless_step(&mut self) -> Option<Step> {
        if !self.next.facts.is_empty() {
            return Some(Step::Append);
        }
        let mut live = self.run.open.iter().filter(|(_, o)| !o.doubted);
        let request = live.find(|(_, o)| !matches!(o.effect, dpone_engine::run::Effect::Read { .. }));
        if let Some((key, _)) = request {
            return Some(Step::Complete(*key));
        }
        if let Some(key) = self.next.probes.first() {
            return Some(Step::Probe(*key));
        }
        if self.run.settled() {
            return None;
        }
        self.faults.resumes = 1;
        Some(Step::Resume)
    }
}
