//! What a search may cost, and the guard that stops it in time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use serde::Serialize;

/// What a search may cost. The default is unlimited, on one thread.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Bytes of memory that the search may add to what its input takes.
    pub memory_bytes: Option<usize>,
    /// Threads; parts of a history are searched side by side.
    pub jobs: usize,
    /// Raised by anyone, it stops the search.
    pub stop: Option<Arc<AtomicBool>>,
    /// Leaves the memory of a search that a limit stopped to the end of the process, which gives it back at once. For
    /// programs that are about to end: freeing gigabytes takes longer than many a time limit leaves.
    pub abandon: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: None, memory_bytes: None, jobs: 1, stop: None, abandon: false }
    }
}

/// What stopped a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// [`Limits::time`].
    Time,
    /// [`Limits::memory_bytes`].
    Memory,
    /// [`Limits::stop`].
    Stopped,
}

/// Shared by the threads of one search.
pub(crate) struct Guard {
    deadline: Option<Instant>,
    memory_bytes: usize,
    stop: Option<Arc<AtomicBool>>,
    abandon: bool,
    used_bytes: AtomicUsize,
    peak_bytes: AtomicUsize,
    /// 0 while running; else 1 + [`Limit`], or [`SETTLED`].
    ended: AtomicU8,
}

/// The answer is known: the other threads need not go on.
const SETTLED: u8 = u8::MAX;

impl Guard {
    pub(crate) fn new(limits: &Limits) -> Guard {
        Guard {
            deadline: limits.time.and_then(|time| Instant::now().checked_add(time)),
            memory_bytes: limits.memory_bytes.unwrap_or(usize::MAX),
            stop: limits.stop.clone(),
            abandon: limits.abandon,
            used_bytes: AtomicUsize::new(0),
            peak_bytes: AtomicUsize::new(0),
            ended: AtomicU8::new(0),
        }
    }

    /// For another search that ends with this one's time, and has all of its memory to itself.
    pub(crate) fn again(&self) -> Guard {
        Guard {
            deadline: self.deadline,
            memory_bytes: self.memory_bytes,
            stop: self.stop.clone(),
            abandon: self.abandon,
            used_bytes: AtomicUsize::new(0),
            peak_bytes: AtomicUsize::new(0),
            ended: AtomicU8::new(0),
        }
    }

    /// Looks at the clock and the flags; `false` means: stop.
    pub(crate) fn go_on(&self) -> bool {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Relaxed)) {
            self.end(Limit::Stopped);
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.end(Limit::Time);
        }
        self.ended.load(Relaxed) == 0
    }

    /// See [`Limits::abandon`].
    pub(crate) fn abandons(&self) -> bool {
        self.abandon
    }

    /// Sets `bytes` aside if they are there; says nothing about stopping.
    pub(crate) fn reserve(&self, bytes: usize) -> bool {
        let used = self.used_bytes.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if used > self.memory_bytes {
            self.used_bytes.fetch_sub(bytes, Relaxed);
            return false;
        }
        self.peak_bytes.fetch_max(used, Relaxed);
        true
    }

    /// Gives back what was set aside.
    pub(crate) fn release(&self, bytes: usize) {
        self.used_bytes.fetch_sub(bytes, Relaxed);
    }

    /// Stops every thread because of `limit`.
    pub(crate) fn end(&self, limit: Limit) {
        let _ = self.ended.compare_exchange(0, 1 + limit as u8, Relaxed, Relaxed);
    }

    /// Stops every thread because the answer is known.
    pub(crate) fn settle(&self) {
        let _ = self.ended.compare_exchange(0, SETTLED, Relaxed, Relaxed);
    }

    pub(crate) fn hit(&self) -> Option<Limit> {
        match self.ended.load(Relaxed) {
            0 | SETTLED => None,
            1 => Some(Limit::Time),
            2 => Some(Limit::Memory),
            _ => Some(Limit::Stopped),
        }
    }

    pub(crate) fn peak_bytes(&self) -> usize {
        self.peak_bytes.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_refused_beyond_the_limit_and_given_back() {
        let guard = Guard::new(&Limits { memory_bytes: Some(100), ..Limits::default() });
        assert!(guard.reserve(60) && !guard.reserve(60));
        guard.release(60);
        assert!(guard.reserve(100));
        assert_eq!(guard.peak_bytes(), 100);
    }

    #[test]
    fn the_first_reason_to_stop_stays() {
        let guard = Guard::new(&Limits { time: Some(Duration::ZERO), ..Limits::default() });
        assert!(!guard.go_on());
        guard.end(Limit::Memory);
        assert_eq!(guard.hit(), Some(Limit::Time));
    }

    #[test]
    fn a_raised_flag_stops() {
        let stop = Arc::new(AtomicBool::new(false));
        let guard = Guard::new(&Limits { stop: Some(stop.clone()), ..Limits::default() });
        assert!(guard.go_on());
        stop.store(true, Relaxed);
        assert!(!guard.go_on());
        assert_eq!(guard.hit(), Some(Limit::Stopped));
    }
}
