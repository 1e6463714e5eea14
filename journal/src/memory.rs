//! A journal in memory, behind the same append rule and the same codec, with the faults that a disk can have.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

use dpone_engine::codes::Code;
use dpone_engine::driver as journal;
use dpone_engine::ports::{AppendError, RunLog};
use dpone_engine::run::Event;

use crate::record::{Unreadable, decode};
use crate::rule::{self, Head, Stored};

/// What happens to an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is durable and its runner is told.
    Durable,
    /// It fails and nothing of it is there.
    Lost,
    /// It fails for its runner, and all of it is there.
    DurableUntold,
}

/// Decides the fate of each append, by its number over the journal's life.
pub type Hook = Rc<dyn Fn(u64) -> Fate>;

#[derive(Default)]
struct Inner {
    runs: BTreeMap<String, (Head, Vec<Stored>)>,
    appends: u64,
    hook: Option<Hook>,
}

/// The journal. Clones share it.
#[derive(Clone, Default)]
pub struct MemoryJournal(Rc<RefCell<Inner>>);

/// The log of one run under one epoch.
pub struct MemoryLog {
    journal: MemoryJournal,
    run: String,
    epoch: u64,
}

impl MemoryJournal {
    /// Sets what decides the fate of appends.
    pub fn on_append(&self, hook: Hook) {
        self.0.borrow_mut().hook = Some(hook);
    }

    /// Appends that were tried so far.
    pub fn appends(&self) -> u64 {
        self.0.borrow().appends
    }

    /// Writes a new run's plan down.
    ///
    /// # Errors
    /// If the event is no plan; `option_conflict` if the id is taken.
    pub fn create_run(&self, planned: &Event, at: u64) -> Result<(), AppendError> {
        let Event::Planned { run, .. } = planned else {
            return Err(AppendError { code: Code::InternalError, detail: "a run begins with its plan".to_owned() });
        };
        let log = rule::append(run, Head::EMPTY, 0, at, std::slice::from_ref(planned))?;
        match self.0.borrow_mut().runs.entry(run.clone()) {
            Entry::Vacant(free) => {
                free.insert(log);
                Ok(())
            }
            Entry::Occupied(_) => {
                let detail = format!("the journal already has a run {run}");
                Err(AppendError { code: Code::OptionConflict, detail })
            }
        }
    }

    /// Raises a run's epoch and gives its log to the new runner.
    pub fn take(&self, run: &str) -> Option<(u64, MemoryLog)> {
        let mut inner = self.0.borrow_mut();
        let (head, _) = inner.runs.get_mut(run)?;
        head.epoch += 1;
        Some((head.epoch, MemoryLog { journal: self.clone(), run: run.to_owned(), epoch: head.epoch }))
    }

    /// A run's facts, each checked against the chain; none if there is no such run.
    ///
    /// # Errors
    /// If a record cannot be read back, or is not what was appended.
    pub fn entries(&self, run: &str) -> Result<Vec<journal::Entry>, Unreadable> {
        let inner = self.0.borrow();
        let stored = inner.runs.get(run).map(|(_, stored)| stored.as_slice()).unwrap_or_default();
        let mut head = Head::EMPTY;
        let checked = stored.iter().map(|stored| {
            head = rule::follow(run, head, stored).map_err(|_| Unreadable::Malformed("what was appended"))?;
            Ok(journal::Entry { seq: stored.seq, at: stored.at, event: decode(&stored.record)? })
        });
        checked.collect()
    }

    /// A run's events as they are stored.
    pub fn stored(&self, run: &str) -> Vec<Stored> {
        self.0.borrow().runs.get(run).map(|(_, stored)| stored.clone()).unwrap_or_default()
    }
}

impl RunLog for MemoryLog {
    async fn append(&self, at: u64, events: &[Event]) -> Result<(), AppendError> {
        let mut inner = self.journal.0.borrow_mut();
        inner.appends += 1;
        let fate = inner.hook.as_ref().map_or(Fate::Durable, |hook| hook(inner.appends));
        let failed = || AppendError { code: Code::JournalWriteFailed, detail: "the disk failed".to_owned() };
        let log = inner.runs.get_mut(&self.run).ok_or_else(failed)?;
        let (head, stored) = rule::append(&self.run, log.0, self.epoch, at, events)?;
        if fate != Fate::Lost {
            log.0 = head;
            log.1.extend(stored);
        }
        if fate == Fate::Durable { Ok(()) } else { Err(failed()) }
    }
}
