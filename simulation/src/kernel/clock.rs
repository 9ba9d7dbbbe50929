//! A node's wall clock: the run's monotonic time, moved and stretched by clock faults.

/// Where wall clocks start: 2030-01-01T00:00:00Z in nanoseconds since 1970.
pub const EPOCH: i64 = 1_893_456_000_000_000_000;

/// A piecewise linear clock. Monotonic time is never touched.
#[derive(Clone, Debug)]
pub struct WallClock {
    since: u64,
    reading: i64,
    rate_ppm: i64,
}

impl Default for WallClock {
    fn default() -> Self {
        WallClock { since: 0, reading: EPOCH, rate_ppm: 0 }
    }
}

impl WallClock {
    /// Nanoseconds since 1970 at monotonic time `now`.
    pub fn read(&self, now: u64) -> i64 {
        assert!(now >= self.since, "a wall clock is not read before it was set");
        let elapsed = i128::from(now - self.since);
        if self.rate_ppm == 0 {
            // Nearly always so, and read for every command of a store: no division.
            return self.reading.saturating_add(i64::try_from(elapsed).unwrap_or(i64::MAX));
        }
        let shown = elapsed + elapsed * i128::from(self.rate_ppm) / 1_000_000;
        self.reading.saturating_add(i64::try_from(shown).unwrap_or(i64::MAX))
    }

    /// How far the clock is ahead of true time, in nanoseconds.
    pub fn offset(&self, now: u64) -> i64 {
        self.read(now).saturating_sub(EPOCH.saturating_add(i64::try_from(now).unwrap_or(i64::MAX)))
    }

    /// Sets the clock `offset` nanoseconds ahead of true time; its rate stays.
    pub fn set_offset(&mut self, now: u64, offset: i64) {
        self.reading = EPOCH.saturating_add(i64::try_from(now).unwrap_or(i64::MAX)).saturating_add(offset);
        self.since = now;
    }

    /// From now on the clock gains `ppm` microseconds a second (loses, when negative).
    pub fn set_rate(&mut self, now: u64, ppm: i64) {
        self.reading = self.read(now);
        self.since = now;
        self.rate_ppm = ppm;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_and_drifts() {
        let mut clock = WallClock::default();
        assert_eq!(clock.offset(5), 0);
        clock.set_offset(10, -3);
        assert_eq!(clock.offset(1_000), -3);
        clock.set_rate(1_000_000, 1_000);
        assert_eq!(clock.offset(3_000_000), -3 + 2_000);
        clock.set_rate(3_000_000, 0);
        assert_eq!(clock.offset(9_000_000), -3 + 2_000);
    }
}
