//! A transfer store in a folder: object-style addresses over a local root.
//!
//! OpenDAL writes, reads, looks and deletes. One step is not its: its `fs` service gives a finished file its name by a
//! rename that replaces whatever has that name, and checks for existence before it writes. Create-only therefore is a
//! hard link from a synced `.part` file, which the file system itself refuses if the name is taken (ADR 0004).

mod failure;
mod key;
mod put;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use dpone_engine::codes::Code;
use dpone_engine::ports::ObjectStore;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Outcome, Receipt, Seen, Why};
use futures_util::TryStreamExt as _;
use opendal::{ErrorKind, Operator, services::Fs};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use crate::body::Body;
use crate::durable;
pub use key::valid_key;

/// Bytes read at a time when an object is only looked at.
const LOOK_BYTES: usize = 1024 * 1024;

/// Operations on the folder at the same time; more of them wait in turn.
const CONCURRENT: usize = 16;

/// Objects as files below one folder.
#[derive(Debug)]
pub struct LocalObjects {
    operator: Operator,
    root: PathBuf,
    slots: Semaphore,
}

impl LocalObjects {
    /// The store over that folder, which is created if it is missing.
    ///
    /// # Errors
    /// `storage_not_writable` if the folder cannot be created or is none.
    pub fn open(root: &Path) -> Result<Self, Refusal> {
        let refuse = |why: String| {
            Refusal::new(Code::StorageNotWritable, format!("the transfer store's folder cannot be used: {why}"))
                .at(root.display().to_string())
                .fix("create the folder or name another one in `runtime.storage.transfer_store.local_root_dir`")
        };
        durable::create_dirs(root).map_err(|e| refuse(e.to_string()))?;
        let root = root.canonicalize().map_err(|e| refuse(e.to_string()))?;
        let text = root.to_str().ok_or_else(|| refuse("its path is not valid UTF-8".into()))?;
        let operator = Operator::new(Fs::default().root(text)).map_err(|e| refuse(e.kind().to_string()))?;
        Ok(Self { operator, root, slots: Semaphore::new(CONCURRENT) })
    }

    /// SHA-256 and size of what stands under a key.
    async fn digest(&self, key: &str) -> opendal::Result<(u64, [u8; 32])> {
        let reader = self.operator.reader_with(key).chunk(LOOK_BYTES).await?;
        let mut stream = reader.into_bytes_stream(..).await?;
        let mut hasher = Sha256::new();
        let mut bytes = 0;
        let failed = |e: std::io::Error| opendal::Error::new(ErrorKind::Unexpected, "reading back").set_source(e);
        while let Some(part) = stream.try_next().await.map_err(failed)? {
            bytes += part.len() as u64;
            hasher.update(&part);
        }
        Ok((bytes, hasher.finalize().into()))
    }

    /// Whether exactly that content stands under the key, durably: its writer may have been killed before it had synced
    /// the name.
    async fn look(&self, key: &str, facts: &ChunkFacts) -> Seen {
        match self.operator.stat(key).await {
            Err(e) if e.kind() == ErrorKind::NotFound => return Seen::Nothing,
            Err(_) => return Seen::CannotTell,
            Ok(meta) if !meta.is_file() || meta.content_length() != facts.bytes => return Seen::Foreign,
            Ok(_) => {}
        }
        match self.digest(key).await {
            Ok((bytes, sha256)) if bytes == facts.bytes && sha256 == facts.sha256 => {
                let (root, path) = (self.root.clone(), self.root.join(key));
                let synced = tokio::task::spawn_blocking(move || put::sync_folders(&root, &path)).await;
                if matches!(synced, Ok(Ok(()))) { Seen::Ours } else { Seen::CannotTell }
            }
            Ok(_) => Seen::Foreign,
            Err(e) if e.kind() == ErrorKind::NotFound => Seen::Nothing,
            Err(_) => Seen::CannotTell,
        }
    }

    /// A place among the concurrent operations.
    async fn slot(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.slots.acquire().await.ok()
    }
}

impl ObjectStore for LocalObjects {
    type Body = Body;

    async fn put(&self, key: &str, facts: &ChunkFacts, body: &Body) -> Outcome {
        let _slot = self.slot().await;
        self.put_new(key, facts, body).await
    }

    async fn head(&self, key: &str, facts: &ChunkFacts) -> Seen {
        if !valid_key(key) {
            return Seen::CannotTell;
        }
        let _slot = self.slot().await;
        self.look(key, facts).await
    }

    async fn get(&self, key: &str, facts: &ChunkFacts) -> Result<Body, Why> {
        let lost = |what: &str| Err(Why::fatal(Code::ObjectLost, format!("object {key} {what}")));
        if !valid_key(key) {
            return lost("has no valid key");
        }
        let _slot = self.slot().await;
        // Looked at before it is read: only as many bytes are taken into memory as were admitted.
        match self.operator.stat(key).await {
            Err(e) if e.kind() == ErrorKind::NotFound => return lost("is gone"),
            Err(e) => return Err(failure::unreadable(key, &e)),
            Ok(meta) if !meta.is_file() || meta.content_length() != facts.bytes => return lost("has another size"),
            Ok(_) => {}
        }
        let segments: Vec<Bytes> = match self.operator.read(key).await {
            Ok(buffer) => buffer.into_iter().collect(),
            Err(e) if e.kind() == ErrorKind::NotFound => return lost("is gone"),
            Err(e) => return Err(failure::unreadable(key, &e)),
        };
        let hashed = tokio::task::spawn_blocking(move || (crate::digest::sha256_of(&segments), segments)).await;
        match hashed {
            Ok((sha256, segments)) if sha256 == facts.sha256 => Ok(Body::new(segments).in_file(self.root.join(key))),
            Ok(_) => lost("has another content"),
            Err(_) => Err(Why::transient(Code::ObjectUploadUnconfirmed, format!("object {key} could not be checked"))),
        }
    }

    async fn delete(&self, key: &str) -> Outcome {
        if !valid_key(key) {
            return Outcome::NotDone(Why::fatal(Code::CleanupFailed, "an object's key is not a plain path"));
        }
        let _slot = self.slot().await;
        for name in [key.to_owned(), key::part(key)] {
            if let Err(e) = self.operator.delete(&name).await
                && e.kind() != ErrorKind::NotFound
            {
                let transient = failure::class(&e) == durable::Failure::Transient;
                let detail = format!("object {key} could not be removed: {}", failure::cause(&e));
                return Outcome::NotDone(Why { code: Code::CleanupFailed, detail, transient });
            }
        }
        self.remove_empty_parents(key).await;
        Outcome::Done(Receipt::Dropped)
    }
}

impl LocalObjects {
    /// Removes the folders of a run that became empty: those above the object, but not the first one of its key, which
    /// belongs to the manifest, and never the root. A folder that is not empty stays, whoever's it is.
    async fn remove_empty_parents(&self, key: &str) {
        let folders: Vec<PathBuf> = key::run_folders(key).map(|folder| self.root.join(folder)).collect();
        let remove = move || folders.iter().take_while(|f| std::fs::remove_dir(f).is_ok()).count();
        // Nothing depends on an empty folder being gone.
        let _ = tokio::task::spawn_blocking(remove).await;
    }
}
