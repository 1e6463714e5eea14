//! What was met: faults, answers of probes, transitions, facts, endings; and what of it is not met by how things are.

use std::collections::BTreeSet;

use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, EffectKind, Event, EventKind, Run, Seen, State, recover};

use crate::fault::{Kind, Op, Site, Trouble};
use crate::scenario::{ENDINGS, Outcome};

/// Every kind of fact.
const EVENTS: [EventKind; 13] = [
    EventKind::Planned,
    EventKind::AttemptStarted,
    EventKind::TakenOver,
    EventKind::Intended,
    EventKind::Confirmed,
    EventKind::NotDone,
    EventKind::Doubted,
    EventKind::Probed,
    EventKind::Poisoned,
    EventKind::Moved,
    EventKind::Halted,
    EventKind::Deferred,
    EventKind::Closed,
];

/// What scenarios met, together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    faults: BTreeSet<(Site, Kind)>,
    disk: BTreeSet<(Op, Trouble)>,
    rows: BTreeSet<(EffectKind, Seen)>,
    transitions: BTreeSet<(State, State)>,
    events: BTreeSet<EventKind>,
    endings: BTreeSet<&'static str>,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `fault`, `disk`, `row`, `transition`, `fact` or `ending`.
    pub table: &'static str,
    /// What it is.
    pub what: String,
    /// Whether it was met.
    pub met: bool,
    /// Why it cannot be met, if it cannot.
    pub unreachable: Option<&'static str>,
}

impl Line {
    /// Whether it should have been met and was not, or the other way round.
    pub const fn is_wrong(&self) -> bool {
        self.met == self.unreachable.is_some()
    }
}

impl Coverage {
    /// Adds what one scenario met.
    pub fn add(&mut self, outcome: &Outcome) {
        self.faults.extend(&outcome.met);
        self.disk.extend(&outcome.disk);
        self.rows.extend(&outcome.rows);
        self.endings.extend(&outcome.endings);
        let events = outcome.entries.iter().map(|e| &e.event);
        self.events.extend(events.clone().map(Event::kind));
        let Some(mut run) = recover(events.clone().take(1)).ok() else { return };
        for event in events.skip(1) {
            self.rows.extend(answered(&run, event));
            let before = run.state;
            if run.absorb(event).is_err() {
                return;
            }
            if run.state != before {
                self.transitions.insert((before, run.state));
            }
        }
    }

    /// Adds what others met.
    pub fn merge(&mut self, other: &Self) {
        self.faults.extend(&other.faults);
        self.disk.extend(&other.disk);
        self.rows.extend(&other.rows);
        self.transitions.extend(&other.transitions);
        self.events.extend(&other.events);
        self.endings.extend(&other.endings);
    }

    /// Everything there is, met or not.
    pub fn report(&self) -> Vec<Line> {
        let line = |table, what, met, unreachable| Line { table, what, met, unreachable };
        let mut lines = Vec::new();
        for site in Site::ALL {
            for kind in site.kinds() {
                lines.push(line("fault", format!("{site:?} {kind:?}"), self.faults.contains(&(site, *kind)), None));
            }
        }
        for op in Op::ALL {
            for trouble in op.troubles() {
                lines.push(line("disk", format!("{op:?} {trouble:?}"), self.disk.contains(&(op, *trouble)), None));
            }
        }
        for from in State::ALL {
            let restart = from.may_restart() && from != State::Planned;
            let to = State::ALL.into_iter().filter(|to| from.may_become(*to) || (restart && *to == State::Planned));
            for to in to {
                let what = format!("{from} → {to}");
                lines.push(line("transition", what, self.transitions.contains(&(from, to)), never_taken(from, to)));
            }
        }
        for kind in EffectKind::ALL {
            for seen in Seen::ALL {
                let what = format!("{kind:?} {seen:?}");
                lines.push(line("row", what, self.rows.contains(&(kind, seen)), never_seen(kind, seen)));
            }
        }
        lines.extend(EVENTS.map(|kind| line("fact", format!("{kind:?}"), self.events.contains(&kind), None)));
        lines.extend(ENDINGS.map(|end| line("ending", end.to_owned(), self.endings.contains(end), None)));
        lines
    }
}

/// What the driver itself answered of an effect in doubt, where it asks no port that could say.
fn answered(run: &Run, event: &Event) -> Option<(EffectKind, Seen)> {
    let (key, seen) = match event {
        Event::Confirmed { key, .. } => (key, Seen::Nothing),
        Event::NotDone { key, .. } => (key, Seen::CannotTell),
        _ => return None,
    };
    let open = run.open.get(key).filter(|o| o.doubted)?;
    match &open.effect {
        Effect::Drop { kind: OwnedKind::Object, .. } => Some((EffectKind::Drop, seen)),
        Effect::Count | Effect::Read { .. } | Effect::Verify | Effect::Check | Effect::Evidence { .. } => {
            Some((open.effect.kind(), Seen::Nothing))
        }
        _ => None,
    }
}

/// Why no probe answers so, if none does.
const fn never_seen(kind: EffectKind, seen: Seen) -> Option<&'static str> {
    use EffectKind::{Check, Count, Drop, Evidence, Fence, Open, Publish, Read, Verify};
    match (kind, seen) {
        (Count | Read | Verify | Check | Evidence, Seen::Nothing) => None,
        (Count | Read | Verify | Check | Evidence, _) => Some("the driver asks nobody: nothing is left to look for"),
        (Publish, _) => None,
        (_, Seen::BaseChanged | Seen::Superseded) => Some("only a publication is answered so"),
        (Open, Seen::Foreign) => Some("a source state is recognised or it is not"),
        (Fence, Seen::Ours | Seen::Foreign) => Some("a fence is raised again rather than recognised"),
        (Drop, Seen::Foreign) => Some("a dropped name holds a nonce: nobody else takes it"),
        _ => None,
    }
}

/// Why a legal transition is never taken, if it is not.
const fn never_taken(from: State, to: State) -> Option<&'static str> {
    match (from, to) {
        (State::LoadConfirmed | State::QualityPassed, State::Planned) => {
            Some("staging is whole: neither the source state nor an object is needed any more")
        }
        _ => None,
    }
}
