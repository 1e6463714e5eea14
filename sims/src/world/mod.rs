//! The simulated world: a source, a store, a target and their faults. It outlives every runner.

pub mod body;
pub mod evidence;
pub mod foreign;
pub mod gate;
pub mod journal;
pub mod landing;
pub mod ports;
pub mod sink;
pub mod source;
pub mod store;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::exec::Time;
use crate::fault::Plan;
pub use body::{Body, Meter, Stored};
use gate::Gates;

/// A row, by its id and the unit its key falls into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// The unit that reads it.
    pub unit: u32,
    /// Its identity, version included: a changed row is another row.
    pub id: u64,
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
    pub objects: BTreeMap<String, Stored>,
    /// The target and everything beside it.
    pub target: sink::Target,
    /// Documents by name: the hash and the text of each.
    pub documents: BTreeMap<String, (String, String)>,
    /// What was brought into the world so late that its run may have stopped looking for it.
    pub late: BTreeSet<String>,
    /// Publications that were sent and of which nobody has heard since.
    pub unheard: BTreeSet<String>,
    /// Staging of which a gate said that it may not be published.
    pub gate_failed: BTreeSet<Vec<String>>,
    /// What the run did that no run may do, each with the name of the invariant.
    pub violations: Vec<(&'static str, String)>,
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
    pub fn new(plan: &Plan, rows: Vec<Row>, base: Vec<Row>, traced: bool) -> Self {
        Self::in_time(Time::default(), plan, rows, base, traced)
    }

    /// The same, in a time that goes on already.
    pub fn in_time(time: Time, plan: &Plan, rows: Vec<Row>, base: Vec<Row>, traced: bool) -> Self {
        let mut state = State { rows: rows.clone(), ..State::default() };
        state.history.insert(0, rows);
        state.target.content = base.clone();
        if plan.shape.owned_base {
            let identity = foreign::EARLIER.to_owned();
            state.target.files.insert(identity.clone());
            let (run, journal) = ("earlier-run".to_owned(), "journal".to_owned());
            let earlier = sink::Publication { run, journal, identity, rows: 0, content: base };
            state.target.publications.push(earlier);
        }
        Self { time: time.clone(), state: Rc::new(RefCell::new(state)), gates: Rc::new(Gates::new(plan, time, traced)) }
    }
}
