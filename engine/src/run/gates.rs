//! Whether what staging holds may be published: the gates' results and the comparison with what was read.

use super::facts::Why;
use super::run::Run;
use crate::codes::Code;
use crate::manifest::Fidelity;
use crate::profile::{UnitProfile, compare};

/// Why the run's staging may not be published, if there is a reason; `None` while nothing was checked.
///
/// The first failed gate in the manifest's order is the reason; fidelity is compared after the gates.
pub fn failure(run: &Run) -> Option<Why> {
    let checked = run.checked.as_ref()?;
    let gate = checked.gates.iter().find_map(|g| g.failed.clone());
    gate.or_else(|| infidelity(run, &checked.units))
}

/// The comparison of every unit's source profile with its staging profile.
fn infidelity(run: &Run, staged: &[UnitProfile]) -> Option<Why> {
    let level = run.plan.fidelity;
    if level == Fidelity::Off || staged.is_empty() {
        return None;
    }
    if staged.len() != run.units.len() {
        return Some(Why::fatal(
            Code::FidelityMismatch,
            "staging was profiled for another number of ranges than planned",
        ));
    }
    run.units.iter().zip(staged).enumerate().find_map(|(ordinal, (unit, staged))| {
        let read = &unit.read.as_ref()?.profile;
        let what = compare(read, staged, level).into_iter().next()?;
        Some(Why::fatal(Code::FidelityMismatch, format!("range {ordinal}: {what}")))
    })
}
