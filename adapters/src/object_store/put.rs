//! Writing one object that must not exist yet.

use std::io;
use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::ports::Body as _;
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Outcome, Receipt, Seen, Why};
use opendal::{Buffer, ErrorKind};

use super::{LocalObjects, failure, key};
use crate::body::Body;
use crate::durable::{self, Failure};

impl LocalObjects {
    /// Writes `<key>.part`, syncs it, gives it the object's name unless that is taken, syncs the folders, and reads the
    /// size back.
    pub(super) async fn put_new(&self, key: &str, facts: &ChunkFacts, body: &Body) -> Outcome {
        if !key::valid_key(key) {
            return not_done(Code::ObjectUploadFailed, format!("object key {key:?} is not a plain path"));
        }
        if body.size() != facts.bytes {
            let detail = format!("object {key} was announced with {} bytes and has {}", facts.bytes, body.size());
            return not_done(Code::ObjectUploadFailed, detail);
        }
        // A cheap look first; the link below is what decides.
        match self.look(key, facts).await {
            Seen::Nothing | Seen::CannotTell => {}
            seen => return taken(key, seen),
        }
        if let Some(outcome) = self.write_part(key, facts, body).await {
            return outcome;
        }
        let (part, path) = (self.root.join(key::part(key)), self.root.join(key));
        let root = self.root.clone();
        let linked = tokio::task::spawn_blocking(move || link(&root, &part, &path)).await;
        match linked {
            Ok(Linked::Done { bytes }) if bytes == facts.bytes => {
                Outcome::Done(Receipt::Put { checked_by: "size_read_back".to_owned() })
            }
            Ok(Linked::Done { bytes }) => {
                unknown(format!("object {key} has {bytes} bytes where {} were written", facts.bytes))
            }
            Ok(Linked::Taken) => taken(key, self.look(key, facts).await),
            Ok(Linked::Absent(e)) => {
                let detail = format!("object {key} could not be given its name: {e}");
                let transient = durable::classify(&e) == Failure::Transient;
                Outcome::NotDone(Why { code: Code::ObjectUploadFailed, detail, transient })
            }
            Ok(Linked::Doubtful(e)) => unknown(format!("object {key} could not be synced: {e}")),
            Err(_) => unknown(format!("the writer of object {key} ended early")),
        }
    }

    /// Writes the part, whole and synced, or says why not. Nothing of this call is left if it fails.
    pub(super) async fn write_part(&self, key: &str, facts: &ChunkFacts, body: &Body) -> Option<Outcome> {
        let part = key::part(key);
        // Without empty segments: OpenDAL 0.59 writes an empty one again and again, for ever.
        let content: Buffer = body.segments().iter().filter(|s| !s.is_empty()).cloned().collect();
        let error = self.operator.write_with(&part, content).if_not_exists(true).await.err()?;
        if error.kind() == ErrorKind::ConditionNotMatch {
            let detail = format!("object {key} is being written, or was left half-written, by another try");
            return Some(not_done(Code::ObjectKeyConflict, detail));
        }
        let path = self.root.join(&part);
        let removal = path.clone();
        let removed = tokio::task::spawn_blocking(move || durable::remove_file(&removal)).await;
        let class = failure::class(&error);
        let cause = failure::cause(&error);
        let left = if matches!(removed, Ok(Ok(_))) { "" } else { "; its partial file could not be removed" };
        Some(match class {
            Failure::NoRoom => {
                let free = durable::free_bytes(&self.root).map_or_else(|| "?".to_owned(), |b| b.to_string());
                let (path, need) = (path.display(), facts.bytes);
                let detail = format!("{cause}: {path} needs {need} bytes and {free} are free{left}");
                not_done(Code::SpoolDiskFull, detail)
            }
            Failure::Transient | Failure::Fatal => Outcome::NotDone(Why {
                code: Code::ObjectUploadFailed,
                detail: format!("object {key} could not be written: {cause}{left}"),
                transient: class == Failure::Transient,
            }),
        })
    }
}

/// How the step that names a part ended.
enum Linked {
    /// The object has its name, durably, and this size.
    Done { bytes: u64 },
    /// The name was taken; the part is removed.
    Taken,
    /// The name was not given; the part is removed.
    Absent(io::Error),
    /// The name may or may not outlive a power failure.
    Doubtful(io::Error),
}

fn link(root: &Path, part: &Path, path: &Path) -> Linked {
    if let Err(e) = std::fs::hard_link(part, path) {
        let taken = e.kind() == io::ErrorKind::AlreadyExists;
        // The part's name is only this try's; what is left of it goes with the object's removal.
        let _ = std::fs::remove_file(part);
        return if taken { Linked::Taken } else { Linked::Absent(e) };
    }
    let finish = || {
        std::fs::remove_file(part)?;
        sync_folders(root, path)?;
        std::fs::metadata(path)
    };
    match finish() {
        Ok(meta) => Linked::Done { bytes: meta.len() },
        Err(e) => Linked::Doubtful(e),
    }
}

/// Makes an object's name durable. The store made its folders: each must be durable in its parent, up to the root.
pub(super) fn sync_folders(root: &Path, path: &Path) -> io::Result<()> {
    path.ancestors().skip(1).take_while(|p| p.starts_with(root)).try_for_each(durable::sync_dir)
}

/// What stands under the name already decides.
fn taken(key: &str, seen: Seen) -> Outcome {
    match seen {
        Seen::Ours => Outcome::Done(Receipt::Put { checked_by: "read_back".to_owned() }),
        Seen::Foreign => not_done(Code::ObjectKeyConflict, format!("another object stands under {key}")),
        Seen::Nothing | Seen::BaseChanged | Seen::Superseded | Seen::CannotTell => {
            unknown(format!("object {key} was there and could not be read back"))
        }
    }
}

fn not_done(code: Code, detail: String) -> Outcome {
    Outcome::NotDone(Why::fatal(code, detail))
}

fn unknown(detail: String) -> Outcome {
    Outcome::Unknown(Why::fatal(Code::ObjectUploadUnconfirmed, detail))
}
