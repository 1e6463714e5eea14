//! The log of one run, appended to by a thread of its own: what is ready together shares one transaction and one sync.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use dpone_engine::codes::Code;
use dpone_engine::ports::{AppendError, RunLog};
use dpone_engine::run::Event;
use futures_channel::oneshot;

use crate::lock::Locks;
use crate::sqlite::Journal;

/// Appends that may wait for the writer; a runner never has more than one in flight.
const QUEUE: usize = 64;

struct Request {
    at: u64,
    events: Vec<Event>,
    reply: oneshot::Sender<Result<(), AppendError>>,
}

/// The log of one run under one epoch, with the locks that say its runner is alive.
#[derive(Debug)]
pub struct SqliteLog {
    requests: Option<SyncSender<Request>>,
    writer: Option<JoinHandle<()>>,
    /// The first append that failed. Every later one fails for the same reason.
    failure: Arc<OnceLock<AppendError>>,
    _locks: Locks,
}

impl SqliteLog {
    /// Begins to write. The journal is this log's own connection.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(journal: Journal, run: String, epoch: u64, locks: Locks) -> Result<Self, AppendError> {
        let (requests, queue) = sync_channel(QUEUE);
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        let writer = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || write(journal, &run, epoch, &queue, &failed))
            .map_err(|e| AppendError {
                code: Code::JournalWriteFailed,
                detail: format!("no thread for the journal: {e}"),
            })?;
        Ok(Self { requests: Some(requests), writer: Some(writer), failure, _locks: locks })
    }

    /// Why there is no writer any more.
    fn ended(&self) -> AppendError {
        self.failure.get().cloned().unwrap_or_else(|| AppendError {
            code: Code::JournalWriteFailed,
            detail: "the journal's writer has ended".to_owned(),
        })
    }
}

impl RunLog for SqliteLog {
    async fn append(&self, at: u64, events: &[Event]) -> Result<(), AppendError> {
        let (reply, answer) = oneshot::channel();
        let request = Request { at, events: events.to_vec(), reply };
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok());
        if !sent {
            return Err(self.ended());
        }
        answer.await.map_err(|_| self.ended())?
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Writes until nobody asks any more, or an append fails: what came after it was decided on facts that are not there.
fn write(mut journal: Journal, run: &str, epoch: u64, queue: &Receiver<Request>, failure: &OnceLock<AppendError>) {
    while let Ok(first) = queue.recv() {
        let mut replies = Vec::new();
        let mut batches = Vec::new();
        for request in std::iter::once(first).chain(queue.try_iter()) {
            batches.push((request.at, request.events));
            replies.push(request.reply);
        }
        let result = journal.append(run, epoch, &batches);
        // Known before anyone is told, so that nobody who asks later hears of another reason.
        if let Err(error) = &result {
            let _ = failure.set(error.clone());
        }
        for reply in replies {
            let _ = reply.send(result.clone());
        }
        if result.is_err() {
            return;
        }
    }
}
