//! Counts what is allocated, when asked to.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed},
};

static COUNTS: AtomicBool = AtomicBool::new(false);
static NOW: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTS.load(Relaxed) {
            let size = layout.size() as isize;
            PEAK.fetch_max(NOW.fetch_add(size, Relaxed) + size, Relaxed);
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if COUNTS.load(Relaxed) {
            NOW.fetch_sub(layout.size() as isize, Relaxed);
        }
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The most bytes that `run` held at a time.
pub fn peak_bytes(run: impl FnOnce()) -> usize {
    NOW.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    COUNTS.store(true, Relaxed);
    run();
    COUNTS.store(false, Relaxed);
    PEAK.load(Relaxed).max(0) as usize
}
