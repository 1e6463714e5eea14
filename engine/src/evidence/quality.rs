//! What the gates and the fidelity comparison said.

use schemars::JsonSchema;
use serde::Serialize;

use crate::manifest::Fidelity;
use crate::plan::Plan;
use crate::profile::compare;
use crate::run::Run;

/// The most differences that are listed.
const MOST: usize = 100;

/// One gate on staging.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateView {
    /// The gate as the manifest names it, with its column.
    pub gate: String,
    /// Whether it passed.
    pub passed: bool,
    /// The code of its failure.
    pub code: Option<String>,
    /// One sentence about its failure.
    pub detail: Option<String>,
}

/// The comparison of staging with what was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FidelityView {
    /// How exactly the manifest asks to compare.
    pub level: Fidelity,
    /// Whether the comparison was made, range by range.
    pub compared: bool,
    /// Whether everything agreed; null if nothing was compared.
    pub passed: Option<bool>,
    /// Why nothing was compared.
    pub reason: Option<&'static str>,
    /// What differs, at most 100 entries: counts and names, never a value.
    pub differences: Vec<String>,
}

/// Every gate and the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QualityView {
    /// Whether the gates ran.
    pub checked: bool,
    /// Whether every gate and the comparison passed; null if they did not run.
    pub passed: Option<bool>,
    /// Every gate.
    pub gates: Vec<GateView>,
    /// The comparison.
    pub fidelity: FidelityView,
}

/// The quality of a run's staging.
pub fn quality(plan: &Plan, run: &Run) -> QualityView {
    let level = run.plan.fidelity;
    let Some(checked) = &run.checked else {
        let reason = Some("the gates did not run");
        let fidelity = FidelityView { level, compared: false, passed: None, reason, differences: Vec::new() };
        return QualityView { checked: false, passed: None, gates: Vec::new(), fidelity };
    };
    let gates: Vec<GateView> = checked
        .gates
        .iter()
        // Every sink counts; without a demand there is nothing to pass.
        .filter(|gate| gate.failed.is_some() || gate.gate != "min_rows" || plan.manifest.quality.min_rows > 0)
        .map(|gate| GateView {
            gate: gate.gate.clone(),
            passed: gate.failed.is_none(),
            code: gate.failed.as_ref().map(|why| why.code.to_string()),
            detail: gate.failed.as_ref().map(|why| why.detail.clone()),
        })
        .collect();
    let mut differences = Vec::new();
    let reason = if level == Fidelity::Off {
        Some("quality.fidelity is off")
    } else if checked.units.is_empty() {
        Some("the sink cannot profile its staging")
    } else {
        if checked.units.len() != run.units.len() {
            differences.push("staging was profiled for another number of ranges than planned".to_owned());
        }
        let pairs = run.units.iter().zip(&checked.units).enumerate();
        let pairs = pairs.filter_map(|(ordinal, (unit, staged))| Some((ordinal, unit.read.as_ref()?, staged)));
        for (ordinal, read, staged) in pairs {
            for difference in compare(&read.profile, staged, level) {
                differences.push(format!("r{ordinal}: {}", difference.describe(&plan.schema)));
            }
        }
        None
    };
    let agreed = differences.is_empty();
    differences.truncate(MOST);
    let compared = reason.is_none();
    let fidelity = FidelityView { level, compared, passed: compared.then_some(agreed), reason, differences };
    let passed = gates.iter().all(|gate| gate.passed) && fidelity.passed != Some(false);
    QualityView { checked: true, passed: Some(passed), gates, fidelity }
}
