//! A thread with one connection: it reads one unit after another, and counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use dpone_engine::codes::Code;
use dpone_engine::ports::Pull;
use dpone_engine::ranges::UnitRange;
use dpone_engine::run::Why;
use tokio::sync::oneshot;

use super::authority::Authority;
use super::block::Shape;
use super::convert::Conversion;
use super::failure::why;
use super::fetch::Fetch;
use super::fetcher::Fetcher;
use super::pieces::Order;
use super::request::OdbcPlan;
use super::resolved::Resolved;
use crate::body::Body;
use crate::columnar::{ChunkLayout, Encoder};
use crate::odbc::{Canceller, Connection};
use crate::reading::{Reading, Work, defect, internal};

/// What a session is asked for.
pub(super) enum Command {
    /// Read this unit from now on.
    Begin(u32),
    /// The next chunk of the unit.
    Pull(PullRequest),
    /// Leave the unit; answered with whether the session can read another.
    End(oneshot::Sender<bool>),
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
    pub(super) plan: Arc<OdbcPlan>,
    pub(super) resolved: Resolved,
    pub(super) conversions: Vec<Conversion>,
    pub(super) shape: Option<Shape>,
    pub(super) layout: ChunkLayout,
    pub(super) authority: Authority,
}

/// The near end of a session. Dropping it ends the thread once what it does is cancelled or done.
pub(super) struct Session {
    commands: Sender<Command>,
    pub(super) canceller: Canceller,
    /// Raised whenever the driver has answered.
    pub(super) answers: Arc<AtomicU64>,
}

impl Session {
    /// Starts the thread; `ended` is dropped when it has ended and its connection is closed.
    pub(super) fn start(connection: Connection, shared: Arc<Shared>, ended: oneshot::Sender<()>) -> Result<Self, Why> {
        let canceller = connection.canceller();
        let answers = Arc::new(AtomicU64::new(0));
        let (commands, inbox) = channel();
        let seen = Arc::clone(&answers);
        thread::Builder::new()
            .name("dpone-odbc".into())
            .spawn(move || {
                run(connection, &shared, &inbox, &seen);
                drop(ended);
            })
            .map_err(|e| Why::transient(Code::SourceReadFailed, format!("no thread for a reader: {}", e.kind())))?;
        Ok(Self { commands, canceller, answers })
    }

    /// Gives a command.
    pub(super) fn send(&self, command: Command) -> Result<(), Why> {
        self.commands.send(command).map_err(|_| gone())
    }
}

pub(super) fn gone() -> Why {
    Why::fatal(Code::SourceReadFailed, "the reader's session has ended")
}

fn run(mut connection: Connection, shared: &Shared, inbox: &Receiver<Command>, answers: &AtomicU64) {
    while let Ok(command) = inbox.recv() {
        match command {
            Command::Begin(unit) => {
                let Some(done) = (Reader { shared, inbox, answers }).unit(&mut connection, unit) else { return };
                // After an error, or in the middle of a result, a connection is not used for another.
                if !done.whole {
                    drop(connection);
                    let _ = done.reply.send(false);
                    return;
                }
                let _ = done.reply.send(true);
            }
            Command::Count(reply) => {
                let _ = reply.send(count(&mut connection, shared));
            }
            Command::Pull(request) => request.answer(Err(defect())),
            Command::End(done) => {
                let _ = done.send(true);
            }
        }
    }
}

fn count(connection: &mut Connection, shared: &Shared) -> Result<u64, Why> {
    prove(connection, &shared.authority)?;
    let rows = connection.query(&shared.resolved.sql.count()).map_err(|e| why(&e))?;
    let count = rows.first().and_then(|row| row.first()).and_then(|cell| cell.as_ref()?.parse().ok());
    let count = count.ok_or_else(|| Why::fatal(Code::SourceReadFailed, "the count is not understood"))?;
    prove(connection, &shared.authority)?;
    Ok(count)
}

/// Runs the statement that shows that the state still holds.
pub(super) fn prove(connection: &mut Connection, authority: &Authority) -> Result<(), Why> {
    let Some(proof) = &authority.proof else { return Ok(()) };
    let rows = connection.query(proof).map_err(|e| why(&e))?;
    let holds = matches!(rows.as_slice(), [row] if row.first().and_then(|c| c.as_deref()) == Some("1"));
    if holds {
        return Ok(());
    }
    let text = "the source no longer shows that the state is there: what shows it must answer with one row of 1";
    Err(Why::fatal(Code::ConsistencyAuthorityLost, text))
}

/// How a unit was left.
struct Done {
    reply: oneshot::Sender<bool>,
    /// Whether its end was reached.
    whole: bool,
}

/// What comes next in a unit.
enum Next {
    Pull(PullRequest),
    End(oneshot::Sender<bool>),
    Gone,
}

struct Reader<'a> {
    shared: &'a Shared,
    inbox: &'a Receiver<Command>,
    answers: &'a AtomicU64,
}

impl Reader<'_> {
    /// Reads a unit until it is left; `None` if the near end is gone.
    fn unit(&self, connection: &mut Connection, unit: u32) -> Option<Done> {
        let failed = match self.shared.plan.units.get(unit as usize) {
            Some(range) => match self.read(connection, range) {
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
                Next::End(reply) => return Some(Done { reply, whole: false }),
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

    fn read(&self, connection: &mut Connection, range: &UnitRange) -> Result<Option<Done>, Failed> {
        let Shared { plan, resolved, conversions, shape, layout, .. } = self.shared;
        let reading = Reading {
            schema: &plan.schema,
            fidelity: plan.fidelity,
            target_chunk_bytes: plan.target_chunk_bytes,
            max_chunk_bytes: plan.max_chunk_bytes,
            growth: 1,
        };
        let mut encoder = Encoder::start(layout.clone()).map_err(|e| Failed::from(internal(e)))?;
        let mut work =
            Work::new(reading, &mut encoder, layout.arrow().clone()).ok_or_else(|| Failed::from(defect()))?;
        let (order, expressions) = Order::new(&resolved.columns);
        let sql = resolved.sql.rows(&expressions, &range.scope);
        let mut statement = connection.statement().map_err(|e| why(&e))?;
        let rows = statement.run(&sql).map_err(|e| why(&e))?;
        self.answers.fetch_add(1, Ordering::Relaxed);
        if !rows {
            return Err(Failed::from(Why::fatal(Code::SourceReadFailed, "the statement has no result")));
        }
        let columns = &resolved.columns;
        match shape {
            None => self.pulls(&mut work, Fetch::pieces(columns, conversions, &order, statement)),
            Some(shape) => thread::scope(|scope| {
                let fetcher = Fetcher::start(scope, statement, self.answers)?;
                self.pulls(&mut work, Fetch::blocks(columns, conversions, shape, fetcher))
            }),
        }
    }

    /// Answers every request for a chunk of the unit.
    fn pulls(&self, work: &mut Work<'_>, mut fetch: Fetch<'_, '_>) -> Result<Option<Done>, Failed> {
        let mut whole = false;
        loop {
            let request = match self.next() {
                Next::Pull(request) => request,
                Next::End(reply) => return Ok(Some(Done { reply, whole })),
                Next::Gone => return Ok(None),
            };
            if let Err(answer) = work.begin(request.grant, request.max_rows) {
                request.answer(Ok(answer));
                continue;
            }
            match fetch.pull(work, self.answers) {
                Ok(answer) => {
                    whole |= matches!(answer, Pull::End { .. });
                    request.answer(Ok(answer));
                }
                Err(why) => return Err(Failed { why, request: Some(request) }),
            }
        }
    }
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
