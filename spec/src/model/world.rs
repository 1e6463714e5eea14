//! The world outside the journal: the transfer store and the target, as weak as their contracts allow.
//!
//! The target appends what is published, does not compare its base, and never looks whether another publication of the
//! run has happened. What keeps rows from being published twice is thereby the machine alone.

use std::collections::BTreeMap;

use dpone_engine::codes::Code;
use dpone_engine::run::effect::{GateResult, Name};
use dpone_engine::run::facts::{LoadIsolation, PublicationKind};
use dpone_engine::run::{Effect, Key, Outcome, OwnedKind, Receipt, Run, Seen, UnitId, Why};

use super::config::Config;

/// One row: its unit and its chunk.
pub type Row = (UnitId, u32);

/// A row of the ledger, or an object of a pointer manifest's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// The publication of that name has happened.
    Published,
    /// It can no longer happen.
    Fenced,
}

/// What a request carries besides its effect, fixed when it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cargo {
    /// Nothing.
    None,
    /// The objects that a load reads.
    Objects(Vec<Name>),
    /// The loads that a publication consists of, each with its staging place.
    Loads(Vec<(Name, Name)>),
    /// The publication that a fence is for.
    Publication(Name),
}

/// A request on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The key it was announced under.
    pub key: Key,
    /// The epoch of the runner that sent it.
    pub epoch: u64,
    /// What it is to do.
    pub effect: Effect,
    /// What it carries.
    pub cargo: Cargo,
    /// Whether its runner still lives, and will try to journal its outcome.
    pub alive: bool,
}

/// The store and the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct World {
    /// The epoch under which the run's claim stands.
    pub claim: Option<u64>,
    /// The highest epoch under which it was given back; a claim of that epoch or a lower one comes too late.
    pub released: Option<u64>,
    /// Objects and the row each holds.
    pub objects: BTreeMap<Name, Row>,
    /// Staging places: loads and the rows of each.
    pub staging: BTreeMap<Name, BTreeMap<Name, Vec<Row>>>,
    /// Publications by name.
    pub ledger: BTreeMap<Name, Entry>,
    /// The target's rows, sorted.
    pub target: Vec<Row>,
    /// What the target refers to instead of copying it.
    pub referred: Vec<(Name, Name)>,
    /// Whether the present process has the source open.
    pub source: bool,
}

/// What is sent for an open effect, as the driver builds it from the run.
pub fn request(run: &Run, key: Key, effect: &Effect, alive: bool) -> Request {
    let cargo = match effect {
        Effect::Load { unit, .. } => {
            let read = run.units[*unit as usize].read.as_ref();
            Cargo::Objects(read.map(|r| r.objects.iter().map(|o| o.object.clone()).collect()).unwrap_or_default())
        }
        Effect::Publish { .. } => Cargo::Loads(loads(run)),
        Effect::Fence { publish, .. } => match run.open.get(publish).map(|o| &o.effect) {
            Some(Effect::Publish { publication }) => Cargo::Publication(publication.clone()),
            _ => Cargo::None,
        },
        _ => Cargo::None,
    };
    Request { key, epoch: run.epoch, effect: effect.clone(), cargo, alive }
}

/// Every confirmed load with its staging place.
pub fn loads(run: &Run) -> Vec<(Name, Name)> {
    let pairs = (0..).zip(&run.units).filter_map(|(id, unit)| {
        let (load, _) = unit.loaded.as_ref()?;
        Some((run.staging.get(&run.staging_slot(id))?.name.clone(), load.clone()))
    });
    pairs.collect()
}

impl World {
    /// Executes a request, as one atomic step of the world.
    pub fn execute(&mut self, request: &Request, config: &Config) -> Outcome {
        if self.refuses(request, config) {
            return Outcome::NotDone(Why::fatal(Code::TargetClaimedElsewhere, "the claim is another's"));
        }
        match (&request.effect, &request.cargo) {
            (Effect::Claim { epoch }, _) => {
                if self.released >= Some(*epoch) {
                    return Outcome::NotDone(Why::fatal(Code::TargetClaimedElsewhere, "this epoch gave it back"));
                }
                self.claim = self.claim.max(Some(*epoch));
                Outcome::Done(Receipt::Claimed)
            }
            (Effect::Open, _) => {
                self.source = true;
                Outcome::Done(opened(config))
            }
            (Effect::Count, _) => Outcome::Done(Receipt::Counted { rows: u64::from(config.units * config.chunks) }),
            (Effect::Put { unit, chunk, object, .. }, _) => {
                if self.objects.contains_key(object) {
                    return Outcome::NotDone(Why::fatal(Code::ObjectKeyConflict, "taken"));
                }
                self.objects.insert(object.clone(), (*unit, *chunk));
                Outcome::Done(put())
            }
            (Effect::Stage { staging, .. }, _) => {
                if self.staging.contains_key(staging) {
                    return Outcome::NotDone(Why::fatal(Code::StagingNameConflict, "taken"));
                }
                self.staging.insert(staging.clone(), BTreeMap::new());
                Outcome::Done(Receipt::Staged)
            }
            (Effect::Load { staging, load, .. }, Cargo::Objects(objects)) => {
                let rows: Option<Vec<Row>> = objects.iter().map(|o| self.objects.get(o).copied()).collect();
                let Some(rows) = rows else {
                    return Outcome::NotDone(Why::fatal(Code::ObjectLost, "gone"));
                };
                let Some(place) = self.staging.get_mut(staging) else {
                    return Outcome::NotDone(Why::fatal(Code::LoadFailed, "no such staging place"));
                };
                let count = rows.len() as u64;
                place.insert(load.clone(), rows);
                Outcome::Done(Receipt::Loaded { rows: count })
            }
            (Effect::Check, _) => Outcome::Done(checked(None)),
            (Effect::Publish { publication }, Cargo::Loads(parts)) => self.publish(publication, parts, config),
            (Effect::Fence { .. }, Cargo::Publication(publication)) => {
                self.ledger.entry(publication.clone()).or_insert(Entry::Fenced);
                Outcome::Done(Receipt::Fenced)
            }
            (Effect::Evidence { .. }, _) => {
                Outcome::Done(Receipt::Written { sha256: String::new(), path: String::new() })
            }
            (Effect::Drop { kind, name }, _) => {
                self.remove(*kind, name);
                Outcome::Done(Receipt::Dropped)
            }
            (Effect::Release { epoch }, _) => {
                if self.claim <= Some(*epoch) {
                    self.claim = None;
                }
                self.released = self.released.max(Some(*epoch));
                Outcome::Done(Receipt::Released)
            }
            // Verify and read are the driver's own: see `runner`.
            _ => Outcome::NotDone(Why::fatal(Code::InternalError, "not a request")),
        }
    }

    /// A transactional sink checks the claim in the same step; a pointer manifest cannot.
    fn refuses(&self, request: &Request, config: &Config) -> bool {
        let checks = matches!(
            request.effect,
            Effect::Stage { .. } | Effect::Load { .. } | Effect::Publish { .. } | Effect::Fence { .. }
        );
        checks && config.publication == PublicationKind::LedgerTransaction && self.claim != Some(request.epoch)
    }

    /// Whether that publication would still change the target.
    pub fn executable(&self, request: &Request, config: &Config) -> bool {
        match &request.effect {
            Effect::Publish { publication } => !self.refuses(request, config) && !self.ledger.contains_key(publication),
            _ => false,
        }
    }

    fn publish(&mut self, publication: &str, parts: &[(Name, Name)], config: &Config) -> Outcome {
        if self.ledger.contains_key(publication) {
            return Outcome::NotDone(Why::fatal(Code::PublicationFailed, "fenced"));
        }
        let mut rows: Vec<Row> = Vec::new();
        match config.isolation {
            LoadIsolation::Fenced => {
                for (staging, load) in parts {
                    rows.extend(self.staging.get(staging).and_then(|s| s.get(load)).into_iter().flatten());
                }
            }
            LoadIsolation::PoisonsStaging => {
                let mut places: Vec<_> = parts.iter().map(|(staging, _)| staging).collect();
                places.dedup();
                for staging in places {
                    rows.extend(self.staging.get(staging).into_iter().flat_map(|s| s.values()).flatten());
                }
            }
        }
        let count = rows.len() as u64;
        self.target.extend(rows);
        self.target.sort_unstable();
        if config.publication == PublicationKind::PointerManifest {
            self.referred.extend(parts.iter().cloned());
        }
        self.ledger.insert(publication.to_owned(), Entry::Published);
        Outcome::Done(Receipt::Published { identity: publication.to_owned(), rows: count })
    }

    fn remove(&mut self, kind: OwnedKind, name: &str) {
        match kind {
            OwnedKind::Object => drop(self.objects.remove(name)),
            OwnedKind::Staging => drop(self.staging.remove(name)),
            OwnedKind::Load => self.staging.values_mut().for_each(|s| drop(s.remove(name))),
            OwnedKind::Superseded => {}
        }
    }

    /// Whether something stands under that name.
    pub fn holds(&self, kind: OwnedKind, name: &str) -> bool {
        match kind {
            OwnedKind::Object => self.objects.contains_key(name),
            OwnedKind::Staging => self.staging.contains_key(name),
            OwnedKind::Load => self.staging.values().any(|s| s.contains_key(name)),
            OwnedKind::Superseded => false,
        }
    }

    /// What a probe of an open effect sees, with its receipt where there is one.
    pub fn look(&mut self, run: &Run, key: Key, effect: &Effect, config: &Config) -> (Seen, Option<Receipt>) {
        let ours =
            |there: bool, receipt: Receipt| if there { (Seen::Ours, Some(receipt)) } else { (Seen::Nothing, None) };
        match effect {
            Effect::Claim { epoch } => ours(self.claim >= Some(*epoch), Receipt::Claimed),
            Effect::Open => {
                let former = run.former.as_ref().is_some_and(|a| a.key == key);
                let open = former && config.persistent;
                self.source |= open;
                ours(open, opened(config))
            }
            Effect::Put { object, .. } => ours(self.objects.contains_key(object), put()),
            Effect::Stage { staging, .. } => ours(self.staging.contains_key(staging), Receipt::Staged),
            Effect::Load { staging, load, .. } => {
                let rows = self.staging.get(staging).and_then(|s| s.get(load)).map(|r| r.len() as u64);
                ours(rows.is_some(), Receipt::Loaded { rows: rows.unwrap_or(0) })
            }
            Effect::Publish { publication } => {
                let rows = self.target.len() as u64;
                let published = self.ledger.get(publication) == Some(&Entry::Published);
                ours(published, Receipt::Published { identity: publication.clone(), rows })
            }
            Effect::Fence { .. } => match request(run, key, effect, true).cargo {
                Cargo::Publication(name) => ours(self.ledger.contains_key(&name), Receipt::Fenced),
                _ => (Seen::CannotTell, None),
            },
            // Deleting an object again is its probe; a sink looks.
            Effect::Drop { kind: OwnedKind::Object, name } => {
                self.objects.remove(name);
                (Seen::Nothing, None)
            }
            Effect::Drop { kind, name } => (if self.holds(*kind, name) { Seen::Ours } else { Seen::Nothing }, None),
            Effect::Release { .. } => (if self.claim.is_some() { Seen::Ours } else { Seen::Nothing }, None),
            Effect::Read { .. } | Effect::Count | Effect::Verify | Effect::Check | Effect::Evidence { .. } => {
                (Seen::Nothing, None)
            }
        }
    }
}

fn opened(config: &Config) -> Receipt {
    Receipt::Opened { authority: "s".to_owned(), persistent: config.persistent }
}

fn put() -> Receipt {
    Receipt::Put { checked_by: String::new() }
}

/// What the gates said.
pub fn checked(failed: Option<Why>) -> Receipt {
    Receipt::Checked { gates: vec![GateResult { gate: "gate".to_owned(), failed }], units: Vec::new() }
}
