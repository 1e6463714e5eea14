//! The product as a process that stops at every point of its work on files until it is told to go on.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::facts::{Snapshot, Step, steps};
use crate::killer::Point;

/// A guard against tests that hang, not something that is measured.
const FOREVER: Duration = Duration::from_secs(120);

/// The journal's write-ahead log, which every fact is written to.
pub const WAL: &str = "journal.db-wal";

/// A process that is held at a point, or on its way to one.
#[derive(Debug)]
pub struct Held {
    child: Child,
    points: BufReader<UnixStream>,
    err: BufReader<ChildStderr>,
    said: String,
    waiting: bool,
    journal: PathBuf,
    /// Runs, and facts of the newest, that were there before.
    before: (usize, usize),
}

impl Held {
    /// Starts it. The library is already in the command's environment.
    pub(crate) fn start(mut command: Command, journal: PathBuf, only: &str) -> Self {
        let (runs, facts) = Snapshot::of(&journal).facts();
        let before = (runs, facts.len());
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        ours.set_read_timeout(Some(FOREVER)).expect("a time-out");
        command.env("KILL_STEP", "1").env("KILL_ONLY", only).stdin(Stdio::from(OwnedFd::from(theirs)));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the product starts");
        // The command holds the other end until it is dropped; the end of the process must be seen.
        drop(command);
        let err = BufReader::new(child.stderr.take().expect("stderr is piped"));
        Self { child, points: BufReader::new(ours), err, said: String::new(), waiting: false, journal, before }
    }

    /// Lets it go on to its next point; `None` if it ended before.
    ///
    /// # Panics
    /// If it hangs.
    pub fn next_point(&mut self) -> Option<Point> {
        self.answer(b"g");
        let mut line = String::new();
        match self.points.read_line(&mut line) {
            Ok(read) => {
                let point = Point::parse(line.trim_end()).filter(|_| read > 0);
                self.waiting = point.is_some();
                point
            }
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(e) => panic!("the product hangs: {e}"),
        }
    }

    /// Lets it go on until a point is what is wanted.
    ///
    /// # Panics
    /// If it ends before.
    pub fn until(&mut self, what: &str, mut wanted: impl FnMut(&mut Self, &Point) -> bool) -> Point {
        loop {
            let Some(point) = self.next_point() else {
                let mut said = String::new();
                let _ = self.err.read_to_string(&mut said);
                panic!("it ended before {what}: {}{said}", self.said)
            };
            if wanted(self, &point) {
                return point;
            }
        }
    }

    /// The steps of the facts that it has added to the journal.
    pub fn steps(&self) -> Vec<Step> {
        let (runs, entries) = self.journal().facts();
        let known = if runs > self.before.0 { 0 } else { self.before.1 };
        steps(&entries).into_iter().skip(known).flatten().collect()
    }

    /// Lets it go on until a step was recorded for the `nth` time, and answers with the journal as it was before that was
    /// written; `None` if it ended before. It is held with nothing done because of what was just recorded.
    pub fn reach(&mut self, step: &Step, nth: usize) -> Option<Snapshot> {
        let mut before = self.journal();
        let mut writing = false;
        loop {
            let point = self.next_point()?;
            if point.writes(WAL) && !writing {
                before = self.journal();
                writing = true;
            }
            if point.synced(WAL) {
                writing = false;
                if self.steps().iter().filter(|s| *s == step).count() >= nth {
                    return Some(before);
                }
            }
        }
    }

    /// What its journal would say if it were killed now.
    pub fn journal(&self) -> Snapshot {
        Snapshot::of(&self.journal)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// If that is not possible.
    pub fn signal(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    /// Waits until it has printed that on stderr.
    ///
    /// # Panics
    /// If it ends before.
    pub fn hear(&mut self, text: &str) {
        while !self.said.contains(text) {
            let read = self.err.read_line(&mut self.said).expect("stderr is text");
            assert!(read > 0, "it ended before it said {text:?}: {}", self.said);
        }
    }

    /// Lets it go on without any more stops.
    pub fn free(&mut self) {
        self.answer(b"f");
    }

    /// Lets it go on to its end.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn finish(mut self) -> Output {
        self.free();
        self.wait()
    }

    /// Waits for its end without letting it go on.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn end_of_held(self) -> Output {
        self.wait()
    }

    /// SIGKILL, where it stands.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn kill(self) -> Output {
        self.signal(Signal::SIGKILL);
        self.wait()
    }

    fn wait(mut self) -> Output {
        self.err.read_to_string(&mut self.said).expect("stderr is text");
        let output = self.child.wait_with_output().expect("it ends");
        Output { stderr: self.said.into_bytes(), ..output }
    }

    fn answer(&mut self, answer: &[u8]) {
        if std::mem::take(&mut self.waiting) {
            // A process that was killed takes no answer.
            let _ = self.points.get_mut().write_all(answer);
        }
    }
}

/// Sends a process a signal.
///
/// # Panics
/// If that is not possible.
pub fn send(process: u32, signal: Signal) {
    let process = i32::try_from(process).expect("a process id");
    kill(Pid::from_raw(process), signal).expect("the process takes signals");
}
