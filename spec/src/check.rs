//! Explores configurations fully and says how many states there are.

use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model};

use crate::model::config::Config;
use crate::model::{RunModel, Step};

/// What an exploration found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The configuration.
    pub config: Config,
    /// States that differ in something that matters.
    pub unique: usize,
    /// States generated.
    pub generated: usize,
    /// The longest path.
    pub depth: usize,
    /// The longest way to the end once faults stop, from any state.
    pub settling: u16,
    /// Seconds.
    pub seconds: f64,
    /// What went wrong, each with the steps that lead there.
    pub failures: Vec<Failure>,
}

/// Unique states that each variant of a configuration has at least, in the order of [`Config::variants`]. A model that
/// explores fewer has lost something. They leave up to 1 %: states that are one are met in an order that depends on the threads,
/// and names that only cleanup needs are not told apart.
pub const fn least_unique(name: &str) -> [usize; 8] {
    match name.as_bytes() {
        b"A" => [109_000, 100_800, 94_100, 80_000, 217_600, 311_000, 159_800, 216_900],
        b"B" => [1_416_000, 1_093_000, 1_238_000, 905_000, 1_006_000, 1_516_000, 848_000, 1_307_000],
        b"C" => [172_000, 160_000, 148_500, 126_400, 427_000, 646_000, 293_600, 422_500],
        _ => [1_885_000, 2_000_000, 1_575_000, 1_510_000, 4_245_000, 7_615_000, 2_960_000, 4_800_000],
    }
}

/// A property that does not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The property, or the invariant.
    pub name: String,
    /// The steps of a counterexample.
    pub steps: Vec<Step>,
    /// The log it leads to.
    pub log: Vec<String>,
}

/// Explores one variant of a configuration to its end, or to the first failure.
pub fn explore(config: Config, threads: usize) -> Explored {
    let started = Instant::now();
    let model = RunModel::new(config.clone());
    let kept = model.clone();
    let checker = model.checker().threads(threads).finish_when(HasDiscoveries::AnyFailures).spawn_dfs().join();
    let mut failures = Vec::new();
    let discoveries = checker.discoveries();
    for property in checker.model().properties().into_iter().filter(|p| p.expectation.discovery_is_failure()) {
        let Some(path) = discoveries.get(property.name).cloned() else { continue };
        let last = path.last_state();
        let name = last.broken.unwrap_or(property.name).to_owned();
        let log = last.log.events().iter().map(|e| format!("{e:?}")).collect();
        failures.push(Failure { name, steps: path.into_actions(), log });
    }
    if failures.is_empty() {
        let unseen = checker.model().properties().into_iter().filter(|p| !discoveries.contains_key(p.name));
        failures.extend(unseen.filter(|p| !p.expectation.discovery_is_failure()).map(|p| Failure {
            name: format!("never seen: {}", p.name),
            steps: Vec::new(),
            log: Vec::new(),
        }));
    }
    Explored {
        config,
        unique: checker.unique_state_count(),
        generated: checker.state_count(),
        depth: checker.max_depth(),
        settling: kept.longest_settling(),
        seconds: started.elapsed().as_secs_f64(),
        failures,
    }
}
