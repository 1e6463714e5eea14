//! One or more events of every kind, with every effect, receipt, value and number that a record can hold.

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Fidelity, StagingTopology};
use dpone_engine::profile::{ColumnProfile, UnitProfile};
use dpone_engine::run::effect::{ChunkFacts, Document, GateResult};
use dpone_engine::run::facts::{Base, LoadIsolation, PublicationKind, Retention, StagingFate};
use dpone_engine::run::{Effect, Event, Key, OwnedKind, PlanFacts, Receipt, Seen, State, Why};
use dpone_engine::value::Value;

/// A plan of two units.
pub(crate) fn plan(target: &str) -> PlanFacts {
    PlanFacts {
        manifest: "orders".to_owned(),
        fingerprint: "ab".repeat(32),
        units: 2,
        topology: StagingTopology::SharedPerRun,
        load_isolation: LoadIsolation::Fenced,
        publication: PublicationKind::LedgerTransaction,
        staging_fate: StagingFate::Delivered,
        coverage_required: true,
        fidelity: Fidelity::Rows,
        base: Base { identity: String::new(), owner: None },
        superseded: None,
        target: target.to_owned(),
        objects_after_success: Retention::Remove,
        objects_after_failure: Retention::Keep,
        document: "{\"manifest\":\"orders\"}".to_owned(),
    }
}

/// The first event of a run.
pub(crate) fn planned(run: &str, target: &str) -> Event {
    Event::Planned { run: run.to_owned(), plan: plan(target) }
}

/// An event that any runner may append, with a number to tell it by.
pub(crate) fn numbered(number: u64) -> Event {
    Event::TakenOver { epoch: number }
}

/// A fact that can follow itself with the next number.
pub(crate) fn attempt(number: u64) -> Event {
    Event::AttemptStarted { attempt: u32::try_from(number).unwrap(), adopted: Vec::new() }
}

fn other_plan() -> PlanFacts {
    PlanFacts {
        manifest: "ürün-satışları".to_owned(),
        units: u32::MAX,
        topology: StagingTopology::PerPartition,
        load_isolation: LoadIsolation::PoisonsStaging,
        publication: PublicationKind::PointerManifest,
        staging_fate: StagingFate::Removed,
        coverage_required: false,
        fidelity: Fidelity::Off,
        base: Base { identity: "pub_1".to_owned(), owner: Some("0197e6a4".to_owned()) },
        superseded: Some("pub_0".to_owned()),
        objects_after_success: Retention::Keep,
        objects_after_failure: Retention::Remove,
        document: String::new(),
        ..plan("sqlite:///tmp/a b.db#t")
    }
}

pub(crate) fn values() -> Vec<Value> {
    vec![
        Value::Bool(true),
        Value::Bool(false),
        Value::Int(i128::MIN),
        Value::Int(i128::MAX),
        Value::Int(-1),
        Value::Decimal { unscaled: i128::MIN, scale: 38 },
        Value::Float(i64::MIN),
        Value::from_f64(-0.0),
        Value::Date(i32::MIN),
        Value::Ticks { ticks: -1, digits: 9 },
        Value::Text("naïve\0 text".to_owned()),
        Value::Text(String::new()),
        Value::Bytes(vec![0, 255]),
        Value::Uuid([0xA5; 16]),
    ]
}

pub(crate) fn profile() -> UnitProfile {
    let mut columns: Vec<ColumnProfile> =
        values().into_iter().map(|v| ColumnProfile { nulls: 3, min: Some(v.clone()), max: Some(v) }).collect();
    columns.push(ColumnProfile { nulls: u64::MAX, min: None, max: None });
    UnitProfile { rows: 900, checksum: (7 << 64) | 9, columns }
}

fn why() -> Why {
    Why { code: Code::ObjectUploadFailed, detail: "the store did not answer".to_owned(), transient: true }
}

pub(crate) fn effects() -> Vec<Effect> {
    let name = || "stg_run_a1_00000000000000ff".to_owned();
    let mut effects = vec![
        Effect::Claim { epoch: 7 },
        Effect::Open,
        Effect::Count,
        Effect::Read { unit: 1, try_no: 2 },
        Effect::Put {
            read: Key(4),
            unit: 1,
            chunk: 3,
            object: name(),
            facts: ChunkFacts { rows: 1, bytes: u64::MAX, sha256: [9; 32] },
        },
        Effect::Verify,
        Effect::Stage { staging: name(), unit: None },
        Effect::Stage { staging: name(), unit: Some(1) },
        Effect::Load { unit: 1, staging: name(), load: name() },
        Effect::Check,
        Effect::Publish { publication: name() },
        Effect::Fence { publish: Key(8), fence: name() },
        Effect::Evidence { document: Document::Sealed },
        Effect::Evidence { document: Document::Cleanup },
        Effect::Release { epoch: 7 },
    ];
    for kind in [OwnedKind::Object, OwnedKind::Staging, OwnedKind::Load, OwnedKind::Superseded] {
        effects.push(Effect::Drop { kind, name: name() });
    }
    effects
}

pub(crate) fn receipts() -> Vec<Receipt> {
    vec![
        Receipt::Claimed,
        Receipt::Opened { authority: "data_version 42".to_owned(), persistent: true },
        Receipt::Counted { rows: 900 },
        Receipt::Read { chunks: 2, source_bytes: 36_000, profile: profile() },
        Receipt::Put { checked_by: "read_back".to_owned() },
        Receipt::Verified,
        Receipt::Staged,
        Receipt::Loaded { rows: 900 },
        Receipt::Checked {
            gates: vec![
                GateResult { gate: "min_rows".to_owned(), failed: None },
                GateResult { gate: "unique(id)".to_owned(), failed: Some(why()) },
            ],
            units: vec![profile(), UnitProfile::default()],
        },
        Receipt::Published { identity: "pub_1".to_owned(), rows: 900 },
        Receipt::Fenced,
        Receipt::Written { sha256: "cd".repeat(32), path: "evidence/run.json".to_owned() },
        Receipt::Dropped,
        Receipt::Released,
    ]
}

/// Every kind of event; a name says which.
pub(crate) fn events() -> Vec<(String, Event)> {
    let mut all = vec![
        ("planned".to_owned(), planned("0197e6a4-run", "sqlite:///t.db#orders")),
        ("planned, otherwise".to_owned(), Event::Planned { run: String::new(), plan: other_plan() }),
        ("attempt_started".to_owned(), Event::AttemptStarted { attempt: 1, adopted: Vec::new() }),
        ("attempt_started, adopting".to_owned(), Event::AttemptStarted { attempt: 2, adopted: vec![0, 5, u32::MAX] }),
        ("taken_over".to_owned(), Event::TakenOver { epoch: u64::MAX }),
        ("not_done".to_owned(), Event::NotDone { key: Key(1), why: why(), not_before: 1_769_860_800_000 }),
        ("doubted".to_owned(), Event::Doubted { key: Key(2), why: why() }),
        ("poisoned".to_owned(), Event::Poisoned { key: Key(u32::MAX) }),
        ("halted".to_owned(), Event::Halted { why: why(), key: Some(Key(3)) }),
        ("halted, by no effect".to_owned(), Event::Halted { why: Why { transient: false, ..why() }, key: None }),
        ("deferred".to_owned(), Event::Deferred { name: "old".to_owned(), not_before: 0 }),
        ("closed".to_owned(), Event::Closed),
    ];
    for seen in Seen::ALL {
        all.push((format!("probed {seen:?}"), Event::Probed { key: Key(6), seen, not_before: 5 }));
    }
    for to in State::ALL {
        all.push((format!("moved {to}"), Event::Moved { to }));
    }
    for effect in effects() {
        all.push((format!("intended {:?}", effect.kind()), Event::Intended { key: Key(7), effect }));
    }
    for receipt in receipts() {
        all.push((format!("confirmed {:?}", receipt.kind()), Event::Confirmed { key: Key(7), receipt }));
    }
    all
}
