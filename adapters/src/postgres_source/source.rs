//! The source port: one opened state and its sessions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use dpone_engine::codes::Code;
use dpone_engine::manifest::Consistency;
use dpone_engine::ports::Source;
use dpone_engine::run::{Outcome, Receipt, Seen, UnitId, Why};
use tokio::sync::{Semaphore, oneshot};

use super::decode::Decoder;
use super::describe::look;
use super::failure::why;
use super::reader::PostgresReader;
use super::request::PostgresPlan;
use super::session::{Command, Session, Shared, gone};
use super::snapshot::{Holder, begin, database_identity, lock};
use crate::body::Body;
use crate::columnar::{ChunkLayout, EncodeError};
use crate::postgres::{Canceller, Config, Session as Connection};
use crate::reading::defect;

/// A PostgreSQL database as the source of a run.
pub struct PostgresSource {
    plan: Arc<PostgresPlan>,
    config: Config,
    layout: ChunkLayout,
    opened: Mutex<Option<Arc<Opened>>>,
    openings: AtomicU64,
}

/// One state, held open.
pub(super) struct Opened {
    authority: String,
    shared: Arc<Shared>,
    free: Mutex<Vec<Session>>,
    permits: Semaphore,
    counter: Mutex<Option<Session>>,
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
        let holder = &self.shared.holder;
        let connection = holder.join().map_err(|e| joining(holder, &e))?;
        let (signal, receiver) = oneshot::channel();
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(receiver);
        Session::start(connection, Arc::clone(&self.shared), signal)
    }
}

/// What a session that cannot join means: without the holder the snapshot's name means nothing to the server.
fn joining(holder: &Holder, error: &crate::postgres::PgError) -> Why {
    holder.check().map_or_else(|gone| super::failure::lost(&gone), |()| why(error))
}

impl PostgresSource {
    /// A source that reads by that plan.
    ///
    /// # Errors
    /// If the schema has a type that no file can hold exactly; preflight refuses those.
    pub fn new(plan: PostgresPlan, config: Config) -> Result<Self, EncodeError> {
        let layout = ChunkLayout::new(&plan.schema)?;
        Ok(Self { plan: Arc::new(plan), config, layout, opened: Mutex::new(None), openings: AtomicU64::new(0) })
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
        let (plan, config, layout) = (Arc::clone(&self.plan), self.config.clone(), self.layout.clone());
        let (immutable, number) = (self.is_immutable(), self.openings.fetch_add(1, Ordering::Relaxed));
        let opened = on_a_thread(move || open_state(&plan, config, layout, sessions.max(1), immutable, number)).await?;
        let authority = opened.authority.clone();
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(opened));
        Ok(authority)
    }
}

/// Runs what blocks on a thread of its own.
pub(super) async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Why> + Send + 'static,
) -> Result<T, Why> {
    let (reply, answer) = oneshot::channel();
    thread::Builder::new()
        .name("dpone-postgres-open".into())
        .spawn(move || reply.send(work()).is_ok())
        .map_err(|e| Why::transient(Code::SourceReadFailed, format!("no thread to open the source: {}", e.kind())))?;
    answer.await.unwrap_or_else(|_| Err(Why::fatal(Code::InternalError, "opening the source ended without an answer")))
}

fn open_state(
    plan: &Arc<PostgresPlan>,
    config: Config,
    layout: ChunkLayout,
    sessions: u32,
    immutable: bool,
    number: u64,
) -> Result<Opened, Why> {
    let mut session = begin(&config).map_err(|e| why(&e))?;
    let identity = database_identity(&mut session).map_err(|e| why(&e))?;
    let changed = |detail: String| Why::fatal(Code::SourceSchemaChanged, detail);
    let look = |session: &mut Connection| {
        look(session, &plan.request).map_err(|refusals| match refusals.into_iter().next() {
            // It could be reached a moment ago.
            Some(refusal) if matches!(refusal.code, Code::SourceNotFound | Code::SourceLocked) => {
                Why::transient(Code::SourceReadFailed, refusal.message)
            }
            refusal => changed(refusal.map_or_else(String::new, |refusal| refusal.message)),
        })
    };
    // Once to know what to lock, and once when nothing can change it any more.
    let found = look(&mut session)?;
    lock(&mut session, &found.sql.from).map_err(|e| why(&e))?;
    let resolved = look(&mut session)?;
    if resolved.schema != plan.schema {
        return Err(changed(difference(&plan.schema, &resolved.schema)));
    }
    let decoders: Option<Vec<Decoder>> = resolved.columns.iter().map(Decoder::new).collect();
    let decoders = decoders.ok_or_else(defect)?;
    let holder = Holder::new(config, resolved.sql.from.clone(), session, !immutable).map_err(|e| why(&e))?;
    let authority = match holder.snapshot() {
        Some(snapshot) => format!("postgres:{:016x}.{number}.{snapshot}.{identity}", plan.nonce),
        None => immutable_identity(&identity),
    };
    let shared = Arc::new(Shared { plan: Arc::clone(plan), resolved, decoders, layout, holder });
    let opened = Opened {
        authority,
        shared,
        free: Mutex::new(Vec::new()),
        permits: Semaphore::new(sessions as usize),
        counter: Mutex::new(None),
        readers: Mutex::new(BTreeMap::new()),
        numbers: AtomicU64::new(0),
        ended: Mutex::new(Vec::new()),
    };
    // A state that ends before it is told of is none that anything was read from: the next try makes another.
    let join = || {
        opened.join().map_err(|why| match why.code {
            Code::ConsistencyAuthorityLost => Why::transient(Code::SourceReadFailed, why.detail),
            _ => why,
        })
    };
    let counter = join()?;
    *opened.counter.lock().unwrap_or_else(PoisonError::into_inner) = Some(counter);
    for _ in 0..sessions {
        let session = join()?;
        opened.free.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }
    Ok(opened)
}

fn immutable_identity(database: &str) -> String {
    format!("postgres-immutable:{database}")
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

impl Source for PostgresSource {
    type Body = Body;
    type Reader = PostgresReader;

    async fn open(&self, sessions: u32) -> Outcome {
        match self.open_now(sessions).await {
            Ok(authority) => Outcome::Done(Receipt::Opened { authority, persistent: self.is_immutable() }),
            Err(why) => Outcome::NotDone(why),
        }
    }

    async fn reopen(&self, authority: &str, persistent: bool, sessions: u32) -> Seen {
        if let Some(opened) = self.current().filter(|opened| opened.authority == authority) {
            let held = on_a_thread(move || opened.shared.holder.check().map_err(|e| why(&e))).await;
            return if held.is_ok() { Seen::Ours } else { Seen::Nothing };
        }
        // A snapshot ends with the session that exported it.
        if !persistent || !self.is_immutable() {
            return Seen::Nothing;
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
        // A counter that failed is replaced: its transaction is of no use any more.
        let counter = opened.counter.lock().unwrap_or_else(PoisonError::into_inner).take();
        let counter = match counter {
            Some(counter) => Ok(counter),
            None => {
                let opened = Arc::clone(&opened);
                on_a_thread(move || opened.join()).await
            }
        };
        let counter = match counter {
            Ok(counter) => counter,
            Err(why) => return Outcome::NotDone(why),
        };
        // While it counts, closing finds it among those who read.
        let number = opened.enter(&counter);
        let (reply, answer) = oneshot::channel();
        let answer = match counter.send(Command::Count(reply)) {
            Ok(()) => answer.await,
            Err(why) => Ok(Err(why)),
        };
        opened.leave(number);
        match answer {
            Ok(Ok(rows)) => {
                *opened.counter.lock().unwrap_or_else(PoisonError::into_inner) = Some(counter);
                Outcome::Done(Receipt::Counted { rows })
            }
            Ok(Err(why)) => Outcome::NotDone(why),
            Err(_) => Outcome::NotDone(gone()),
        }
    }

    async fn reader(&self, unit: UnitId) -> Result<PostgresReader, Why> {
        let opened = self.current().ok_or_else(gone)?;
        opened.permits.acquire().await.map_err(|_| gone())?.forget();
        let free = opened.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let session = match free {
            Some(session) => Ok(session),
            None => {
                let opened = Arc::clone(&opened);
                on_a_thread(move || opened.join()).await
            }
        };
        let session = session.inspect_err(|_| opened.lost())?;
        let number = opened.enter(&session);
        let reader = PostgresReader { opened, session: Some(session), number, whole: false };
        match reader.session.as_ref().map(|session| session.send(Command::Begin(unit))) {
            Some(Ok(())) => Ok(reader),
            _ => Err(gone()),
        }
    }

    async fn close(&self) {
        let Some(opened) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        opened.permits.close();
        opened.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *opened.counter.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let used: Vec<Canceller> =
            opened.readers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        used.iter().for_each(Canceller::cut);
        if !used.is_empty() {
            // A server that counts or sorts does not notice that nobody listens. One that cannot be asked is left to it.
            let stopped = move || {
                let _ = used.iter().try_for_each(Canceller::cancel);
                Ok(())
            };
            let _: Result<(), Why> = on_a_thread(stopped).await;
        }
        let ended = std::mem::take(&mut *opened.ended.lock().unwrap_or_else(PoisonError::into_inner));
        for session in ended {
            let _ = session.await;
        }
    }
}
