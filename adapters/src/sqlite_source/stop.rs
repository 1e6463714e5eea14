//! Making a session let go of what it does.
//!
//! SQLite asks its progress handler between steps of its machine. A single step may take long, as that of `count(*)` does,
//! and only an interrupt ends it. An interrupt that comes between two statements is lost, so it is repeated until the
//! session has let go.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, InterruptHandle};

/// The first and the longest pause between two interrupts.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(10));

/// Whether one session is to let go.
pub(super) struct Stop {
    wanted: AtomicBool,
    interrupt: InterruptHandle,
    /// Whether the session has ended. Held while interrupting, so that no interrupt meets what the session does afterwards.
    ended: Mutex<bool>,
}

impl Stop {
    pub(super) fn new(connection: &Connection) -> Self {
        let interrupt = connection.get_interrupt_handle();
        Self { wanted: AtomicBool::new(false), interrupt, ended: Mutex::new(false) }
    }

    /// Whether the session is to let go: for its progress handler.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Asks the session to let go, once.
    pub(super) fn ask(&self) {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.store(!*ended, Ordering::Relaxed);
        drop(ended);
        self.again();
    }

    /// The session has let go.
    pub(super) fn done(&self) {
        let _turn = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.store(false, Ordering::Relaxed);
    }

    /// The session has ended, and is never to let go of anything again.
    pub(super) fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.done();
    }

    /// Interrupts unless the session has let go.
    fn again(&self) -> bool {
        let _turn = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.is_wanted();
        if wanted {
            self.interrupt.interrupt();
        }
        wanted
    }
}

/// Asks sessions to let go, from a thread of its own, until each of them has.
pub(super) fn press(sessions: Vec<Arc<Stop>>) {
    sessions.iter().for_each(|stop| stop.ask());
    let work = move || {
        let mut pause = PAUSES.0;
        // All of them each time: none waits for another.
        while sessions.iter().filter(|stop| stop.again()).count() > 0 {
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    };
    // Without a thread they were asked once, and their progress handlers still look.
    let _ = thread::Builder::new().name("dpone-sqlite-stop".into()).spawn(work);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn nobody_is_pressed_who_has_let_go() {
        let connection = Connection::open_in_memory().unwrap();
        let stop = Stop::new(&connection);
        stop.ask();
        assert!(stop.is_wanted() && stop.again());
        stop.done();
        assert!(!stop.is_wanted() && !stop.again());
        stop.end();
        stop.ask();
        assert!(!stop.is_wanted() && !stop.again());
    }
}
