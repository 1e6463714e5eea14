//! How the byte and row budget is divided.

use serde::{Deserialize, Serialize};

use crate::budget::Amount;
use crate::codes::Code;
use crate::manifest::Manifest;
use crate::refusal::Refusal;

use super::facts::{SourceFacts, TargetFacts};

const PLACE: &str = "source.options.partitioning.range_parallelism";

/// The run's budget and what one worker is granted of it.
///
/// Invariants: `grant_bytes * readers <= bytes` and `grant_rows * readers <= rows`; `check_bytes <= bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetPlan {
    /// Bytes that the run may hold at one time, every representation counted.
    pub bytes: u64,
    /// Rows that the run may hold at one time.
    pub rows: u64,
    /// Equal parts that the budget is divided into: one per reader, and one for chunks that wait to be written where
    /// the budget allows it.
    pub shares: u32,
    /// Bytes that one batch of a reader is granted: `bytes / shares`.
    pub grant_bytes: u64,
    /// Rows that one batch of a reader is granted: `rows / shares`, at most the manifest's rows per chunk.
    pub grant_rows: u64,
    /// The least grant, in bytes, that a reader of this schema can work with.
    pub min_grant_bytes: u64,
    /// Bytes that the check of staging is granted.
    pub check_bytes: u64,
}

impl BudgetPlan {
    /// The whole budget.
    pub const fn total(&self) -> Amount {
        Amount { bytes: self.bytes, rows: self.rows }
    }

    /// What one batch of a reader is granted.
    pub const fn grant(&self) -> Amount {
        Amount { bytes: self.grant_bytes, rows: self.grant_rows }
    }
}

/// Divides the manifest's budget among that many readers.
///
/// # Errors
/// `budget_too_small`.
pub(super) fn divide(
    manifest: &Manifest,
    source: &SourceFacts,
    target: &TargetFacts,
    readers: u32,
) -> Result<BudgetPlan, Refusal> {
    let (bytes, rows) = (manifest.ranges.max_inflight_bytes, manifest.ranges.max_inflight_rows);
    let min_grant = source.min_grant.max(1);
    let fits = |shares: u32| bytes / u64::from(shares) >= min_grant && rows / u64::from(shares) >= 1;
    let readers = readers.max(1);
    let roomy = readers.saturating_add(1);
    let shares = if fits(roomy) { roomy } else { readers };
    if rows < u64::from(shares) {
        let found = format!("the budget of {rows} rows cannot hold one row of each of {readers} readers");
        let fix = format!("Raise max_inflight_rows to at least {readers}, or lower reader_workers.");
        return Err(Refusal::new(Code::BudgetTooSmall, found).at(format!("{PLACE}.max_inflight_rows")).fix(fix));
    }
    if !fits(shares) {
        let needed = u128::from(min_grant) * u128::from(readers);
        let found = format!(
            "the budget of {bytes} bytes cannot hold one batch of {min_grant} bytes of each of {readers} reader(s)"
        );
        let fix = format!("Raise max_inflight_bytes to at least {needed}, or lower reader_workers.");
        return Err(Refusal::new(Code::BudgetTooSmall, found).at(format!("{PLACE}.max_inflight_bytes")).fix(fix));
    }
    if target.check_grant > bytes {
        let found = format!("the check of staging needs {} bytes and the budget is {bytes} bytes", target.check_grant);
        let fix = format!("Raise max_inflight_bytes to at least {}.", target.check_grant);
        return Err(Refusal::new(Code::BudgetTooSmall, found).at(format!("{PLACE}.max_inflight_bytes")).fix(fix));
    }
    let grant_bytes = bytes / u64::from(shares);
    let grant_rows = (rows / u64::from(shares)).min(manifest.chunks.max_rows.unwrap_or(u64::MAX)).max(1);
    Ok(BudgetPlan {
        bytes,
        rows,
        shares,
        grant_bytes,
        grant_rows,
        min_grant_bytes: min_grant,
        check_bytes: grant_bytes.max(target.check_grant),
    })
}
