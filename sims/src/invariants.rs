//! What must hold after every life and at the end, whatever went wrong.

use std::collections::{BTreeMap, BTreeSet};

use dpone_engine::codes::Code;
use dpone_engine::driver::{Entry, Finish, Finished};
use dpone_engine::run::effect::Document;
use dpone_engine::run::run::Fate;
use dpone_engine::run::{Effect, Ending, Event, Illegal, Run, State, recover};

use crate::fault::Shape;
use crate::scenario::{Ended, RUN};
use crate::world::foreign::{STRANGER, is_foreign};
use crate::world::journal::SimJournal;
use crate::world::sink::after;
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

/// What a runner's end must satisfy.
pub fn after_life(world: &World, journal: &SimJournal, ended: &Ended, broken: &mut Vec<Broken>) {
    let finished = &ended.finished;
    admission(ended, broken);
    match &finished.finish {
        Finish::Illegal(illegal) => broken.push(Broken::new("legality", illegal.to_string())),
        Finish::Ended(ending) => {
            // A runner that lost its lease or its disk knows no more than the journal; any other is the fold of it. What
            // it says holds for its own log; a rival may have gone on from there since.
            let entries = match journal.entries() {
                Ok(entries) => entries,
                Err(unread) => return broken.push(unread),
            };
            match recover(entries.iter().map(|e| &e.event)) {
                Err(e) => broken.push(Broken::new("recover", e.to_string())),
                Ok(run) if entries.len() == finished.entries.len() => {
                    if run != finished.run {
                        let found = "the runner's state is not the fold of its log".to_owned();
                        broken.push(Broken::new("fold equals live", found));
                    }
                    truth(world, ending, broken);
                    word(world, finished, ending, broken);
                }
                Ok(_) => {}
            }
        }
        Finish::Suspended | Finish::Lost { .. } => {
            // What it tells its operator is what its log says, not what it was about to write there.
            if recover(finished.entries.iter().map(|e| &e.event)).as_ref() != Ok(&finished.run) {
                let found = "a stopped runner's state is not the fold of its log".to_owned();
                broken.push(Broken::new("fold equals live", found));
            }
        }
    }
}

/// No more is in memory, or spoken for, than the budget has, and all of it is given back.
fn admission(ended: &Ended, broken: &mut Vec<Broken>) {
    let Finished { observed, leaked, .. } = &ended.finished;
    let (configured, peak) = (observed.configured, observed.reserved_peak);
    if peak.bytes > configured.bytes || peak.rows > configured.rows {
        broken.push(Broken::new("admission", format!("{peak:?} was spoken for of {configured:?}")));
    }
    if ended.peak > peak.bytes {
        broken.push(Broken::new("admission", format!("{} bytes were held and {} spoken for", ended.peak, peak.bytes)));
    }
    if leaked.bytes > 0 || leaked.rows > 0 {
        broken.push(Broken::new("admission", format!("{leaked:?} was never given back")));
    }
}

/// What a runner says of the publication is so.
fn truth(world: &World, ending: &Ending, broken: &mut Vec<Broken>) {
    let published = world.state.borrow().target.publications.iter().any(|p| p.run == RUN);
    let says = match ending {
        Ending::Delivered | Ending::DeliveredUncleaned(_) => Some(true),
        Ending::Failed(_) | Ending::FailedUncleaned(_) => Some(false),
        Ending::Unknown(_) => None,
    };
    if says.is_some_and(|says| says != published) {
        let found = format!("the runner says published={says:?} and the target says {published}");
        broken.push(Broken::new("truth", found));
    }
}

/// A runner ends where the machine may end, and leaves the evidence that belongs there.
fn word(world: &World, finished: &Finished, ending: &Ending, broken: &mut Vec<Broken>) {
    let run = &finished.run;
    let (why, state) = match ending {
        Ending::Delivered => (None, run.state == State::CleanupComplete),
        Ending::DeliveredUncleaned(why) => (Some(why), matches!(run.state, State::Published | State::EvidenceComplete)),
        Ending::Failed(why) => (Some(why), run.state == State::FailedPrepublication && run.closed),
        Ending::FailedUncleaned(why) => (Some(why), run.state == State::FailedPrepublication && !run.closed),
        Ending::Unknown(why) => (Some(why), run.state == State::OutcomeUnknown),
    };
    if !state || why.is_some_and(|w| w.code == Code::InternalError) {
        broken.push(Broken::new("a runner ends where it may", format!("{ending:?} in {}", run.state)));
    }
    let needs: &[Document] = match ending {
        Ending::Delivered | Ending::Failed(_) => &[Document::Sealed, Document::Cleanup],
        _ => &[],
    };
    if let Some(missing) = needs.iter().find(|d| !run.evidence.contains_key(*d)) {
        broken.push(Broken::new("every ended run has its evidence", format!("{missing:?} is not written")));
    }
    evidence(world, run, broken);
}

/// A written document is there, and is the one that the journal knows.
fn evidence(world: &World, run: &Run, broken: &mut Vec<Broken>) {
    let documents = &world.state.borrow().documents;
    for (document, (path, sha256)) in &run.evidence {
        let text = documents.get(path).filter(|(hash, _)| hash == sha256).map(|(_, text)| text);
        let Some(text) = text else {
            broken.push(Broken::new("evidence stays as it was sealed", format!("{document:?} at {path} is another")));
            continue;
        };
        let ended = run.state.is_past_publication() || run.state == State::FailedPrepublication;
        if ended && run.state != State::OutcomeUnknown && text.contains(State::OutcomeUnknown.name()) {
            broken.push(Broken::new("evidence tells the end", format!("{path} says that the outcome is unknown")));
        }
    }
}

/// Whether a runner that ended like this is the last: the run was delivered, or cannot be for a reason in the world.
pub fn is_over(world: &World, finished: &Finished) -> bool {
    let state = world.state.borrow();
    match &finished.finish {
        Finish::Ended(Ending::Delivered) => true,
        Finish::Ended(Ending::Failed(_)) if world.gates.is_abandoned() => finished.run.settled(),
        Finish::Ended(Ending::Failed(why)) => {
            why.code == Code::PublicationBaseChanged && state.target.publications.iter().any(|p| p.run == STRANGER)
        }
        Finish::Ended(Ending::Unknown(why)) => {
            why.code == Code::PublicationForeignOverwritten && !state.target.taken.is_empty()
        }
        Finish::Ended(_) | Finish::Suspended | Finish::Lost { .. } | Finish::Illegal(_) => false,
    }
}

/// At the very end, once everything that was on its way has landed.
pub fn at_the_end(world: &World, journal: &SimJournal, broken: &mut Vec<Broken>) {
    broken.extend(world.state.borrow().violations.iter().map(|(name, found)| Broken::new(name, found.clone())));
    let entries = match journal.entries() {
        Ok(entries) => entries,
        Err(unread) => return broken.push(unread),
    };
    names(&entries, broken);
    match fold(&entries, broken) {
        Ok(run) => {
            evidence(world, &run, broken);
            if run.settled() {
                nothing_is_left(world, &run, broken);
            }
        }
        Err(e) => broken.push(Broken::new("every prefix recovers", e.to_string())),
    }
}

/// Folds the log, which folds every prefix of it on the way.
fn fold(entries: &[Entry], broken: &mut Vec<Broken>) -> Result<Run, Illegal> {
    let mut run = recover(entries.iter().take(1).map(|e| &e.event))?;
    for entry in entries.iter().skip(1) {
        let releases = matches!(entry.event, Event::Intended { effect: Effect::Release { .. }, .. });
        if releases && run.owned.values().any(|o| o.fate == Fate::Live) {
            let found = format!("it is given back at {} while something owned is there", entry.seq);
            broken.push(Broken::new("the claim is held to the last", found));
        }
        run.absorb(&entry.event)?;
    }
    Ok(run)
}

/// Keys and names belong to one effect each, and a name that the run was told is another's is not removed.
fn names(entries: &[Entry], broken: &mut Vec<Broken>) {
    let mut announced = BTreeMap::new();
    let mut owned = BTreeSet::new();
    let mut others = BTreeSet::new();
    for entry in entries {
        match &entry.event {
            Event::Intended { key, effect } => {
                if announced.insert(*key, effect).is_some() {
                    broken.push(Broken::new("a key belongs to one effect", format!("{key:?}")));
                }
                let name = match effect {
                    Effect::Publish { publication: name } | Effect::Fence { fence: name, .. } => Some(name),
                    _ => effect.owns().map(|(_, name)| name),
                };
                if let Some(name) = name
                    && !owned.insert(name)
                {
                    broken.push(Broken::new("a name belongs to one try", name.clone()));
                }
                if let Effect::Drop { name, .. } = effect
                    && others.contains(name)
                {
                    broken.push(Broken::new("cleanup removes only its own", format!("{name} is another's")));
                }
            }
            Event::NotDone { key, why, .. }
                if matches!(why.code, Code::ObjectKeyConflict | Code::StagingNameConflict) =>
            {
                others.extend(announced.get(key).and_then(|e| e.owns()).map(|(_, name)| name));
            }
            _ => {}
        }
    }
}

/// A settled run owns nothing any more, and nothing of it is there but what it may keep and what landed too late.
fn nothing_is_left(world: &World, run: &Run, broken: &mut Vec<Broken>) {
    let state = world.state.borrow();
    let target = &state.target;
    let mut left = |what: String| broken.push(Broken::new("nothing owned is left", what));
    if target.claim.as_ref().is_some_and(|c| c.run == RUN) {
        left("the claim still stands".to_owned());
    }
    let unsettled = run.owned.iter().filter(|(_, o)| o.fate == Fate::Live);
    unsettled.for_each(|(name, _)| left(format!("{name} is not settled")));
    let may_stay = |name: &String| {
        let fate = run.owned.get(name).map(|o| o.fate);
        state.late.contains(name) || matches!(fate, Some(Fate::Kept | Fate::NotOurs | Fate::Delivered | Fate::Deferred))
    };
    for (name, _) in state.objects.iter().filter(|(name, object)| !is_foreign(object) && !may_stay(name)) {
        left(format!("the object {name} is still there"));
    }
    let places = target.staging.keys().chain(target.loads.keys()).chain(&target.files);
    let plan = &run.plan;
    for name in places.filter(|name| !target.taken.contains(*name) && !may_stay(name)) {
        let base_stays = **name == plan.base.identity && (plan.superseded.is_none() || !run.delivered());
        if !base_stays {
            left(format!("{name} is still there"));
        }
    }
}

/// The target holds its former rows, or what was last published; the run published at most once, and exactly the rows of
/// one state of the source, with the former ones that the strategy leaves there.
pub fn exactly_once(world: &World, base: &[Row], shape: Shape, broken: &mut Vec<Broken>) {
    let state = world.state.borrow();
    let publications = &state.target.publications;
    let sorted = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows
    };
    let last = publications.last().map_or(base, |p| &p.content);
    if sorted(&state.target.content) != sorted(last) {
        let found = "the target changed without a publication".to_owned();
        broken.push(Broken::new("untouched before publication", found));
    }
    let ours: Vec<_> = publications.iter().filter(|p| p.run == RUN).collect();
    if ours.len() > 1 {
        broken.push(Broken::new("exactly once", format!("the run was published {} times", ours.len())));
    }
    let whole = |content: &[Row]| {
        state.history.values().any(|rows| sorted(content) == sorted(&after(base, rows.clone(), shape)))
    };
    if ours.iter().any(|p| !whole(&p.content)) {
        broken.push(Broken::new("exactly once", "the target holds no one state of the source".to_owned()));
    }
}
