//! The engine's side of a session that reads a unit.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::ports::{Pull, UnitReader};
use dpone_engine::run::Why;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::session::{Command, PullRequest, Session, gone};
use super::source::{Opened, on_a_thread};
use crate::body::Body;

/// How long a driver has to come back from a call that was cancelled.
const GRACE: Duration = Duration::from_secs(5);

/// Reads one unit in one session.
pub struct OdbcReader {
    pub(super) opened: Arc<Opened>,
    pub(super) session: Option<Session>,
    pub(super) number: u64,
    /// Whether the unit's end was reached: there is nothing to cancel then.
    pub(super) whole: bool,
}

impl UnitReader for OdbcReader {
    type Body = Body;

    async fn next(&mut self, grant: u64, max_rows: u64) -> Result<Pull<Body>, Why> {
        let (reply, answer) = oneshot::channel();
        let session = self.session.as_ref().ok_or_else(gone)?;
        session.send(Command::Pull(PullRequest { grant, max_rows, reply }))?;
        let answer = watched(session, self.opened.read_timeout, answer).await?.unwrap_or_else(|_| Err(gone()));
        self.whole |= matches!(answer, Ok(Pull::End { .. }));
        answer
    }

    async fn close(mut self) {
        let Some(session) = self.session.take() else { return };
        if !self.whole {
            stop(&session).await;
        }
        self.opened.leave(self.number);
        let (done, left) = oneshot::channel();
        // A session that has ended holds nothing any more, and is not used again. One whose driver does not come back
        // is left to the end of the process.
        let reusable = session.send(Command::End(done)).is_ok()
            && matches!(timeout(self.opened.read_timeout.min(GRACE * 6), left).await, Ok(Ok(true)));
        if reusable {
            self.opened.give_back(session);
        } else {
            self.opened.lost();
        }
    }
}

/// Waits for a session's answer for as long as its driver gives signs of life.
pub(super) async fn watched<T>(
    session: &Session,
    silence: Duration,
    answer: impl Future<Output = T>,
) -> Result<T, Why> {
    let mut answer = pin!(answer);
    loop {
        let before = session.answers.load(Ordering::Relaxed);
        if let Ok(answer) = timeout(silence, &mut answer).await {
            return Ok(answer);
        }
        if session.answers.load(Ordering::Relaxed) != before {
            continue;
        }
        // A cancelled call comes back with an error of its own, unless the network is gone too.
        stop(session).await;
        let _ = timeout(GRACE, &mut answer).await;
        let text = format!("the driver has not answered for {} s", silence.as_secs());
        return Err(Why::transient(Code::SourceReadFailed, text));
    }
}

/// Cancels what a session does, and lets it do nothing else. Drivers can take their time even for that.
pub(super) async fn stop(session: &Session) {
    let canceller = session.canceller.clone();
    let cut = on_a_thread(move || {
        canceller.cut();
        Ok(())
    });
    let _ = timeout(GRACE, cut).await;
}

/// A reader that is dropped without being closed takes its session with it.
impl Drop for OdbcReader {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.canceller.cut();
            self.opened.leave(self.number);
            self.opened.lost();
        }
    }
}
