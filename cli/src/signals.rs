//! SIGINT and SIGTERM: the first suspends the run in order, the second ends the process at once.

use std::cell::Cell;
use std::rc::Rc;

use dpone_engine::ports::Control;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Whether a signal has asked to stop, and which.
pub(crate) struct Signals {
    asked: watch::Receiver<Option<i32>>,
    number: Rc<Cell<Option<i32>>>,
}

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

impl Signals {
    /// Begins to listen. Must be called within a runtime.
    ///
    /// # Errors
    /// If the system does not let the process listen.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let (ask, asked) = watch::channel(None);
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::spawn(async move {
            let mut first = true;
            loop {
                let number = tokio::select! {
                    Some(()) = interrupt.recv() => SIGINT,
                    Some(()) = terminate.recv() => SIGTERM,
                    else => return,
                };
                if !first {
                    std::process::exit(128 + number);
                }
                first = false;
                let _ = ask.send(Some(number));
            }
        });
        Ok(Self { asked, number: Rc::new(Cell::new(None)) })
    }

    /// The signal that asked to stop.
    pub(crate) fn number(&self) -> Option<i32> {
        self.number.get().or(*self.asked.borrow())
    }
}

impl Control for Signals {
    fn stopping(&self) -> bool {
        self.number().is_some()
    }

    async fn stopped(&self) {
        let mut asked = self.asked.clone();
        // A sender that is gone never asks.
        if let Ok(number) = asked.wait_for(Option::is_some).await {
            self.number.set(*number);
            return;
        }
        std::future::pending().await
    }
}
