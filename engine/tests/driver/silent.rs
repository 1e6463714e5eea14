//! A world that was asked to stop, whose source never closes and which is asked for nothing else.

use std::future::pending;

use dpone_engine::ports::{
    AppendError, Body, Claimant, Clock, Control, Entropy, EvidenceStore, Feed, LoadOrder, ObjectStore, Observer, Ports,
    PublishOrder, Pull, RunLog, Sighting, Sink, Source, Staged, UnitReader,
};
use dpone_engine::run::effect::{ChunkFacts, OwnedKind};
use dpone_engine::run::{Effect, Event, Outcome, Seen, UnitId, Why};

/// How long a stop may take, milliseconds.
pub(crate) const GRACE: u64 = 3_000;
/// The steady clock; the wall clock shows quite another time.
const STEADY: u64 = 50;

pub(crate) struct Silent;

impl Body for Silent {
    fn size(&self) -> u64 {
        unreachable!()
    }
}

impl RunLog for Silent {
    async fn append(&self, _: u64, _: &[Event]) -> Result<(), AppendError> {
        Ok(())
    }
}

impl UnitReader for Silent {
    type Body = Silent;

    async fn next(&mut self, _: u64, _: u64) -> Result<Pull<Silent>, Why> {
        unreachable!()
    }

    async fn close(self) {
        unreachable!()
    }
}

impl Source for Silent {
    type Body = Silent;
    type Reader = Silent;

    async fn open(&self, _: u32) -> Outcome {
        unreachable!()
    }

    async fn reopen(&self, _: &str, _: bool, _: u32) -> Seen {
        unreachable!()
    }

    async fn count(&self) -> Outcome {
        unreachable!()
    }

    async fn reader(&self, _: UnitId) -> Result<Silent, Why> {
        unreachable!()
    }

    async fn close(&self) {
        pending().await
    }
}

impl ObjectStore for Silent {
    type Body = Silent;

    async fn put(&self, _: &str, _: &ChunkFacts, _: &Silent) -> Outcome {
        unreachable!()
    }

    async fn head(&self, _: &str, _: &ChunkFacts) -> Seen {
        unreachable!()
    }

    async fn get(&self, _: &str, _: &ChunkFacts) -> Result<Silent, Why> {
        unreachable!()
    }

    async fn delete(&self, _: &str) -> Outcome {
        unreachable!()
    }
}

impl Sink for Silent {
    type Body = Silent;

    async fn claim(&self, _: &Claimant) -> Outcome {
        unreachable!()
    }

    async fn stage(&self, _: &Claimant, _: &str, _: Option<UnitId>) -> Outcome {
        unreachable!()
    }

    async fn load(&self, _: &LoadOrder, _: &mut impl Feed<Body = Silent>) -> Outcome {
        unreachable!()
    }

    async fn check(&self, _: &Staged, _: u64) -> Outcome {
        unreachable!()
    }

    async fn publish(&self, _: &PublishOrder) -> Outcome {
        unreachable!()
    }

    async fn fence(&self, _: &Claimant, _: &PublishOrder) -> Outcome {
        unreachable!()
    }

    async fn probe(&self, _: &Claimant, _: &Effect, _: Option<&PublishOrder>) -> Sighting {
        unreachable!()
    }

    async fn drop_owned(&self, _: OwnedKind, _: &str) -> Outcome {
        unreachable!()
    }

    async fn release(&self, _: &Claimant) -> Outcome {
        unreachable!()
    }
}

impl EvidenceStore for Silent {
    async fn write(&self, _: &str, _: &str) -> Outcome {
        unreachable!()
    }
}

impl Clock for Silent {
    fn now(&self) -> u64 {
        1_800_000_000_000
    }

    fn steady(&self) -> u64 {
        STEADY
    }

    /// The grace is over at once; what lies beyond it never comes.
    async fn sleep_until(&self, steady_ms: u64) {
        if steady_ms > STEADY + GRACE {
            pending().await
        }
    }
}

impl Entropy for Silent {
    fn nonce(&self) -> u64 {
        7
    }
}

impl Observer for Silent {
    fn fact(&self, _: u64, _: &Event) {}

    fn progress(&self, _: UnitId, _: u64, _: u64) {}
}

impl Control for Silent {
    fn stopping(&self) -> bool {
        true
    }

    async fn stopped(&self) {}
}

impl Ports for Silent {
    type Body = Silent;
    type Log = Silent;
    type Source = Silent;
    type Store = Silent;
    type Sink = Silent;
    type Evidence = Silent;
    type Clock = Silent;
    type Entropy = Silent;
    type Observer = Silent;
    type Control = Silent;

    fn log(&self) -> &Silent {
        self
    }
    fn source(&self) -> &Silent {
        self
    }
    fn store(&self) -> &Silent {
        self
    }
    fn sink(&self) -> &Silent {
        self
    }
    fn evidence(&self) -> &Silent {
        self
    }
    fn clock(&self) -> &Silent {
        self
    }
    fn entropy(&self) -> &Silent {
        self
    }
    fn observer(&self) -> &Silent {
        self
    }
    fn control(&self) -> &Silent {
        self
    }
}
