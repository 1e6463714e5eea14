//! Owned names: from a draft and a nonce to the effect that is journalled.

use super::effect::{ChunkFacts, Effect, EffectKind};
use super::facts::{Key, UnitId};
use super::policy::Draft;
use super::run::{Run, Scope};

/// Draws the names of a draft. The nonce makes them unique; the journal makes them permanent.
pub fn name(run: &Run, draft: &Draft, nonce: u64) -> Effect {
    let attempt = run.attempt;
    match draft {
        Draft::Claim => Effect::Claim { epoch: run.epoch },
        Draft::Open => Effect::Open,
        Draft::Count => Effect::Count,
        Draft::Read { unit } => {
            let scope = Scope { kind: EffectKind::Read, unit: Some(*unit), name: None };
            Effect::Read { unit: *unit, try_no: run.tries(&scope).begun + 1 }
        }
        Draft::Verify => Effect::Verify,
        Draft::Stage { unit } => {
            let part = unit.map(|u| format!("_r{u}")).unwrap_or_default();
            Effect::Stage { staging: format!("stg_{}_a{attempt}{part}_{nonce:016x}", tag(&run.id)), unit: *unit }
        }
        Draft::Load { unit } => {
            let staging = run.staging.get(&run.staging_slot(*unit)).map(|s| s.name.clone()).unwrap_or_default();
            Effect::Load { unit: *unit, staging, load: format!("ld_{}_a{attempt}_r{unit}_{nonce:016x}", tag(&run.id)) }
        }
        Draft::Check => Effect::Check,
        Draft::Publish => Effect::Publish { publication: format!("pub_{}_a{attempt}_{nonce:016x}", tag(&run.id)) },
        Draft::Fence { publish } => {
            Effect::Fence { publish: *publish, fence: format!("fen_{}_{nonce:016x}", tag(&run.id)) }
        }
        Draft::Evidence { document } => Effect::Evidence { document: *document },
        Draft::Drop { kind, name } => Effect::Drop { kind: *kind, name: name.clone() },
        Draft::Release => Effect::Release { epoch: run.epoch },
    }
}

/// The effect that writes one chunk of a read: `{manifest}/{run}/a{attempt}-{nonce}/r{unit}.t{try}/c{chunk}.parquet`.
pub fn put(run: &Run, read: Key, unit: UnitId, try_no: u32, chunk: u32, facts: ChunkFacts, nonce: u64) -> Effect {
    let object =
        format!("{}/{}/a{}-{nonce:016x}/r{unit}.t{try_no}/c{chunk}.parquet", run.plan.manifest, run.id, run.attempt);
    Effect::Put { read, unit, chunk, object, facts }
}

/// The part of a run's id that goes into short names: at most 16 of its letters and digits, from the end, which for a
/// time-ordered id is the part that varies most.
fn tag(id: &str) -> String {
    let letters: Vec<char> = id.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    letters[letters.len().saturating_sub(16)..].iter().collect()
}
