//! The engine's side of a session that reads a unit.

use std::sync::Arc;

use dpone_engine::ports::{Pull, UnitReader};
use dpone_engine::run::Why;
use tokio::sync::oneshot;

use super::session::{Command, PullRequest, Session, gone};
use super::source::Opened;
use super::stop::press;
use crate::body::Body;

/// Reads one unit in one session.
pub struct SqliteReader {
    pub(super) opened: Arc<Opened>,
    pub(super) session: Option<Session>,
    /// Whether a pull was begun whose answer nobody has taken.
    pub(super) busy: bool,
}

impl UnitReader for SqliteReader {
    type Body = Body;

    async fn next(&mut self, grant: u64, max_rows: u64) -> Result<Pull<Body>, Why> {
        let (reply, answer) = oneshot::channel();
        let session = self.session.as_ref().ok_or_else(gone)?;
        session.send(Command::Pull(PullRequest { grant, max_rows, reply }))?;
        self.busy = true;
        let answer = answer.await.unwrap_or_else(|_| Err(gone()));
        self.busy = false;
        answer
    }

    async fn close(mut self) {
        let Some(session) = self.session.take() else { return };
        if self.busy {
            press(vec![Arc::clone(&session.stop)]);
        }
        let (done, left) = oneshot::channel();
        // A session that has ended holds nothing any more, and is not used again.
        if session.send(Command::End(done)).is_ok() && left.await.is_ok() {
            self.opened.give_back(session);
        } else {
            self.opened.lost();
        }
    }
}

/// A reader that is dropped without being closed takes its session with it.
impl Drop for SqliteReader {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.stop.ask();
            self.opened.lost();
        }
    }
}
