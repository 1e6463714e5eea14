//! Every single fault and every pair of faults of small runs, without chance.

use crate::coverage::Coverage;
use crate::fault::{Fault, Plan, Shape, Site};
use crate::invariants::Broken;
use crate::parallel::{self, Go};
use crate::scenario::{Outcome, play};

/// What was enumerated and played for one shape.
#[derive(Debug, Default)]
pub struct Report {
    /// Calls of ports in the run without faults.
    pub calls: usize,
    /// Single faults that there are.
    pub singles: u64,
    /// Pairs that there are: a fault, and another at any later call of the run that has the first.
    pub pairs: u64,
    /// Scenarios played in which every planned fault was met.
    pub met: u64,
    /// What was met.
    pub coverage: Coverage,
    /// What was broken, first by the order of the plan.
    pub failures: Vec<(Plan, Broken)>,
}

/// The shapes whose singles are played; of the first [`PAIRED`], every pair as well.
pub fn shapes() -> Vec<(&'static str, Shape)> {
    let least = Shape {
        units: 1,
        rows: 1,
        chunk_rows: 1,
        readers: 1,
        uploads: 1,
        per_partition: false,
        poisons: false,
        pointer: false,
        append: false,
        partitions: false,
        persistent: false,
        stop_on_loss: false,
        keep_failed: false,
        keep_delivered: false,
        owned_base: false,
        grace: false,
        counts_only: false,
        tries: 3,
    };
    let two = Shape { units: 2, rows: 3, ..least };
    let wide = Shape { per_partition: true, readers: 2, uploads: 2, rows: 4, ..two };
    vec![
        ("ledger, one row", least),
        ("pointer, one row, poisons", Shape { pointer: true, poisons: true, owned_base: true, ..least }),
        ("ledger, shared staging, append", Shape { append: true, ..two }),
        ("ledger, staging of its own, persistent source", Shape { persistent: true, ..wide }),
        ("pointer, staging of its own, grace", Shape { pointer: true, owned_base: true, grace: true, ..wide }),
        ("pointer, poisons, one try", Shape { pointer: true, poisons: true, tries: 1, ..wide }),
        ("ledger, stops on loss, keeps objects", Shape { stop_on_loss: true, keep_failed: true, ..two }),
        ("ledger, poisons, keeps delivered", Shape { poisons: true, keep_delivered: true, persistent: true, ..two }),
        ("pointer, poisons, counts only", Shape { pointer: true, poisons: true, counts_only: true, ..two }),
        ("ledger, no rows", Shape { rows: 0, ..two }),
        ("ledger, partitions, one of them read", Shape { partitions: true, rows: 1, owned_base: true, ..two }),
    ]
}

/// How many of the shapes have every pair played.
pub const PAIRED: usize = 3;

/// Plays every single fault of a shape and, if so asked, every pair.
pub fn play_all(shape: Shape, pairs: bool) -> Report {
    let plan = |faults: Vec<Fault>| Plan { seed: 1, shape, faults, disk: None };
    let calm = play(&plan(Vec::new()));
    let singles = at(&calm.calls);
    let mut report = Report { calls: calm.calls.len(), ..Report::default() };
    report.take(&plan(Vec::new()), &calm);
    report.met = 0;
    let work = |mine: &mut Report, first: &Fault| {
        let alone = plan(vec![*first]);
        let outcome = play(&alone);
        mine.singles += 1;
        mine.take(&alone, &outcome);
        if !pairs {
            return Go::On;
        }
        let position = outcome.calls.iter().position(|call| *call == (first.site, first.nth));
        let after = position.map_or(outcome.calls.len(), |p| p + 1);
        for second in at(&outcome.calls[after..]) {
            let both = plan(vec![*first, second]);
            mine.pairs += 1;
            mine.take(&both, &play(&both));
        }
        Go::On
    };
    parallel::fold(&singles, Report::default, work, |mine| {
        report.singles += mine.singles;
        report.pairs += mine.pairs;
        report.met += mine.met;
        report.coverage.merge(&mine.coverage);
        report.failures.extend(mine.failures);
    });
    report.failures.sort_by(|a, b| a.0.faults.cmp(&b.0.faults));
    report
}

/// Every fault that can happen at those calls.
fn at(calls: &[(Site, u32)]) -> Vec<Fault> {
    let faults = |&(site, nth): &(Site, u32)| site.kinds().iter().map(move |&kind| Fault { site, nth, kind });
    calls.iter().flat_map(faults).collect()
}

impl Report {
    fn take(&mut self, plan: &Plan, outcome: &Outcome) {
        self.met += u64::from(outcome.hits as usize == plan.faults.len());
        self.coverage.add(outcome);
        if let Some(broken) = outcome.broken.first() {
            self.failures.push((plan.clone(), broken.clone()));
        }
    }
}
