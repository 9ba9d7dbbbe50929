//! Packets that pass, but not as they should: what is asked, and what is shown of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Direction, Shown};

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
}

impl Delay {
    /// The shortest and the longest time, in nanoseconds.
    pub fn bounds_ns(&self) -> (u64, u64) {
        let ns = |ms: u64| ms.saturating_mul(1_000_000);
        let jitter_ms = self.jitter_ms.min(self.by_ms);
        (ns(self.by_ms - jitter_ms), ns(self.by_ms.saturating_add(jitter_ms)))
    }
}

/// Of rules that hold packets: `{"rules_for":["198.18.0.5"],"direction":"out","by_ms":2000,"jitter_ms":200}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shaping {
    /// Whose packets are held.
    pub rules_for: Vec<String>,
    /// Which way, as seen by the node that has the rules.
    pub direction: Direction,
    /// For how long.
    pub by_ms: u64,
    /// And by how much more or less.
    pub jitter_ms: u64,
}

/// Of their end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unshaped {
    /// All packets held.
    pub packets: u64,
    /// The same by peer.
    pub held: BTreeMap<String, HeldWays>,
    /// Packets dropped instead: there was no room for them, or rules of another fault went, and the kernel drops what
    /// waits when that happens.
    pub lost: u64,
    /// How long a packet took to each peer and back.
    pub round_trip: BTreeMap<String, RoundTrip>,
}

/// What was held of one peer's packets, of the ways that the rules are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldWays {
    /// Packets from the peer.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub inbound: Option<Held>,
    /// Packets to the peer.
    #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
    pub outbound: Option<Held>,
}

/// Packets that were held, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// How many.
    pub packets: u64,
    /// Microseconds, on average; 0 of none.
    pub mean_us: u64,
    /// Microseconds, the longest.
    pub greatest_us: u64,
}

/// Round trips in microseconds; none where there was no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrip {
    /// Just before the rules came into force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_us: Option<u64>,
    /// Begun when they were in force; shorter than they make it where they went before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during_us: Option<u64>,
    /// Just after they went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_us: Option<u64>,
}

impl Shown for Shaping {
    /// Whether a packet met them is seen when they go.
    fn touched(&self) -> bool {
        true
    }
}

impl Shown for Unshaped {
    fn touched(&self) -> bool {
        self.packets > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_write_is_kept_and_tells_whether_a_packet_was_held() {
        let line = r#"{"packets":3,"held":{"198.18.0.5":{"out":{"packets":3,"mean_us":2000100,"greatest_us":2100000}}},"lost":0,"round_trip":{"198.18.0.5":{"before_us":140,"during_us":2000310,"after_us":150}}}"#;
        let shown: Unshaped = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&shown).unwrap(), line);
        assert!(shown.touched() && !Unshaped::default().touched());
        let line = r#"{"rules_for":["198.18.0.5"],"direction":"out","by_ms":2000,"jitter_ms":200}"#;
        let shown: Shaping = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&shown).unwrap(), line);
    }
}
