//! The driver: asks the machine what should be in flight, starts it, journals what came of it. It owns the data pump
//! and the budget, and takes no decision of its own.
//!
//! Invariant: an event is applied and appended before anything is done because of it; an append that fails ends the
//! runner, which begins nothing more: what is in flight may come to its end, and is not acted on. An effect whose outcome
//! is not known is never sent again from here: the machine has it probed.

mod effects;
mod feed;
mod pump;
mod settle;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{Either, LocalBoxFuture, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{FutureExt, pin_mut};

use crate::budget::{Amount, Budget};
use crate::codes::Code;
use crate::ports::{Clock, Control, Entropy, Observer, Ports, RunLog, Sighting, Source};
use crate::run::effect::Document;
use crate::run::policy::Draft;
use crate::run::run::Scope;
use crate::run::{
    Action, Effect, Ending, Event, Illegal, Key, Outcome, Policy, Run, State, decide, ending, names, recover,
};
use pump::{Pulled, PutDone, ReadTask};

/// One journalled fact with its time, as evidence is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its sequence number, from 1.
    pub seq: u64,
    /// Unix milliseconds.
    pub at: u64,
    /// The fact.
    pub event: Event,
}

/// What the driver itself measured, for evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The budget.
    pub configured: Amount,
    /// The most of it that was spoken for at one time.
    pub reserved_peak: Amount,
}

/// Builds an evidence document from the facts and what was measured. Same facts and measures, same text.
pub type Render<'a> = &'a dyn Fn(Document, &Run, &[Entry], Observed) -> String;

/// What a runner works under.
pub struct Order<'a> {
    /// Limits and policy; `now` and `stopping` are filled in at every step.
    pub policy: Policy,
    /// The byte and row budget.
    pub budget: Amount,
    /// What one pull of a reader and one load are granted.
    pub grant: Amount,
    /// Bytes that the check of staging is granted.
    pub check: u64,
    /// Objects written at the same time.
    pub uploads: u32,
    /// The journal's identity, which rivals see in the target's claim.
    pub journal: String,
    /// First delay before another try or probe, milliseconds; doubled with each, up to `max_backoff`.
    pub backoff: u64,
    /// The longest such delay, milliseconds.
    pub max_backoff: u64,
    /// How long what is in flight may still settle after a request to stop, milliseconds.
    pub stop_grace: u64,
    /// Builds evidence.
    pub render: Render<'a>,
}

/// How a runner's work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The machine has nothing left to do.
    Ended(Ending),
    /// It was asked to stop. What is open in the journal is probed by the next runner.
    Suspended,
    /// The journal could not be written, or another runner has taken over.
    Lost {
        /// `lease_lost` or a `journal_*` code.
        code: Code,
        /// One sentence.
        detail: String,
    },
    /// A fact could not follow from the facts: a defect of this program.
    Illegal(Illegal),
}

/// The runner's result: the run as it stands, all its facts, and how the work ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The fold of the log.
    pub run: Run,
    /// The whole log.
    pub entries: Vec<Entry>,
    /// How it ended.
    pub finish: Finish,
    /// What was measured.
    pub observed: Observed,
    /// What was still spoken for once everything had ended; anything but zero is a defect.
    pub leaked: Amount,
}

/// Works on a run until nothing is left to do or the runner must stop. `entries` is the run's log so far, and `epoch`
/// the one that this runner holds.
pub async fn drive<P: Ports>(ports: &P, run: Run, entries: Vec<Entry>, epoch: u64, order: &Order<'_>) -> Finished {
    let mut driver = Driver::new(ports, run, entries, order);
    let finish = match driver.work(epoch).await {
        Ok(finish) => finish,
        Err(Broken::Append { code, detail }) => Finish::Lost { code, detail },
        Err(Broken::Illegal(illegal)) => Finish::Illegal(illegal),
    };
    // One that was taken over from leaves at once: its successor may be tidying up behind it already.
    if matches!(&finish, Finish::Lost { code, .. } if *code != Code::LeaseLost) {
        driver.let_go().await;
    }
    driver.tasks.clear();
    driver.reads.clear();
    driver.close_source().await;
    let observed = driver.observed();
    let leaked = driver.budget.reserved();
    Finished { leaked, run: driver.run, entries: driver.entries, finish, observed }
}

/// Why a runner cannot go on.
enum Broken {
    Append { code: Code, detail: String },
    Illegal(Illegal),
}

/// A task's end.
enum Done<P: Ports> {
    Effect(Key, Outcome),
    Reader(Key, Result<<P::Source as Source>::Reader, crate::run::Why>),
    Pulled(Pulled<P>),
    ReaderClosed(Key),
    Put(PutDone),
    Probed(Key, Sighting),
    Timer(u64),
}

struct Driver<'a, P: Ports> {
    ports: &'a P,
    order: &'a Order<'a>,
    run: Run,
    entries: Vec<Entry>,
    budget: Budget,
    tasks: FuturesUnordered<LocalBoxFuture<'a, Done<P>>>,
    reads: BTreeMap<Key, ReadTask<P>>,
    probing: BTreeSet<Key>,
    timers: BTreeSet<u64>,
    /// Objects that this runner saw written whole; they need no second look before they are loaded.
    fresh: BTreeSet<String>,
    restart_from: Option<u32>,
    max_attempts: u32,
    source_open: bool,
    /// Wall and steady time when this runner began.
    began: (u64, u64),
}

impl<'a, P: Ports> Driver<'a, P> {
    fn new(ports: &'a P, run: Run, entries: Vec<Entry>, order: &'a Order<'a>) -> Self {
        // A failed attempt that is at rest is followed by the next one. One that is not is cleaned up, and ends: its
        // claim is given back under this epoch, so the next attempt needs a runner of a higher one.
        let restart_from = (run.state == State::FailedPrepublication && run.closed).then_some(run.attempt);
        let max_attempts = run.attempt + order.policy.max_attempts;
        Self {
            ports,
            order,
            run,
            entries,
            budget: Budget::new(order.budget),
            tasks: FuturesUnordered::new(),
            reads: BTreeMap::new(),
            probing: BTreeSet::new(),
            timers: BTreeSet::new(),
            fresh: BTreeSet::new(),
            restart_from,
            max_attempts,
            source_open: false,
            began: (ports.clock().now(), ports.clock().steady()),
        }
    }

    /// Unix milliseconds that never go back: what this runner's waits begin and end by.
    fn time(&self) -> u64 {
        self.began.0 + (self.ports.clock().steady() - self.began.1)
    }

    fn observed(&self) -> Observed {
        Observed { configured: self.budget.total(), reserved_peak: self.budget.peak() }
    }

    fn policy(&self) -> Policy {
        Policy {
            now: self.time(),
            stopping: self.ports.control().stopping(),
            restart_from: self.restart_from,
            max_attempts: self.max_attempts,
            ..self.order.policy.clone()
        }
    }

    async fn work(&mut self, epoch: u64) -> Result<Finish, Broken> {
        self.append(vec![Event::TakenOver { epoch }]).await?;
        loop {
            if self.ports.control().stopping() {
                // A request that came when everything was done changes nothing.
                let over = self.run.settled() && self.restart_from != Some(self.run.attempt);
                return if over { Ok(Finish::Ended(ending(&self.run))) } else { self.suspend().await };
            }
            let begun = self.advance().await?;
            if self.tasks.is_empty() {
                if begun {
                    continue;
                }
                return Ok(Finish::Ended(ending(&self.run)));
            }
            let stopped = self.ports.control().stopped();
            pin_mut!(stopped);
            let first = match select(self.tasks.next(), stopped).await {
                Either::Left((Some(done), _)) => done,
                Either::Left((None, _)) | Either::Right(_) => continue,
            };
            self.take_in(first).await?;
        }
    }

    /// Asks the machine and does what it says; true if anything was recorded or begun.
    async fn advance(&mut self) -> Result<bool, Broken> {
        let mut any = false;
        loop {
            let policy = self.policy();
            let actions = decide(&self.run, &policy);
            let facts: Vec<Event> =
                actions.iter().filter_map(|a| if let Action::Record(e) = a { Some(e.clone()) } else { None }).collect();
            if !facts.is_empty() {
                self.append(facts).await?;
                any = true;
                self.follow_state().await?;
                continue;
            }
            let mut intents = Vec::new();
            for action in actions {
                match action {
                    Action::Begin(draft) => intents.push(self.name(&draft, intents.len())),
                    Action::Probe(key) => any |= self.probe(key),
                    Action::WaitUntil(time) => self.wait_until(time),
                    Action::Record(_) => {}
                }
            }
            intents.extend(self.due_puts(intents.len()));
            if intents.is_empty() {
                return Ok(any);
            }
            self.append(
                intents.iter().map(|(key, effect)| Event::Intended { key: *key, effect: effect.clone() }).collect(),
            )
            .await?;
            for (key, effect) in intents {
                self.start(key, effect);
            }
            return Ok(true);
        }
    }

    fn name(&self, draft: &Draft, ahead: usize) -> (Key, Effect) {
        let key = Key(self.run.next_key.0 + ahead as u32);
        (key, names::name(&self.run, draft, self.ports.entropy().nonce()))
    }

    /// Applies facts and makes them durable, in that order, before anything is done because of them. Facts that could
    /// not be made durable are taken back: what the runner says of the run is what its log says.
    async fn append(&mut self, events: Vec<Event>) -> Result<(), Broken> {
        if events.is_empty() {
            return Ok(());
        }
        let appended = self.apply_and_append(events).await;
        if appended.is_err()
            && let Ok(run) = recover(self.entries.iter().map(|e| &e.event))
        {
            self.run = run;
        }
        appended
    }

    async fn apply_and_append(&mut self, events: Vec<Event>) -> Result<(), Broken> {
        for event in &events {
            self.run.absorb(event).map_err(Broken::Illegal)?;
        }
        let at = self.ports.clock().now();
        self.ports.log().append(at, &events).await.map_err(|e| Broken::Append { code: e.code, detail: e.detail })?;
        for event in events {
            let seq = self.entries.len() as u64 + 1;
            self.ports.observer().fact(seq, &event);
            self.entries.push(Entry { seq, at, event });
        }
        Ok(())
    }

    /// Takes in one task's end and every other that is ready, so that their facts share one append.
    async fn take_in(&mut self, first: Done<P>) -> Result<(), Broken> {
        let mut facts = Vec::new();
        let mut next = Some(first);
        while let Some(done) = next {
            self.settle(done, &mut facts);
            next = self.tasks.next().now_or_never().flatten();
        }
        self.append(facts).await?;
        let ended = self.ended_reads();
        self.append(ended).await?;
        self.follow_state().await
    }

    /// What a change of state means for what is in flight.
    async fn follow_state(&mut self) -> Result<(), Broken> {
        if !self.run.is_reading() {
            self.cancel_reads();
            let ended = self.ended_reads();
            self.append(ended).await?;
            if self.source_open && self.reads.is_empty() {
                self.source_open = false;
                self.ports.source().close().await;
            }
        }
        Ok(())
    }

    /// Cancels every reader and gives what is in flight a little time, so that as much as possible is settled in the
    /// journal; the rest is probed by the next runner.
    async fn suspend(&mut self) -> Result<Finish, Broken> {
        self.cancel_reads();
        let deadline = self.ports.clock().steady() + self.order.stop_grace;
        loop {
            let idle = self.reads.values().all(ReadTask::is_quiet) && self.run.open.values().all(|o| o.doubted);
            if self.tasks.is_empty() || (idle && self.reads.is_empty()) {
                return Ok(Finish::Suspended);
            }
            let sleep = self.ports.clock().sleep_until(deadline);
            pin_mut!(sleep);
            match select(self.tasks.next(), sleep).await {
                Either::Left((Some(done), _)) => {
                    let mut facts = Vec::new();
                    self.settle(done, &mut facts);
                    self.append(facts).await?;
                    let ended = self.ended_reads();
                    self.append(ended).await?;
                }
                Either::Left((None, _)) | Either::Right(_) => return Ok(Finish::Suspended),
            }
        }
    }

    /// Lets what is in flight come to its end, in bounded time, so that a runner which cannot journal any more leaves
    /// nothing half-done behind. Nothing is begun, and nothing is done because of what it came to.
    async fn let_go(&mut self) {
        self.cancel_reads();
        let deadline = self.ports.clock().steady() + self.order.stop_grace;
        while self.tasks.len() > self.timers.len() {
            let sleep = self.ports.clock().sleep_until(deadline);
            pin_mut!(sleep);
            match select(self.tasks.next(), sleep).await {
                Either::Left((Some(done), _)) => self.settle(done, &mut Vec::new()),
                Either::Left((None, _)) | Either::Right(_) => return,
            }
        }
    }

    /// Closes the source, in bounded time: what does not let go of it ends with the process.
    async fn close_source(&self) {
        let clock = self.ports.clock();
        let (closed, late) = (self.ports.source().close(), clock.sleep_until(clock.steady() + self.order.stop_grace));
        pin_mut!(closed, late);
        select(closed, late).await;
    }

    fn wait_until(&mut self, time: u64) {
        if self.timers.insert(time) {
            let clock = self.ports.clock();
            let until = self.began.1 + time.saturating_sub(self.began.0);
            self.tasks.push(
                async move {
                    clock.sleep_until(until).await;
                    Done::Timer(time)
                }
                .boxed_local(),
            );
        }
    }

    /// The delay before the try or probe after `failed` of them, from now.
    fn later(&self, failed: u32) -> u64 {
        let delay = self.order.backoff.saturating_mul(1 << failed.min(20)).min(self.order.max_backoff);
        self.time() + delay
    }

    /// When an effect that has just failed may be tried again.
    fn retry_at(&self, effect: &Effect) -> u64 {
        self.later(self.run.tries(&Scope::of(effect)).failed)
    }
}
