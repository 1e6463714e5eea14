//! What the target is: a claim, staging places, content, and either a ledger or a chain of pointer manifests.

use std::collections::{BTreeMap, BTreeSet};

use dpone_engine::codes::Code;
use dpone_engine::ports::{Claimant, PublishOrder, StagedUnit};
use dpone_engine::run::{Outcome, Receipt, Why};

use crate::fault::Shape;
use crate::scenario::RUN;
use crate::world::{Row, World};

/// One publication that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The run.
    pub run: String,
    /// Its journal.
    pub journal: String,
    /// Its identity.
    pub identity: String,
    /// Its rows.
    pub rows: u64,
    /// What the target held then.
    pub content: Vec<Row>,
}

impl Publication {
    /// Whether that runner's run made it.
    pub fn is_of(&self, claimant: &Claimant) -> bool {
        self.run == claimant.run && self.journal == claimant.journal
    }
}

/// The target and everything beside it.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Who holds the claim.
    pub claim: Option<Claimant>,
    /// The epoch up to which the claims of a journal's run have been given back.
    pub released: BTreeMap<(String, String), u64>,
    /// Staging places: what each load put there.
    pub staging: BTreeMap<String, Vec<(String, Row)>>,
    /// Loads that were finished: the rows counted.
    pub loads: BTreeMap<String, u64>,
    /// What readers see.
    pub content: Vec<Row>,
    /// Every publication, oldest first: the ledger, or the chain of manifests.
    pub publications: Vec<Publication>,
    /// Announced publications that can no longer happen.
    pub fenced: BTreeSet<String>,
    /// Staging places that became content.
    pub delivered: BTreeSet<String>,
    /// Names that something else took before a run got there.
    pub taken: BTreeSet<String>,
    /// The former contents that are still there, by their publications' identities.
    pub files: BTreeSet<String>,
}

impl Target {
    /// The identity of the present content.
    pub fn identity(&self) -> String {
        self.publications.last().map(|p| p.identity.clone()).unwrap_or_default()
    }

    /// Whether the claim is that runner's.
    pub fn is_held_by(&self, claimant: &Claimant) -> bool {
        self.claim.as_ref().is_some_and(|c| c == claimant)
    }
}

/// The answer to a runner that has lost the claim.
pub(super) fn fenced() -> Outcome {
    Outcome::NotDone(Why::fatal(Code::LeaseLost, "the claim is not this runner's any more"))
}

/// Makes staging the content, in one atomic step that checks everything it depends on.
pub(super) fn publish(world: &World, order: &PublishOrder, shape: Shape) -> Outcome {
    let mut state = world.state.borrow_mut();
    let target = &mut state.target;
    let claimant = &order.staged.claimant;
    // One publication per run, whatever name it comes under.
    if let Some(done) = target.publications.iter().find(|p| p.is_of(claimant)) {
        return Outcome::Done(Receipt::Published { identity: done.identity.clone(), rows: done.rows });
    }
    if !target.is_held_by(claimant) || target.fenced.contains(&order.publication) {
        return fenced();
    }
    if target.taken.contains(&order.publication) {
        return Outcome::NotDone(Why::fatal(Code::PublicationFailed, "something else has that name"));
    }
    if target.identity() != order.base {
        return Outcome::NotDone(Why::fatal(Code::PublicationBaseChanged, "the target is not what it was"));
    }
    let mut rows = Vec::new();
    for unit in &order.staged.units {
        let Some(place) = target.staging.get(&unit.staging) else {
            return Outcome::NotDone(Why::fatal(Code::PublicationFailed, "a staging place is gone"));
        };
        rows.extend(staged_rows(place, unit, shape));
    }
    if state.gate_failed.contains(&order.staged.staging) {
        state.violations.push(("no publication before quality passed", order.publication.clone()));
    }
    let target = &mut state.target;
    let count = rows.len() as u64;
    target.content = after(&target.content, rows, shape);
    if shape.pointer {
        target.delivered.extend(order.staged.staging.iter().cloned());
    }
    let content = target.content.clone();
    let identity = order.publication.clone();
    let Claimant { run, journal, .. } = claimant.clone();
    target.publications.push(Publication { run, journal, identity: identity.clone(), rows: count, content });
    drop(state);
    world.gates.note(|| format!("published {count} rows as {identity}"));
    Outcome::Done(Receipt::Published { identity, rows: count })
}

/// What a target holds after rows were published over what it held. A row's partition is the parity of its identity.
pub fn after(former: &[Row], rows: Vec<Row>, shape: Shape) -> Vec<Row> {
    let stays = |row: &&Row| {
        let is_read = rows.iter().any(|new| new.id % 2 == row.id % 2);
        shape.append || (shape.partitions && !is_read)
    };
    let mut content: Vec<Row> = former.iter().filter(stays).copied().collect();
    content.extend(rows);
    content
}

/// A unit's rows in a staging place. Where loads are fenced, only the confirmed load's rows are ever read; where they are
/// not, whatever landed there counts.
pub(super) fn staged_rows(place: &[(String, Row)], unit: &StagedUnit, shape: Shape) -> Vec<Row> {
    let theirs = |(load, row): &&(String, Row)| row.unit == unit.unit && (shape.poisons || *load == unit.load);
    place.iter().filter(theirs).map(|(_, row)| *row).collect()
}

impl World {
    /// Notes that a publication is being sent. No second one may be, before the first is known to have happened, is
    /// refused, or can no longer happen.
    pub(super) fn sent(&self, publication: &str) {
        let mut state = self.state.borrow_mut();
        if let Some(first) = unsettled(&state.unheard, &state.target) {
            let found = format!("{publication} is sent while {first} may still happen");
            state.violations.push(("no second send before the first is unexecutable", found));
        }
        state.unheard.insert(publication.to_owned());
    }

    /// Nothing is removed while a publication may still happen.
    pub fn forbid_while_unheard(&self, name: &str) {
        let mut state = self.state.borrow_mut();
        if let Some(publication) = unsettled(&state.unheard, &state.target) {
            let found = format!("{name} is removed while {publication} may still happen");
            state.violations.push(("no cleanup while a publication is open", found));
        }
    }
}

fn unsettled(unheard: &BTreeSet<String>, target: &Target) -> Option<String> {
    // A run that was published is not published again, whatever name that is tried under.
    let happened = target.publications.iter().any(|p| p.run == RUN);
    unheard.iter().find(|name| !happened && !target.fenced.contains(*name)).cloned()
}
