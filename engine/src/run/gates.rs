//! Whether what staging holds may be published: the gates' results and the comparison with what was read.

use super::facts::Why;
use super::run::Run;
use crate::codes::Code;
use crate::manifest::Fidelity;
use crate::profile::UnitProfile;

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
        let what = difference(read, staged, level)?;
        Some(Why::fatal(Code::FidelityMismatch, format!("range {ordinal}: {what}")))
    })
}

/// What differs between a unit as read and as staged, up to the level; never a value.
fn difference(read: &UnitProfile, staged: &UnitProfile, level: Fidelity) -> Option<String> {
    if read.rows != staged.rows {
        return Some(format!("{} rows were read and {} are in staging", read.rows, staged.rows));
    }
    if level >= Fidelity::Columns {
        if read.columns.len() != staged.columns.len() {
            return Some("another number of columns is in staging".to_owned());
        }
        for (column, (r, s)) in read.columns.iter().zip(&staged.columns).enumerate() {
            let differs =
                [("NULL count", r.nulls != s.nulls), ("minimum", r.min != s.min), ("maximum", r.max != s.max)];
            if let Some((what, _)) = differs.iter().find(|(_, d)| *d) {
                return Some(format!("the {what} of column {} differs", column + 1));
            }
        }
    }
    (level >= Fidelity::Rows && read.checksum != staged.checksum).then(|| "the row checksum differs".to_owned())
}
