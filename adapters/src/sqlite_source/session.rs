//! A thread with one connection and its transaction: it reads one unit after another, and a count.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use dpone_engine::codes::Code;
use dpone_engine::ports::Pull;
use dpone_engine::ranges::UnitRange;
use dpone_engine::run::Why;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connect::why;
use super::fetch::{self, Fetched};
use super::measured::Statements;
use super::request::SqlitePlan;
use super::resolve::Resolved;
use super::stop::Stop;
use super::work::{Work, defect, internal};
use crate::body::Body;
use crate::columnar::{ChunkLayout, Encoder};

/// Steps of SQLite's machine between two looks at whether to stop.
const STEPS: i32 = 10_000;

/// What a session is asked for.
pub(super) enum Command {
    /// Read this unit from now on.
    Begin(u32),
    /// The next chunk of the unit.
    Pull(PullRequest),
    /// Leave the unit.
    End(oneshot::Sender<()>),
    /// Count the rows of the relation.
    Count(oneshot::Sender<Result<u64, Why>>),
}

/// A request for a chunk.
pub(super) struct PullRequest {
    pub(super) grant: u64,
    pub(super) max_rows: u64,
    pub(super) reply: oneshot::Sender<Result<Pull<Body>, Why>>,
}

impl PullRequest {
    fn answer(self, answer: Result<Pull<Body>, Why>) {
        // Nobody waits any more if the read was given up.
        let _ = self.reply.send(answer);
    }
}

/// What all sessions of an opened state share.
pub(super) struct Shared {
    pub(super) plan: Arc<SqlitePlan>,
    pub(super) resolved: Resolved,
    pub(super) layout: ChunkLayout,
    /// Every session is to end.
    pub(super) closing: Arc<AtomicBool>,
}

/// The near end of a session. Dropping it ends the thread once what it does is interrupted or done.
pub(super) struct Session {
    commands: Sender<Command>,
    pub(super) stop: Arc<Stop>,
}

impl Session {
    /// Starts the thread; `ended` is dropped when it has ended and its connection is closed.
    pub(super) fn start(
        mut connection: Connection,
        shared: Arc<Shared>,
        ended: oneshot::Sender<()>,
    ) -> Result<Self, Why> {
        let stop = Arc::new(Stop::new(&connection));
        let (asked, closing) = (Arc::clone(&stop), Arc::clone(&shared.closing));
        // Unlike an interrupt, this cannot come between two statements and be lost.
        connection
            .progress_handler(STEPS, Some(move || asked.is_wanted() || closing.load(Ordering::Relaxed)))
            .map_err(|e| why(&e))?;
        let (commands, inbox) = channel();
        let own = Arc::clone(&stop);
        thread::Builder::new()
            .name("dpone-sqlite".into())
            .spawn(move || {
                run(&connection, &shared, &inbox, &own);
                own.end();
                drop(connection);
                drop(ended);
            })
            .map_err(|e| Why::transient(Code::SourceReadFailed, format!("no thread for a reader: {}", e.kind())))?;
        Ok(Self { commands, stop })
    }

    /// Gives a command.
    pub(super) fn send(&self, command: Command) -> Result<(), Why> {
        self.commands.send(command).map_err(|_| gone())
    }
}

pub(super) fn gone() -> Why {
    Why::fatal(Code::SourceReadFailed, "the reader's session has ended")
}

fn run(connection: &Connection, shared: &Shared, inbox: &Receiver<Command>, stop: &Stop) {
    while let Ok(command) = inbox.recv() {
        match command {
            Command::Begin(unit) => {
                let reader = Reader { connection, shared, inbox };
                let Some(done) = reader.unit(unit) else { return };
                stop.done();
                let _ = done.send(());
            }
            Command::Count(reply) => {
                let _ = reply.send(count(connection, shared));
            }
            Command::Pull(request) => request.answer(Err(defect())),
            Command::End(done) => {
                stop.done();
                let _ = done.send(());
            }
        }
    }
}

fn count(connection: &Connection, shared: &Shared) -> Result<u64, Why> {
    connection.query_row(&shared.resolved.sql.count(), [], |row| row.get(0)).map_err(|e| why(&e))
}

/// What comes next in a unit.
enum Next {
    Pull(PullRequest),
    End(oneshot::Sender<()>),
    Gone,
}

struct Reader<'a> {
    connection: &'a Connection,
    shared: &'a Shared,
    inbox: &'a Receiver<Command>,
}

impl Reader<'_> {
    /// Reads a unit until it is left; `None` if the near end is gone.
    fn unit(&self, unit: u32) -> Option<oneshot::Sender<()>> {
        let failed = match self.shared.plan.units.get(unit as usize) {
            Some(range) => match self.read(range) {
                Ok(left) => return left,
                Err(failed) => failed,
            },
            None => Failed { why: Why::fatal(Code::InternalError, "there is no such unit"), request: None },
        };
        if let Some(request) = failed.request {
            request.answer(Err(failed.why.clone()));
        }
        // Only good for leaving.
        loop {
            match self.next() {
                Next::Pull(request) => request.answer(Err(failed.why.clone())),
                Next::End(done) => return Some(done),
                Next::Gone => return None,
            }
        }
    }

    fn next(&self) -> Next {
        match self.inbox.recv() {
            Ok(Command::Pull(request)) => Next::Pull(request),
            Ok(Command::End(done)) => Next::End(done),
            Ok(Command::Begin(_) | Command::Count(_)) | Err(_) => Next::Gone,
        }
    }

    fn read(&self, range: &UnitRange) -> Result<Option<oneshot::Sender<()>>, Failed> {
        let Shared { plan, resolved, layout, .. } = self.shared;
        let mut encoder = Encoder::start(layout.clone()).map_err(|e| Failed::from(internal(e)))?;
        let mut work = Work::new(plan, resolved, range, &mut encoder, layout.arrow().clone())
            .ok_or_else(|| Failed::from(defect()))?;
        let first = match self.usual(&mut work)? {
            Left::Unit(left) => return Ok(left),
            Left::TooLong(request) => request,
        };
        work.large = true;
        self.measured(&mut work, first)
    }

    fn usual(&self, work: &mut Work<'_>) -> Result<Left, Failed> {
        let ty = work.resolved.key.as_ref().map(|key| &key.column.ty);
        let select = work.resolved.sql.rows(&work.unit.scope, ty);
        fetch::unlimited(self.connection)?;
        let mut statement = self.connection.prepare(&select.sql).map_err(|e| Failed::from(why(&e)))?;
        fetch::bind(&mut statement, &select, 0)?;
        let mut rows = statement.raw_query();
        loop {
            let request = match self.next() {
                Next::Pull(request) => request,
                Next::End(done) => return Ok(Left::Unit(Some(done))),
                Next::Gone => return Ok(Left::Unit(None)),
            };
            if let Err(answer) = work.begin(request.grant, request.max_rows) {
                request.answer(Ok(answer));
                continue;
            }
            match fetch::pull(work, self.connection, &mut rows) {
                Ok(Fetched::Answer(answer)) => request.answer(Ok(answer)),
                Ok(Fetched::TooLong(Some(answer))) => {
                    request.answer(Ok(answer));
                    return Ok(Left::TooLong(None));
                }
                Ok(Fetched::TooLong(None)) => return Ok(Left::TooLong(Some(request))),
                Err(why) => return Err(Failed { why, request: Some(request) }),
            }
        }
    }

    fn measured(
        &self,
        work: &mut Work<'_>,
        mut first: Option<PullRequest>,
    ) -> Result<Option<oneshot::Sender<()>>, Failed> {
        let failed = |why, request| Err(Failed { why, request });
        let mut statements = match Statements::prepare(self.connection, work) {
            Ok(statements) => statements,
            Err(why) => return failed(why, first),
        };
        loop {
            let mut measured = match statements.start(work) {
                Ok(measured) => measured,
                Err(why) => return failed(why, first),
            };
            loop {
                let request = match first.take().map_or_else(|| self.next(), Next::Pull) {
                    Next::Pull(request) => request,
                    Next::End(done) => return Ok(Some(done)),
                    Next::Gone => return Ok(None),
                };
                if let Err(answer) = work.begin(request.grant, request.max_rows) {
                    request.answer(Ok(answer));
                    continue;
                }
                match measured.pull(work, self.connection) {
                    Ok(answered) => {
                        if answered.release {
                            drop(measured);
                            request.answer(Ok(answered.pull));
                            break;
                        }
                        request.answer(Ok(answered.pull));
                    }
                    Err(why) => return failed(why, Some(request)),
                }
            }
        }
    }
}

/// How the usual way was left.
enum Left {
    /// With the unit.
    Unit(Option<oneshot::Sender<()>>),
    /// A cell was too long; the request is still to be answered if it is there.
    TooLong(Option<PullRequest>),
}

/// A unit's failure, and the request that met it.
struct Failed {
    why: Why,
    request: Option<PullRequest>,
}

impl From<Why> for Failed {
    fn from(why: Why) -> Self {
        Self { why, request: None }
    }
}
