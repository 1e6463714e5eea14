//! The one JSON object that a benchmark prints.

use serde::Serialize;

use super::peers::PeerReport;
use super::{Measured, Request};

/// The floor of a benchmark: the least work that anything could do for the same rows.
#[derive(Clone, Debug, Serialize)]
pub struct Floor {
    /// What it does.
    pub name: &'static str,
    /// Median seconds.
    pub wall_s: f64,
}

/// A benchmark's result; medians throughout.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The benchmark.
    pub name: &'static str,
    /// Rows delivered.
    pub rows: u64,
    /// Readers.
    pub readers: u32,
    /// Seconds for the whole process.
    pub wall_s: f64,
    /// CPU seconds for the whole process.
    pub cpu_s: f64,
    /// Rows delivered per second.
    pub rows_per_s: f64,
    /// Largest resident set of any run, MiB.
    pub peak_rss_mib: f64,
    /// The configured byte budget, MiB.
    pub budget_mib: u64,
    /// The floor.
    pub floor: Floor,
    /// Floor wall time over ours; above 1 is faster than the floor.
    pub floor_ratio: f64,
    /// Other tools, where the benchmark has some.
    pub peers: Vec<PeerReport>,
    /// What it ran on.
    pub machine: String,
    /// Every run, product then floor.
    pub runs: Vec<(Measured, Measured)>,
}

impl Report {
    /// The report over alternating runs of the product and the floor.
    pub fn of(
        name: &'static str,
        request: Request,
        budget_mib: u64,
        floor: &'static str,
        runs: Vec<(Measured, Measured)>,
    ) -> Self {
        let ours = |f: fn(&Measured) -> f64| median(runs.iter().map(|(ours, _)| f(ours)));
        let wall_s = ours(|m| m.wall_s);
        let floor_s = median(runs.iter().map(|(_, floor)| floor.wall_s));
        Self {
            name,
            rows: request.rows,
            readers: request.readers,
            wall_s,
            cpu_s: ours(|m| m.cpu_s),
            rows_per_s: request.rows as f64 / wall_s,
            peak_rss_mib: runs.iter().map(|(ours, _)| ours.peak_rss_mib).fold(0.0, f64::max),
            budget_mib,
            floor: Floor { name: floor, wall_s: floor_s },
            floor_ratio: floor_s / wall_s,
            peers: Vec::new(),
            machine: machine(),
            runs,
        }
    }
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Processor, number of cores, kernel.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .map_or("unknown processor", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!("{model}, {cores} cores, Linux {}", read("/proc/sys/kernel/osrelease").trim())
}
