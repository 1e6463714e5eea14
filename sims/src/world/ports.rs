//! All simulated ports of one process.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

use dpone_engine::ports::{AppendError, Clock, Control, Entropy, Observer, Ports, RunLog};
use dpone_engine::run::{Effect, Event, Receipt, UnitId};
use dpone_journal::memory::Fate;

use super::evidence::SimEvidence;
use super::gate::Pid;
use super::journal::Log;
use super::sink::SimSink;
use super::source::SimSource;
use super::store::SimStore;
use super::{Body, Meter, World};
use crate::fault::{Kind, Shape, Site};
use crate::rng::Rng;

/// The log, with the faults of a disk.
pub struct SimLog {
    world: World,
    pid: Pid,
    log: Log,
}

/// Virtual wall time.
pub struct SimClock(World);

/// Nonces of one process.
pub struct SimEntropy(Cell<u64>, World);

/// Writes the trace.
pub struct SimObserver(World, Pid);

/// The plan's word to stop.
pub struct SimControl(World, Pid);

/// The ports of one process.
pub struct SimPorts {
    log: SimLog,
    source: SimSource,
    store: SimStore,
    sink: SimSink,
    evidence: SimEvidence,
    clock: SimClock,
    entropy: SimEntropy,
    observer: SimObserver,
    control: SimControl,
}

impl SimPorts {
    /// The ports of a process that took the run over with that log.
    pub fn new(world: &World, pid: Pid, shape: Shape, log: Log, meter: &Meter) -> Self {
        Self {
            log: SimLog { world: world.clone(), pid, log },
            source: SimSource::new(world, pid, shape, meter),
            store: SimStore::new(world, pid, meter),
            sink: SimSink::new(world, pid, shape),
            evidence: SimEvidence::new(world, pid),
            clock: SimClock(world.clone()),
            entropy: SimEntropy(Cell::new(u64::from(pid) << 32), world.clone()),
            observer: SimObserver(world.clone(), pid),
            control: SimControl(world.clone(), pid),
        }
    }
}

impl RunLog for SimLog {
    async fn append(&self, at: u64, events: &[Event]) -> Result<(), AppendError> {
        let mut fate = Fate::Durable;
        let fault = self.world.pass(self.pid, Site::Append).await;
        match fault {
            Some(Kind::AppendLost) => fate = Fate::Lost,
            Some(Kind::AppendUntold) => fate = Fate::DurableUntold,
            Some(Kind::ClockBack) => self.world.gates.jump_back(),
            Some(Kind::Rival) => self.world.gates.call_rival(),
            _ => {}
        }
        let result = self.log.append(fate, at, events).await;
        if fault == Some(Kind::CrashAfter) {
            self.world.die(self.pid).await
        }
        result
    }
}

impl Clock for SimClock {
    fn now(&self) -> u64 {
        self.0.gates.wall()
    }

    fn steady(&self) -> u64 {
        self.0.time.now()
    }

    async fn sleep_until(&self, steady_ms: u64) {
        self.0.time.sleep_until(steady_ms).await;
    }
}

impl Entropy for SimEntropy {
    fn nonce(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        Rng::new(self.0.get()).fork(self.1.state.borrow().version).draw()
    }
}

impl Observer for SimObserver {
    fn fact(&self, seq: u64, event: &Event) {
        match event {
            Event::Intended { effect: Effect::Verify, .. } => self.0.gates.set_verifying(self.1, true),
            Event::Confirmed { receipt: Receipt::Verified, .. } | Event::AttemptStarted { .. } => {
                self.0.gates.set_verifying(self.1, false);
            }
            _ => {}
        }
        self.0.gates.note(|| format!("p{} #{seq} {event:?}", self.1));
    }

    fn progress(&self, _unit: UnitId, _rows: u64, _bytes: u64) {}
}

impl Control for SimControl {
    fn stopping(&self) -> bool {
        self.0.gates.is_stopping(self.1)
    }

    async fn stopped(&self) {
        // The executor polls everything whenever anything happens.
        poll_fn(|_| if self.stopping() { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

impl Ports for SimPorts {
    type Body = Body;
    type Log = SimLog;
    type Source = SimSource;
    type Store = SimStore;
    type Sink = SimSink;
    type Evidence = SimEvidence;
    type Clock = SimClock;
    type Entropy = SimEntropy;
    type Observer = SimObserver;
    type Control = SimControl;

    fn log(&self) -> &SimLog {
        &self.log
    }
    fn source(&self) -> &SimSource {
        &self.source
    }
    fn store(&self) -> &SimStore {
        &self.store
    }
    fn sink(&self) -> &SimSink {
        &self.sink
    }
    fn evidence(&self) -> &SimEvidence {
        &self.evidence
    }
    fn clock(&self) -> &SimClock {
        &self.clock
    }
    fn entropy(&self) -> &SimEntropy {
        &self.entropy
    }
    fn observer(&self) -> &SimObserver {
        &self.observer
    }
    fn control(&self) -> &SimControl {
        &self.control
    }
}
