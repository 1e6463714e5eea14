//! Records: how facts are written down. Bytes are in the bincode format; which record they are is said by
//! `(kind, version)`, which is stored beside them. Reading goes by that pair to the record and from there to the one
//! in-memory form; a pair that is not known here was written by a newer dpone and is refused by name.

mod convert;
mod v1;
mod v2;

use dpone_engine::run::{Event, EventKind, Key};
use wincode::config::Configuration;

use convert::{seen, seen_back, state, state_back};

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which kind of event.
    pub kind: String,
    /// Which version of its record.
    pub version: u32,
    /// Its bytes.
    pub payload: Vec<u8>,
}

/// Why a record cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The kind or version is not known here.
    #[error("record {kind} version {version} was written by a newer dpone")]
    Newer {
        /// The kind.
        kind: String,
        /// The version.
        version: u32,
    },
    /// A cause has a code that is not known here.
    #[error("code {0:?} was written by a newer dpone")]
    NewerCode(String),
    /// The bytes are not such a record.
    #[error("the record's bytes are not {0}")]
    Malformed(&'static str),
}

/// No record is larger than this, and no length inside one may claim more.
pub const MAX_RECORD: usize = 64 << 20;

type Config = Configuration<true, MAX_RECORD>;

fn config() -> Config {
    Configuration::default().with_preallocation_size_limit::<MAX_RECORD>()
}

/// The version that records of a kind are written in.
pub const fn version(kind: EventKind) -> u32 {
    match kind {
        EventKind::Planned => 2,
        EventKind::AttemptStarted
        | EventKind::TakenOver
        | EventKind::Intended
        | EventKind::Confirmed
        | EventKind::NotDone
        | EventKind::Doubted
        | EventKind::Probed
        | EventKind::Poisoned
        | EventKind::Moved
        | EventKind::Halted
        | EventKind::Deferred
        | EventKind::Closed => 1,
    }
}

const KINDS: [(EventKind, &str); 13] = [
    (EventKind::Planned, "planned"),
    (EventKind::AttemptStarted, "attempt_started"),
    (EventKind::TakenOver, "taken_over"),
    (EventKind::Intended, "intended"),
    (EventKind::Confirmed, "confirmed"),
    (EventKind::NotDone, "not_done"),
    (EventKind::Doubted, "doubted"),
    (EventKind::Probed, "probed"),
    (EventKind::Poisoned, "poisoned"),
    (EventKind::Moved, "moved"),
    (EventKind::Halted, "halted"),
    (EventKind::Deferred, "deferred"),
    (EventKind::Closed, "closed"),
];

/// The name of a kind of event, as journals spell it.
pub fn kind_name(kind: EventKind) -> &'static str {
    KINDS.iter().find(|(k, _)| *k == kind).map_or("", |(_, name)| name)
}

/// Writes an event down.
///
/// # Errors
/// If the record would be larger than [`MAX_RECORD`].
pub fn encode(event: &Event) -> Result<Record, Unreadable> {
    let payload = match event {
        Event::Planned { run, plan } => write(&v2::Planned::from((run.as_str(), plan))),
        Event::AttemptStarted { attempt, adopted } => {
            write(&v1::AttemptStarted { attempt: *attempt, adopted: adopted.clone() })
        }
        Event::TakenOver { epoch } => write(&v1::TakenOver { epoch: *epoch }),
        Event::Intended { key, effect } => write(&v1::Intended { key: key.0, effect: effect.into() }),
        Event::Confirmed { key, receipt } => write(&v1::Confirmed { key: key.0, receipt: receipt.into() }),
        Event::NotDone { key, why, not_before } => {
            write(&v1::NotDone { key: key.0, why: why.into(), not_before: *not_before })
        }
        Event::Doubted { key, why } => write(&v1::Doubted { key: key.0, why: why.into() }),
        Event::Probed { key, seen: s, not_before } => {
            write(&v1::Probed { key: key.0, seen: seen(*s), not_before: *not_before })
        }
        Event::Poisoned { key } => write(&v1::Poisoned { key: key.0 }),
        Event::Moved { to } => write(&v1::Moved { to: state(*to) }),
        Event::Halted { why, key } => write(&v1::Halted { why: why.into(), key: key.map(|k| k.0) }),
        Event::Deferred { name, not_before } => write(&v1::Deferred { name: name.clone(), not_before: *not_before }),
        Event::Closed => write(&v1::Closed { reserved: 0 }),
    }?;
    Ok(Record { kind: kind_name(event.kind()).to_owned(), version: version(event.kind()), payload })
}

/// Reads an event back.
///
/// # Errors
/// If the record is of a newer dpone, or its bytes are not what `kind` and `version` say. Never panics, whatever the
/// bytes.
pub fn decode(record: &Record) -> Result<Event, Unreadable> {
    let kind = KINDS.iter().find(|(_, name)| *name == record.kind).map(|(kind, _)| *kind);
    let known = kind.filter(|kind| (1..=version(*kind)).contains(&record.version));
    let Some(kind) = known else {
        return Err(Unreadable::Newer { kind: record.kind.clone(), version: record.version });
    };
    let bytes = record.payload.as_slice();
    Ok(match kind {
        EventKind::Planned => {
            let planned = match record.version {
                1 => v2::Planned::from(read::<v1::Planned>(bytes)?),
                _ => read(bytes)?,
            };
            Event::Planned { run: planned.first.run.clone(), plan: planned.try_into()? }
        }
        EventKind::AttemptStarted => {
            let v1::AttemptStarted { attempt, adopted } = read(bytes)?;
            Event::AttemptStarted { attempt, adopted }
        }
        EventKind::TakenOver => Event::TakenOver { epoch: read::<v1::TakenOver>(bytes)?.epoch },
        EventKind::Intended => {
            let v1::Intended { key, effect } = read(bytes)?;
            Event::Intended { key: Key(key), effect: effect.try_into()? }
        }
        EventKind::Confirmed => {
            let v1::Confirmed { key, receipt } = read(bytes)?;
            Event::Confirmed { key: Key(key), receipt: receipt.try_into()? }
        }
        EventKind::NotDone => {
            let v1::NotDone { key, why, not_before } = read(bytes)?;
            Event::NotDone { key: Key(key), why: why.try_into()?, not_before }
        }
        EventKind::Doubted => {
            let v1::Doubted { key, why } = read(bytes)?;
            Event::Doubted { key: Key(key), why: why.try_into()? }
        }
        EventKind::Probed => {
            let v1::Probed { key, seen, not_before } = read(bytes)?;
            Event::Probed { key: Key(key), seen: seen_back(seen)?, not_before }
        }
        EventKind::Poisoned => Event::Poisoned { key: Key(read::<v1::Poisoned>(bytes)?.key) },
        EventKind::Moved => Event::Moved { to: state_back(read::<v1::Moved>(bytes)?.to)? },
        EventKind::Halted => {
            let v1::Halted { why, key } = read(bytes)?;
            Event::Halted { why: why.try_into()?, key: key.map(Key) }
        }
        EventKind::Deferred => {
            let v1::Deferred { name, not_before } = read(bytes)?;
            Event::Deferred { name, not_before }
        }
        EventKind::Closed => {
            let v1::Closed { reserved } = read(bytes)?;
            if reserved != 0 {
                return Err(Unreadable::Malformed("a record of its kind and version"));
            }
            Event::Closed
        }
    })
}

fn write<T>(record: &T) -> Result<Vec<u8>, Unreadable>
where
    T: wincode::SchemaWrite<Config, Src = T>,
{
    let bytes = wincode::config::serialize(record, config()).map_err(|_| Unreadable::Malformed("writable"))?;
    if bytes.len() <= MAX_RECORD { Ok(bytes) } else { Err(Unreadable::Malformed("within the size limit")) }
}

fn read<'a, T>(bytes: &'a [u8]) -> Result<T, Unreadable>
where
    T: wincode::SchemaRead<'a, Config, Dst = T>,
{
    if bytes.len() > MAX_RECORD {
        return Err(Unreadable::Malformed("within the size limit"));
    }
    wincode::config::deserialize_exact(bytes, config())
        .map_err(|_| Unreadable::Malformed("a record of its kind and version"))
}
