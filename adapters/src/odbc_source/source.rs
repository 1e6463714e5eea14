//! The source port: one opened state and its sessions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::ports::Source;
use dpone_engine::run::{Outcome, Receipt, Seen, UnitId, Why};
use dpone_engine::schema::Schema;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use super::block::Shape;
use super::convert::Conversion;
use super::dialect;
use super::failure::why;
use super::reader::{OdbcReader, watched};
use super::request::OdbcPlan;
use super::session::{Command, Session, Shared, gone, prove};
use crate::body::Body;
use crate::columnar::{ChunkLayout, EncodeError};
use crate::odbc::{self, Canceller, Config, Connection};
use crate::reading::defect;

/// How long sessions have to end once they are cancelled.
const END: Duration = Duration::from_secs(10);

/// An ODBC source of a run.
pub struct OdbcSource {
    plan: Arc<OdbcPlan>,
    config: Config,
    layout: ChunkLayout,
    opened: Mutex<Option<Arc<Opened>>>,
    openings: AtomicU64,
}

/// One state, held open.
pub(super) struct Opened {
    identity: String,
    config: Config,
    shared: Arc<Shared>,
    pub(super) read_timeout: Duration,
    free: Mutex<Vec<Session>>,
    permits: Semaphore,
    /// What stops each session that is used.
    readers: Mutex<BTreeMap<u64, Canceller>>,
    numbers: AtomicU64,
    ended: Mutex<Vec<oneshot::Receiver<()>>>,
}

impl Opened {
    /// A session is used; the number to leave under.
    fn enter(&self, session: &Session) -> u64 {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let canceller = session.canceller.clone();
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).insert(number, canceller);
        number
    }

    /// A reader has ended.
    pub(super) fn leave(&self, number: u64) {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// A session is free again.
    pub(super) fn give_back(&self, session: Session) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        self.permits.add_permits(1);
    }

    /// A session will not come back. Another takes its place when it is needed.
    pub(super) fn lost(&self) {
        self.permits.add_permits(1);
    }

    /// A new session on the state.
    fn join(&self) -> Result<Session, Why> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let authority = &self.shared.authority;
        let application = format!("{}/r{number}", self.shared.plan.application);
        let rows = self.shared.shape.as_ref().map_or(1, Shape::rows_held);
        let database = authority.database.as_deref();
        let session = odbc::Session { database, application: &application, rows: Some(rows) };
        let mut connection = Connection::open(&self.config, &session).map_err(|e| why(&e))?;
        for statement in &authority.setup {
            connection.execute(statement).map_err(|e| why(&e))?;
        }
        prove(&mut connection, authority)?;
        let (signal, receiver) = oneshot::channel();
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(receiver);
        Session::start(connection, Arc::clone(&self.shared), signal)
    }

    /// A session, waited for until one is free.
    async fn session(self: &Arc<Self>) -> Result<Session, Why> {
        self.permits.acquire().await.map_err(|_| gone())?.forget();
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let session = match free {
            Some(session) => Ok(session),
            // Another transaction would see another state.
            None if self.shared.authority.transaction => {
                Err(Why::fatal(Code::ConsistencyAuthorityLost, "the session that held the state has ended"))
            }
            None => {
                let opened = Arc::clone(self);
                on_a_thread(move || opened.join()).await
            }
        };
        session.inspect_err(|_| self.lost())
    }
}

impl OdbcSource {
    /// A source that reads by that plan.
    ///
    /// # Errors
    /// If the schema has a type that no file can hold exactly; preflight refuses those.
    pub fn new(plan: OdbcPlan, config: Config) -> Result<Self, EncodeError> {
        let layout = ChunkLayout::new(&plan.schema)?;
        Ok(Self { plan: Arc::new(plan), config, layout, opened: Mutex::new(None), openings: AtomicU64::new(0) })
    }

    fn current(&self) -> Option<Arc<Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the state, in place of any that is open.
    async fn open_now(&self, sessions: u32) -> Result<(String, bool), Why> {
        self.close().await;
        let (plan, config, layout) = (Arc::clone(&self.plan), self.config.clone(), self.layout.clone());
        let number = self.openings.fetch_add(1, Ordering::Relaxed);
        let opened = on_a_thread(move || open_state(&plan, config, layout, sessions.max(1), number)).await?;
        let found = (opened.identity.clone(), opened.shared.authority.persistent);
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(opened));
        Ok(found)
    }
}

/// Runs what blocks on a thread of its own.
pub(super) async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Why> + Send + 'static,
) -> Result<T, Why> {
    let (reply, answer) = oneshot::channel();
    thread::Builder::new()
        .name("dpone-odbc-open".into())
        .spawn(move || reply.send(work()).is_ok())
        .map_err(|e| Why::transient(Code::SourceReadFailed, format!("no thread to open the source: {}", e.kind())))?;
    answer.await.unwrap_or_else(|_| Err(Why::fatal(Code::InternalError, "opening the source ended without an answer")))
}

fn open_state(
    plan: &Arc<OdbcPlan>,
    config: Config,
    layout: ChunkLayout,
    sessions: u32,
    number: u64,
) -> Result<Opened, Why> {
    let open = |database: Option<&str>| {
        let session = odbc::Session { database, application: &plan.application, rows: None };
        Connection::open(&config, &session).map_err(|e| why(&e))
    };
    let mut connection = open(None)?;
    let dialect = dialect::of(&connection, plan.request.sql_server).map_err(|e| why(&e))?;
    let refused = |refusal: dpone_engine::refusal::Refusal| Why::fatal(refusal.code, refusal.message);
    let authority = dialect.authority(&mut connection, &plan.request).map_err(refused)?;
    let changed = |detail: String| Why::fatal(Code::SourceSchemaChanged, detail);
    if let Some(database) = &authority.database {
        connection = open(Some(database))?;
    }
    let resolved = dialect
        .look(&mut connection, &plan.request)
        .map_err(|refusals| changed(refusals.into_iter().next().map_or_else(String::new, |refusal| refusal.message)))?;
    let schema = resolved.schema();
    if schema != plan.schema {
        return Err(changed(difference(&plan.schema, &schema)));
    }
    let conversions: Option<Vec<Conversion>> = resolved.columns.iter().map(Conversion::new).collect();
    let conversions = conversions.ok_or_else(defect)?;
    let identity = match authority.persistent {
        true => authority.identity.clone(),
        false => format!("odbc:{:016x}.{number}.{}", plan.nonce, authority.identity),
    };
    let read_timeout = config.read_timeout;
    let sessions = if authority.transaction { 1 } else { sessions };
    let shape = Shape::new(&resolved.columns);
    let shared = Arc::new(Shared { plan: Arc::clone(plan), resolved, conversions, shape, layout, authority });
    let opened = Opened {
        identity,
        config,
        shared,
        read_timeout,
        free: Mutex::new(Vec::new()),
        permits: Semaphore::new(sessions as usize),
        readers: Mutex::new(BTreeMap::new()),
        numbers: AtomicU64::new(0),
        ended: Mutex::new(Vec::new()),
    };
    for _ in 0..sessions {
        let session = opened.join()?;
        opened.free.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }
    Ok(opened)
}

/// The first column that is not as it was planned.
fn difference(planned: &Schema, found: &Schema) -> String {
    let pair = planned.columns.iter().zip(&found.columns).find(|(a, b)| a != b);
    match pair {
        Some((planned, found)) if planned.name == found.name => {
            format!("column \"{}\" was planned as {} and is now {}", planned.name, planned.ty, found.ty)
        }
        Some((planned, found)) => format!("column \"{}\" was planned where \"{}\" is now", planned.name, found.name),
        None => format!("{} columns were planned and there are now {}", planned.columns.len(), found.columns.len()),
    }
}

impl Source for OdbcSource {
    type Body = Body;
    type Reader = OdbcReader;

    async fn open(&self, sessions: u32) -> Outcome {
        match self.open_now(sessions).await {
            Ok((authority, persistent)) => Outcome::Done(Receipt::Opened { authority, persistent }),
            Err(why) => Outcome::NotDone(why),
        }
    }

    async fn reopen(&self, authority: &str, persistent: bool, sessions: u32) -> Seen {
        if self.current().is_some_and(|opened| opened.identity == authority) {
            return Seen::Ours;
        }
        if !persistent {
            return Seen::Nothing;
        }
        match self.open_now(sessions).await {
            Ok((opened, true)) if opened == authority => Seen::Ours,
            Ok(_) => Seen::Nothing,
            // A snapshot that was dropped, a lease that has run out: the state is gone, whatever says so.
            Err(why)
                if matches!(
                    why.code,
                    Code::SourceSchemaChanged | Code::ConsistencyAuthorityLost | Code::ConsistencyAuthorityMissing
                ) =>
            {
                Seen::Nothing
            }
            Err(_) => Seen::CannotTell,
        }
    }

    async fn count(&self) -> Outcome {
        let Some(opened) = self.current() else { return Outcome::NotDone(gone()) };
        let session = match opened.session().await {
            Ok(session) => session,
            Err(why) => return Outcome::NotDone(why),
        };
        // While it counts, closing finds it among those who read.
        let number = opened.enter(&session);
        let (reply, answer) = oneshot::channel();
        let answer = match session.send(Command::Count(reply)) {
            // A server that counts gives no sign of life until it is done.
            Ok(()) => watched(&session, opened.read_timeout.saturating_mul(12), answer).await,
            Err(why) => Err(why),
        };
        opened.leave(number);
        match answer {
            Ok(Ok(Ok(rows))) => {
                opened.give_back(session);
                Outcome::Done(Receipt::Counted { rows })
            }
            Ok(Ok(Err(why))) | Err(why) => {
                opened.lost();
                Outcome::NotDone(why)
            }
            Ok(Err(_)) => {
                opened.lost();
                Outcome::NotDone(gone())
            }
        }
    }

    async fn reader(&self, unit: UnitId) -> Result<OdbcReader, Why> {
        let opened = self.current().ok_or_else(gone)?;
        let session = opened.session().await?;
        let number = opened.enter(&session);
        let reader = OdbcReader { opened, session: Some(session), number, whole: false };
        match reader.session.as_ref().map(|session| session.send(Command::Begin(unit))) {
            Some(Ok(())) => Ok(reader),
            _ => Err(gone()),
        }
    }

    async fn close(&self) {
        let Some(opened) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        opened.permits.close();
        opened.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let used: Vec<Canceller> =
            opened.readers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        if !used.is_empty() {
            let stopped = move || {
                used.iter().for_each(Canceller::cut);
                Ok(())
            };
            let _: Result<Result<(), Why>, _> = timeout(END, on_a_thread(stopped)).await;
        }
        let ended = std::mem::take(&mut *opened.ended.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async {
            for session in ended {
                let _ = session.await;
            }
        };
        // A driver that does not come back keeps its thread until the process ends.
        let _ = timeout(END, all).await;
    }
}
