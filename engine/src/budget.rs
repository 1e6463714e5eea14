//! The byte and row budget of a run: reserved before the read, carried by the data, released when somebody else owns
//! the bytes.
//!
//! Invariant: whoever waits here holds nothing, so waiting cannot deadlock; grants are given in the order of asking,
//! so nobody starves.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// An amount of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes in memory, every representation counted.
    pub bytes: u64,
    /// Rows in memory.
    pub rows: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Pool {
    total: Amount,
    free: Amount,
    /// The highest bytes and rows reserved at one time.
    peak: Amount,
    next_id: u64,
    queue: VecDeque<Waiter>,
}

impl Pool {
    fn fits(&self, want: Amount) -> bool {
        want.bytes <= self.free.bytes && want.rows <= self.free.rows
    }

    fn take(&mut self, want: Amount) {
        self.free.bytes -= want.bytes;
        self.free.rows -= want.rows;
        self.peak.bytes = self.peak.bytes.max(self.total.bytes - self.free.bytes);
        self.peak.rows = self.peak.rows.max(self.total.rows - self.free.rows);
    }

    fn give_back(&mut self, amount: Amount) {
        self.free.bytes += amount.bytes;
        self.free.rows += amount.rows;
        self.wake_first();
    }

    fn wake_first(&mut self) {
        if let Some(waker) = self.queue.front_mut().and_then(|w| w.waker.take()) {
            waker.wake();
        }
    }
}

/// The run's budget. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Rc<RefCell<Pool>>);

/// A part of the budget that is spoken for; dropping it gives it back.
#[derive(Debug)]
pub struct Grant {
    pool: Rc<RefCell<Pool>>,
    amount: Amount,
}

/// More than the whole budget was asked for: no amount of waiting could grant it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} bytes and {} rows were asked for and the whole budget is {} bytes and {} rows", want.bytes, want.rows, total.bytes, total.rows)]
pub struct ExceedsBudget {
    /// What was asked for.
    pub want: Amount,
    /// The whole budget.
    pub total: Amount,
}

impl Budget {
    /// A budget of which nothing is spoken for.
    pub fn new(total: Amount) -> Self {
        let pool = Pool { total, free: total, peak: Amount::default(), next_id: 0, queue: VecDeque::new() };
        Self(Rc::new(RefCell::new(pool)))
    }

    /// The whole budget.
    pub fn total(&self) -> Amount {
        self.0.borrow().total
    }

    /// What is spoken for now.
    pub fn reserved(&self) -> Amount {
        let pool = self.0.borrow();
        Amount { bytes: pool.total.bytes - pool.free.bytes, rows: pool.total.rows - pool.free.rows }
    }

    /// The most that was spoken for at one time.
    pub fn peak(&self) -> Amount {
        self.0.borrow().peak
    }

    /// Waits, in turn, until that much is free.
    ///
    /// # Errors
    /// [`ExceedsBudget`] at once, if it never could be.
    pub async fn reserve(&self, want: Amount) -> Result<Grant, ExceedsBudget> {
        let total = self.total();
        if want.bytes > total.bytes || want.rows > total.rows {
            return Err(ExceedsBudget { want, total });
        }
        Ok(Reserve { pool: Rc::clone(&self.0), want, id: None }.await)
    }
}

impl Grant {
    /// What it covers.
    pub fn amount(&self) -> Amount {
        self.amount
    }

    /// Gives back all but `to`; never grows.
    pub fn shrink(&mut self, to: Amount) {
        let keep = Amount { bytes: to.bytes.min(self.amount.bytes), rows: to.rows.min(self.amount.rows) };
        let back = Amount { bytes: self.amount.bytes - keep.bytes, rows: self.amount.rows - keep.rows };
        self.amount = keep;
        self.pool.borrow_mut().give_back(back);
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.pool.borrow_mut().give_back(self.amount);
    }
}

struct Reserve {
    pool: Rc<RefCell<Pool>>,
    want: Amount,
    id: Option<u64>,
}

impl Future for Reserve {
    type Output = Grant;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Grant> {
        let pool = Rc::clone(&self.pool);
        let mut pool = pool.borrow_mut();
        let want = self.want;
        let id = match self.id {
            Some(id) => id,
            None => {
                let id = pool.next_id;
                pool.next_id += 1;
                pool.queue.push_back(Waiter { id, waker: None });
                id
            }
        };
        let first = pool.queue.front().is_some_and(|w| w.id == id);
        if first && pool.fits(want) {
            pool.queue.pop_front();
            pool.take(want);
            self.id = None;
            // The next in turn may fit as well.
            pool.wake_first();
            drop(pool);
            return Poll::Ready(Grant { pool: Rc::clone(&self.pool), amount: want });
        }
        if let Some(waiter) = pool.queue.iter_mut().find(|w| w.id == id) {
            waiter.waker = Some(cx.waker().clone());
        }
        // `self.id` outlives this poll: a queued waiter is removed when it is dropped.
        drop(pool);
        self.id = Some(id);
        Poll::Pending
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let mut pool = self.pool.borrow_mut();
            pool.queue.retain(|w| w.id != id);
            pool.wake_first();
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use futures_util::FutureExt;

    use super::{Amount, Budget};

    const fn bytes(bytes: u64) -> Amount {
        Amount { bytes, rows: 0 }
    }

    #[test]
    fn grants_are_given_in_turn_and_never_beyond_the_total() {
        let budget = Budget::new(bytes(10));
        let first = budget.reserve(bytes(6)).now_or_never().unwrap().unwrap();
        let mut big = Box::pin(budget.reserve(bytes(8)));
        assert!(big.as_mut().now_or_never().is_none());
        let mut small = Box::pin(budget.reserve(bytes(1)));
        assert!(small.as_mut().now_or_never().is_none(), "a later request does not overtake");
        drop(first);
        let big = big.as_mut().now_or_never().unwrap().unwrap();
        let small = small.as_mut().now_or_never().unwrap().unwrap();
        assert_eq!(big.amount().bytes + small.amount().bytes, 9);
        assert_eq!(budget.peak().bytes, 9);
    }

    #[test]
    fn a_dropped_waiter_gives_its_place_up() {
        let budget = Budget::new(bytes(10));
        let held = budget.reserve(bytes(6)).now_or_never().unwrap().unwrap();
        let mut big = Box::pin(budget.reserve(bytes(8)));
        assert!(big.as_mut().now_or_never().is_none());
        drop(big);
        assert!(budget.reserve(bytes(4)).now_or_never().is_some());
        drop(held);
    }

    #[test]
    fn more_than_everything_is_refused_at_once() {
        let budget = Budget::new(bytes(10));
        assert_eq!(budget.reserve(bytes(11)).now_or_never().unwrap().unwrap_err().want, bytes(11));
    }

    #[test]
    fn shrinking_gives_the_rest_back() {
        let budget = Budget::new(bytes(10));
        let mut grant = budget.reserve(bytes(10)).now_or_never().unwrap().unwrap();
        grant.shrink(bytes(3));
        assert!(budget.reserve(bytes(7)).now_or_never().is_some());
    }
}
