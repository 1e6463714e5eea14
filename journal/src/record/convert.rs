//! Between the engine's facts and the newest records. A number or text that stands for nothing is damage, never
//! a default.

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Fidelity, StagingTopology};
use dpone_engine::profile::{ColumnProfile, UnitProfile};
use dpone_engine::run::effect::{ChunkFacts, Document, GateResult, OwnedKind};
use dpone_engine::run::facts::{Base, LoadIsolation, PublicationKind, Retention, StagingFate};
use dpone_engine::run::{Effect, Key, PlanFacts, Receipt, Seen, State, Why};
use dpone_engine::value::Value;

use super::{Unreadable, v1, v2};

/// A closed set that is journalled as the position in a list that is only ever appended to.
macro_rules! numbered {
    ($out:ident, $back:ident, $ty:ty, [$($variant:path),+ $(,)?]) => {
        pub(super) fn $out(value: $ty) -> u8 {
            const ALL: &[$ty] = &[$($variant),+];
            // A variant that is missing from the list does not compile.
            match value {
                $($variant => ALL.iter().position(|v| *v == $variant).map_or(u8::MAX, |p| p as u8),)+
            }
        }

        pub(super) fn $back(number: u8) -> Result<$ty, Unreadable> {
            const ALL: &[$ty] = &[$($variant),+];
            ALL.get(usize::from(number)).copied().ok_or(Unreadable::Malformed(concat!("a ", stringify!($ty))))
        }
    };
}

numbered!(topology, topology_back, StagingTopology, [StagingTopology::SharedPerRun, StagingTopology::PerPartition]);
numbered!(isolation, isolation_back, LoadIsolation, [LoadIsolation::Fenced, LoadIsolation::PoisonsStaging]);
numbered!(
    publication,
    publication_back,
    PublicationKind,
    [PublicationKind::LedgerTransaction, PublicationKind::PointerManifest]
);
numbered!(fate, fate_back, StagingFate, [StagingFate::Delivered, StagingFate::Removed]);
numbered!(fidelity, fidelity_back, Fidelity, [Fidelity::Off, Fidelity::Counts, Fidelity::Columns, Fidelity::Rows]);
numbered!(retention, retention_back, Retention, [Retention::Remove, Retention::Keep]);
numbered!(document, document_back, Document, [Document::Sealed, Document::Cleanup]);
numbered!(
    owned,
    owned_back,
    OwnedKind,
    [OwnedKind::Object, OwnedKind::Staging, OwnedKind::Load, OwnedKind::Superseded]
);
numbered!(
    seen,
    seen_back,
    Seen,
    [Seen::Nothing, Seen::Ours, Seen::Foreign, Seen::BaseChanged, Seen::Superseded, Seen::CannotTell,]
);
numbered!(
    state,
    state_back,
    State,
    [
        State::Planned,
        State::Reading,
        State::RangeEof,
        State::StageComplete,
        State::LoadConfirmed,
        State::QualityPassed,
        State::OutcomeUnknown,
        State::Published,
        State::EvidenceComplete,
        State::CleanupComplete,
        State::FailedPrepublication,
    ]
);

impl From<(&str, &PlanFacts)> for v2::Planned {
    fn from((run, plan): (&str, &PlanFacts)) -> Self {
        let first = v1::Planned {
            run: run.to_owned(),
            manifest: plan.manifest.clone(),
            fingerprint: plan.fingerprint.clone(),
            units: plan.units,
            topology: topology(plan.topology),
            load_isolation: isolation(plan.load_isolation),
            publication: publication(plan.publication),
            staging_fate: fate(plan.staging_fate),
            coverage_required: plan.coverage_required,
            fidelity: fidelity(plan.fidelity),
            base_identity: plan.base.identity.clone(),
            base_owner: plan.base.owner.clone(),
            target: plan.target.clone(),
            objects_after_success: retention(plan.objects_after_success),
            objects_after_failure: retention(plan.objects_after_failure),
            document: plan.document.clone(),
        };
        Self { first, superseded: plan.superseded.clone() }
    }
}

impl TryFrom<v2::Planned> for PlanFacts {
    type Error = Unreadable;

    fn try_from(v2::Planned { first: p, superseded }: v2::Planned) -> Result<Self, Unreadable> {
        Ok(Self {
            manifest: p.manifest,
            fingerprint: p.fingerprint,
            units: p.units,
            topology: topology_back(p.topology)?,
            load_isolation: isolation_back(p.load_isolation)?,
            publication: publication_back(p.publication)?,
            staging_fate: fate_back(p.staging_fate)?,
            coverage_required: p.coverage_required,
            fidelity: fidelity_back(p.fidelity)?,
            base: Base { identity: p.base_identity, owner: p.base_owner },
            superseded,
            target: p.target,
            objects_after_success: retention_back(p.objects_after_success)?,
            objects_after_failure: retention_back(p.objects_after_failure)?,
            document: p.document,
        })
    }
}

impl From<&Why> for v1::Why {
    fn from(why: &Why) -> Self {
        Self { code: why.code.as_str().to_owned(), detail: why.detail.clone(), transient: why.transient }
    }
}

impl TryFrom<v1::Why> for Why {
    type Error = Unreadable;

    fn try_from(why: v1::Why) -> Result<Self, Unreadable> {
        let code = Code::parse(&why.code).ok_or(Unreadable::NewerCode(why.code))?;
        Ok(Self { code, detail: why.detail, transient: why.transient })
    }
}

impl From<&Effect> for v1::Effect {
    fn from(effect: &Effect) -> Self {
        match effect {
            Effect::Claim { epoch } => Self::Claim { epoch: *epoch },
            Effect::Open => Self::Open,
            Effect::Count => Self::Count,
            Effect::Read { unit, try_no } => Self::Read { unit: *unit, try_no: *try_no },
            Effect::Put { read, unit, chunk, object, facts } => Self::Put {
                read: read.0,
                unit: *unit,
                chunk: *chunk,
                object: object.clone(),
                rows: facts.rows,
                bytes: facts.bytes,
                sha256: facts.sha256,
            },
            Effect::Verify => Self::Verify,
            Effect::Stage { staging, unit } => Self::Stage { staging: staging.clone(), unit: *unit },
            Effect::Load { unit, staging, load } => {
                Self::Load { unit: *unit, staging: staging.clone(), load: load.clone() }
            }
            Effect::Check => Self::Check,
            Effect::Publish { publication } => Self::Publish { publication: publication.clone() },
            Effect::Fence { publish, fence } => Self::Fence { publish: publish.0, fence: fence.clone() },
            Effect::Evidence { document: d } => Self::Evidence { document: document(*d) },
            Effect::Drop { kind, name } => Self::Drop { kind: owned(*kind), name: name.clone() },
            Effect::Release { epoch } => Self::Release { epoch: *epoch },
        }
    }
}

impl TryFrom<v1::Effect> for Effect {
    type Error = Unreadable;

    fn try_from(effect: v1::Effect) -> Result<Self, Unreadable> {
        Ok(match effect {
            v1::Effect::Claim { epoch } => Self::Claim { epoch },
            v1::Effect::Open => Self::Open,
            v1::Effect::Count => Self::Count,
            v1::Effect::Read { unit, try_no } => Self::Read { unit, try_no },
            v1::Effect::Put { read, unit, chunk, object, rows, bytes, sha256 } => {
                Self::Put { read: Key(read), unit, chunk, object, facts: ChunkFacts { rows, bytes, sha256 } }
            }
            v1::Effect::Verify => Self::Verify,
            v1::Effect::Stage { staging, unit } => Self::Stage { staging, unit },
            v1::Effect::Load { unit, staging, load } => Self::Load { unit, staging, load },
            v1::Effect::Check => Self::Check,
            v1::Effect::Publish { publication } => Self::Publish { publication },
            v1::Effect::Fence { publish, fence } => Self::Fence { publish: Key(publish), fence },
            v1::Effect::Evidence { document } => Self::Evidence { document: document_back(document)? },
            v1::Effect::Drop { kind, name } => Self::Drop { kind: owned_back(kind)?, name },
            v1::Effect::Release { epoch } => Self::Release { epoch },
        })
    }
}

impl From<&Receipt> for v1::Receipt {
    fn from(receipt: &Receipt) -> Self {
        match receipt {
            Receipt::Claimed => Self::Claimed,
            Receipt::Opened { authority, persistent } => {
                Self::Opened { authority: authority.clone(), persistent: *persistent }
            }
            Receipt::Counted { rows } => Self::Counted { rows: *rows },
            Receipt::Read { chunks, source_bytes, profile } => {
                Self::Read { chunks: *chunks, source_bytes: *source_bytes, profile: profile.into() }
            }
            Receipt::Put { checked_by } => Self::Put { checked_by: checked_by.clone() },
            Receipt::Verified => Self::Verified,
            Receipt::Staged => Self::Staged,
            Receipt::Loaded { rows } => Self::Loaded { rows: *rows },
            Receipt::Checked { gates, units } => Self::Checked {
                gates: gates
                    .iter()
                    .map(|g| v1::Gate { gate: g.gate.clone(), failed: g.failed.as_ref().map(Into::into) })
                    .collect(),
                units: units.iter().map(Into::into).collect(),
            },
            Receipt::Published { identity, rows } => Self::Published { identity: identity.clone(), rows: *rows },
            Receipt::Fenced => Self::Fenced,
            Receipt::Written { sha256, path } => Self::Written { sha256: sha256.clone(), path: path.clone() },
            Receipt::Dropped => Self::Dropped,
            Receipt::Released => Self::Released,
        }
    }
}

impl TryFrom<v1::Receipt> for Receipt {
    type Error = Unreadable;

    fn try_from(receipt: v1::Receipt) -> Result<Self, Unreadable> {
        Ok(match receipt {
            v1::Receipt::Claimed => Self::Claimed,
            v1::Receipt::Opened { authority, persistent } => Self::Opened { authority, persistent },
            v1::Receipt::Counted { rows } => Self::Counted { rows },
            v1::Receipt::Read { chunks, source_bytes, profile } => {
                Self::Read { chunks, source_bytes, profile: profile.into() }
            }
            v1::Receipt::Put { checked_by } => Self::Put { checked_by },
            v1::Receipt::Verified => Self::Verified,
            v1::Receipt::Staged => Self::Staged,
            v1::Receipt::Loaded { rows } => Self::Loaded { rows },
            v1::Receipt::Checked { gates, units } => Self::Checked {
                gates: gates
                    .into_iter()
                    .map(|g| Ok(GateResult { gate: g.gate, failed: g.failed.map(TryInto::try_into).transpose()? }))
                    .collect::<Result<_, Unreadable>>()?,
                units: units.into_iter().map(Into::into).collect(),
            },
            v1::Receipt::Published { identity, rows } => Self::Published { identity, rows },
            v1::Receipt::Fenced => Self::Fenced,
            v1::Receipt::Written { sha256, path } => Self::Written { sha256, path },
            v1::Receipt::Dropped => Self::Dropped,
            v1::Receipt::Released => Self::Released,
        })
    }
}

impl From<&UnitProfile> for v1::Profile {
    fn from(profile: &UnitProfile) -> Self {
        let column = |c: &ColumnProfile| v1::Column {
            nulls: c.nulls,
            min: c.min.as_ref().map(Into::into),
            max: c.max.as_ref().map(Into::into),
        };
        Self {
            rows: profile.rows,
            checksum_high: (profile.checksum >> 64) as u64,
            checksum_low: profile.checksum as u64,
            columns: profile.columns.iter().map(column).collect(),
        }
    }
}

impl From<v1::Profile> for UnitProfile {
    fn from(profile: v1::Profile) -> Self {
        let column =
            |c: v1::Column| ColumnProfile { nulls: c.nulls, min: c.min.map(Into::into), max: c.max.map(Into::into) };
        Self {
            rows: profile.rows,
            checksum: u128::from(profile.checksum_high) << 64 | u128::from(profile.checksum_low),
            columns: profile.columns.into_iter().map(column).collect(),
        }
    }
}

impl From<&Value> for v1::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Bool(v) => Self::Bool(*v),
            Value::Int(v) => Self::Int(v.to_le_bytes()),
            Value::Decimal { unscaled, scale } => Self::Decimal { unscaled: unscaled.to_le_bytes(), scale: *scale },
            Value::Float(v) => Self::Float(*v),
            Value::Date(v) => Self::Date(*v),
            Value::Ticks { ticks, digits } => Self::Ticks { ticks: ticks.to_le_bytes(), digits: *digits },
            Value::Text(v) => Self::Text(v.clone()),
            Value::Bytes(v) => Self::Bytes(v.clone()),
            Value::Uuid(v) => Self::Uuid(*v),
        }
    }
}

impl From<v1::Value> for Value {
    fn from(value: v1::Value) -> Self {
        match value {
            v1::Value::Bool(v) => Self::Bool(v),
            v1::Value::Int(v) => Self::Int(i128::from_le_bytes(v)),
            v1::Value::Decimal { unscaled, scale } => Self::Decimal { unscaled: i128::from_le_bytes(unscaled), scale },
            v1::Value::Float(v) => Self::Float(v),
            v1::Value::Date(v) => Self::Date(v),
            v1::Value::Ticks { ticks, digits } => Self::Ticks { ticks: i128::from_le_bytes(ticks), digits },
            v1::Value::Text(v) => Self::Text(v),
            v1::Value::Bytes(v) => Self::Bytes(v),
            v1::Value::Uuid(v) => Self::Uuid(v),
        }
    }
}
