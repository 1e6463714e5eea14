//! SIGINT and SIGTERM: the first suspends the run in order, the second ends the process at once.

use std::{process, thread};

use dpone_engine::ports::Control;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Whether a signal has asked to stop, and which.
pub(crate) struct Signals {
    asked: watch::Receiver<Option<i32>>,
}

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
const SIGXFSZ: i32 = 25;

impl Signals {
    /// Begins to listen, on a thread of its own: the second signal must end the process whatever the runner is at.
    /// `announce` is given a line when the first one comes.
    ///
    /// # Errors
    /// If the system does not let the process listen.
    pub(crate) fn listen(announce: Box<dyn Fn(&str) + Send>) -> std::io::Result<Self> {
        let (ask, asked) = watch::channel(None);
        let runtime = Builder::new_current_thread().enable_io().build()?;
        // What is listened to does not end the process: a write beyond the file size limit then fails as on a full disk.
        let (mut interrupt, mut terminate, _beyond_the_limit) = {
            let _in_runtime = runtime.enter();
            let beyond_the_limit = signal(SignalKind::from_raw(SIGXFSZ))?;
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, beyond_the_limit)
        };
        let listen = async move {
            loop {
                let number = tokio::select! {
                    Some(()) = interrupt.recv() => SIGINT,
                    Some(()) = terminate.recv() => SIGTERM,
                    else => return,
                };
                if ask.borrow().is_some() {
                    process::exit(128 + number);
                }
                // Who hears of it may rely on it.
                let _ = ask.send(Some(number));
                announce("stopping in order; the run can be resumed. Once more to stop at once.");
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(listen))?;
        Ok(Self { asked })
    }

    /// The signal that asked to stop.
    pub(crate) fn number(&self) -> Option<i32> {
        *self.asked.borrow()
    }
}

impl Control for Signals {
    fn stopping(&self) -> bool {
        self.number().is_some()
    }

    async fn stopped(&self) {
        // A sender that is gone never asks.
        if self.asked.clone().wait_for(Option::is_some).await.is_err() {
            std::future::pending().await
        }
    }
}
