//! A thread that fills blocks while the one before is being read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use dpone_engine::codes::Code;
use dpone_engine::run::Why;
use odbc_api::buffers::ColumnarDynBuffer;

use crate::odbc::{OdbcError, Statement};

/// What a fetch came to: the buffers, and whether there are rows in them.
type Filled = (ColumnarDynBuffer, Result<bool, OdbcError>);

/// The near end of the thread. When it is dropped the thread ends after the fetch that is under way.
pub(super) struct Fetcher {
    empty: SyncSender<ColumnarDynBuffer>,
    filled: Receiver<Filled>,
    /// Fetches that were asked for and not taken.
    under_way: usize,
}

impl Fetcher {
    /// Starts the thread on a statement that was sent. `answers` is raised whenever the driver has answered.
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        mut statement: Statement<'scope>,
        answers: &'scope AtomicU64,
    ) -> Result<Self, Why> {
        let (empty, asked) = sync_channel::<ColumnarDynBuffer>(2);
        let (give, filled) = sync_channel::<Filled>(2);
        thread::Builder::new()
            .name("dpone-odbc-fetch".into())
            .spawn_scoped(scope, move || {
                while let Ok(mut buffer) = asked.recv() {
                    let there = statement.fill(&mut buffer);
                    answers.fetch_add(1, Ordering::Relaxed);
                    if give.send((buffer, there)).is_err() {
                        break;
                    }
                }
            })
            .map_err(|e| Why::transient(Code::SourceReadFailed, format!("no thread to fetch with: {}", e.kind())))?;
        Ok(Self { empty, filled, under_way: 0 })
    }

    /// Whether a fetch was asked for that was not taken.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way > 0
    }

    /// Asks for a fetch into these buffers.
    pub(super) fn ask(&mut self, buffer: ColumnarDynBuffer) -> Result<(), Why> {
        self.empty.send(buffer).map_err(|_| ended())?;
        self.under_way += 1;
        Ok(())
    }

    /// The first fetch that was asked for and not taken, once it is done.
    pub(super) fn take(&mut self) -> Result<Filled, Why> {
        let filled = self.filled.recv().map_err(|_| ended())?;
        self.under_way = self.under_way.saturating_sub(1);
        Ok(filled)
    }
}

fn ended() -> Why {
    Why::fatal(Code::InternalError, "the thread that fetches has ended")
}
