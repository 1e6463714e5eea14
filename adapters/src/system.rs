//! Time and nonces, as the operating system has them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dpone_engine::ports::{Clock, Entropy};

/// The system's wall clock, and the async runtime's timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        // A clock before 1970 reads as 1970: it only makes waits longer.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
    }

    async fn sleep_until(&self, unix_ms: u64) {
        // The wall clock may be set back meanwhile: look again after every sleep, and never sleep long on one reading.
        loop {
            let now = self.now();
            if now >= unix_ms {
                return;
            }
            tokio::time::sleep(Duration::from_millis((unix_ms - now).min(60_000))).await;
        }
    }
}

/// The operating system's random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn nonce(&self) -> u64 {
        getrandom::u64().unwrap_or_else(|_| {
            // No random device: the standard library's per-process keys, with the time and the process mixed in.
            let mut hasher = RandomState::new().build_hasher();
            SystemTime::now().hash(&mut hasher);
            std::process::id().hash(&mut hasher);
            hasher.finish()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dpone_engine::ports::{Clock as _, Entropy as _};

    use super::{SystemClock, SystemEntropy};

    #[tokio::test]
    async fn sleeping_ends_at_or_after_the_time() {
        let until = SystemClock.now() + 20;
        SystemClock.sleep_until(until).await;
        assert!(SystemClock.now() >= until);
        SystemClock.sleep_until(0).await;
    }

    #[test]
    fn nonces_do_not_repeat() {
        let drawn: BTreeSet<u64> = (0..10_000).map(|_| SystemEntropy.nonce()).collect();
        assert_eq!(drawn.len(), 10_000);
    }
}
