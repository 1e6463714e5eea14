//! What must hold after every life and at the end, whatever went wrong.

use std::collections::BTreeSet;

use dpone_engine::driver::{Finish, Finished};
use dpone_engine::run::run::Fate;
use dpone_engine::run::{Ending, Event, recover};
use dpone_journal::memory::MemoryJournal;

use crate::fault::Shape;
use crate::scenario::RUN;
use crate::world::{Row, World};

/// An invariant that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its name.
    pub invariant: &'static str,
    /// What was found.
    pub found: String,
}

impl Broken {
    /// A finding.
    pub fn new(invariant: &'static str, found: String) -> Self {
        Self { invariant, found }
    }
}

/// After a life.
pub fn after_life(
    world: &World,
    journal: &MemoryJournal,
    finished: Option<&Finished>,
    base: &[Row],
    shape: Shape,
    broken: &mut Vec<Broken>,
) {
    exactly_once(world, base, shape, broken);
    let Some(finished) = finished else { return };
    if let Finish::Illegal(illegal) = &finished.finish {
        broken.push(Broken::new("legality", illegal.to_string()));
    }
    // A runner that lost its lease or its disk knows no more than the journal; any other is the fold of it.
    let entries = journal.entries(RUN).unwrap_or_default();
    if let Finish::Ended(ending) = &finished.finish {
        match recover(entries.iter().map(|e| &e.event)) {
            Ok(run) if entries.len() == finished.entries.len() && run != finished.run => {
                broken
                    .push(Broken::new("fold equals live", "the runner's state is not the fold of its log".to_owned()));
            }
            Ok(_) => {}
            Err(e) => broken.push(Broken::new("recover", e.to_string())),
        }
        let published = world.state.borrow().target.publications.iter().any(|p| p.run == RUN);
        let says = match ending {
            Ending::Delivered | Ending::DeliveredUncleaned(_) => Some(true),
            Ending::Failed(_) | Ending::FailedUncleaned(_) => Some(false),
            Ending::Unknown(_) => None,
        };
        // What a runner says holds for its own log; a rival may have gone on from there since.
        let last_word = entries.len() == finished.entries.len();
        if last_word && says.is_some_and(|says| says != published) {
            broken.push(Broken::new(
                "truth",
                format!("the runner says published={says:?} and the target says {published}"),
            ));
        }
    }
}

/// At the very end, once everything that was on its way has landed.
pub fn at_the_end(world: &World, journal: &MemoryJournal, base: &[Row], shape: Shape, broken: &mut Vec<Broken>) {
    exactly_once(world, base, shape, broken);
    let state = world.state.borrow();
    broken.extend(state.violations.iter().map(|v| Broken::new("cleanup removes only its own", v.clone())));
    let entries = journal.entries(RUN).unwrap_or_default();
    for end in 1..=entries.len() {
        if let Err(e) = recover(entries[..end].iter().map(|e| &e.event)) {
            broken.push(Broken::new("every prefix recovers", format!("at {end}: {e}")));
            break;
        }
    }
    let mut keys = BTreeSet::new();
    for entry in &entries {
        if let Event::Intended { key, .. } = &entry.event {
            if !keys.insert(*key) {
                broken.push(Broken::new("a key belongs to one effect", format!("{key:?}")));
            }
        }
    }
    let Ok(run) = recover(entries.iter().map(|e| &e.event)) else { return };
    if run.delivered() && run.settled() {
        if state.target.claim.as_ref().is_some_and(|c| c.run == RUN) {
            broken.push(Broken::new("nothing owned is left", "the claim still stands".to_owned()));
        }
        let live = run.owned.values().filter(|o| o.fate == Fate::Live).count();
        if live > 0 {
            broken.push(Broken::new("nothing owned is left", format!("{live} names are not settled")));
        }
    }
}

/// The target holds its former rows, or exactly the rows of one state of the source once (added to the former ones
/// where rows are added), and it was published to at most once.
fn exactly_once(world: &World, base: &[Row], shape: Shape, broken: &mut Vec<Broken>) {
    let state = world.state.borrow();
    let count = state.target.publications.iter().filter(|p| p.run == RUN).count();
    if count > 1 {
        broken.push(Broken::new("exactly once", format!("the run was published {count} times")));
    }
    let sorted = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows
    };
    let content = sorted(&state.target.content);
    let before = sorted(base);
    if count == 0 {
        if content != before {
            broken.push(Broken::new(
                "untouched before publication",
                "the target changed without a publication".to_owned(),
            ));
        }
        return;
    }
    let whole = state.history.values().any(|rows| {
        let mut expected = if shape.append { base.to_vec() } else { Vec::new() };
        expected.extend(rows);
        content == sorted(&expected)
    });
    if !whole {
        broken.push(Broken::new("exactly once", "the target holds no one state of the source".to_owned()));
    }
}
