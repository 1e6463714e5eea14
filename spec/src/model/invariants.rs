//! The numbered invariants, one function or constant each; `spec/invariants.md` says what they mean.

use dpone_engine::codes::Code;
use dpone_engine::run::run::Fate;
use dpone_engine::run::{Effect, EffectKind, Ending, Event, Illegal, OwnedKind, Run, State as RunState};
use dpone_journal::rule::{self, Head};

use super::State;
use super::config::Config;
use super::world::{Entry, Request};

/// I1: no row is published twice.
pub const NOT_TWICE: &str = "I1 nothing is published twice";
/// I2: a delivered run's rows are all in the target, and a failed attempt's rows are not.
pub const NOT_LOST: &str = "I2 a delivered run has every row in the target, a failed attempt none";
/// I3: a publication follows confirmed units and passed gates.
pub const PROVEN_FIRST: &str = "I3 no publication before every range is confirmed and quality passed";
/// I4: a publication is sent again only once the first cannot execute.
pub const ONE_SEND: &str = "I4 no second send before the first is unexecutable";
/// I5: cleanup removes journalled names, and never while a publication is open or unknown.
pub const CLEAN_OWNED: &str = "I5 cleanup removes only journalled names, never while a publication is open or unknown";
/// I6: what the target refers to is not removed.
pub const TARGET_WHOLE: &str = "I6 nothing that the target consists of is removed";
/// I7: the fold of the log is the live state.
pub const FOLD_IS_LIVE: &str = "I7 the fold of the log is the live state";
/// I8: every prefix of a log recovers.
pub const RECOVERS: &str = "I8 every prefix of a log recovers";
/// I9: a key belongs to one effect.
pub const ONE_KEY: &str = "I9 a key belongs to one effect";
/// I10: a fenced runner changes nothing.
pub const FENCED: &str = "I10 a fenced runner changes nothing";
/// I11: what the machine decides is legal. A counterexample names the rule of `apply` instead.
pub const LEGAL: &str = "I11 what is decided can be applied";
/// I12: the run ends, and an end has its cause.
pub const JUSTIFIED: &str = "I12 a run that has ended is delivered, or has the cause why not";
/// I13: while the run believes it holds the target's claim, the claim stands.
pub const CLAIM_STANDS: &str = "I13 a claim that is believed to be held stands";
/// I14: a settled run leaves nothing behind.
pub const NOTHING_LEFT: &str = "I14 a settled run leaves nothing behind";
/// I15: without a fault a run is delivered.
pub const FAULTLESS: &str = "I15 without a fault a run is delivered";

/// I16: rows are read from an open source state, and a run's rows from one state.
pub const ONE_SOURCE_STATE: &str = "I16 the rows of a publication are read from one source state, while it is open";

/// Every invariant; I12's bound is a property of its own.
pub const ALL: [&str; 16] = [
    NOT_TWICE,
    NOT_LOST,
    PROVEN_FIRST,
    ONE_SEND,
    CLEAN_OWNED,
    TARGET_WHOLE,
    FOLD_IS_LIVE,
    RECOVERS,
    ONE_KEY,
    FENCED,
    LEGAL,
    JUSTIFIED,
    CLAIM_STANDS,
    NOTHING_LEFT,
    FAULTLESS,
    ONE_SOURCE_STATE,
];

fn broken(rule: bool, name: &'static str) -> Option<&'static str> {
    if rule { None } else { Some(name) }
}

/// I3, I4, I5, I9, I16: what is announced.
pub fn before_append(state: &State, event: &Event, config: &Config) -> Option<&'static str> {
    let Event::Intended { key, effect } = event else { return None };
    let once = broken(key.0 > state.last_key && !state.run.open.contains_key(key), ONE_KEY);
    let rule = match effect {
        Effect::Put { .. } => broken(state.world.source, ONE_SOURCE_STATE),
        Effect::Publish { .. } => {
            proven_first(&state.run).or_else(|| one_send(state, config)).or_else(|| one_source_state(state))
        }
        Effect::Drop { name, .. } => clean_owned(state, name, config),
        _ => None,
    };
    once.or(rule)
}

/// I3: judged from the facts alone, not by the engine's own gates.
fn proven_first(run: &Run) -> Option<&'static str> {
    let confirmed = run.units.iter().all(|u| {
        let read = u.read.as_ref().map(|r| r.profile.rows);
        read.is_some() && u.loaded.as_ref().map(|(_, rows)| *rows) == read
    });
    let covered = !run.plan.coverage_required || run.counted == Some(run.rows_read());
    let passed = run.checked.as_ref().is_some_and(|c| c.gates.iter().all(|g| g.failed.is_none()));
    broken(confirmed && covered && run.verified && passed && run.halted.is_none(), PROVEN_FIRST)
}

/// I16.
fn one_source_state(state: &State) -> Option<&'static str> {
    let objects = state.run.units.iter().filter_map(|u| u.read.as_ref()).flat_map(|r| &r.objects);
    let mut states = objects.map(|o| state.read_from.get(&o.object));
    let first = states.next();
    broken(first.is_none_or(|first| states.all(|other| other == first)), ONE_SOURCE_STATE)
}

/// I4: no request of an earlier publication could still execute, and none has.
fn one_send(state: &State, config: &Config) -> Option<&'static str> {
    let executable = state.late.iter().any(|request| state.world.executable(request, config));
    let happened = state.world.ledger.values().any(|e| *e == Entry::Published);
    broken(!executable && !happened && state.run.open_publication().is_none(), ONE_SEND)
}

/// I5: a removal that is announced.
fn clean_owned(state: &State, name: &str, config: &Config) -> Option<&'static str> {
    let journalled = state.run.owned.contains_key(name);
    let executable = state.late.iter().any(|request| state.world.executable(request, config));
    broken(journalled && !executable && state.run.open_publication().is_none(), CLEAN_OWNED)
}

/// I5: a removal that lands, late or not, hits nothing that the run or the target still needs.
pub fn before_landing(state: &State, request: &Request) -> Option<&'static str> {
    let Effect::Drop { name, .. } = &request.effect else { return None };
    let run = &*state.run;
    let removable = run.owned.get(name).is_some_and(|o| matches!(o.fate, Fate::Live | Fate::Removed));
    let cleaning = run.state == RunState::FailedPrepublication || run.delivered();
    let used = run.staging.values().any(|s| s.name == *name)
        || run.units.iter().any(|unit| {
            unit.loaded.as_ref().is_some_and(|(load, _)| load == name)
                || unit.read.as_ref().is_some_and(|r| r.objects.iter().any(|o| o.object == *name))
                || unit.chunks.values().any(|o| o.object == *name)
        });
    broken(removable && (cleaning || !used), CLEAN_OWNED)
}

/// I1, I6: the target after something landed.
pub fn after_landing(state: &State) -> Option<&'static str> {
    let twice = state.world.target.windows(2).any(|pair| pair[0] == pair[1]);
    let whole = state
        .world
        .referred
        .iter()
        .all(|(staging, load)| state.world.staging.get(staging).is_some_and(|s| s.contains_key(load)));
    broken(!twice, NOT_TWICE).or(broken(whole, TARGET_WHOLE))
}

/// I2, I13, I14, I15: the run and the world after a fact.
pub fn after_append(state: &State, config: &Config) -> Option<&'static str> {
    let run = &*state.run;
    let expected = || (0..config.units).flat_map(|u| (0..config.chunks).map(move |c| (u, c)));
    let rows = match (&run.published, run.state) {
        (Some((_, rows)), _) => {
            state.world.target.iter().copied().eq(expected()) && *rows == u64::from(config.units * config.chunks)
        }
        (None, RunState::FailedPrepublication) => state.world.target.is_empty(),
        _ => true,
    };
    let giving_back = run.tries.iter().any(|(scope, tries)| scope.kind == EffectKind::Release && tries.begun > 0);
    let claimed = run.claim.is_none() || giving_back || state.world.claim >= run.claim;
    broken(rows, NOT_LOST).or(broken(claimed, CLAIM_STANDS)).or_else(|| nothing_left(state))
}

/// I14: names still there are kept on purpose, are the target's, or were made by a late request after their removal.
fn nothing_left(state: &State) -> Option<&'static str> {
    if !state.run.settled() {
        return None;
    }
    let fates = |kind, name: &str| match state.run.owned.get(name) {
        Some(owned) => owned.kind == kind && owned.fate != Fate::Live,
        None => false,
    };
    let world = &state.world;
    let clean = world.objects.keys().all(|name| fates(OwnedKind::Object, name))
        && world.staging.keys().all(|name| fates(OwnedKind::Staging, name));
    broken(clean && world.claim.is_none(), NOTHING_LEFT)
}

/// I7.
pub fn fold_is_live(folded: &Run, live: &Run) -> Option<&'static str> {
    broken(folded == live, FOLD_IS_LIVE)
}

/// I10: the target is not changed by what was sent for a publication that is settled.
pub fn late_changes_nothing(state: &State, request: &Request, changed: bool) -> Option<&'static str> {
    broken(!changed || state.run.open.contains_key(&request.key), FENCED)
}

/// I10: a runner whose epoch is not the log's any more appends nothing.
pub fn fenced_appends_nothing(state: &State, request: &Request) -> Option<&'static str> {
    let head = Head { seq: state.run.seq, epoch: state.run.epoch, attempt: state.run.attempt, ..Head::EMPTY };
    let refused = rule::append("r", head, request.epoch, 0, &[]).is_err_and(|e| e.code == Code::LeaseLost);
    broken(refused, FENCED)
}

/// I11: the rule that was broken.
pub fn illegal(illegal: &Illegal) -> &'static str {
    illegal.reason
}

/// I12, I15.
pub fn ended_justified(state: &State, ending: &Ending, config: &Config) -> Option<&'static str> {
    let run = &*state.run;
    let faultless = state.faults == config.faults;
    let justified = match ending {
        Ending::Delivered => true,
        // Nobody else wants the target here.
        Ending::Failed(why) | Ending::FailedUncleaned(why) => {
            run.halted.is_some() && !matches!(why.code, Code::InternalError | Code::TargetClaimedElsewhere)
        }
        Ending::DeliveredUncleaned(_) => run.tries.values().any(|t| t.last.is_some()),
        Ending::Unknown(why) => {
            why.code != Code::InternalError && run.open_publication().is_some_and(|(_, o)| o.doubted)
        }
    };
    broken(justified, JUSTIFIED).or(broken(!faultless || *ending == Ending::Delivered, FAULTLESS))
}
