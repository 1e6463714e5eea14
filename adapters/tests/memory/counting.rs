//! What the process has allocated, in Rust and in SQLite.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::ffi;

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    PEAK.fetch_max(HELD.fetch_add(bytes, Ordering::SeqCst) + bytes, Ordering::SeqCst);
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches nothing of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may exist while one is copied to the other.
        add(size);
        HELD.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that SQLite had allocated since the last call.
fn sqlite_peak() -> usize {
    let (mut now, mut peak) = (0_i64, 0_i64);
    // SAFETY: both pointers are valid for the call, which is all that SQLite asks for.
    let code = unsafe { ffi::sqlite3_status64(ffi::SQLITE_STATUS_MEMORY_USED, &mut now, &mut peak, 1) };
    assert_eq!(code, ffi::SQLITE_OK);
    usize::try_from(peak).unwrap()
}

/// Bytes that are held now. The peak begins here again.
pub(crate) fn begin() -> usize {
    let held = HELD.load(Ordering::SeqCst);
    PEAK.store(held, Ordering::SeqCst);
    sqlite_peak();
    held
}

/// The most that was held since [`begin`], above what it answered.
pub(crate) fn taken(since: usize) -> usize {
    PEAK.load(Ordering::SeqCst).saturating_sub(since) + sqlite_peak()
}
