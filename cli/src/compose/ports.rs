//! All ports of one run.

use std::path::Path;

use dpone_adapters::any::{AnySink, AnySource};
use dpone_adapters::body::Body;
use dpone_adapters::evidence_store::EvidenceFiles;
use dpone_adapters::object_store::LocalObjects;
use dpone_adapters::system::{SystemClock, SystemEntropy};
use dpone_engine::plan::Plan;
use dpone_engine::ports::{Entropy, Ports};
use dpone_engine::refusal::Refusal;
use dpone_journal::log::SqliteLog;

use crate::progress::Progress;
use crate::signals::Signals;

/// What a run reads from and writes to: the ports that can be refused, made before the journal is touched.
pub(crate) struct Sides {
    source: AnySource,
    store: LocalObjects,
    sink: AnySink,
    evidence: EvidenceFiles,
}

/// The ports of one run.
pub(crate) struct RunPorts<'a> {
    log: SqliteLog,
    sides: Sides,
    clock: SystemClock,
    entropy: SystemEntropy,
    progress: &'a Progress,
    signals: &'a Signals,
}

impl Sides {
    /// The sides that a plan names, for the run of that id.
    pub(crate) fn of(plan: &Plan, run: &str) -> Result<Self, Vec<Refusal>> {
        let storage = &plan.manifest.runtime.storage;
        let root = storage.transfer_store.local_root_dir.as_deref().unwrap_or_default();
        Ok(Self {
            source: AnySource::of(plan, run, SystemEntropy.nonce()).map_err(|r| vec![r])?,
            store: LocalObjects::open(Path::new(root)).map_err(|r| vec![r])?,
            sink: AnySink::of(plan).map_err(|r| vec![r])?,
            evidence: EvidenceFiles::new(&storage.evidence_dir),
        })
    }
}

impl<'a> RunPorts<'a> {
    /// All ports of a run.
    pub(crate) fn new(log: SqliteLog, sides: Sides, progress: &'a Progress, signals: &'a Signals) -> Self {
        Self { log, sides, clock: SystemClock, entropy: SystemEntropy, progress, signals }
    }
}

impl Ports for RunPorts<'_> {
    type Body = Body;
    type Log = SqliteLog;
    type Source = AnySource;
    type Store = LocalObjects;
    type Sink = AnySink;
    type Evidence = EvidenceFiles;
    type Clock = SystemClock;
    type Entropy = SystemEntropy;
    type Observer = Progress;
    type Control = Signals;

    fn log(&self) -> &SqliteLog {
        &self.log
    }
    fn source(&self) -> &AnySource {
        &self.sides.source
    }
    fn store(&self) -> &LocalObjects {
        &self.sides.store
    }
    fn sink(&self) -> &AnySink {
        &self.sides.sink
    }
    fn evidence(&self) -> &EvidenceFiles {
        &self.sides.evidence
    }
    fn clock(&self) -> &SystemClock {
        &self.clock
    }
    fn entropy(&self) -> &SystemEntropy {
        &self.entropy
    }
    fn observer(&self) -> &Progress {
        self.progress
    }
    fn control(&self) -> &Signals {
        self.signals
    }
}
