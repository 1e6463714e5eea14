//! The run machine. `state` has every transition, `event` every fact, `effect` everything done to the world;
//! `apply` says which fact may follow, `decide` what should be in flight, `reconcile` what a doubt resolves to, and
//! `recover` folds a log.
//!
//! Invariant: a run is the fold of its events. There is no other state, and none of these functions has a clock, a
//! random source or an error that is not a typed refusal.

pub mod apply;
pub mod decide;
pub mod effect;
pub mod event;
pub mod facts;
pub mod gates;
mod handover;
pub mod names;
mod permit;
pub mod policy;
pub mod reconcile;
pub mod recover;
#[expect(clippy::module_inception, reason = "the run itself is what this module is named after")]
pub mod run;
pub mod state;
#[cfg(test)]
mod tests;

pub use apply::{Illegal, apply};
pub use decide::{decide, ending};
pub use effect::{Effect, EffectKind, Outcome, OwnedKind, Receipt, Seen};
pub use event::{Event, EventKind};
pub use facts::{Key, PlanFacts, UnitId, Why};
pub use policy::{Action, Draft, Ending, Policy};
pub use reconcile::{Verdict, reconcile};
pub use recover::recover;
pub use run::Run;
pub use state::State;
