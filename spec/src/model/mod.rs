//! The model: a run (folded from its log by the engine itself), the world, requests of dead tries and dead runners
//! that may still land, and a runner that does what the driver does.
//!
//! Three reductions keep it small, each without loss: a request and its reply are one step, because a crash between
//! them is a crash followed by the request's late landing; while facts are due to be appended nothing else happens
//! but a crash, because neither the world nor a late request looks at the log; and states that differ only in key
//! numbers, nonces and the order of what commutes are one state (see `canonical`).

mod canonical;
pub mod config;
pub mod invariants;
mod liveness;
pub mod log;
pub mod runner;
mod step;
pub mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use dpone_engine::run::{Event, Key, Run, State as RunState};
use stateright::{Model, Property};

use config::{Config, Faults};
use log::Log;
use runner::{Next, Runner};
use world::{Request, World};

/// Everything there is at one moment.
#[derive(Clone, Debug)]
pub struct State {
    /// What it is a state of.
    pub config: Arc<Config>,
    /// The fold of the log.
    pub run: Arc<Run>,
    /// The log.
    pub log: Log,
    /// The world.
    pub world: World,
    /// Requests that nobody waits for any more and that may still land.
    pub late: Vec<Request>,
    /// The runner.
    pub runner: Runner,
    /// What the runner does next.
    pub next: Next,
    /// The faults that may still happen.
    pub faults: Faults,
    /// The last nonce drawn.
    pub nonce: u64,
    /// How often the source was opened.
    pub opened: u32,
    /// The source state that each object was read from, by its number.
    pub read_from: BTreeMap<String, u32>,
    /// The highest key announced.
    pub last_key: u32,
    /// The invariant that does not hold here.
    pub broken: Option<&'static str>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The runner appends what is due, and sends what it announced.
    Append,
    /// A request is executed and its outcome journalled.
    Complete(Key),
    /// A reply is lost; the request may still land.
    Lose(Key),
    /// A request is refused for a reason that may pass.
    Refuse(Key),
    /// A request is refused for good.
    Fail(Key),
    /// The source state that is read or counted is gone.
    LoseState(Key),
    /// A gate fails.
    FailGate(Key),
    /// A probe looks, and what follows is journalled.
    Probe(Key),
    /// A probe cannot tell.
    Blind(Key),
    /// A late request lands.
    Land(usize),
    /// The runner dies, or is fenced by a rival, and the next one takes over.
    TakeOver,
    /// An operator resumes a run that has ended.
    Resume,
    /// An object vanishes.
    Vanish(String),
}

/// A model of one configuration.
#[derive(Clone, Debug)]
pub struct RunModel {
    /// The configuration.
    pub config: Config,
    settled: Arc<liveness::Memo>,
}

impl RunModel {
    /// The model of that configuration.
    pub fn new(config: Config) -> Self {
        Self { config, settled: Arc::default() }
    }

    /// The longest way from any state to the end once faults have stopped, so far.
    pub fn longest_settling(&self) -> u16 {
        self.settled.longest()
    }

    /// The run as it was planned, taken over by its first runner.
    pub fn start(&self) -> State {
        let planned = Event::Planned { run: "r".to_owned(), plan: self.config.plan() };
        let (run, broken) = match dpone_engine::run::recover([&planned]) {
            Ok(run) => (run, None),
            Err(_) => (empty(&self.config), Some(invariants::LEGAL)),
        };
        let mut state = State {
            config: Arc::new(self.config.clone()),
            run: Arc::new(run),
            log: Log::default().and(planned),
            world: World::default(),
            late: Vec::new(),
            runner: Runner::default(),
            next: Next::default(),
            faults: self.config.faults,
            nonce: 0,
            opened: 0,
            read_from: BTreeMap::new(),
            last_key: 0,
            broken,
        };
        state.take_over(&self.config);
        state
    }
}

/// A placeholder for a plan that was refused.
fn empty(config: &Config) -> Run {
    let mut plan = config.plan();
    plan.units = 1;
    let planned = Event::Planned { run: "r".to_owned(), plan };
    #[expect(clippy::expect_used, reason = "a plan with a unit begins a log")]
    dpone_engine::run::recover([&planned]).expect("a plan with a unit begins a log")
}

impl Model for RunModel {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![self.start()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        state.steps(actions);
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        state.take(&step, &self.config);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every numbered invariant holds", |_, state: &State| state.broken.is_none()),
            Property::always("I12 once faults stop, the run ends", |model: &RunModel, state: &State| {
                state.broken.is_some() || model.settles(state)
            }),
            Property::sometimes("a run is delivered and cleaned up", |_, s: &State| {
                s.run.state == RunState::CleanupComplete
            }),
            Property::sometimes("a doubtful publication is found to have happened", |_, s: &State| {
                s.run.state == RunState::OutcomeUnknown && s.run.published.is_some()
            }),
            Property::sometimes("a doubtful publication is proven absent", |_, s: &State| {
                s.run.state == RunState::OutcomeUnknown && s.run.open_publication().is_none() && !s.run.delivered()
            }),
        ]
    }
}
