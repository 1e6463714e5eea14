//! A thread that encodes while the rows of the next batch are read.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use arrow::array::RecordBatch;
use dpone_engine::ports::SealedChunk;

use super::{ChunkLayout, ChunkWriter, EncodeError};
use crate::body::Body;

/// What the thread is asked for.
#[derive(Debug)]
pub enum Job {
    /// Encode rows into the file under way, or into a new one.
    Write {
        /// The rows.
        batch: RecordBatch,
        /// Whether a file begun with them may hold values of any size.
        large: bool,
        /// Memory at which a row group is ended.
        row_group: u64,
    },
    /// End the file.
    Seal,
    /// Give up the file, if there is one.
    Discard,
}

enum Answer {
    Written { memory: u64, encoded: u64 },
    Sealed(SealedChunk<Body>),
    Discarded,
    Failed(EncodeError),
}

/// The near end of the thread. Dropping it ends the thread.
pub struct Encoder {
    jobs: SyncSender<Job>,
    answers: Receiver<Answer>,
    /// What each batch under way was said to need at most, beyond what is written.
    outstanding: VecDeque<u64>,
    memory: u64,
    encoded: u64,
}

impl Encoder {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn start(layout: ChunkLayout) -> Result<Self, EncodeError> {
        let (jobs, inbox) = sync_channel(1);
        // The answers of every job that can be under way fit, so the thread never waits to answer.
        let (outbox, answers) = sync_channel(8);
        thread::Builder::new()
            .name("dpone-encode".into())
            .spawn(move || run(&layout, &inbox, &outbox))
            .map_err(|e| EncodeError(format!("no thread for the encoder, {}", e.kind())))?;
        Ok(Self { jobs, answers, outstanding: VecDeque::new(), memory: 0, encoded: 0 })
    }

    /// Gives the thread a batch that needs at most `charge` bytes until it is written.
    ///
    /// # Errors
    /// If encoding an earlier batch failed.
    pub fn write(&mut self, batch: RecordBatch, large: bool, row_group: u64, charge: u64) -> Result<(), EncodeError> {
        let mut job = Job::Write { batch, large, row_group };
        loop {
            self.collect()?;
            match self.jobs.try_send(job) {
                Ok(()) => break,
                Err(TrySendError::Full(again)) => {
                    job = again;
                    self.wait()?;
                }
                Err(TrySendError::Disconnected(_)) => return Err(gone()),
            }
        }
        self.outstanding.push_back(charge);
        Ok(())
    }

    /// Memory taken by the file under way, with what the batches under way may still need.
    #[inline]
    pub fn memory(&self) -> u64 {
        self.memory + self.outstanding.iter().sum::<u64>()
    }

    /// Bytes of the file as far as they are known.
    pub fn encoded(&self) -> u64 {
        self.encoded
    }

    /// Whether a batch is under way.
    pub fn is_busy(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// Takes in what has been done.
    ///
    /// # Errors
    /// If encoding failed.
    pub fn collect(&mut self) -> Result<(), EncodeError> {
        while let Ok(answer) = self.answers.try_recv() {
            self.take_in(answer)?;
        }
        Ok(())
    }

    /// Waits until the oldest batch under way is written.
    ///
    /// # Errors
    /// If encoding failed.
    pub fn wait(&mut self) -> Result<(), EncodeError> {
        if self.outstanding.is_empty() {
            return Ok(());
        }
        let answer = self.answers.recv().map_err(|_| gone())?;
        self.take_in(answer).map(|_| ())
    }

    /// Ends the file and waits for it.
    ///
    /// # Errors
    /// If encoding failed, or no file was begun.
    pub fn seal(&mut self) -> Result<SealedChunk<Body>, EncodeError> {
        self.jobs.send(Job::Seal).map_err(|_| gone())?;
        loop {
            let answer = self.answers.recv().map_err(|_| gone())?;
            if let Some(chunk) = self.take_in(answer)? {
                return Ok(chunk);
            }
        }
    }

    /// Gives up the file under way and everything that was still to be written to it.
    pub fn discard(&mut self) {
        if self.jobs.send(Job::Discard).is_err() {
            return;
        }
        loop {
            match self.answers.recv() {
                Ok(Answer::Discarded) | Err(_) => break,
                Ok(_) => {}
            }
        }
        self.outstanding.clear();
        (self.memory, self.encoded) = (0, 0);
    }

    fn take_in(&mut self, answer: Answer) -> Result<Option<SealedChunk<Body>>, EncodeError> {
        match answer {
            Answer::Written { memory, encoded } => {
                self.outstanding.pop_front();
                (self.memory, self.encoded) = (memory, encoded);
                Ok(None)
            }
            Answer::Sealed(chunk) => {
                (self.memory, self.encoded) = (0, 0);
                Ok(Some(chunk))
            }
            Answer::Discarded => Ok(None),
            Answer::Failed(error) => Err(error),
        }
    }
}

fn gone() -> EncodeError {
    EncodeError("the encoder has ended".into())
}

fn run(layout: &ChunkLayout, inbox: &Receiver<Job>, outbox: &SyncSender<Answer>) {
    let mut file: Option<ChunkWriter> = None;
    while let Ok(job) = inbox.recv() {
        let answer = match job {
            Job::Write { batch, large, row_group } => match write(layout, &mut file, &batch, large, row_group) {
                Ok((memory, encoded)) => Answer::Written { memory, encoded },
                Err(error) => Answer::Failed(error),
            },
            Job::Seal => match file.take().ok_or_else(|| EncodeError("no rows to seal".into())) {
                Ok(file) => file.seal().map_or_else(Answer::Failed, Answer::Sealed),
                Err(error) => Answer::Failed(error),
            },
            Job::Discard => {
                file = None;
                Answer::Discarded
            }
        };
        if outbox.send(answer).is_err() {
            return;
        }
    }
}

fn write(
    layout: &ChunkLayout,
    file: &mut Option<ChunkWriter>,
    batch: &RecordBatch,
    large: bool,
    row_group: u64,
) -> Result<(u64, u64), EncodeError> {
    let mut writer = match file.take() {
        Some(writer) => writer,
        None => ChunkWriter::new(layout, large, row_group)?,
    };
    writer.write(batch)?;
    let sizes = (writer.memory(), writer.encoded());
    *file = Some(writer);
    Ok(sizes)
}
