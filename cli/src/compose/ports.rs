//! All ports of one run.

use std::path::Path;

use dpone_adapters::any::AnySink;
use dpone_adapters::body::Body;
use dpone_adapters::evidence_store::EvidenceFiles;
use dpone_adapters::object_store::LocalObjects;
use dpone_adapters::sqlite_source::{SqlitePlan, SqliteSource};
use dpone_adapters::system::{SystemClock, SystemEntropy};
use dpone_engine::codes::Code;
use dpone_engine::plan::Plan;
use dpone_engine::ports::{Entropy, Ports};
use dpone_engine::refusal::Refusal;
use dpone_journal::log::SqliteLog;

use super::preflight::request;
use crate::progress::Progress;
use crate::signals::Signals;

/// The ports of one run.
pub(crate) struct RunPorts<'a> {
    log: SqliteLog,
    source: SqliteSource,
    store: LocalObjects,
    sink: AnySink,
    evidence: EvidenceFiles,
    clock: SystemClock,
    entropy: SystemEntropy,
    progress: &'a Progress,
    signals: &'a Signals,
}

impl<'a> RunPorts<'a> {
    /// The ports that a plan names.
    pub(crate) fn new(
        plan: &Plan,
        log: SqliteLog,
        progress: &'a Progress,
        signals: &'a Signals,
    ) -> Result<Self, Vec<Refusal>> {
        let manifest = &plan.manifest;
        let storage = &manifest.runtime.storage;
        let entropy = SystemEntropy;
        let source = SqlitePlan {
            request: request(manifest).map_err(|r| vec![r])?,
            schema: plan.schema.clone(),
            units: plan.ranges.clone(),
            consistency: manifest.ranges.consistency,
            fidelity: manifest.quality.fidelity,
            target_chunk_bytes: manifest.chunks.target_bytes,
            max_chunk_bytes: manifest.chunks.max_bytes,
            nonce: entropy.nonce(),
        };
        let root = storage.transfer_store.local_root_dir.as_deref().unwrap_or_default();
        Ok(Self {
            log,
            source: SqliteSource::new(source).map_err(|e| vec![Refusal::new(Code::UnsupportedType, e.to_string())])?,
            store: LocalObjects::open(Path::new(root)).map_err(|r| vec![r])?,
            sink: AnySink::of(plan).map_err(|r| vec![r])?,
            evidence: EvidenceFiles::new(&storage.evidence_dir),
            clock: SystemClock,
            entropy,
            progress,
            signals,
        })
    }
}

impl Ports for RunPorts<'_> {
    type Body = Body;
    type Log = SqliteLog;
    type Source = SqliteSource;
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
    fn source(&self) -> &SqliteSource {
        &self.source
    }
    fn store(&self) -> &LocalObjects {
        &self.store
    }
    fn sink(&self) -> &AnySink {
        &self.sink
    }
    fn evidence(&self) -> &EvidenceFiles {
        &self.evidence
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
