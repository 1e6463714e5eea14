//! The data pump: reserve, read, seal, announce, write, confirm. One read's chunks may be written while it reads on.

use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::FutureExt;

use super::{Done, Driver};
use crate::budget::{Amount, Grant};
use crate::codes::Code;
use crate::ports::{Entropy, ObjectStore, Observer, Ports, Pull, SealedChunk, Source, UnitReader};
use crate::profile::UnitProfile;
use crate::run::event::ABANDONED;
use crate::run::run::Scope;
use crate::run::{Effect, Event, Key, Outcome, Receipt, UnitId, Why, names};

/// A unit being read under one key.
pub(super) struct ReadTask<P: Ports> {
    pub(super) unit: UnitId,
    try_no: u32,
    next_chunk: u32,
    rows: u64,
    bytes: u64,
    /// Sealed chunks that the store does not own yet, by number. Their grants live as long.
    held: BTreeMap<u32, Held<P>>,
    /// The reader, while no pull has it.
    reader: Option<<P::Source as Source>::Reader>,
    /// Whether a pull, or the opening or closing of the reader, is in flight.
    busy: bool,
    end: Option<Result<(u64, UnitProfile), Why>>,
}

struct Held<P: Ports> {
    chunk: Rc<SealedChunk<P::Body>>,
    _grant: Grant,
    /// The put in flight, or in doubt.
    put: Option<Key>,
    not_before: u64,
}

/// A pull's end: the reader comes back with what it yielded.
pub(super) struct Pulled<P: Ports> {
    key: Key,
    reader: <P::Source as Source>::Reader,
    result: Result<(Pull<P::Body>, Option<Grant>), Why>,
}

/// A put's end.
pub(super) struct PutDone {
    pub(super) key: Key,
    pub(super) outcome: Outcome,
}

impl<P: Ports> ReadTask<P> {
    /// Whether nothing of it is in flight.
    pub(super) fn is_quiet(&self) -> bool {
        !self.busy && self.held.values().all(|h| h.put.is_none())
    }

    fn fail(&mut self, why: Why) {
        // The first failure of a read is the one that counts.
        if !matches!(self.end, Some(Err(_))) {
            self.end = Some(Err(why));
        }
        self.held.retain(|_, held| held.put.is_some());
    }
}

impl<'a, P: Ports> Driver<'a, P> {
    pub(super) fn start_read(&mut self, key: Key, unit: UnitId, try_no: u32) {
        let task = ReadTask {
            unit,
            try_no,
            next_chunk: 0,
            rows: 0,
            bytes: 0,
            held: BTreeMap::new(),
            reader: None,
            busy: true,
            end: None,
        };
        self.reads.insert(key, task);
        let source = self.ports.source();
        self.tasks.push(async move { Done::Reader(key, source.reader(unit).await) }.boxed_local());
    }

    pub(super) fn reader_opened(&mut self, key: Key, reader: Result<<P::Source as Source>::Reader, Why>) {
        let Some(read) = self.reads.get_mut(&key) else { return };
        read.busy = false;
        match reader {
            Ok(reader) => {
                read.reader = Some(reader);
                self.go_on(key, self.order.grant.bytes);
            }
            Err(why) => read.fail(why),
        }
    }

    /// The next pull under a grant of that many bytes, or the reader's end if the read has ended.
    fn go_on(&mut self, key: Key, bytes: u64) {
        let Some(read) = self.reads.get_mut(&key) else { return };
        let Some(reader) = read.reader.take() else { return };
        read.busy = true;
        if read.end.is_some() {
            self.tasks.push(
                async move {
                    reader.close().await;
                    Done::ReaderClosed(key)
                }
                .boxed_local(),
            );
            return;
        }
        let budget = self.budget.clone();
        let want = Amount { bytes, rows: self.order.grant.rows };
        self.tasks.push(
            async move {
                let mut reader = reader;
                let result = match budget.reserve(want).await {
                    Ok(grant) => reader.next(want.bytes, want.rows).await.map(|pull| (pull, Some(grant))),
                    Err(exceeds) => Err(Why::fatal(
                        Code::PhysicalChunkRowExceedsMaxBytes,
                        format!(
                            "one row needs {} bytes and the budget is {} bytes",
                            exceeds.want.bytes, exceeds.total.bytes
                        ),
                    )),
                };
                Done::Pulled(Pulled { key, reader, result })
            }
            .boxed_local(),
        );
    }

    pub(super) fn pulled(&mut self, pulled: Pulled<P>) {
        let Pulled { key, reader, result } = pulled;
        let grant_bytes = self.order.grant.bytes;
        let Some(read) = self.reads.get_mut(&key) else { return };
        read.busy = false;
        read.reader = Some(reader);
        let mut next = grant_bytes;
        match result {
            // A cancelled read takes nothing in any more.
            _ if read.end.is_some() => {}
            Ok((Pull::Chunk(chunk), grant)) => {
                if let Some(mut grant) = grant {
                    // What remains of the batch is the encoded body: the reader's own buffers are free again.
                    grant.shrink(Amount { bytes: chunk.facts.bytes, rows: chunk.facts.rows });
                    read.rows += chunk.facts.rows;
                    read.bytes += chunk.facts.bytes;
                    let held = Held { chunk: Rc::new(chunk), _grant: grant, put: None, not_before: 0 };
                    read.held.insert(read.next_chunk, held);
                    read.next_chunk += 1;
                    self.ports.observer().progress(read.unit, read.rows, read.bytes);
                }
            }
            Ok((Pull::NeedsGrant { bytes }, _)) => next = bytes,
            Ok((Pull::End { source_bytes, profile }, _)) => read.end = Some(Ok((source_bytes, profile))),
            Err(why) => read.fail(why),
        }
        self.go_on(key, next);
    }

    pub(super) fn reader_closed(&mut self, key: Key) {
        if let Some(read) = self.reads.get_mut(&key) {
            read.busy = false;
        }
    }

    /// Announces the puts that are due, oldest read first, up to the upload limit.
    pub(super) fn due_puts(&mut self, ahead: usize) -> Vec<(Key, Effect)> {
        let now = self.policy().now;
        let mut free = self.order.uploads as usize;
        free =
            free.saturating_sub(self.reads.values().flat_map(|r| r.held.values()).filter(|h| h.put.is_some()).count());
        let mut key = Key(self.run.next_key.0 + ahead as u32);
        let mut puts = Vec::new();
        let mut waits = Vec::new();
        for (read_key, read) in &mut self.reads {
            let dead = self.run.open.get(read_key).is_none_or(|o| o.doubted) || matches!(read.end, Some(Err(_)));
            if dead || self.run.halted.is_some() {
                continue;
            }
            for (&number, held) in read.held.iter_mut().filter(|(_, h)| h.put.is_none()) {
                if held.not_before > now {
                    waits.push(held.not_before);
                    continue;
                }
                if free == 0 {
                    break;
                }
                free -= 1;
                let nonce = self.ports.entropy().nonce();
                let effect =
                    names::put(&self.run, *read_key, read.unit, read.try_no, number, held.chunk.facts.clone(), nonce);
                held.put = Some(key);
                puts.push((key, effect));
                key = Key(key.0 + 1);
            }
        }
        waits.into_iter().for_each(|time| self.wait_until(time));
        puts
    }

    pub(super) fn start_put(&mut self, key: Key, read: Key, chunk: u32, object: String) {
        let Some(held) = self.reads.get(&read).and_then(|r| r.held.get(&chunk)) else { return };
        let body = Rc::clone(&held.chunk);
        let store = self.ports.store();
        self.tasks.push(
            async move {
                let outcome = store.put(&object, &body.facts, &body.body).await;
                Done::Put(PutDone { key, outcome })
            }
            .boxed_local(),
        );
    }

    /// A put was settled: the store owns the bytes, or the chunk waits for another try, or its read has failed.
    pub(super) fn put_settled(&mut self, key: Key, effect: &Effect, event: &Event) {
        let Effect::Put { read, chunk, object, .. } = effect else { return };
        let failed = self.run.tries(&Scope::of(effect)).failed + 1;
        let max_tries = self.order.policy.max_tries;
        match event {
            Event::Confirmed { .. } => {
                self.fresh.insert(object.clone());
                if let Some(task) = self.reads.get_mut(read) {
                    task.held.remove(chunk);
                }
            }
            Event::NotDone { why, not_before, .. } => {
                let Some(task) = self.reads.get_mut(read) else { return };
                let Some(held) = task.held.get_mut(chunk).filter(|h| h.put == Some(key)) else { return };
                held.put = None;
                held.not_before = *not_before;
                if !why.transient || failed >= max_tries {
                    task.fail(why.clone());
                }
            }
            _ => {}
        }
    }

    /// Stops every reader. What is being written is awaited; what was not announced is given up.
    pub(super) fn cancel_reads(&mut self) {
        let keys: Vec<Key> = self.reads.keys().copied().collect();
        for key in keys {
            if let Some(read) = self.reads.get_mut(&key)
                && !matches!(read.end, Some(Err(_)))
            {
                read.fail(Why::transient(ABANDONED, "the read was cancelled"));
            }
            self.go_on(key, 0);
        }
    }

    /// The facts of reads that have come to their end with nothing in flight.
    pub(super) fn ended_reads(&mut self) -> Vec<Event> {
        let quiet = |read: &ReadTask<P>| match &read.end {
            Some(Ok(_)) => !read.busy && read.reader.is_none() && read.held.is_empty(),
            Some(Err(_)) => read.is_quiet() && read.reader.is_none(),
            None => false,
        };
        let keys: Vec<Key> = self.reads.iter().filter(|(_, r)| quiet(r)).map(|(k, _)| *k).collect();
        let mut facts = Vec::new();
        for key in keys {
            let Some(read) = self.reads.remove(&key) else { continue };
            // A read that was taken out of its hands (a new attempt) has no fact to add.
            let Some(open) = self.run.open.get(&key) else { continue };
            let not_before = self.retry_at(&open.effect);
            facts.push(match read.end {
                Some(Ok((source_bytes, profile))) => {
                    let receipt = Receipt::Read { chunks: read.next_chunk, source_bytes, profile };
                    Event::Confirmed { key, receipt }
                }
                Some(Err(why)) => Event::NotDone { key, why, not_before },
                None => continue,
            });
        }
        facts
    }
}
