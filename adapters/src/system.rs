//! Time and nonces, as the operating system has them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dpone_engine::ports::{Clock, Entropy};

/// When steady time began.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// The system's wall clock, its steady clock, and the async runtime's timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        // A clock before 1970 reads as 1970.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
    }

    fn steady(&self) -> u64 {
        let origin = *ORIGIN.get_or_init(Instant::now);
        u64::try_from(origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn sleep_until(&self, steady_ms: u64) {
        loop {
            let now = self.steady();
            if now >= steady_ms {
                return;
            }
            tokio::time::sleep(Duration::from_millis(steady_ms - now)).await;
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
        let until = SystemClock.steady() + 20;
        SystemClock.sleep_until(until).await;
        assert!(SystemClock.steady() >= until);
        SystemClock.sleep_until(0).await;
    }

    #[test]
    fn nonces_do_not_repeat() {
        let drawn: BTreeSet<u64> = (0..10_000).map(|_| SystemEntropy.nonce()).collect();
        assert_eq!(drawn.len(), 10_000);
    }
}
