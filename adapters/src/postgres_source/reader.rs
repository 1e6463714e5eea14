//! The engine's side of a session that reads a unit.

use std::sync::Arc;

use dpone_engine::ports::{Pull, UnitReader};
use dpone_engine::run::Why;
use tokio::sync::oneshot;

use super::session::{Command, PullRequest, Session, gone};
use super::source::{Opened, on_a_thread};
use crate::body::Body;

/// Reads one unit in one session.
pub struct PostgresReader {
    pub(super) opened: Arc<Opened>,
    pub(super) session: Option<Session>,
    pub(super) number: u64,
    /// Whether the unit's end was reached: there is nothing to cancel then.
    pub(super) whole: bool,
}

impl UnitReader for PostgresReader {
    type Body = Body;

    async fn next(&mut self, grant: u64, max_rows: u64) -> Result<Pull<Body>, Why> {
        let (reply, answer) = oneshot::channel();
        let session = self.session.as_ref().ok_or_else(gone)?;
        session.send(Command::Pull(PullRequest { grant, max_rows, reply }))?;
        let answer = answer.await.unwrap_or_else(|_| Err(gone()));
        self.whole |= matches!(answer, Ok(Pull::End { .. }));
        answer
    }

    async fn close(mut self) {
        let Some(session) = self.session.take() else { return };
        if !self.whole {
            let canceller = session.canceller.clone();
            // The server stops working on it, and whoever reads from the connection learns at once.
            let stopped = on_a_thread(move || {
                let _ = canceller.cancel();
                canceller.cut();
                Ok(())
            });
            if stopped.await.is_err() {
                session.canceller.cut();
            }
        }
        self.opened.leave(self.number);
        let (done, left) = oneshot::channel();
        // A session that has ended holds nothing any more, and is not used again.
        if session.send(Command::End(done)).is_ok() && left.await == Ok(true) {
            self.opened.give_back(session);
        } else {
            self.opened.lost();
        }
    }
}

/// A reader that is dropped without being closed takes its session with it.
impl Drop for PostgresReader {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.canceller.cut();
            self.opened.leave(self.number);
            self.opened.lost();
        }
    }
}
