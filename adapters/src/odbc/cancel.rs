//! Stopping a statement from another thread.

use std::sync::{Arc, Mutex, PoisonError};

use odbc_api::sys::{HStmt, SQLCancel};

/// Cancels what its connection is doing. Cloned freely.
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<Mutex<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    running: Option<Running>,
    /// Whether whatever runs next is to be cancelled too.
    cut: bool,
}

#[derive(Debug)]
struct Running(HStmt);

// SAFETY: the handle is only passed to `SQLCancel`, which the standard allows from any thread while the statement lives;
// the slot's lock keeps it alive, see `Guard`.
#[expect(unsafe_code, reason = "a statement is cancelled from another thread than the one that waits for it")]
unsafe impl Send for Running {}

impl Canceller {
    /// Asks the driver to stop what runs now, if something does.
    pub fn cancel(&self) {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Running(handle)) = &slot.running {
            // SAFETY: a `Guard` is dropped before its statement, and takes the handle out of the slot under this lock.
            #[expect(unsafe_code, reason = "the library has no call for it")]
            let _ = unsafe { SQLCancel(*handle) };
        }
    }

    /// Cancels what runs now, and lets nothing run afterwards.
    pub fn cut(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cut = true;
        self.cancel();
    }

    /// Whether nothing may run any more.
    pub fn is_cut(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cut
    }

    /// A statement begins to run. The guard must be dropped before the statement is.
    pub(super) fn enter(&self, handle: HStmt) -> Guard {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).running = Some(Running(handle));
        Guard(self.clone())
    }
}

/// While it lives, its statement can be cancelled.
#[derive(Debug)]
pub(super) struct Guard(Canceller);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).running = None;
    }
}
