//! Stopping a statement from another thread.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::config::Config;
use super::error::PgError;
use super::stream::{Address, Socket, Stream};

/// How long a request to cancel may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Stops what a session is doing. Can be used from any thread, any number of times.
#[derive(Clone)]
pub struct Canceller {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) config: Config,
    pub(super) address: Address,
    pub(super) encrypted: bool,
    pub(super) process: i32,
    pub(super) secret: i32,
    pub(super) socket: Option<Socket>,
    /// Whether this side asked for the end of the present statement.
    pub(super) asked: AtomicBool,
}

impl Canceller {
    /// Asks the server to cancel the session's present statement, over a connection of its own. The statement then fails
    /// with [`Cancelled`](super::PgErrorKind::Cancelled), unless it has ended meanwhile.
    ///
    /// # Errors
    /// If the request could not be made.
    pub fn cancel(&self) -> Result<(), PgError> {
        let Inner { config, address, encrypted, process, secret, asked, .. } = &*self.inner;
        asked.store(true, Ordering::SeqCst);
        let socket = Socket::connect_to(address, config.connect_timeout.min(PATIENCE))?;
        socket.set_timeout(PATIENCE).map_err(|e| PgError::network("cancelling", &e))?;
        let mut stream = if *encrypted { Stream::negotiate(socket, config)? } else { Stream::Plain(socket) };
        let mut request = BytesMut::new();
        frontend::cancel_request(*process, *secret, &mut request);
        let sent = stream.write_all(&request).and_then(|()| stream.flush());
        sent.map_err(|e| PgError::network("cancelling", &e))?;
        // The server closes the connection once it has passed the request on; how it does so says nothing.
        let _ = stream.read(&mut [0]);
        Ok(())
    }

    /// Cuts the session's connection: whoever waits for the server learns it at once.
    pub fn cut(&self) {
        self.inner.asked.store(true, Ordering::SeqCst);
        if let Some(socket) = &self.inner.socket {
            socket.shutdown();
        }
    }
}
