//! A tick that comes late shows that its process, or the whole machine, stood still meanwhile.
//!
//! Agents and the harness tick on CLOCK_MONOTONIC, each for itself. Who ticks, and what becomes of a stall, is theirs;
//! here is what they count alike.

use std::time::Duration;

/// A tick that came too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it was due, CLOCK_MONOTONIC in nanoseconds.
    pub due_ns: u64,
    /// When it came, likewise.
    pub came_ns: u64,
}

/// How much later than due a tick may come: 100 ms, or a twentieth of the time to live where that is longer.
pub fn limit(ttl: Duration) -> Duration {
    (ttl / 20).max(Duration::from_millis(100))
}

/// From one tick to the next of so many nodes on one machine: so often that a stall hardly longer than the limit cannot
/// fall between two ticks, and so seldom that all of them together tick unnoticed.
pub fn period(limit: Duration, nodes: usize) -> Duration {
    let unnoticed = Duration::from_micros(500) * nodes as u32;
    unnoticed.clamp(limit / 5, limit / 2)
}

/// The stall that a tick shows which was due at one time and came at another, both in nanoseconds.
pub fn late(due_ns: u64, came_ns: u64, limit: Duration) -> Option<Stall> {
    let is_late = u128::from(came_ns.saturating_sub(due_ns)) > limit.as_nanos();
    is_late.then_some(Stall { due_ns, came_ns })
}

/// When the next tick of one ticker is due.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    limit: Duration,
    period_ns: u64,
    due_ns: u64,
}

impl Ticks {
    /// The first tick is due one period after `now_ns`.
    pub fn begin(now_ns: u64, limit: Duration, period: Duration) -> Ticks {
        let period_ns = period.as_nanos() as u64;
        Ticks { limit, period_ns, due_ns: now_ns + period_ns }
    }

    /// How long it is until the next tick.
    pub fn wait(&self, now_ns: u64) -> Duration {
        Duration::from_nanos(self.due_ns.saturating_sub(now_ns))
    }

    /// The stall that shows if the tick comes now. It is not counted yet: the tick is still to come.
    pub fn pending(&self, now_ns: u64) -> Option<Stall> {
        late(self.due_ns, now_ns, self.limit)
    }

    /// The tick comes now; the next one is due a period later.
    pub fn come(&mut self, now_ns: u64) -> Option<Stall> {
        let stall = self.pending(now_ns);
        self.due_ns = now_ns + self.period_ns;
        stall
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_limit_grows_with_the_time_to_live() {
        assert_eq!(limit(Duration::from_millis(200)), Duration::from_millis(100));
        assert_eq!(limit(Duration::from_secs(2)), Duration::from_millis(100));
        assert_eq!(limit(Duration::from_secs(10)), Duration::from_millis(500));
    }

    #[test]
    fn only_what_is_later_than_the_limit_is_a_stall() {
        let limit = Duration::from_millis(100);
        assert_eq!(late(50 * MS, 20 * MS, limit), None, "before it was due");
        assert_eq!(late(50 * MS, 150 * MS, limit), None, "just at the limit");
        let stall = Stall { due_ns: 50 * MS, came_ns: 150 * MS + 1 };
        assert_eq!(late(50 * MS, 150 * MS + 1, limit), Some(stall));
    }

    #[test]
    fn many_nodes_tick_more_seldom() {
        let ms = Duration::from_millis;
        assert_eq!([7, 40, 110, 250].map(|nodes| period(ms(100), nodes)), [ms(20), ms(20), ms(50), ms(50)]);
        assert_eq!([7, 110, 250].map(|nodes| period(ms(500), nodes)), [ms(100), ms(100), ms(125)]);
    }

    #[test]
    fn ticks_follow_each_other_whatever_came_between() {
        let mut ticks = Ticks::begin(1000 * MS, Duration::from_millis(100), Duration::from_millis(20));
        assert_eq!(ticks.wait(1000 * MS), Duration::from_millis(20));
        assert_eq!(ticks.wait(1030 * MS), Duration::ZERO);
        assert_eq!(ticks.come(1021 * MS), None);
        let stall = Some(Stall { due_ns: 1041 * MS, came_ns: 31_041 * MS });
        assert_eq!(ticks.pending(31_041 * MS), stall);
        assert_eq!(ticks.come(31_041 * MS), stall);
        assert_eq!((ticks.pending(31_061 * MS), ticks.come(31_061 * MS)), (None, None), "told once");
    }
}
