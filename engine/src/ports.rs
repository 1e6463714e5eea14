//! What the engine needs from the world. Adapters implement these, the simulator implements them, and the driver is
//! generic over them.
//!
//! Invariant: an adapter never calls another port, never retries in a way that hides an outcome, and answers every
//! effect with [`Outcome`]: what it says is `NotDone` has not happened and will not.

use std::future::Future;

use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::profile::UnitProfile;
use crate::run::effect::{ChunkFacts, GateResult, OwnedKind};
use crate::run::{Effect, Event, Outcome, Receipt, Seen, UnitId, Why};

/// Bytes on their way: the content of one object. Opaque to the engine but for its size.
pub trait Body {
    /// Size in bytes.
    fn size(&self) -> u64;
}

/// A sealed chunk of a unit: one object's worth of rows, encoded.
#[derive(Debug)]
pub struct SealedChunk<B> {
    /// Rows, size and SHA-256 of `body`.
    pub facts: ChunkFacts,
    /// The encoded bytes.
    pub body: B,
}

/// What a reader yields for one grant.
#[derive(Debug)]
pub enum Pull<B> {
    /// A sealed chunk, read and encoded within the grant. The grant stays with it until the store owns the bytes.
    Chunk(SealedChunk<B>),
    /// The next row alone, in every representation it will have, needs this many bytes. Nothing is held.
    NeedsGrant {
        /// Bytes to grant with the next call.
        bytes: u64,
    },
    /// The unit has no more rows.
    End {
        /// Bytes of the values as the source gave them.
        source_bytes: u64,
        /// The profile of every row that was yielded, computed before encoding.
        profile: UnitProfile,
    },
}

/// Reads one unit, in one session, on the run's source state.
pub trait UnitReader {
    /// The encoded bytes it yields.
    type Body: Body;

    /// Reads and encodes rows until the next one might not fit into `grant` bytes (all representations counted) or
    /// `max_rows` is reached.
    ///
    /// # Errors
    /// A `Why` of class `SourceRange`; the reader is then only good for closing.
    fn next(&mut self, grant: u64, max_rows: u64) -> impl Future<Output = Result<Pull<Self::Body>, Why>>;

    /// Cancels what is running and gives the session back. Returns once the driver below holds nothing any more.
    fn close(self) -> impl Future<Output = ()>;
}

/// A place that rows are read from. Its preflight (`describe`, bounds) is not a port: it happens before a run exists.
pub trait Source {
    /// The encoded bytes its readers yield.
    type Body: Body;
    /// Its reader.
    type Reader: UnitReader<Body = Self::Body>;

    /// Opens `sessions` sessions (and one for counting) on one state of the source, in place of any that are open, and
    /// checks that its schema is the planned one. Earns [`Receipt::Opened`].
    fn open(&self, sessions: u32) -> impl Future<Output = Outcome>;

    /// Whether the state of that identity is open in this process or can be opened again. `Ours` re-opens `sessions`
    /// sessions on it. `persistent` is what `open` said of it.
    fn reopen(&self, authority: &str, persistent: bool, sessions: u32) -> impl Future<Output = Seen>;

    /// Counts the rows of all units together in that state. Earns [`Receipt::Counted`].
    fn count(&self) -> impl Future<Output = Outcome>;

    /// A reader for one unit, in a free session; waits for one.
    ///
    /// # Errors
    /// A `Why` of class `SourceRange`.
    fn reader(&self, unit: UnitId) -> impl Future<Output = Result<Self::Reader, Why>>;

    /// Ends every session. Safe to call twice.
    fn close(&self) -> impl Future<Output = ()>;
}

/// A transfer store: create-only objects under exact keys.
pub trait ObjectStore {
    /// The bytes it takes and gives.
    type Body: Body;

    /// Writes one object that must not exist yet and makes sure it is there, whole. Earns [`Receipt::Put`].
    fn put(&self, key: &str, facts: &ChunkFacts, body: &Self::Body) -> impl Future<Output = Outcome>;

    /// `Ours` if the object is there with exactly that size and SHA-256, `Foreign` if another content is.
    fn head(&self, key: &str, facts: &ChunkFacts) -> impl Future<Output = Seen>;

    /// The object's bytes, checked against `facts`.
    ///
    /// # Errors
    /// `object_lost` if it is gone or differs; a transient `object_read_failed` if it cannot be read now.
    fn get(&self, key: &str, facts: &ChunkFacts) -> impl Future<Output = Result<Self::Body, Why>>;

    /// Removes the object; an object that is not there counts as removed. Earns [`Receipt::Dropped`].
    fn delete(&self, key: &str) -> impl Future<Output = Outcome>;
}

/// Hands a unit's objects to a sink, one after another, each under a byte reservation that ends with the next call.
pub trait Feed {
    /// The bytes it hands over.
    type Body: Body;

    /// The next object, or `None` after the last.
    ///
    /// # Errors
    /// What the store answered; the load must then end with that `Why`.
    fn next(&mut self) -> impl Future<Output = Option<Result<(ChunkFacts, Self::Body), Why>>>;

    /// Bytes that the object at hand, and everything that is made of it, may take together. What needs more ends the load
    /// with `budget_too_small`; it is then tried once more under the whole budget.
    fn granted(&self) -> u64;
}

/// Who claims a target. A run is known by its journal and its id together: ids are chosen by operators, and are unique in
/// one journal only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimant {
    /// The run.
    pub run: String,
    /// Its runner's epoch.
    pub epoch: u64,
    /// The journal that the run is in.
    pub journal: String,
}

impl Claimant {
    /// Whether both are runners of one run.
    pub fn is_same_run(&self, other: &Self) -> bool {
        self.run == other.run && self.journal == other.journal
    }
}

/// What a load is given besides its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOrder {
    /// The claim to check in the same transaction.
    pub claimant: Claimant,
    /// The unit.
    pub unit: UnitId,
    /// The staging place.
    pub staging: String,
    /// The load's own name.
    pub load: String,
    /// Rows that the objects hold together.
    pub rows: u64,
}

/// One unit in staging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedUnit {
    /// The unit.
    pub unit: UnitId,
    /// Its staging place.
    pub staging: String,
    /// Its load's name.
    pub load: String,
    /// Rows confirmed there.
    pub rows: u64,
    /// How many objects it was loaded from.
    pub objects: u32,
}

/// What a check or a publication is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The claim to check in the same transaction.
    pub claimant: Claimant,
    /// Every unit, by ordinal.
    pub units: Vec<StagedUnit>,
    /// Every staging place.
    pub staging: Vec<String>,
}

/// What a publication is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishOrder {
    /// What to publish, and the claim to check in the same step.
    pub staged: Staged,
    /// The publication's own name, unique among all publications ever.
    pub publication: String,
    /// The target's content that it replaces or adds to, by the identity it had in the plan.
    pub base: String,
}

/// What a probe of a sink saw, with the receipt where the effect happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// What was seen.
    pub seen: Seen,
    /// The receipt, where `seen` is `Ours` or `Superseded`.
    pub receipt: Option<Receipt>,
}

impl Sighting {
    /// A sight without a receipt.
    pub const fn of(seen: Seen) -> Self {
        Self { seen, receipt: None }
    }

    /// The effect happened, and this is its receipt.
    pub const fn ours(receipt: Receipt) -> Self {
        Self { seen: Seen::Ours, receipt: Some(receipt) }
    }
}

/// A target: claimed, staged beside, checked, published to once. Its preflight is not a port.
pub trait Sink {
    /// The bytes it loads.
    type Body: Body;

    /// Takes the target's claim for a run and epoch: create-only, or raised from a lower epoch of the same run in the same journal. Any other
    /// claimant is `NotDone(target_claimed_elsewhere)`. Earns [`Receipt::Claimed`].
    fn claim(&self, claimant: &Claimant) -> impl Future<Output = Outcome>;

    /// Creates an empty staging place under a name that must be free. Earns [`Receipt::Staged`].
    fn stage(&self, claimant: &Claimant, staging: &str, unit: Option<UnitId>) -> impl Future<Output = Outcome>;

    /// Loads one unit. Earns [`Receipt::Loaded`] with the rows counted in staging.
    fn load(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Self::Body>) -> impl Future<Output = Outcome>;

    /// Runs every gate and profiles what staging holds, within `grant` bytes. What needs more is
    /// `NotDone(budget_too_small)`, and is tried once more under the whole budget. Earns [`Receipt::Checked`].
    fn check(&self, staged: &Staged, grant: u64) -> impl Future<Output = Outcome>;

    /// Makes staging the target's content, once, if the claim is still the run's and the target is still the base.
    /// Earns [`Receipt::Published`].
    fn publish(&self, order: &PublishOrder) -> impl Future<Output = Outcome>;

    /// Makes a publication that was announced earlier unexecutable, unless it has happened. Earns [`Receipt::Fenced`].
    fn fence(&self, claimant: &Claimant, order: &PublishOrder) -> impl Future<Output = Outcome>;

    /// What became of a claim, stage, load, publish, drop or release. `order` is what a publication was given.
    ///
    /// A publication is probed once it is fenced: an answer that is read from a state without that fence is older than
    /// what the fence decided, and must be [`Seen::CannotTell`].
    fn probe(
        &self,
        claimant: &Claimant,
        effect: &Effect,
        order: Option<&PublishOrder>,
    ) -> impl Future<Output = Sighting>;

    /// Removes something owned; what is not there counts as removed. Earns [`Receipt::Dropped`].
    fn drop_owned(&self, kind: OwnedKind, name: &str) -> impl Future<Output = Outcome>;

    /// Gives the claim back if it is the run's, at any epoch up to this one. A claim of that run at this epoch or a lower
    /// one that is still on its way must not take effect afterwards. Earns [`Receipt::Released`].
    fn release(&self, claimant: &Claimant) -> impl Future<Output = Outcome>;
}

/// Gate results and unit profiles, as a sink reports them.
pub type Checks = (Vec<GateResult>, Vec<UnitProfile>);

/// Where evidence documents are written.
pub trait EvidenceStore {
    /// Writes a whole document under a name, replacing an earlier one of the same run. Earns [`Receipt::Written`].
    fn write(&self, name: &str, document: &str) -> impl Future<Output = Outcome>;
}

/// Why an append did not succeed. Whatever it is, the runner stops: what was not journalled is not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct AppendError {
    /// `lease_lost`, `journal_write_failed`, `journal_locked`, `journal_corrupt`, `journal_read_only`.
    pub code: Code,
    /// One sentence.
    pub detail: String,
}

/// The log of one run, held under one epoch.
pub trait RunLog {
    /// Appends events, in order, all or none, durable when it returns, each with the wall time `at` (Unix
    /// milliseconds). Events of concurrent calls share one sync.
    ///
    /// # Errors
    /// If the runner was fenced, or durability cannot be shown.
    fn append(&self, at: u64, events: &[Event]) -> impl Future<Output = Result<(), AppendError>>;
}

/// Wall time for records, and a steady time to wait by: a wall clock that is set must not stretch or cut a wait.
pub trait Clock {
    /// Unix milliseconds, as the facts of a log are dated. May go back.
    fn now(&self) -> u64;

    /// Milliseconds since a moment of this process. Never goes back.
    fn steady(&self) -> u64;

    /// Returns at or after that steady time.
    fn sleep_until(&self, steady_ms: u64) -> impl Future<Output = ()>;
}

/// Where nonces come from.
pub trait Entropy {
    /// A number never drawn before, with overwhelming probability.
    fn nonce(&self) -> u64;
}

/// Who watches a run: progress bars, logs, metrics. Never asked for a decision.
pub trait Observer {
    /// A fact was appended at that sequence number.
    fn fact(&self, seq: u64, event: &Event);

    /// A unit's reader has yielded this many rows and encoded bytes so far in its present try.
    fn progress(&self, unit: UnitId, rows: u64, bytes: u64);
}

/// Who may ask the runner to stop.
pub trait Control {
    /// Whether the runner was asked to stop.
    fn stopping(&self) -> bool;

    /// Returns once the runner is asked to stop.
    fn stopped(&self) -> impl Future<Output = ()>;
}

/// All ports of one run.
pub trait Ports {
    /// The bytes that travel.
    type Body: Body;
    /// The log.
    type Log: RunLog;
    /// The source.
    type Source: Source<Body = Self::Body>;
    /// The transfer store.
    type Store: ObjectStore<Body = Self::Body>;
    /// The target.
    type Sink: Sink<Body = Self::Body>;
    /// The evidence store.
    type Evidence: EvidenceStore;
    /// Time.
    type Clock: Clock;
    /// Nonces.
    type Entropy: Entropy;
    /// The watcher.
    type Observer: Observer;
    /// The one who may ask to stop.
    type Control: Control;

    /// The log.
    fn log(&self) -> &Self::Log;
    /// The source.
    fn source(&self) -> &Self::Source;
    /// The transfer store.
    fn store(&self) -> &Self::Store;
    /// The target.
    fn sink(&self) -> &Self::Sink;
    /// The evidence store.
    fn evidence(&self) -> &Self::Evidence;
    /// Time.
    fn clock(&self) -> &Self::Clock;
    /// Nonces.
    fn entropy(&self) -> &Self::Entropy;
    /// The watcher.
    fn observer(&self) -> &Self::Observer;
    /// The one who may ask to stop.
    fn control(&self) -> &Self::Control;
}
