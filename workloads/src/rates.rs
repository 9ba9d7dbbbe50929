//! How often a recipe is driven, and how long.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// Locks are named by a letter.
pub(crate) const LOCKS_MAX: u64 = 26;
/// An hour.
const MS_MAX: u64 = 3_600_000;
const PERCENT_MAX: u64 = 100_000;
/// Acquire, renew, read, write, release: what can be left of a round once the client is told to stop.
const LAST_OPERATIONS: u32 = 5;

/// How often and how long, in milliseconds; spans are drawn evenly from the node's generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Number of locks (or elections) the clients contend for, 1 to 26.
    pub locks: u32,
    /// Pause between two tries.
    #[serde(deserialize_with = "span")]
    pub think_ms: (u64, u64),
    /// How long one acquire waits, as a share of the TTL in percent.
    #[serde(deserialize_with = "span")]
    pub wait_percent: (u64, u64),
    /// How long a lock is held, as a share of the TTL in percent.
    #[serde(deserialize_with = "span")]
    pub hold_percent: (u64, u64),
    /// How long a lease or leadership is held, as a share of the TTL in percent.
    #[serde(deserialize_with = "span")]
    pub lease_hold_percent: (u64, u64),
    /// Pause between two writes in one hold of a lease or leadership.
    #[serde(deserialize_with = "span")]
    pub write_every_ms: (u64, u64),
    /// When a grant is renewed, as a share of the TTL gone in percent.
    pub renew_at_percent: u64,
    /// Limit of a call to a store or to the resource; 0: half the TTL, between 250 ms and 2 s.
    pub call_limit_ms: u64,
    /// How long one operation may go on once the client is told to stop; 0: as long as an acquire may wait, and two calls.
    pub stop_limit_ms: u64,
}

/// Readers of tuples may leave off what is too much.
fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(u64, u64), D::Error> {
    match Vec::deserialize(deserializer)?.as_slice() {
        [least, greatest] => Ok((*least, *greatest)),
        _ => Err(D::Error::custom("expected two numbers, the least and the greatest, such as [5, 60]")),
    }
}

impl Default for Rates {
    fn default() -> Rates {
        Rates::DEFAULT
    }
}

/// One of the rates makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rates.{field}: {why}")]
pub struct BadRates {
    /// Its name.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Rates {
    /// What suits a TTL of seconds.
    pub const DEFAULT: Rates = Rates {
        locks: 1,
        think_ms: (5, 60),
        wait_percent: (30, 90),
        hold_percent: (2, 10),
        lease_hold_percent: (100, 300),
        write_every_ms: (40, 120),
        renew_at_percent: 67,
        call_limit_ms: 0,
        stop_limit_ms: 0,
    };

    /// Looks for values that make no sense.
    pub fn check(&self) -> Result<(), BadRates> {
        let spans = [
            ("think_ms", self.think_ms, MS_MAX),
            ("wait_percent", self.wait_percent, PERCENT_MAX),
            ("hold_percent", self.hold_percent, PERCENT_MAX),
            ("lease_hold_percent", self.lease_hold_percent, PERCENT_MAX),
            ("write_every_ms", self.write_every_ms, MS_MAX),
            ("renew_at_percent", (1, self.renew_at_percent), 100),
            ("call_limit_ms", (0, self.call_limit_ms), MS_MAX),
            ("stop_limit_ms", (0, self.stop_limit_ms), MS_MAX),
            ("locks", (1, self.locks.into()), LOCKS_MAX),
        ];
        for (field, (from, to), max) in spans {
            let why = match (from > to, to > max) {
                (true, _) => "too small, or its upper end is below the lower",
                (_, true) => "too large",
                _ => continue,
            };
            return Err(BadRates { field, why });
        }
        Ok(())
    }

    /// Longest time that a client of this TTL needs to end once it is told to stop: an acquire under way that is
    /// granted at last, the whole of its hold, and then a pause before a write, a renewal, a read, a write and a
    /// release, each up to its limit.
    pub fn finish_limit(&self, ttl: Duration) -> Duration {
        let hold = ttl * self.hold_percent.1 as u32 / 100;
        let pause = Duration::from_millis(self.write_every_ms.1);
        self.stop_limit(ttl) * LAST_OPERATIONS + hold + pause
    }

    /// Limit of one call to a store or to the resource.
    pub(crate) fn call_limit(&self, ttl: Duration) -> Duration {
        match self.call_limit_ms {
            0 => (ttl / 2).clamp(Duration::from_millis(250), Duration::from_secs(2)),
            given => Duration::from_millis(given),
        }
    }

    /// How long one operation may go on once the client is told to stop.
    pub(crate) fn stop_limit(&self, ttl: Duration) -> Duration {
        match self.stop_limit_ms {
            0 => ttl * self.wait_percent.1 as u32 / 100 + self.call_limit(ttl) * 2,
            given => Duration::from_millis(given),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_two_ends() {
        for wrong in ["[]", "[1]", "[1,2,3]"] {
            let error = serde_json::from_str::<Rates>(&format!("{{\"think_ms\":{wrong}}}")).unwrap_err();
            assert!(error.to_string().starts_with("expected two numbers"), "{error}");
        }
    }

    #[test]
    fn senseless_rates_are_refused() {
        assert_eq!(Rates::default().check(), Ok(()));
        let refused = |rates: Rates| rates.check().unwrap_err().to_string();
        let reversed = Rates { think_ms: (5, 1), ..Rates::default() };
        assert_eq!(refused(reversed), "rates.think_ms: too small, or its upper end is below the lower");
        assert_eq!(refused(Rates { locks: 27, ..Rates::default() }), "rates.locks: too large");
        assert!(Rates { locks: 0, ..Rates::default() }.check().is_err());
        assert!(Rates { renew_at_percent: 101, ..Rates::default() }.check().is_err());
        assert!(Rates { hold_percent: (0, u64::MAX), ..Rates::default() }.check().is_err());
    }
}
