//! Limits that hold whatever the work is doing: it runs on a thread of its own, and who waits for it looks at the clock
//! and at the memory of the process.
//!
//! Searches and explanations stop by themselves a little before, and then tell how far they came. Reading and converting
//! know nothing of time; they are left behind.

use std::{
    sync::{
        Arc,
        atomic::Ordering::Relaxed,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use linear::limits::{self, Limit};

use super::{
    progress::Progress,
    watch::{Budget, Stage, Watch, resident_bytes},
};
use crate::error::{Error, Result};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How much later than a search the rest is stopped.
const GRACE: Duration = Duration::from_millis(250);
/// How much longer an explanation may take than it was given, before it is told to stop, and then to be left behind.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// What a search does not count: the program's own pages that it is the first to use, and what the allocator keeps.
const UNCOUNTED_BYTES: u64 = 8 << 20;
/// As much as a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// Does the work, and leaves it behind where it goes beyond its budget. What the work hands over before it is done goes
/// to `first`.
pub fn supervise<T: Send + 'static>(
    budget: &Budget,
    mut first: impl FnMut(T),
    work: impl FnOnce(&Watch, &dyn Fn(T)) -> Result<T> + Send + 'static,
) -> Result<Ended<T>> {
    let watch = Arc::new(Watch::begin());
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
            _ => reached(budget),
        };
    }
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
            reached(budget)
        };
        self.told = limit.map(|limit| (limit, Instant::now()));
        budget.explaining.stop.fetch_or(limit.is_some(), Relaxed);
        None
    }
}

/// Which limit of the whole was reached.
fn reached(budget: &Budget) -> Option<Limit> {
    // A search's own limit goes first.
    let memory_max = budget.memory_bytes.map(|bytes| bytes + (bytes / 32).max(UNCOUNTED_BYTES));
    if budget.time.is_some_and(|time| budget.start.elapsed() >= time + GRACE) {
        Some(Limit::Time)
    } else if memory_max.is_some_and(|max| resident_bytes().is_some_and(|bytes| bytes > max)) {
        Some(Limit::Memory)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use history::verdict::Verdict;

    use super::{
        super::watch::{EXPLAINING, Explaining, SEARCHING},
        *,
    };

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
    fn work_that_panics_is_a_failure_of_the_harness() {
        let ended = supervise(&budget(None, None), |()| (), |_, _| panic!("as the test wants"));
        assert_eq!(ended.err().map(|error| error.exit_code()), Some(history::exit::ExitCode::Harness));
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
}
