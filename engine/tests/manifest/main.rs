//! Manifests as a user writes them: what is accepted, what it resolves to, what is refused and how that reads.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod accepted;
mod arbitrary;
mod differences;
mod planner;
mod refused;
mod rendered;
mod secrets;

use dpone_engine::manifest::{Manifest, parse};
use dpone_engine::refusal::Refusal;

/// A complete manifest with one line per setting, to be changed by the tests.
const BASE: &str = "\
name: orders
source:
  type: sqlite
  path: shop.db
  table: {name: orders}
  options:
    columns: [id, amount]
    partitioning:
      column: id
      num_partitions: 8
      load_workers: 1
      range_parallelism:
        mode: required
        reader_workers: 4
sink:
  type: sqlite
  path: dwh.db
  table: {name: orders}
  strategy: {mode: full_refresh}
";

/// [`BASE`] with one part of its text replaced.
fn base_with(from: &str, to: &str) -> String {
    assert_eq!(BASE.matches(from).count(), 1, "`{from}` must stand once in the base");
    BASE.replace(from, to)
}

fn good(text: &str) -> Manifest {
    parse(text, "orders.yaml").unwrap_or_else(|refusals| panic!("{}", shown(&refusals)))
}

fn bad(text: &str) -> Vec<Refusal> {
    parse(text, "orders.yaml").unwrap_err()
}

/// Refusals as the command line shows them.
fn shown(refusals: &[Refusal]) -> String {
    let one = |r: &Refusal| {
        let mut out = r.to_string();
        out += &r.place.as_ref().map(|p| format!("\n  at {p}")).unwrap_or_default();
        out += &r.snippet.as_ref().map(|s| format!("\n{s}")).unwrap_or_default();
        out += &r.fix.as_ref().map(|f| format!("\n  {f}")).unwrap_or_default();
        out
    };
    refusals.iter().map(one).collect::<Vec<_>>().join("\n\n")
}
