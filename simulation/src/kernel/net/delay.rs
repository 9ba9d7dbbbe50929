//! Delays that a link has for a while, beyond its own.

use std::collections::VecDeque;

use crate::{
    kernel::node::{Node, NodeId},
    rng::{Rng, mix},
};

/// How long each packet is held, in nanoseconds: evenly from the least to the most. Packets of a link keep their order,
/// as on a slow one, and so none is held for longer than the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The least.
    pub least_ns: u64,
    /// The most.
    pub most_ns: u64,
}

/// What a delay has held; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Packets.
    pub packets: u64,
    /// For how long, added up.
    pub total_ns: u64,
    /// The longest of them.
    pub greatest_ns: u64,
}

/// One of the delays of a link, as [`Node::delay`] gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayId(u64);

/// The delays of a link, in the order in which they came. A packet goes through one after the other.
#[derive(Default)]
pub(super) struct Delays {
    began: u64,
    all: VecDeque<Delay>,
}

struct Delay {
    id: DelayId,
    hold: Hold,
    /// Of its own, so that all else is drawn as it would be without it.
    rng: Rng,
    /// When the last packet is let go.
    last: u64,
    held: Held,
}

impl Delays {
    /// When a packet that sets out at `now` is through.
    pub(super) fn pass(&mut self, now: u64) -> u64 {
        self.all.iter_mut().fold(now, |at, delay| {
            let due = delay.due(at, &delay.rng);
            assert!(due - at <= delay.hold.most_ns, "none is held for longer than the most");
            delay.last = due;
            delay.held.packets += 1;
            delay.held.total_ns += due - at;
            delay.held.greatest_ns = delay.held.greatest_ns.max(due - at);
            due
        })
    }

    /// The same of a packet that is only thought of.
    pub(super) fn would_pass(&self, now: u64, rng: &Rng) -> u64 {
        self.all.iter().fold(now, |at, delay| delay.due(at, rng))
    }

    fn begin(&mut self, hold: Hold, rng: Rng) -> DelayId {
        self.began += 1;
        let id = DelayId(self.began);
        self.all.push_back(Delay { id, hold, rng, last: 0, held: Held::default() });
        id
    }

    fn end(&mut self, id: DelayId) -> Held {
        let at = self.all.iter().position(|delay| delay.id == id);
        at.and_then(|at| self.all.remove(at)).map_or_else(Held::default, |delay| delay.held)
    }
}

impl Delay {
    fn due(&self, at: u64, rng: &Rng) -> u64 {
        self.last.max(at + rng.between(self.hold.least_ns, self.hold.most_ns))
    }
}

impl Node {
    /// Holds each packet that sets out from here to `to` from now on, beside what other delays do. Times are drawn from
    /// the simulation's seed and `salt`.
    pub fn delay(&self, to: NodeId, hold: Hold, salt: u64) -> DelayId {
        let mut net = self.core.net.borrow_mut();
        let rng = Rng::new(net.seed ^ mix(salt), 2 << 32 | u64::from(self.id().0) << 16 | u64::from(to.0));
        net.link(self.id(), to).delays.begin(hold, rng)
    }

    /// Holds no further packet, and says what was held; what is under way comes in its time. Nothing, if it was ended
    /// before.
    pub fn end_delay(&self, to: NodeId, id: DelayId) -> Held {
        self.core.net.borrow_mut().link(self.id(), to).delays.end(id)
    }

    /// How long a packet would take to `to` and back if it set out now; none if it would be lost. Nothing is sent, and
    /// whatever comes later is drawn as if nobody had asked.
    pub fn round_trip(&self, to: NodeId) -> Option<u64> {
        let (now, mut net) = (self.core.now(), self.core.net.borrow_mut());
        let rng = Rng::new(net.seed ^ now, 3 << 32 | u64::from(self.id().0) << 16 | u64::from(to.0));
        let there = net.link(self.id(), to).would_arrive(now, &rng)?;
        Some(net.link(to, self.id()).would_arrive(there, &rng)? - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn begin(delays: &mut Delays, least: u64, most: u64) -> DelayId {
        delays.begin(Hold { least_ns: least * MS, most_ns: most * MS }, Rng::new(1, 2))
    }

    #[test]
    fn jitter_stays_within_its_bounds_and_keeps_the_order() {
        let mut delays = Delays::default();
        let id = begin(&mut delays, 50, 150);
        let due: Vec<u64> = (0..200).map(|n| delays.pass(n * MS)).collect();
        assert!(due.is_sorted());
        assert!(due.iter().zip(0..).all(|(due, n)| (50 * MS..=150 * MS).contains(&(due - n * MS))));
        let held = delays.end(id);
        assert_eq!(held.packets, 200);
        assert!((100 * MS..=150 * MS).contains(&held.greatest_ns), "{held:?}");
        assert_eq!(delays.end(id), Held::default(), "ended again, it is nothing");
        assert_eq!(delays.pass(7), 7);
    }

    #[test]
    fn delays_of_one_link_add_up_and_end_alone() {
        let mut delays = Delays::default();
        let (first, second) = (begin(&mut delays, 100, 100), begin(&mut delays, 50, 50));
        assert_eq!(delays.would_pass(0, &Rng::new(1, 1)), 150 * MS);
        assert_eq!(delays.pass(0), 150 * MS);
        assert_eq!(delays.end(first), Held { packets: 1, total_ns: 100 * MS, greatest_ns: 100 * MS });
        assert_eq!(delays.pass(200 * MS), 250 * MS);
        assert_eq!(delays.end(second).packets, 2);
    }
}
