//! What no input may do.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    panic,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use nix::time::{ClockId, clock_gettime};

/// Both on the wall and of processors: where many share the machine the first tells little, and a check that ran into its
/// limit leaves behind what goes on to use the second.
pub const TIME_MAX: Duration = Duration::from_secs(5);
/// Bytes.
pub const MEMORY_MAX: usize = 1 << 30;
/// Bytes of a line that is shown.
pub const LINE_MAX: usize = 4096;

#[global_allocator]
static MEMORY: Counting = Counting;
static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts what is allocated.
struct Counting;

// SAFETY: everything is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(used, Relaxed);
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What something took.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    pub time: Duration,
    pub memory: usize,
}

/// Panics are counted from now on, on whatever thread; the first words of each are printed.
pub fn count_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Relaxed);
        usual(info);
    }));
}

/// Does it, and says which limit it went beyond.
pub fn watched<T>(work: impl FnOnce() -> Result<T, String>) -> Result<(T, Cost), String> {
    let (begun, busy) = (Instant::now(), processor_time());
    let (before, panics) = (USED.load(Relaxed), PANICS.load(Relaxed));
    PEAK.store(before, Relaxed);
    let done = panic::catch_unwind(panic::AssertUnwindSafe(work));
    let cost = Cost {
        time: processor_time().saturating_sub(busy).min(begun.elapsed()),
        memory: PEAK.load(Relaxed).saturating_sub(before),
    };
    match done {
        Err(_) => Err("it panicked".into()),
        Ok(_) if PANICS.load(Relaxed) > panics => Err("it panicked on another thread".into()),
        Ok(_) if cost.time > TIME_MAX => Err(format!("it took {:?}", cost.time)),
        Ok(_) if cost.memory > MEMORY_MAX => Err(format!("it took {} bytes of memory", cost.memory)),
        Ok(done) => done.map(|done| (done, cost)),
    }
}

/// Of all threads of this process.
fn processor_time() -> Duration {
    let told = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every kernel has it");
    Duration::from(told)
}

/// Whether a terminal can be shown this.
pub fn is_showable(what: &str, text: &str) -> Result<(), String> {
    if let Some(raw) = text.chars().find(|c| *c != '\n' && !reports::plain::is_plain(*c)) {
        return Err(format!("{what} shows {raw:?} as it is"));
    }
    match text.lines().map(str::len).max() {
        Some(longest) if longest > LINE_MAX => Err(format!("{what} has a line of {longest} bytes")),
        _ => Ok(()),
    }
}
