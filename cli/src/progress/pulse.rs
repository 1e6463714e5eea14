//! A line now and then from a step that has nothing else to say, so that a silent one is not taken for a dead one.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dpone_engine::report::units::duration;

/// The longest silence.
const SILENCE: Duration = Duration::from_secs(10);
/// How often the silence is measured.
const LOOK: Duration = Duration::from_secs(1);

/// When something was last said, and about what; times since the start.
#[derive(Debug)]
struct Rhythm {
    step: String,
    since: Duration,
    said: Duration,
}

impl Rhythm {
    fn said(&mut self, now: Duration, step: Option<&str>) {
        self.said = now;
        if let Some(step) = step {
            self.step = step.to_owned();
            self.since = now;
        }
    }

    fn beat(&mut self, now: Duration) -> Option<String> {
        if now.saturating_sub(self.said) < SILENCE {
            return None;
        }
        self.said = now;
        let ms = now.saturating_sub(self.since).as_millis();
        Some(format!("still {}, for {}", self.step, duration(u64::try_from(ms).unwrap_or(u64::MAX))))
    }
}

/// Speaks up after a silence, from a thread of its own, until it is dropped.
#[derive(Debug)]
pub(super) struct Pulse {
    rhythm: Arc<Mutex<Rhythm>>,
    start: Instant,
    /// Dropped with the pulse, which ends the thread.
    _alive: Sender<()>,
}

impl Pulse {
    /// Begins to listen for silence; `say` writes a line at a time since the start.
    pub(super) fn start(step: &str, start: Instant, say: impl Fn(&str, Duration) + Send + 'static) -> Self {
        let rhythm = Rhythm { step: step.to_owned(), since: Duration::ZERO, said: Duration::ZERO };
        let rhythm = Arc::new(Mutex::new(rhythm));
        let (alive, ended) = channel();
        let beating = Arc::clone(&rhythm);
        // Without a thread there are no such lines, and nothing else is missing.
        let _ = thread::Builder::new().name("pulse".to_owned()).spawn(move || listen(&ended, &beating, start, say));
        Self { rhythm, start, _alive: alive }
    }

    /// Something was said; `step` if it was the beginning of one.
    pub(super) fn said(&self, step: Option<&str>) {
        let mut rhythm = self.rhythm.lock().unwrap_or_else(PoisonError::into_inner);
        rhythm.said(self.start.elapsed(), step);
    }
}

fn listen(ended: &Receiver<()>, rhythm: &Mutex<Rhythm>, start: Instant, say: impl Fn(&str, Duration)) {
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        let now = start.elapsed();
        let beat = rhythm.lock().unwrap_or_else(PoisonError::into_inner).beat(now);
        if let Some(text) = beat {
            say(&text, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Rhythm;

    #[test]
    fn a_silent_step_is_heard_of_every_ten_seconds() {
        let at = Duration::from_secs;
        let mut rhythm = Rhythm { step: "reading".to_owned(), since: at(0), said: at(0) };
        rhythm.said(at(5), Some("publishing"));
        for (now, heard) in [
            (14, None),
            (15, Some("still publishing, for 10.0 s")),
            (16, None),
            (25, Some("still publishing, for 20.0 s")),
        ] {
            assert_eq!(rhythm.beat(at(now)).as_deref(), heard, "at {now}");
        }
        rhythm.said(at(34), None);
        assert_eq!(rhythm.beat(at(43)), None);
        assert_eq!(rhythm.beat(at(70)).as_deref(), Some("still publishing, for 1 min 05 s"));
    }
}
