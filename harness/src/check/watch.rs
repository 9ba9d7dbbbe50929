//! Limits that hold whatever the work is doing: it runs on a thread of its own, and who waits for it looks at the clock
//! and at the memory of the process.
//!
//! A search stops by itself a little before, and then tells how far it came. Reading, converting and explaining know
//! nothing of time; they are left behind.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::AtomicU64,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use checkers::limits::{self, Limit};

use super::progress::Progress;
use crate::error::{Error, Result};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How much later than a search the rest is stopped.
const GRACE: Duration = Duration::from_millis(80);

/// What a check may cost.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Wall-clock time, from [`Budget::start`].
    pub time: Option<Duration>,
    /// Bytes of the whole process.
    pub memory_bytes: Option<u64>,
    /// Threads.
    pub jobs: usize,
    /// When the check began.
    pub start: Instant,
}

/// What the work is at, for those who wait.
#[derive(Clone, Debug)]
pub enum Stage {
    /// Reads, of so many bytes if that is known.
    Reading(Option<u64>),
    /// Makes operations of so many events.
    Converting(usize),
    /// Judges so many operations.
    Judging(usize),
    /// The history is invalid as what is named first, for what is named second; now it explains why.
    Explaining(String, String),
}

/// Shared between the work and who waits for it.
pub struct Watch {
    stage: Mutex<Stage>,
    /// Bytes read so far.
    pub read_bytes: AtomicU64,
}

/// How the work ended.
pub enum Ended<T> {
    /// By itself.
    Finished(T),
    /// At a limit, while it was at this.
    Stopped(Limit, Stage),
}

impl Watch {
    /// Says what is done now.
    pub fn enter(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// What is done now.
    pub fn stage(&self) -> Stage {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Budget {
    /// For a search that begins now.
    pub fn left(&self) -> limits::Limits {
        let early = |time: Duration| time.saturating_sub((time / 20).min(Duration::from_millis(50)));
        limits::Limits {
            time: self.time.map(|time| early(time).saturating_sub(self.start.elapsed())),
            memory_bytes: self
                .memory_bytes
                .map(|bytes| bytes.saturating_sub(resident_bytes().unwrap_or(0)) as usize),
            jobs: self.jobs,
            stop: None,
            abandon: true,
        }
    }

    fn reached(&self) -> Option<Limit> {
        // A search's own limit goes first; the 3 % are what it does not count.
        let memory_max = self.memory_bytes.map(|bytes| bytes + bytes / 32);
        if self.time.is_some_and(|time| self.start.elapsed() >= time + GRACE) {
            Some(Limit::Time)
        } else if memory_max.is_some_and(|max| resident_bytes().is_some_and(|bytes| bytes > max)) {
            Some(Limit::Memory)
        } else {
            None
        }
    }
}

/// Does the work, and leaves it behind where it goes beyond its budget.
pub fn supervise<T: Send + 'static>(
    budget: &Budget,
    work: impl FnOnce(&Watch) -> Result<T> + Send + 'static,
) -> Result<Ended<T>> {
    let watch = Arc::new(Watch { stage: Mutex::new(Stage::Reading(None)), read_bytes: AtomicU64::new(0) });
    let (sender, receiver) = mpsc::channel();
    let shared = watch.clone();
    let failed = |error: std::io::Error| Error::Harness(format!("failed to start a thread: {error}"));
    let worker = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || _ = sender.send(work(&shared)))
        .map_err(failed)?;
    let mut progress = Progress::new();
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(result) => {
                progress.end();
                return result.map(Ended::Finished);
            }
            Err(RecvTimeoutError::Disconnected) => {
                progress.end();
                let _ = worker.join();
                return Err(Error::Harness("the check itself failed".into()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        progress.show(&watch);
        if let Some(limit) = budget.reached() {
            progress.end();
            return Ok(Ended::Stopped(limit, watch.stage()));
        }
    }
}

/// As much as a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// The memory that the process holds, where the kernel tells.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(time: Option<u64>, memory_bytes: Option<u64>) -> Budget {
        Budget { time: time.map(Duration::from_millis), memory_bytes, jobs: 1, start: Instant::now() }
    }

    #[test]
    fn work_that_ends_is_handed_over() {
        let ended = supervise(&budget(None, None), |_| Ok(7)).unwrap();
        assert!(matches!(ended, Ended::Finished(7)));
        assert!(supervise(&budget(None, None), |_| Err::<(), _>(Error::Data("no".into()))).is_err());
    }

    #[test]
    fn work_that_does_not_end_is_left_behind() {
        let ended = supervise(&budget(Some(50), None), |watch| {
            watch.enter(Stage::Judging(3));
            thread::sleep(Duration::from_secs(20));
            Ok(())
        });
        assert!(matches!(ended.unwrap(), Ended::Stopped(Limit::Time, Stage::Judging(3))));
    }

    #[test]
    fn work_that_takes_too_much_is_left_behind() {
        let much = resident_bytes().unwrap() + (64 << 20);
        let ended = supervise(&budget(None, Some(much)), |_| {
            // An optimiser would leave out memory that nobody looks at.
            let held = std::hint::black_box(vec![1_u8; 512 << 20]);
            thread::sleep(Duration::from_secs(20));
            Ok(held.len())
        });
        assert!(matches!(ended.unwrap(), Ended::Stopped(Limit::Memory, _)));
    }

    #[test]
    fn work_that_panics_is_a_failure_of_the_harness() {
        let ended = supervise(&budget(None, None), |_| -> Result<()> { panic!("as the test wants") });
        assert_eq!(ended.err().map(|error| error.exit_code()), Some(70));
    }
}
