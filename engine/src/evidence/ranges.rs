//! What is proven of each range.

use schemars::JsonSchema;
use serde::Serialize;

use super::log::Log;
use crate::codes::Code;
use crate::hex;
use crate::plan::Plan;
use crate::profile::UnitProfile;
use crate::report::range::RangeView;
use crate::run::run::{ObjectFacts, Unit};
use crate::run::{Effect, EffectKind, Run};

/// How far a range came in the present attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RangeState {
    /// Not begun.
    Planned,
    /// Begun, and not at its end.
    Reading,
    /// Read to its end; every object of it is confirmed.
    Eof,
    /// Confirmed in staging by what the target holds.
    Staged,
    /// Part of the target.
    Published,
    /// Reading or loading it failed.
    Failed,
    /// Given up because something else failed.
    Cancelled,
}

/// One object of a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChunkView {
    /// Its position, from 0, without gaps.
    pub ordinal: usize,
    /// Its key in the transfer store.
    pub object: String,
    /// Its rows.
    pub rows: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// How it is known to be there, whole; null if it was confirmed by an earlier run's record only.
    pub checked_by: Option<String>,
}

/// What is proven of one range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RangeEvidence {
    /// Which rows it is, without values.
    #[serde(flatten)]
    pub range: RangeView,
    /// How far it came.
    pub state: RangeState,
    /// Whether it was read to its end.
    pub eof: bool,
    /// Whether its rows in staging are confirmed by the target.
    pub stage_confirmed: bool,
    /// Rows read; null before its end.
    pub rows: Option<u64>,
    /// Bytes of the values as the source gave them; null before its end.
    pub source_bytes: Option<u64>,
    /// Bytes of its objects.
    pub bytes: u64,
    /// Rows counted in staging; null before that is confirmed.
    pub staged_rows: Option<u64>,
    /// Keyed digest of the profile (nulls, extremes, row checksum) of what was read.
    pub source_profile: Option<String>,
    /// Keyed digest of the profile of what staging holds, where the sink computed it. Equal digests, equal profiles.
    pub staged_profile: Option<String>,
    /// Its objects.
    pub chunks: Vec<ChunkView>,
    /// Reads begun, over all attempts.
    pub reads: u32,
    /// Loads begun, over all attempts.
    pub loads: u32,
}

/// Every planned range.
pub(super) fn ranges(plan: &Plan, key: &[u8; 32], run: &Run, log: &Log) -> Vec<RangeEvidence> {
    let staged = run.checked.as_ref().map(|c| c.units.as_slice()).unwrap_or_default();
    let staged = if staged.len() == run.units.len() { staged } else { &[] };
    plan.ranges
        .iter()
        .zip(&run.units)
        .enumerate()
        .map(|(ordinal, (range, unit))| {
            let id = range.ordinal;
            let objects: Vec<&ObjectFacts> = match &unit.read {
                Some(read) => read.objects.iter().collect(),
                None => unit.chunks.values().collect(),
            };
            RangeEvidence {
                range: RangeView::of(range, key, None),
                state: state(run, log, id, unit),
                eof: unit.read.is_some(),
                stage_confirmed: unit.loaded.is_some(),
                rows: unit.read.as_ref().map(|read| read.profile.rows),
                source_bytes: unit.read.as_ref().map(|read| read.source_bytes),
                bytes: objects.iter().map(|o| o.facts.bytes).sum(),
                staged_rows: unit.loaded.as_ref().map(|(_, rows)| *rows),
                source_profile: unit.read.as_ref().map(|read| digest(key, &read.profile)),
                staged_profile: staged.get(ordinal).map(|profile| digest(key, profile)),
                chunks: objects.into_iter().enumerate().map(|(ordinal, o)| chunk(ordinal, o, log)).collect(),
                reads: log.reads.get(&id).copied().unwrap_or(0),
                loads: log.loads.get(&id).copied().unwrap_or(0),
            }
        })
        .collect()
}

fn chunk(ordinal: usize, object: &ObjectFacts, log: &Log) -> ChunkView {
    ChunkView {
        ordinal,
        object: object.object.clone(),
        rows: object.facts.rows,
        bytes: object.facts.bytes,
        sha256: hex::encode(&object.facts.sha256),
        checked_by: log.checked_by.get(&object.object).cloned(),
    }
}

fn state(run: &Run, log: &Log, id: u32, unit: &Unit) -> RangeState {
    if run.published.is_some() {
        return RangeState::Published;
    }
    if unit.loaded.is_some() {
        return RangeState::Staged;
    }
    let failed = log.incidents.iter().any(|i| {
        i.attempt == run.attempt
            && i.range == Some(id)
            && !matches!(i.effect, EffectKind::Drop)
            && i.code != Code::EffectAbandoned.as_str()
    });
    match (run.halted.is_some(), unit.read.is_some()) {
        (true, false) if failed => RangeState::Failed,
        (true, false) => RangeState::Cancelled,
        (_, true) => RangeState::Eof,
        (false, false) => {
            let reading = run.open.values().any(|o| matches!(o.effect, Effect::Read { unit, .. } if unit == id));
            if reading { RangeState::Reading } else { RangeState::Planned }
        }
    }
}

/// 128 bits, in hex, over the profile's canonical form: a bare checksum of few rows could be guessed.
pub(crate) fn digest(key: &[u8; 32], profile: &UnitProfile) -> String {
    let form = serde_json::to_vec(profile).unwrap_or_default();
    blake3::keyed_hash(key, &form).to_hex()[..32].to_owned()
}
