//! How packets are treated that pass all the same, but not as they should.

use serde::{Deserialize, Serialize};

/// How long each packet is held: evenly from `by_ms - jitter_ms` to `by_ms + jitter_ms`.
///
/// Packets from one node to another keep their order, as on a slow link: one that would overtake the packet before it
/// waits for that. So none is held for longer than `by_ms + jitter_ms` either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// The middle, in milliseconds.
    pub by_ms: u64,
    /// How far off the middle it may be, in milliseconds; no more than `by_ms` counts.
    pub jitter_ms: u64,
    /// What the times are drawn from.
    pub seed: u64,
}

impl Delay {
    /// The shortest and the longest time, in nanoseconds.
    pub fn bounds_ns(&self) -> (u64, u64) {
        let ns = |ms: u64| ms.saturating_mul(1_000_000);
        (
            ns(self.by_ms.saturating_sub(self.jitter_ms)),
            ns(self.by_ms.saturating_add(self.jitter_ms.min(self.by_ms))),
        )
    }
}
