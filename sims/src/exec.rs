//! A deterministic executor: one thread, virtual time, nothing happens but in the order of (time, number).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

#[derive(Default)]
struct Timers {
    now: Cell<u64>,
    next: Cell<u64>,
    waiting: RefCell<BTreeMap<(u64, u64), Waker>>,
}

/// Virtual time. Clones share it.
#[derive(Clone, Default)]
pub struct Time(Rc<Timers>);

impl Time {
    /// Virtual milliseconds since the simulation began.
    pub fn now(&self) -> u64 {
        self.0.now.get()
    }

    /// Returns at that time.
    pub fn sleep_until(&self, at: u64) -> Sleep {
        let number = self.0.next.get();
        self.0.next.set(number + 1);
        Sleep { timers: Rc::clone(&self.0), at, number }
    }

    /// Returns after that many milliseconds.
    pub fn sleep(&self, ms: u64) -> Sleep {
        self.sleep_until(self.now() + ms)
    }

    /// Moves to the next timer and wakes it; false if there is none.
    fn advance(&self) -> bool {
        let Some(((at, _), waker)) = self.0.waiting.borrow_mut().pop_first() else { return false };
        self.0.now.set(self.0.now.get().max(at));
        waker.wake();
        true
    }

    /// Lets time pass with nothing waiting.
    pub fn pass(&self, ms: u64) {
        self.0.now.set(self.0.now.get() + ms);
    }
}

/// A future that is ready at its time.
pub struct Sleep {
    timers: Rc<Timers>,
    at: u64,
    number: u64,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.timers.now.get() >= self.at {
            self.timers.waiting.borrow_mut().remove(&(self.at, self.number));
            return Poll::Ready(());
        }
        self.timers.waiting.borrow_mut().insert((self.at, self.number), cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.timers.waiting.borrow_mut().remove(&(self.at, self.number));
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits in real time for what another thread does; no virtual time goes by.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
        thread::park();
    }
}

/// Why a future did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Nothing is waiting for time and nothing can wake it: a deadlock.
    Deadlock,
    /// It did not finish within the bound of steps: a livelock.
    TooLong,
}

/// Polls a future to its end, moving time whenever nothing else can happen.
///
/// # Errors
/// If it deadlocks or takes more than `steps` timers.
pub fn run<T>(time: &Time, steps: u64, future: impl Future<Output = T>) -> Result<T, Stuck> {
    let flag = Arc::new(Flag(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&flag));
    let mut cx = Context::from_waker(&waker);
    let mut future = Box::pin(future);
    for _ in 0..steps {
        while flag.0.swap(false, Ordering::Relaxed) {
            if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
                return Ok(value);
            }
        }
        if !time.advance() {
            return Err(Stuck::Deadlock);
        }
    }
    Err(Stuck::TooLong)
}
