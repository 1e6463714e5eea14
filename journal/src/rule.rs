//! The append rule and its inverse: two pure functions that every store calls, one inside its own atomic step when it
//! appends, one when it reads back.

use dpone_engine::codes::Code;
use dpone_engine::ports::AppendError;
use dpone_engine::run::Event;

use crate::record::{self, Record};

/// A BLAKE3 hash.
pub type Hash = [u8; 32];

/// Where a run's log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The last sequence number; 0 if there is none.
    pub seq: u64,
    /// The last event's hash; zeros if there is none.
    pub hash: Hash,
    /// The epoch that may append.
    pub epoch: u64,
    /// The attempt that the log is in.
    pub attempt: u32,
}

impl Head {
    /// A log without events.
    pub const EMPTY: Head = Head { seq: 0, hash: [0; 32], epoch: 0, attempt: 0 };
}

/// An event as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its sequence number, from 1.
    pub seq: u64,
    /// The attempt it belongs to.
    pub attempt: u32,
    /// The epoch of the runner that appended it.
    pub epoch: u64,
    /// Unix milliseconds, by the runner's clock.
    pub at: u64,
    /// Its record.
    pub record: Record,
    /// The hash of the event before it.
    pub previous: Hash,
    /// Its own hash.
    pub hash: Hash,
}

/// What to store for events that a runner of `epoch` appends behind `head`.
///
/// # Errors
/// `lease_lost` if another runner has the run; `journal_write_failed` if an event is too large to be stored.
pub fn append(
    run: &str,
    head: Head,
    epoch: u64,
    at: u64,
    events: &[Event],
) -> Result<(Head, Vec<Stored>), AppendError> {
    if epoch != head.epoch {
        let detail = format!("this runner has epoch {epoch} and the run is at epoch {}", head.epoch);
        return Err(AppendError { code: Code::LeaseLost, detail });
    }
    let mut head = head;
    let mut stored = Vec::with_capacity(events.len());
    for event in events {
        let record =
            record::encode(event).map_err(|e| AppendError { code: Code::JournalWriteFailed, detail: e.to_string() })?;
        if let Event::AttemptStarted { attempt, .. } = event {
            head.attempt = *attempt;
        }
        let mut next =
            Stored { seq: head.seq + 1, attempt: head.attempt, epoch, at, record, previous: head.hash, hash: [0; 32] };
        next.hash = hash(run, &next);
        head = Head { seq: next.seq, hash: next.hash, ..head };
        stored.push(next);
    }
    Ok((head, stored))
}

/// Where and how a stored log is not what was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// An event is missing, or there twice.
    #[error("the hash chain is broken: event {found} follows event {after}")]
    Sequence {
        /// The last event that is whole.
        after: u64,
        /// The one found behind it.
        found: u64,
    },
    /// The event before it is not the one that it was appended behind.
    #[error("the hash chain is broken: event {0} was appended behind another event")]
    Previous(u64),
    /// A stored field is not what was appended.
    #[error("the hash chain is broken: event {0} is not what was appended")]
    Content(u64),
}

/// The head after one more stored event, if that event is whole and follows.
///
/// # Errors
/// Where the chain breaks.
pub fn follow(run: &str, head: Head, stored: &Stored) -> Result<Head, Broken> {
    if stored.seq != head.seq + 1 {
        return Err(Broken::Sequence { after: head.seq, found: stored.seq });
    }
    if stored.previous != head.hash {
        return Err(Broken::Previous(stored.seq));
    }
    if stored.hash != hash(run, stored) {
        return Err(Broken::Content(stored.seq));
    }
    Ok(Head { seq: stored.seq, hash: stored.hash, epoch: stored.epoch, attempt: stored.attempt })
}

/// The hash of an event: over the previous hash and every stored field, texts and bytes each framed by their length.
pub fn hash(run: &str, event: &Stored) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key("dpone journal event v1");
    hasher.update(&event.previous);
    for part in [run.as_bytes(), event.record.kind.as_bytes(), &event.record.payload] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    for number in [event.seq, u64::from(event.attempt), event.epoch, event.at, u64::from(event.record.version)] {
        hasher.update(&number.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}
