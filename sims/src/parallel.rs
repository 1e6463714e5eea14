//! Many scenarios on all cores. Each is played on one thread, and the results do not depend on which.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// With the next item.
    On,
    /// No further item is needed.
    Enough,
}

/// Applies `work` to every item, with one accumulator per thread, and merges those at the end. Once `work` answers that it
/// is enough no further item is begun; all before it are finished.
pub fn fold<T: Sync, A: Send>(
    items: &[T],
    fresh: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, &T) -> Go + Sync,
    mut merge: impl FnMut(A),
) {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut mine = fresh();
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if work(&mut mine, item) == Go::Enough {
                        next.store(items.len(), Ordering::Relaxed);
                    }
                }
                done.lock().unwrap_or_else(PoisonError::into_inner).push(mine);
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().for_each(&mut merge);
}
