//! The source port: one opened state and its sessions.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use dpone_engine::codes::Code;
use dpone_engine::manifest::Consistency;
use dpone_engine::ports::Source;
use dpone_engine::run::{Outcome, Receipt, Seen, UnitId, Why};
use tokio::sync::{Semaphore, oneshot};

use super::reader::SqliteReader;
use super::request::SqlitePlan;
use super::resolve::resolve;
use super::session::{Command, Session, Shared, gone};
use super::snapshot::{Snapshot, file_identity};
use super::stop::{Stop, press};
use crate::body::Body;
use crate::columnar::{ChunkLayout, EncodeError};

/// A SQLite database as the source of a run.
pub struct SqliteSource {
    plan: Arc<SqlitePlan>,
    layout: ChunkLayout,
    opened: Mutex<Option<Arc<Opened>>>,
    openings: AtomicU64,
}

/// One state, held open.
pub(super) struct Opened {
    authority: String,
    free: Mutex<Vec<Session>>,
    permits: Semaphore,
    counter: Mutex<Option<Session>>,
    closing: Arc<AtomicBool>,
    stops: Vec<Arc<Stop>>,
    ended: Mutex<Vec<oneshot::Receiver<()>>>,
}

impl Opened {
    /// A session is free again.
    pub(super) fn give_back(&self, session: Session) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        self.permits.add_permits(1);
    }

    /// A session will not come back. Who waits for one must learn that there is none.
    pub(super) fn lost(&self) {
        self.permits.add_permits(1);
    }
}

impl SqliteSource {
    /// A source that reads by that plan.
    ///
    /// # Errors
    /// If the schema has a type that no file can hold exactly; preflight refuses those.
    pub fn new(plan: SqlitePlan) -> Result<Self, EncodeError> {
        let layout = ChunkLayout::new(&plan.schema)?;
        Ok(Self { plan: Arc::new(plan), layout, opened: Mutex::new(None), openings: AtomicU64::new(0) })
    }

    fn current(&self) -> Option<Arc<Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_immutable(&self) -> bool {
        self.plan.consistency == Consistency::Immutable
    }

    /// Opens the state, in place of any that is open.
    async fn open_now(&self, sessions: u32) -> Result<String, Why> {
        self.close().await;
        let (plan, layout, immutable) = (Arc::clone(&self.plan), self.layout.clone(), self.is_immutable());
        let number = self.openings.fetch_add(1, Ordering::Relaxed);
        let opened = on_a_thread(move || open_state(&plan, layout, sessions.max(1), immutable, number)).await?;
        let authority = opened.authority.clone();
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(opened));
        Ok(authority)
    }
}

/// Runs what blocks on a thread of its own.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T, Why> + Send + 'static) -> Result<T, Why> {
    let (reply, answer) = oneshot::channel();
    thread::Builder::new()
        .name("dpone-sqlite-open".into())
        .spawn(move || reply.send(work()).is_ok())
        .map_err(|e| Why::transient(Code::SourceReadFailed, format!("no thread to open the source: {}", e.kind())))?;
    answer.await.unwrap_or_else(|_| Err(Why::fatal(Code::InternalError, "opening the source ended without an answer")))
}

fn open_state(
    plan: &Arc<SqlitePlan>,
    layout: ChunkLayout,
    sessions: u32,
    immutable: bool,
    number: u64,
) -> Result<Opened, Why> {
    let identity = if immutable { Some(file_identity(&plan.request.path)?) } else { None };
    // One more for counting.
    let snapshot = Snapshot::open(&plan.request.path, sessions as usize + 1)?;
    let authority =
        identity.unwrap_or_else(|| format!("sqlite:{:016x}.{number}.{}", plan.nonce, snapshot.data_version));
    let mut connections = snapshot.connections;
    let Some(first) = connections.first() else { return Err(gone()) };
    let changed = |detail: String| Why::fatal(Code::SourceSchemaChanged, detail);
    let resolved = resolve(first, &plan.request)
        .map_err(|refusals| changed(refusals.first().map_or_else(String::new, |refusal| refusal.message.clone())))?;
    if resolved.schema != plan.schema {
        return Err(changed(difference(&plan.schema, &resolved.schema)));
    }
    let closing = Arc::new(AtomicBool::new(false));
    let shared = Arc::new(Shared { plan: Arc::clone(plan), resolved, layout, closing: Arc::clone(&closing) });
    let (mut ended, mut stops) = (Vec::new(), Vec::new());
    let mut start = |connection| {
        let (signal, receiver) = oneshot::channel();
        ended.push(receiver);
        let session = Session::start(connection, Arc::clone(&shared), signal)?;
        stops.push(Arc::clone(&session.stop));
        Ok::<_, Why>(session)
    };
    let counter = start(connections.pop().ok_or_else(gone)?)?;
    let free = connections.into_iter().map(&mut start).collect::<Result<Vec<_>, _>>()?;
    let permits = Semaphore::new(free.len());
    Ok(Opened {
        authority,
        free: Mutex::new(free),
        permits,
        counter: Mutex::new(Some(counter)),
        closing,
        stops,
        ended: Mutex::new(ended),
    })
}

/// The first column that is not as it was planned.
fn difference(planned: &dpone_engine::schema::Schema, found: &dpone_engine::schema::Schema) -> String {
    let pair = planned.columns.iter().zip(&found.columns).find(|(a, b)| a != b);
    match pair {
        Some((planned, found)) if planned.name == found.name => {
            format!("column \"{}\" was planned as {} and is now {}", planned.name, planned.ty, found.ty)
        }
        Some((planned, found)) => format!("column \"{}\" was planned where \"{}\" is now", planned.name, found.name),
        None => format!("{} columns were planned and there are now {}", planned.columns.len(), found.columns.len()),
    }
}

impl Source for SqliteSource {
    type Body = Body;
    type Reader = SqliteReader;

    async fn open(&self, sessions: u32) -> Outcome {
        match self.open_now(sessions).await {
            Ok(authority) => Outcome::Done(Receipt::Opened { authority, persistent: self.is_immutable() }),
            Err(why) => Outcome::NotDone(why),
        }
    }

    async fn reopen(&self, authority: &str, persistent: bool, sessions: u32) -> Seen {
        if self.current().is_some_and(|opened| opened.authority == authority) {
            return Seen::Ours;
        }
        if !persistent || !self.is_immutable() {
            return Seen::Nothing;
        }
        match file_identity(&self.plan.request.path) {
            Ok(identity) if identity == authority => {}
            Ok(_) => return Seen::Nothing,
            Err(_) => return Seen::CannotTell,
        }
        match self.open_now(sessions).await {
            Ok(opened) if opened == authority => Seen::Ours,
            Ok(_) => Seen::Nothing,
            Err(why) if why.code == Code::SourceSchemaChanged => Seen::Nothing,
            Err(_) => Seen::CannotTell,
        }
    }

    async fn count(&self) -> Outcome {
        let Some(opened) = self.current() else { return Outcome::NotDone(gone()) };
        let (reply, answer) = oneshot::channel();
        let sent = match opened.counter.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(counter) => counter.send(Command::Count(reply)),
            None => Err(gone()),
        };
        if let Err(why) = sent {
            return Outcome::NotDone(why);
        }
        match answer.await {
            Ok(Ok(rows)) => Outcome::Done(Receipt::Counted { rows }),
            Ok(Err(why)) => Outcome::NotDone(why),
            Err(_) => Outcome::NotDone(gone()),
        }
    }

    async fn reader(&self, unit: UnitId) -> Result<SqliteReader, Why> {
        let opened = self.current().ok_or_else(gone)?;
        opened.permits.acquire().await.map_err(|_| gone())?.forget();
        let session = opened.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(session) = session else {
            // Whoever waits next must not wait for ever either.
            opened.lost();
            return Err(gone());
        };
        let reader = SqliteReader { opened, session: Some(session), busy: false };
        match reader.session.as_ref().map(|session| session.send(Command::Begin(unit))) {
            Some(Ok(())) => Ok(reader),
            _ => Err(gone()),
        }
    }

    async fn close(&self) {
        let Some(opened) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        opened.closing.store(true, Ordering::Relaxed);
        opened.permits.close();
        opened.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let ended = std::mem::take(&mut *opened.ended.lock().unwrap_or_else(PoisonError::into_inner));
        *opened.counter.lock().unwrap_or_else(PoisonError::into_inner) = None;
        press(opened.stops.clone());
        for session in ended {
            let _ = session.await;
        }
    }
}
