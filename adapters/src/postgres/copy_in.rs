//! Bytes into a `COPY … FROM STDIN`.

use postgres_protocol::message::frontend;

use super::error::PgError;
use super::session::{Said, Session, State, rows_of_tag};

/// The most bytes of one frame.
const FRAME: usize = 1 << 20;
/// Parts below this are gathered; larger ones are written as they are.
const SMALL: usize = 16 << 10;

/// A COPY under way. One that is dropped before [`CopyIn::finish`] takes the session with it, and the server rolls it back.
pub struct CopyIn<'a> {
    session: &'a mut Session,
}

impl<'a> CopyIn<'a> {
    pub(super) fn new(session: &'a mut Session) -> Self {
        Self { session }
    }

    /// Sends bytes, in frames of this side's choice. The server may refuse them only in [`CopyIn::finish`].
    ///
    /// # Errors
    /// That the connection is lost.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), PgError> {
        self.write(bytes).map_err(|e| self.lost(e))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), PgError> {
        let wire = &mut self.session.wire;
        for part in bytes.chunks(FRAME) {
            let length = u32::try_from(part.len() + 4).map_err(|_| PgError::protocol("a frame is too long"))?;
            wire.output().extend_from_slice(b"d");
            wire.output().extend_from_slice(&length.to_be_bytes());
            if part.len() < SMALL {
                wire.output().extend_from_slice(part);
                wire.flush_if_much()?;
            } else {
                wire.flush()?;
                wire.write(part)?;
            }
        }
        Ok(())
    }

    /// A connection that breaks while bytes are sent: the server may have said why.
    fn lost(&mut self, error: PgError) -> PgError {
        match self.session.said() {
            Ok(Said::Error(reported)) => self.session.end(reported),
            _ => self.session.end(error),
        }
    }

    /// Ends the COPY and waits until the server has taken everything; the number of rows it says it took.
    ///
    /// # Errors
    /// What the server reports. After a lost connection it is not known what became of the rows.
    pub fn finish(self) -> Result<u64, PgError> {
        let Self { session } = self;
        frontend::copy_done(session.wire.output());
        ended(session)
    }

    /// Gives the COPY up; the server forgets what was sent. `reason` becomes part of the server's message.
    ///
    /// # Errors
    /// Anything but the server's report that it was given up.
    pub fn abort(self, reason: &str) -> Result<(), PgError> {
        let Self { session } = self;
        let failed = frontend::copy_fail(&reason.replace('\0', " "), session.wire.output());
        failed.map_err(|_| session.end(PgError::protocol("a COPY could not be given up")))?;
        match ended(session) {
            Err(error) if error.sqlstate() == Some("57014") => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(PgError::protocol("the server took rows that were given up")),
        }
    }
}

fn ended(session: &mut Session) -> Result<u64, PgError> {
    session.wire.flush().map_err(|e| session.end(e))?;
    let mut rows = 0;
    loop {
        let header = match session.said()? {
            Said::Error(error) => return Err(error),
            Said::Message(header) => header,
        };
        let body = session.wire.body(header, 1024).map_err(|e| session.end(e))?;
        match header.tag {
            b'C' => rows = rows_of_tag(&body),
            b'Z' => {
                session.state = State::Ready;
                return Ok(rows);
            }
            _ => return Err(session.end(PgError::protocol("the server left the COPY"))),
        }
    }
}
