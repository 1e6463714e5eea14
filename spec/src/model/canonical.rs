//! When two states are one: if they differ only in key numbers, nonces, how many events led there, and the order of
//! late requests and of what cleanup will remove.
//!
//! Names that nothing refers to any more count by what they denote, not by what they are called: no name is ever drawn
//! twice, so the order in which they are removed is immaterial to every invariant. In symmetric configurations ranges
//! are sorted by their own facts as well. (`decide` starts with the lowest range, so that there the order in which one
//! loader takes ranges of different histories is not explored; A and B do not use it.)

use std::hash::{DefaultHasher, Hash, Hasher};

use dpone_engine::run::effect::{Document, EffectKind};
use dpone_engine::run::event::ABANDONED;
use dpone_engine::run::run::{Fate, OpenEffect, Tries};
use dpone_engine::run::{Effect, OwnedKind, Why};

use super::State;
use super::config::Config;
use super::world::{Cargo, Request};

/// The state's fingerprint.
pub(super) fn mark(state: &State, config: &Config) -> u64 {
    let mut writer = Writer::new(state, config.symmetric);
    writer.run();
    writer.world();
    writer.late();
    writer.leftovers();
    let mut hasher = DefaultHasher::new();
    writer.out.hash(&mut hasher);
    state.faults.effective().hash(&mut hasher);
    state.runner.hash(&mut hasher);
    state.broken.hash(&mut hasher);
    hasher.finish()
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(mark(self, &self.config));
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        mark(self, &self.config) == mark(other, &other.config)
    }
}

struct Writer<'a> {
    state: &'a State,
    out: Vec<u32>,
    names: Vec<&'a str>,
    /// The canonical number of each unit.
    units: Vec<u32>,
    /// Units in canonical order.
    order: Vec<u32>,
}

impl<'a> Writer<'a> {
    fn new(state: &'a State, symmetric: bool) -> Self {
        let count = state.run.units.len() as u32;
        let mut order: Vec<u32> = (0..count).collect();
        if symmetric {
            order.sort_by_cached_key(|unit| signature(state, *unit));
        }
        let mut units = vec![0; count as usize];
        for (place, unit) in (0..).zip(&order) {
            units[*unit as usize] = place;
        }
        Self { state, out: Vec::with_capacity(128), names: Vec::with_capacity(16), units, order }
    }

    fn put(&mut self, value: u32) {
        self.out.push(value);
    }

    fn flag(&mut self, value: bool) {
        self.put(u32::from(value));
    }

    fn unit(&self, unit: u32) -> u32 {
        self.units.get(unit as usize).copied().unwrap_or(u32::MAX)
    }

    /// A name by its place of first mention, and there what is known of it.
    fn name(&mut self, name: &'a str) {
        if let Some(known) = self.names.iter().position(|n| *n == name) {
            return self.put(known as u32);
        }
        self.put(1000 + self.names.len() as u32);
        self.names.push(name);
        self.about(name);
    }

    fn about(&mut self, name: &'a str) {
        let run = &self.state.run;
        match run.owned.get(name) {
            None => self.put(0),
            Some(owned) => {
                self.put(1 + owned.kind as u32 * 8 + fate(owned.fate));
                if owned.fate == Fate::Live {
                    let tries =
                        run.tries.iter().find(|(s, _)| s.kind == EffectKind::Drop && s.name.as_deref() == Some(name));
                    self.tries(tries.map(|(_, t)| t));
                }
            }
        }
        let world = &self.state.world;
        if let Some(from) = self.state.read_from.get(name) {
            self.put(10 + u32::from(*from == self.state.opened));
        }
        if let Some((unit, chunk)) = world.objects.get(name) {
            self.out.extend([7, self.unit(*unit), *chunk]);
        }
        if let Some(loads) = world.staging.get(name) {
            self.out.extend([8, loads.len() as u32]);
            for (load, rows) in loads {
                self.name(load);
                for (unit, chunk) in rows {
                    self.out.extend([self.unit(*unit), *chunk]);
                }
            }
        }
        if let Some(entry) = world.ledger.get(name) {
            self.out.extend([9, *entry as u32]);
        }
    }

    fn tries(&mut self, tries: Option<&Tries>) {
        let Some(tries) = tries else { return self.put(0) };
        self.put(1 + tries.failed * 4 + why(tries.last.as_ref()));
    }

    fn run(&mut self) {
        let state = self.state;
        let run = &*state.run;
        self.out.extend([run.state as u32, run.attempt, run.epoch as u32, run.claim.unwrap_or(0) as u32]);
        let flags = [
            run.claim_standing,
            run.authority.is_some(),
            run.former.is_some(),
            run.authority_lost,
            run.object_lost,
            run.counted.is_some(),
            run.verified,
            run.checked.is_some(),
            run.checked.as_ref().is_some_and(|c| c.gates.iter().any(|g| g.failed.is_some())),
            run.fenced.is_some(),
            run.fenced.is_some() && run.fenced == run.open_publication().map(|(key, _)| key),
            run.published.is_some(),
            run.halted.is_some(),
            run.closed,
            run.evidence.contains_key(&Document::Sealed),
            run.evidence.contains_key(&Document::Cleanup),
        ];
        self.put(flags.iter().fold(0, |bits, flag| bits << 1 | u32::from(*flag)));
        for place in 0..self.order.len() {
            let unit = self.order[place];
            let facts = &run.units[unit as usize];
            for (chunk, object) in &facts.chunks {
                self.put(20 + chunk);
                self.name(&object.object);
            }
            if let Some(read) = &facts.read {
                self.put(30);
                read.objects.iter().for_each(|object| self.name(&object.object));
            }
            if let Some((load, rows)) = &facts.loaded {
                self.out.extend([31, *rows as u32]);
                self.name(load);
            }
            if let Some(staging) = run.staging.get(&Some(unit)) {
                self.out.extend([32, u32::from(staging.ready)]);
                self.name(&staging.name);
            }
            for (scope, tries) in &run.tries {
                if scope.unit == Some(unit) && scope.kind != EffectKind::Put && scope.kind != EffectKind::Drop {
                    self.put(40 + scope.kind as u32);
                    self.tries(Some(tries));
                }
            }
        }
        if let Some(staging) = run.staging.get(&None) {
            self.out.extend([33, u32::from(staging.ready)]);
            self.name(&staging.name);
        }
        for (scope, tries) in &run.tries {
            if scope.unit.is_none() && scope.kind != EffectKind::Drop {
                let part = u32::from(scope.name.as_deref() == Some("Cleanup"));
                self.put(60 + scope.kind as u32 * 2 + part);
                self.tries(Some(tries));
            }
        }
        let mut open: Vec<(u32, u32, u32, _, &OpenEffect)> = Vec::with_capacity(run.open.len());
        for (key, effect) in &run.open {
            let (unit, part) = self.place(&effect.effect);
            open.push((effect.effect.kind() as u32, unit, part, *key, effect));
        }
        open.sort_by_key(|(kind, unit, part, ..)| (*kind, *unit, *part));
        for (kind, unit, part, key, effect) in open {
            self.out.extend([100 + kind, unit, part]);
            self.out.extend([u32::from(effect.doubted), why(effect.why.as_ref()), effect.probes]);
            self.put(effect.last_seen.map_or(0, |seen| 1 + seen as u32));
            match &effect.effect {
                Effect::Claim { epoch } | Effect::Release { epoch } => self.put(*epoch as u32),
                Effect::Open => self.flag(run.former.as_ref().is_some_and(|a| a.key == key)),
                Effect::Put { read, object, .. } => {
                    // Whether its read is still the one that is being worked on.
                    self.flag(run.open.get(read).is_some_and(|o| !o.doubted));
                    self.name(object);
                }
                Effect::Read { .. } => {
                    // Tries of puts count per read.
                    for (scope, tries) in &run.tries {
                        let of = scope.name.as_deref().and_then(|name| name.split_once('.'));
                        if let Some((read, chunk)) = of
                            && scope.kind == EffectKind::Put
                            && read.parse() == Ok(key.0)
                        {
                            self.put(chunk.parse().unwrap_or(u32::MAX));
                            self.tries(Some(tries));
                        }
                    }
                }
                effect => self.effect_names(effect),
            }
        }
    }

    fn effect_names(&mut self, effect: &'a Effect) {
        match effect {
            Effect::Put { object, .. } => self.name(object),
            Effect::Stage { staging, .. } => self.name(staging),
            Effect::Load { staging, load, .. } => {
                self.name(staging);
                self.name(load);
            }
            Effect::Publish { publication } => self.name(publication),
            Effect::Drop { name, .. } => self.name(name),
            _ => {}
        }
    }

    /// The unit that an effect is for, and its part.
    fn place(&self, effect: &Effect) -> (u32, u32) {
        match effect {
            Effect::Read { unit, .. } | Effect::Load { unit, .. } => (self.unit(*unit), 0),
            Effect::Put { unit, chunk, .. } => (self.unit(*unit), *chunk),
            Effect::Stage { unit: Some(unit), .. } => (self.unit(*unit), 0),
            Effect::Evidence { document } => (u32::MAX, *document as u32),
            _ => (u32::MAX, 0),
        }
    }

    fn world(&mut self) {
        let world = &self.state.world;
        let released = world.released.unwrap_or(0) as u32;
        self.out.extend([200, world.claim.unwrap_or(0) as u32, released, u32::from(world.source)]);
        for (unit, chunk) in &world.target {
            self.out.extend([self.unit(*unit), *chunk]);
        }
        self.put(201);
        for (staging, load) in &world.referred {
            self.name(staging);
            self.name(load);
        }
    }

    fn late(&mut self) {
        let state = self.state;
        let mut late: Vec<(u32, u32, u32, u64, &Request)> = Vec::with_capacity(state.late.len());
        for request in &state.late {
            let (unit, part) = self.place(&request.effect);
            late.push((request.effect.kind() as u32, unit, part, request.epoch, request));
        }
        late.sort_by_key(|(kind, unit, part, epoch, _)| (*kind, *unit, *part, *epoch));
        for (kind, unit, part, epoch, request) in late {
            self.out.extend([300 + kind, unit, part, epoch as u32, u32::from(request.alive)]);
            self.flag(state.run.open.contains_key(&request.key));
            self.effect_names(&request.effect);
            match &request.cargo {
                Cargo::None => {}
                Cargo::Objects(objects) => objects.iter().for_each(|o| self.name(o)),
                Cargo::Loads(loads) => loads.iter().for_each(|(staging, load)| {
                    self.name(staging);
                    self.name(load);
                }),
                Cargo::Publication(name) => self.name(name),
            }
        }
    }

    /// Names that nothing above refers to.
    fn leftovers(&mut self) {
        self.put(400);
        let state = self.state;
        let mut rest = Vec::new();
        for (name, owned) in &state.run.owned {
            if self.names.contains(&name.as_str()) {
                continue;
            }
            let there = state.world.holds(owned.kind, name);
            if owned.fate == Fate::Removed && !there {
                continue;
            }
            let start = self.out.len();
            match owned.kind {
                // A load goes with its staging place.
                OwnedKind::Load => self.out.extend([1 + owned.kind as u32 * 8 + fate(owned.fate), u32::from(there)]),
                _ => self.name(name),
            }
            let mut about = self.out.split_off(start);
            // Not the number it happened to get.
            if owned.kind != OwnedKind::Load {
                about[0] = 0;
            }
            rest.push(about);
        }
        rest.sort_unstable();
        rest.into_iter().for_each(|about| {
            self.put(u32::MAX);
            self.out.extend(about);
        });
    }
}

fn fate(fate: Fate) -> u32 {
    fate as u32
}

/// What is decided by: that there is none, that it says nothing, may pass, or is final.
fn why(why: Option<&Why>) -> u32 {
    match why {
        None => 0,
        Some(why) if why.code == ABANDONED => 1,
        Some(why) if why.transient => 2,
        Some(_) => 3,
    }
}

/// What a unit's own facts are, whatever its number.
fn signature(state: &State, unit: u32) -> Vec<u32> {
    let run = &state.run;
    let facts = &run.units[unit as usize];
    let mut out = vec![
        facts.chunks.len() as u32,
        u32::from(facts.read.is_some()),
        u32::from(facts.loaded.is_some()),
        run.staging.get(&Some(unit)).map_or(0, |s| 1 + u32::from(s.ready)),
    ];
    let of = |effect: &Effect| match effect {
        Effect::Read { unit, .. } | Effect::Load { unit, .. } | Effect::Put { unit, .. } => Some(*unit),
        Effect::Stage { unit, .. } => *unit,
        _ => None,
    };
    for open in run.open.values().filter(|o| of(&o.effect) == Some(unit)) {
        out.extend([10 + open.effect.kind() as u32, u32::from(open.doubted), why(open.why.as_ref()), open.probes]);
    }
    for request in state.late.iter().filter(|r| of(&r.effect) == Some(unit)) {
        out.extend([50 + request.effect.kind() as u32, request.epoch as u32]);
    }
    for (scope, tries) in run.tries.iter().filter(|(s, _)| s.unit == Some(unit)) {
        out.extend([90 + scope.kind as u32, tries.failed, why(tries.last.as_ref())]);
    }
    out
}
