//! Packets that are held: when each may go, and for how long they were.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use crate::{draw::Draw, verbs::Delay};

/// A peer, and which way packets go between it and this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// The other side.
    pub peer: Ipv4Addr,
    /// Whether they come from there.
    pub is_inbound: bool,
}

/// What was held of one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Packets.
    pub packets: u64,
    /// For how long, added up.
    pub total: Duration,
    /// The longest of them.
    pub greatest: Duration,
}

/// A packet that waits.
struct Waiting {
    way: Way,
    since: Instant,
    counts: bool,
}

/// All that wait, by when they may go and in the order in which they came.
pub struct Packets {
    delay: Delay,
    draw: Draw,
    waiting: BTreeMap<(Instant, u32), Waiting>,
    /// When the last packet of a way may go: no later one goes before it.
    last: BTreeMap<Way, Instant>,
    held: BTreeMap<Way, Held>,
}

impl Packets {
    /// None yet. Times are drawn from `seed`.
    pub fn new(delay: Delay, seed: u64) -> Packets {
        Packets {
            delay,
            draw: Draw::new(seed),
            waiting: BTreeMap::new(),
            last: BTreeMap::new(),
            held: BTreeMap::new(),
        }
    }

    /// Holds a packet that came at `now`; packets are numbered as they come. One that does not count is held alike.
    pub fn hold(&mut self, id: u32, way: Way, now: Instant, counts: bool) {
        let (shortest, longest) = self.delay.bounds_ns();
        let free = now + Duration::from_nanos(self.draw.between(shortest, longest));
        let due = self.last.get(&way).map_or(free, |last| free.max(*last));
        self.last.insert(way, due);
        self.waiting.insert((due, id), Waiting { way, since: now, counts });
    }

    /// When the next one may go.
    pub fn next_due(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|((due, _), _)| *due)
    }

    /// Lets go what may go at `now`, in order.
    pub fn release(&mut self, now: Instant) -> Vec<u32> {
        let later = self.waiting.split_off(&(now + Duration::from_nanos(1), 0));
        let due = std::mem::replace(&mut self.waiting, later);
        due.into_iter().map(|((_, id), packet)| self.count(id, &packet, now)).collect()
    }

    /// Lets all go, in order.
    pub fn release_all(&mut self, now: Instant) -> Vec<u32> {
        let all = std::mem::take(&mut self.waiting);
        all.into_iter().map(|((_, id), packet)| self.count(id, &packet, now)).collect()
    }

    /// What was held until now, by way.
    pub fn held(self) -> BTreeMap<Way, Held> {
        self.held
    }

    fn count(&mut self, id: u32, packet: &Waiting, now: Instant) -> u32 {
        if packet.counts {
            let time = now.saturating_duration_since(packet.since);
            let held = self.held.entry(packet.way).or_default();
            held.packets += 1;
            held.total += time;
            held.greatest = held.greatest.max(time);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn way(last: u8) -> Way {
        Way { peer: Ipv4Addr::new(10, 0, 0, last), is_inbound: true }
    }

    #[test]
    fn each_way_keeps_its_order_within_the_bounds() {
        let mut packets = Packets::new(Delay { by_ms: 100, jitter_ms: 50 }, 3);
        let start = Instant::now();
        (0..200).for_each(|id| packets.hold(id, way(id as u8 % 2), start + id * MS, true));
        assert!(packets.release(start + 49 * MS).is_empty(), "none goes before 50 ms");
        let mut gone = Vec::new();
        while let Some(due) = packets.next_due() {
            gone.extend(packets.release(due));
        }
        let of = |side: u32| gone.iter().filter(move |id| *id % 2 == side);
        assert!(of(0).is_sorted() && of(1).is_sorted() && gone.len() == 200);
        assert!(!gone.is_sorted(), "ways do not wait for each other");
        let held = packets.held();
        let greatest = held.values().map(|held| held.greatest).max().unwrap();
        assert!((100 * MS..=150 * MS).contains(&greatest), "{greatest:?}");
        assert!(held.values().all(|held| held.packets == 100 && held.total >= 100 * 50 * MS));
    }

    #[test]
    fn without_jitter_each_is_held_as_long_as_the_other() {
        let mut packets = Packets::new(Delay { by_ms: 20, jitter_ms: 0 }, 3);
        let start = Instant::now();
        packets.hold(1, way(1), start, true);
        packets.hold(2, way(1), start + MS, false);
        assert_eq!(packets.next_due(), Some(start + 20 * MS));
        assert_eq!(packets.release(start + 20 * MS), [1]);
        assert_eq!(packets.release_all(start + 20 * MS), [2], "the end does not wait");
        let held = packets.held()[&way(1)];
        assert_eq!(
            held,
            Held { packets: 1, total: 20 * MS, greatest: 20 * MS },
            "a measure's own does not count"
        );
    }
}
