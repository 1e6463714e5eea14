//! The simulated world: a source, a store, a target and their faults. It outlives every runner.

pub mod evidence;
pub mod gate;
pub mod ports;
pub mod sink;
pub mod source;
pub mod store;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::exec::Time;
use crate::fault::Plan;
use gate::Gates;

/// A row, by its id and the unit its key falls into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// The unit that reads it.
    pub unit: u32,
    /// Its identity, version included: a changed row is another row.
    pub id: u64,
}

/// Bytes on their way: rows, and a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The rows.
    pub rows: Vec<Row>,
    /// The size it claims.
    pub size: u64,
}

impl dpone_engine::ports::Body for Body {
    fn size(&self) -> u64 {
        self.size
    }
}

/// Everything that outlives a process.
#[derive(Default)]
pub struct State {
    /// The source's rows now.
    pub rows: Vec<Row>,
    /// How often they changed.
    pub version: u64,
    /// Every version's rows, for the check of what was delivered.
    pub history: BTreeMap<u64, Vec<Row>>,
    /// Objects by key.
    pub objects: BTreeMap<String, Body>,
    /// The target and everything beside it.
    pub target: sink::Target,
    /// Documents by name.
    pub documents: BTreeMap<String, String>,
    /// Everything that went wrong with the rules of the world itself: a foreign thing that was touched.
    pub violations: Vec<String>,
}

/// The world. Clones share it.
#[derive(Clone)]
pub struct World {
    /// Virtual time.
    pub time: Time,
    /// What outlives processes.
    pub state: Rc<RefCell<State>>,
    /// Where faults are decided.
    pub gates: Rc<Gates>,
}

impl World {
    /// A world with those rows in its source and a target that holds `base`.
    pub fn new(plan: &Plan, rows: Vec<Row>, base: Vec<Row>) -> Self {
        let time = Time::default();
        let mut state = State { rows: rows.clone(), ..State::default() };
        state.history.insert(0, rows);
        state.target.content = base;
        Self { time: time.clone(), state: Rc::new(RefCell::new(state)), gates: Rc::new(Gates::new(plan, time)) }
    }

    /// The source changes: one row is replaced, one may come or go.
    pub fn change_source(&self, draw: u64) {
        let mut state = self.state.borrow_mut();
        state.version += 1;
        let version = state.version;
        let count = state.rows.len() as u64;
        if let Some(row) = state.rows.get_mut((draw % count.max(1)) as usize) {
            row.id = crate::rng::mix(row.id ^ version);
        }
        if draw % 3 == 0 {
            let unit = state.rows.first().map_or(0, |r| r.unit);
            state.rows.push(Row { unit, id: crate::rng::mix(draw ^ version) });
        }
        let rows = state.rows.clone();
        state.history.insert(version, rows);
    }
}
