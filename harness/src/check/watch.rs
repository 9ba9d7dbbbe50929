//! What a check may cost, and what it is at.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    time::{Duration, Instant},
};

use history::verdict::Verdict;
use linear::limits;
use nix::unistd::{SysconfVar, sysconf};

/// How long an explanation may take whose verdict was quick; with the verdict it is there within two seconds.
pub(super) const EXPLAINING: Duration = Duration::from_millis(1500);
/// How much longer than its verdict an explanation may take.
const EXPLAINING_TIMES: u32 = 10;
/// How long all searches together may take where no time was said,
pub(super) const SEARCHING: Duration = Duration::from_secs(60);
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

impl Watch {
    /// Of work that begins now by reading.
    pub fn begin() -> Watch {
        Watch {
            stage: Mutex::new(Stage::Reading(None)),
            since: Mutex::new(Instant::now()),
            judging_since: OnceLock::new(),
            read_bytes: AtomicU64::new(0),
        }
    }

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
}

/// The memory that the process holds, where the kernel tells.
pub(super) fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    let page = sysconf(SysconfVar::PAGE_SIZE).ok()??;
    Some(pages * page as u64)
}
