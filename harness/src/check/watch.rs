//! Limits that hold whatever the work is doing: it runs on a thread of its own, and who waits for it looks at the clock
//! and at the memory of the process.
//!
//! Searches and explanations stop by themselves a little before, and then tell how far they came. Reading and converting
//! know nothing of time; they are left behind.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use history::verdict::Verdict;
use linear::limits::{self, Limit};

use super::progress::Progress;
use crate::error::{Error, Result};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How much later than a search the rest is stopped.
const GRACE: Duration = Duration::from_millis(250);
/// How much longer an explanation may take than it was given, before it is told to stop, and then to be left behind.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// How long an explanation may take whose verdict was quick; with the verdict it is there within two seconds.
const EXPLAINING: Duration = Duration::from_millis(1500);
/// How much longer than its verdict an explanation may take.
const EXPLAINING_TIMES: u32 = 10;
/// How long all searches together may take where no time was said,
const SEARCHING: Duration = Duration::from_secs(60);
/// unless the history is so large that it is longer than this for each event.
const SEARCHING_EACH: Duration = Duration::from_millis(1);
/// What an explanation may add to the memory of the process.
const EXPLAINING_BYTES: u64 = 256 << 20;

/// What a check may cost.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Wall-clock time, from [`Budget::start`].
    pub time: Option<Duration>,
    /// Bytes of the whole process.
    pub memory_bytes: Option<u64>,
    /// What the explanation may take of that.
    pub explaining: Explaining,
    /// Threads.
    pub jobs: usize,
    /// When the check began.
    pub start: Instant,
}

/// What an explanation may cost, within the whole [`Budget`].
#[derive(Clone, Debug, Default)]
pub struct Explaining {
    /// Wall-clock time; else a second and a half, or ten times as long as the verdict took.
    pub time: Option<Duration>,
    /// Whether it may take all the memory that is left; else 256 MiB.
    pub may_take_all_memory: bool,
    /// Raised by anyone, it ends the explanation.
    pub stop: Arc<AtomicBool>,
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
    /// The verdict is certain; now it looks into what that rests on, and explains what is invalid, within limits.
    Explaining {
        /// The verdict.
        verdict: Verdict,
        /// What the explanation may cost.
        limits: limits::Limits,
    },
}

/// Shared between the work and who waits for it.
pub struct Watch {
    stage: Mutex<Stage>,
    /// When it was entered.
    since: Mutex<Instant>,
    /// When the first search began.
    judging_since: OnceLock<Instant>,
    /// Bytes read so far.
    pub read_bytes: AtomicU64,
}

/// What the work hands over.
enum News<T> {
    /// What it has so far; more will come.
    First(T),
    /// Everything.
    All(Result<T>),
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
        if matches!(stage, Stage::Judging(_)) {
            self.judging_since.get_or_init(Instant::now);
        }
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long the stage has lasted.
    pub fn lasted(&self) -> Duration {
        self.since.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// How much of its time an explanation still has, if one is under way that has a limit.
    pub fn left_to_explain(&self) -> Option<Duration> {
        let lasted = self.lasted();
        match &*self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            Stage::Explaining { limits, .. } => limits.time.map(|time| time.saturating_sub(lasted)),
            _ => None,
        }
    }

    /// What is done now.
    pub fn stage(&self) -> Stage {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Budget {
    /// Of so much time, from now on, on one thread.
    pub fn of(time: Option<Duration>) -> Budget {
        Budget { time, memory_bytes: None, explaining: Explaining::default(), jobs: 1, start: Instant::now() }
    }

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

    /// For a search in so many events that begins now. Where no time was said, all searches together have a minute,
    /// or a millisecond an event.
    pub fn to_judge(&self, events: usize, watch: &Watch) -> limits::Limits {
        let left = self.left();
        let most = SEARCHING.max(SEARCHING_EACH.saturating_mul(events.try_into().unwrap_or(u32::MAX)));
        let since = watch.judging_since.get().map_or(Duration::ZERO, Instant::elapsed);
        limits::Limits { time: left.time.or(Some(most.saturating_sub(since))), ..left }
    }

    /// For the explanation of a verdict that took so long.
    pub fn to_explain(&self, verdict: Duration) -> limits::Limits {
        let left = self.left();
        let time = self.explaining.time.unwrap_or(EXPLAINING.max(verdict.saturating_mul(EXPLAINING_TIMES)));
        let bytes_max =
            if self.explaining.may_take_all_memory { usize::MAX } else { EXPLAINING_BYTES as usize };
        limits::Limits {
            time: Some(left.time.unwrap_or(time).min(time)),
            memory_bytes: Some(left.memory_bytes.unwrap_or(bytes_max).min(bytes_max)),
            stop: Some(self.explaining.stop.clone()),
            ..left
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

/// Does the work, and leaves it behind where it goes beyond its budget. What the work hands over before it is done goes
/// to `first`.
pub fn supervise<T: Send + 'static>(
    budget: &Budget,
    mut first: impl FnMut(T),
    work: impl FnOnce(&Watch, &dyn Fn(T)) -> Result<T> + Send + 'static,
) -> Result<Ended<T>> {
    let watch = Arc::new(Watch {
        stage: Mutex::new(Stage::Reading(None)),
        since: Mutex::new(Instant::now()),
        judging_since: OnceLock::new(),
        read_bytes: AtomicU64::new(0),
    });
    let (sender, receiver) = mpsc::channel();
    let shared = watch.clone();
    let failed = |error: std::io::Error| Error::Harness(format!("failed to start a thread: {error}"));
    let worker = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let tell = |so_far: T| _ = sender.send(News::First(so_far));
            let all = work(&shared, &tell);
            _ = sender.send(News::All(all));
        })
        .map_err(failed)?;
    let mut progress = Progress::new();
    let mut explaining = None;
    let mut limit = None;
    loop {
        // Once a limit was reached, what was handed over until then still counts.
        let wait = if limit.is_some() { Duration::ZERO } else { LOOK_EVERY };
        match (receiver.recv_timeout(wait), limit) {
            (Ok(News::First(so_far)), _) => {
                progress.end();
                first(so_far);
                continue;
            }
            (Ok(News::All(result)), _) => {
                progress.end();
                return result.map(Ended::Finished);
            }
            (Err(RecvTimeoutError::Disconnected), _) => {
                progress.end();
                let _ = worker.join();
                return Err(Error::Harness("the check itself failed".into()));
            }
            (Err(RecvTimeoutError::Timeout), Some(limit)) => {
                progress.end();
                return Ok(Ended::Stopped(limit, watch.stage()));
            }
            (Err(RecvTimeoutError::Timeout), None) => {}
        }
        progress.show(&watch);
        limit = match watch.stage() {
            Stage::Explaining { limits, .. } => {
                explaining.get_or_insert_with(|| Explanation::of(&limits)).reached(budget, &watch)
            }
            _ => budget.reached(),
        };
    }
}

/// An explanation that is being waited for. It stops by itself; what it takes beyond what it counts is seen here.
struct Explanation {
    time: Duration,
    memory_bytes: u64,
    told: Option<(Limit, Instant)>,
}

impl Explanation {
    fn of(limits: &limits::Limits) -> Explanation {
        let added = limits.memory_bytes.map_or(u64::MAX, |bytes| bytes as u64 + bytes as u64 / 8);
        let memory_bytes = resident_bytes().unwrap_or(0).saturating_add(added);
        Explanation { time: limits.time.unwrap_or(Duration::MAX), memory_bytes, told: None }
    }

    /// Tells it to stop where it does not do so by itself; a limit, if that does not help either.
    fn reached(&mut self, budget: &Budget, watch: &Watch) -> Option<Limit> {
        if let Some((limit, since)) = self.told {
            return (since.elapsed() > LAST_WORDS).then_some(limit);
        }
        let limit = if budget.explaining.stop.load(Relaxed) {
            Some(Limit::Stopped)
        } else if watch.lasted() > self.time.saturating_add(LAST_WORDS) {
            Some(Limit::Time)
        } else if resident_bytes().is_some_and(|bytes| bytes > self.memory_bytes) {
            Some(Limit::Memory)
        } else {
            budget.reached()
        };
        self.told = limit.map(|limit| (limit, Instant::now()));
        budget.explaining.stop.fetch_or(limit.is_some(), Relaxed);
        None
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
        Budget { memory_bytes, ..Budget::of(time.map(Duration::from_millis)) }
    }

    fn explaining(limits: limits::Limits) -> Stage {
        Stage::Explaining { verdict: Verdict::Invalid, limits }
    }

    #[test]
    fn work_that_ends_is_handed_over() {
        let ended = supervise(&budget(None, None), |_| (), |_, _| Ok(7)).unwrap();
        assert!(matches!(ended, Ended::Finished(7)));
        assert!(supervise(&budget(None, None), |()| (), |_, _| Err(Error::Data("no".into()))).is_err());
    }

    #[test]
    fn work_that_does_not_end_is_left_behind() {
        let ended = supervise(
            &budget(Some(50), None),
            |()| (),
            |watch, _| {
                watch.enter(Stage::Judging(3));
                thread::sleep(Duration::from_secs(20));
                Ok(())
            },
        );
        assert!(matches!(ended.unwrap(), Ended::Stopped(Limit::Time, Stage::Judging(3))));
    }

    #[test]
    fn work_that_takes_too_much_is_left_behind() {
        let much = resident_bytes().unwrap() + (64 << 20);
        let ended = supervise(
            &budget(None, Some(much)),
            |_| (),
            |_, _| {
                // Where builds are optimized, memory that nobody looks at is never taken.
                let held = std::hint::black_box(vec![1_u8; 512 << 20]);
                thread::sleep(Duration::from_secs(20));
                Ok(held.len())
            },
        );
        assert!(matches!(ended.unwrap(), Ended::Stopped(Limit::Memory, _)));
    }

    #[test]
    fn an_explanation_is_told_to_stop_and_what_it_says_then_is_heard() {
        let budget = budget(None, None);
        let stop = budget.explaining.stop.clone();
        let mut heard = Vec::new();
        let ended = supervise(
            &budget,
            |so_far| heard.push(so_far),
            move |watch, first| {
                first("invalid");
                let time = Some(Duration::from_millis(10));
                watch.enter(explaining(limits::Limits { time, ..limits::Limits::default() }));
                while !stop.load(Relaxed) {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok("invalid, because")
            },
        );
        assert!(matches!(ended.unwrap(), Ended::Finished("invalid, because")));
        assert_eq!(heard, ["invalid"]);
    }

    #[test]
    fn an_explanation_that_does_not_stop_is_left_behind() {
        let ended = supervise(
            &budget(None, None),
            |()| (),
            |watch, _| {
                let time = Some(Duration::from_millis(10));
                watch.enter(explaining(limits::Limits { time, ..limits::Limits::default() }));
                thread::sleep(Duration::from_secs(20));
                Ok(())
            },
        );
        assert!(matches!(ended.unwrap(), Ended::Stopped(Limit::Time, Stage::Explaining { .. })));
    }

    #[test]
    fn what_was_handed_over_before_a_limit_is_heard() {
        let mut heard = Vec::new();
        let ended = supervise(
            &budget(Some(20), None),
            |so_far| heard.push(so_far),
            |watch, first| {
                watch.enter(Stage::Judging(3));
                first("valid");
                thread::sleep(Duration::from_secs(20));
                Ok("too late")
            },
        );
        assert!(matches!(ended.unwrap(), Ended::Stopped(Limit::Time, Stage::Judging(3))));
        assert_eq!(heard, ["valid"]);
    }

    #[test]
    fn explanations_cost_no_more_than_was_said() {
        let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
        let quick = budget(None, None).to_explain(Duration::from_millis(1));
        assert_eq!((quick.time, quick.memory_bytes), (Some(EXPLAINING), Some(256 << 20)));
        assert_eq!(budget(None, None).to_explain(second).time, Some(10 * second));
        assert!(budget(Some(1000), None).to_explain(hour).time <= Some(second));
        let told = Explaining { time: Some(hour), may_take_all_memory: true, ..Explaining::default() };
        let told = Budget { explaining: told, ..budget(None, None) }.to_explain(second);
        assert_eq!((told.time, told.memory_bytes), (Some(hour), Some(usize::MAX)));
    }

    #[test]
    fn searches_have_a_bound_where_none_was_said() {
        let time_of = |given, events| {
            let mut time = None;
            let ended = supervise(
                &budget(None, None),
                |_| (),
                move |watch, _| {
                    watch.enter(Stage::Judging(events));
                    Ok(budget(given, None).to_judge(events, watch).time)
                },
            );
            if let Ended::Finished(found) = ended.unwrap() {
                time = found;
            }
            time.expect("a limit")
        };
        assert!(time_of(None, 600) <= SEARCHING && time_of(None, 600) > SEARCHING / 2);
        assert!(time_of(None, 1_000_000) > Duration::from_secs(900));
        assert!(time_of(Some(1000), 1_000_000) <= Duration::from_secs(1));
    }

    #[test]
    fn work_that_panics_is_a_failure_of_the_harness() {
        let ended = supervise(&budget(None, None), |()| (), |_, _| panic!("as the test wants"));
        assert_eq!(ended.err().map(|error| error.exit_code()), Some(70));
    }
}
