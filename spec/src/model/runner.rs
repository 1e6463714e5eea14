//! What a runner does, as the driver does it: asks `decide`, appends, sends, probes, and turns answers into facts.
//!
//! Times are left out: every waiting time has passed.

use dpone_engine::codes::Code;
use dpone_engine::manifest::OnAuthorityLost;
use dpone_engine::profile::UnitProfile;
use dpone_engine::run::effect::{ChunkFacts, EffectKind};
use dpone_engine::run::event::ABANDONED;
use dpone_engine::run::run::Scope;
use dpone_engine::run::{
    Action, Effect, Event, Key, Outcome, Policy, Receipt, Run, Seen, State, UnitId, Verdict, Why, decide, names,
    reconcile,
};

use super::config::Config;
use super::world::World;

/// What a runner remembers beside the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Runner {
    /// The failed attempt that it was started to follow.
    pub restart_from: Option<u32>,
    /// The last attempt that it starts by itself.
    pub max_attempts: u32,
}

impl Runner {
    /// The runner that takes that run over.
    pub fn of(run: &Run, config: &Config) -> Runner {
        Runner {
            restart_from: (run.state == State::FailedPrepublication && run.closed).then_some(run.attempt),
            max_attempts: run.attempt + config.attempts,
        }
    }

    fn policy(&self, config: &Config) -> Policy {
        Policy {
            now: u64::MAX,
            readers: config.units,
            ranges: config.units,
            loaders: if config.plan().topology == dpone_engine::run::facts::Topology::SharedPerRun {
                1
            } else {
                config.units
            },
            droppers: 1,
            max_tries: config.tries,
            max_probes: config.probes,
            max_attempts: self.max_attempts,
            on_authority_lost: OnAuthorityLost::Reread,
            restart_from: self.restart_from,
            superseded_grace: 0,
            stopping: false,
            abandon: false,
        }
    }
}

/// What the runner does next without waiting for anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// The facts of the next append, all or none.
    pub facts: Vec<Event>,
    /// The doubts that are being probed.
    pub probes: Vec<Key>,
}

/// Asks the machine, as the driver does between two answers of the world. `nonce` is drawn from for each name.
pub fn next(run: &Run, runner: &Runner, config: &Config, nonce: &mut u64) -> Next {
    let ended = ended_reads(run, config);
    if !ended.is_empty() {
        return Next { facts: ended, probes: Vec::new() };
    }
    let actions = decide(run, &runner.policy(config));
    let facts: Vec<Event> = actions
        .iter()
        .filter_map(|action| if let Action::Record(event) = action { Some(event.clone()) } else { None })
        .collect();
    if !facts.is_empty() {
        return Next { facts, probes: Vec::new() };
    }
    let mut next = Next::default();
    let mut draw = || {
        *nonce += 1;
        *nonce
    };
    let mut key = run.next_key;
    let mut intend = |effect: Effect| {
        let event = Event::Intended { key, effect };
        key = Key(key.0 + 1);
        event
    };
    for action in actions {
        match action {
            Action::Begin(draft) => next.facts.push(intend(names::name(run, &draft, draw()))),
            Action::Probe(key) => next.probes.push(key),
            Action::WaitUntil(_) | Action::Record(_) => {}
        }
    }
    for (read, unit, try_no) in reads(run) {
        for chunk in due_chunks(run, read, unit, config) {
            let facts = ChunkFacts { rows: 1, bytes: 1, sha256: [0; 32] };
            next.facts.push(intend(names::put(run, read, unit, try_no, chunk, facts, draw())));
        }
    }
    next
}

/// The reads that are being worked on.
fn reads(run: &Run) -> Vec<(Key, UnitId, u32)> {
    let live = run.open.iter().filter(|(_, open)| !open.doubted);
    live.filter_map(|(key, open)| match open.effect {
        Effect::Read { unit, try_no } => Some((*key, unit, try_no)),
        _ => None,
    })
    .collect()
}

/// The open puts of a read.
pub fn has_puts(run: &Run, read: Key) -> bool {
    run.open.values().any(|open| matches!(open.effect, Effect::Put { read: r, .. } if r == read))
}

/// Why a read is failing, while its last puts are awaited.
fn failing(run: &Run, read: Key, unit: UnitId, config: &Config) -> Option<Why> {
    if !run.is_reading() {
        return Some(Why::transient(ABANDONED, "the read was cancelled"));
    }
    (0..config.chunks).find_map(|chunk| {
        let tries = run.tries.get(&put_scope(read, unit, chunk))?;
        let why = tries.last.clone()?;
        (!why.transient || tries.failed >= config.tries).then_some(why)
    })
}

fn put_scope(read: Key, unit: UnitId, chunk: u32) -> Scope {
    Scope { kind: EffectKind::Put, unit: Some(unit), name: Some(format!("{}.{chunk}", read.0)) }
}

fn due_chunks(run: &Run, read: Key, unit: UnitId, config: &Config) -> Vec<u32> {
    if failing(run, read, unit, config).is_some() {
        return Vec::new();
    }
    let unsettled = |chunk: &u32| {
        !run.units[unit as usize].chunks.contains_key(chunk) && run.open_in(&put_scope(read, unit, *chunk)).is_none()
    };
    (0..config.chunks).filter(unsettled).collect()
}

/// The facts of reads that have come to their end with nothing in flight.
fn ended_reads(run: &Run, config: &Config) -> Vec<Event> {
    let mut facts = Vec::new();
    for (key, unit, _) in reads(run) {
        if has_puts(run, key) {
            continue;
        }
        if let Some(why) = failing(run, key, unit, config) {
            facts.push(Event::NotDone { key, why, not_before: 0 });
        } else if run.units[unit as usize].chunks.len() == config.chunks as usize {
            let rows = u64::from(config.chunks);
            let profile = UnitProfile { rows, ..UnitProfile::default() };
            facts.push(Event::Confirmed {
                key,
                receipt: Receipt::Read { chunks: config.chunks, source_bytes: 0, profile },
            });
        }
    }
    facts
}

/// Whether every object that the units consist of is in the store.
pub fn verify(run: &Run, world: &World) -> Outcome {
    let objects = run.units.iter().filter_map(|u| u.read.as_ref()).flat_map(|r| &r.objects);
    if objects.into_iter().all(|o| world.objects.contains_key(&o.object)) {
        Outcome::Done(Receipt::Verified)
    } else {
        Outcome::NotDone(Why::fatal(Code::ObjectLost, "an object is gone or differs"))
    }
}

/// The fact that follows from an outcome.
pub fn settle(key: Key, outcome: Outcome) -> Event {
    match outcome {
        Outcome::Done(receipt) => Event::Confirmed { key, receipt },
        Outcome::NotDone(why) => Event::NotDone { key, why, not_before: 0 },
        Outcome::Unknown(why) => Event::Doubted { key, why },
    }
}

/// The facts that follow from what a probe saw.
pub fn settle_sighting(run: &Run, key: Key, seen: Seen, receipt: Option<Receipt>) -> Vec<Event> {
    let Some(open) = run.open.get(&key) else { return Vec::new() };
    let why = open.why.clone().unwrap_or_else(|| Why::transient(ABANDONED, "its runner ended before it did"));
    let kind = open.effect.kind();
    let receipt = receipt.or(match kind {
        EffectKind::Drop => Some(Receipt::Dropped),
        EffectKind::Release => Some(Receipt::Released),
        _ => None,
    });
    match (reconcile(kind, &run.plan, seen), receipt) {
        (Verdict::Confirm, Some(receipt)) => vec![Event::Confirmed { key, receipt }],
        (Verdict::Confirm, None) | (Verdict::Stay, _) => vec![Event::Probed { key, seen, not_before: 0 }],
        (Verdict::Retry, _) => vec![Event::NotDone { key, why, not_before: 0 }],
        (Verdict::Poison, _) => vec![Event::Poisoned { key }],
        (Verdict::Halt(code), _) => {
            let why = Why::fatal(code, "something else stands there");
            let mut facts = vec![Event::NotDone { key, why: why.clone(), not_before: 0 }];
            let may_halt = run.halted.is_none()
                && run.state.may_become(State::FailedPrepublication)
                && run.open_publication().is_none();
            if may_halt {
                facts.push(Event::Halted { why, key: Some(key) });
            }
            facts
        }
    }
}
