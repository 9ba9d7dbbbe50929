//! Delays of simulated nodes, with the evidence that containers would leave.

use nemesis::verbs::{Delay, Direction, Held, HeldWays, RoundTrip, Unshaped};
use simulation::{
    Node,
    net::{DelayId, Hold},
};

/// Delays of one node by rules of one number.
pub(super) enum Shape {
    /// In force, peer by peer.
    InForce(Vec<Delayed>),
    /// Gone, with what they had held.
    Gone(Unshaped),
}

/// A node and a peer between whom packets are held.
pub(super) struct Delayed {
    node: Node,
    peer: Node,
    inbound: Option<DelayId>,
    outbound: Option<DelayId>,
    round_trip: RoundTrip,
}

impl Delayed {
    /// Holds packets from now on; the direction is as `node` sees it.
    pub(super) fn begin(rules: u32, node: &Node, peer: &Node, direction: Direction, delay: Delay) -> Delayed {
        let before_us = round_trip(node, peer);
        let (least_ns, most_ns) = delay.bounds_ns();
        let begin = |from: &Node, to: &Node| from.delay(to.id(), Hold { least_ns, most_ns }, rules.into());
        let inbound = (direction != Direction::Out).then(|| begin(peer, node));
        let outbound = (direction != Direction::In).then(|| begin(node, peer));
        let round_trip = RoundTrip { before_us, during_us: round_trip(node, peer), after_us: None };
        Delayed { node: node.clone(), peer: peer.clone(), inbound, outbound, round_trip }
    }

    fn end(self) -> (HeldWays, RoundTrip) {
        let end = |from: &Node, to: &Node, id| held(from.end_delay(to.id(), id));
        let ways = HeldWays {
            inbound: self.inbound.map(|id| end(&self.peer, &self.node, id)),
            outbound: self.outbound.map(|id| end(&self.node, &self.peer, id)),
        };
        (ways, RoundTrip { after_us: round_trip(&self.node, &self.peer), ..self.round_trip })
    }
}

/// Ends delays, and says what they held.
pub(super) fn end(delayed: Vec<Delayed>) -> Unshaped {
    let mut unshaped = Unshaped::default();
    for delayed in delayed {
        let peer = delayed.peer.name();
        let (ways, round_trip) = delayed.end();
        unshaped.packets +=
            [ways.inbound, ways.outbound].into_iter().flatten().map(|way| way.packets).sum::<u64>();
        unshaped.held.insert(peer.clone(), ways);
        unshaped.round_trip.insert(peer, round_trip);
    }
    unshaped
}

fn held(held: simulation::net::Held) -> Held {
    let mean_us = held.total_ns.checked_div(held.packets).unwrap_or_default() / 1000;
    Held { packets: held.packets, mean_us, greatest_us: held.greatest_ns / 1000 }
}

fn round_trip(node: &Node, peer: &Node) -> Option<u64> {
    node.round_trip(peer.id()).map(|ns| ns / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulation::Sim;

    #[test]
    fn round_trips_are_as_long_as_the_ways_that_are_held() {
        let sim = Sim::new(1);
        let [node, peer] = ["s1", "s2"].map(|name| sim.node(name));
        let delay = Delay { by_ms: 100, jitter_ms: 10 };
        for (direction, ways) in [(Direction::In, 1), (Direction::Out, 1), (Direction::Both, 2)] {
            let unshaped = end(vec![Delayed::begin(5, &node, &peer, direction, delay)]);
            let RoundTrip { before_us, during_us, after_us } = unshaped.round_trip["s2"];
            let longest = 110_000 * ways + 1000;
            assert!(during_us.is_some_and(|us| (90_000 * ways..longest).contains(&us)), "{during_us:?}");
            assert!([before_us, after_us].into_iter().all(|us| us.is_some_and(|us| us < 1000)));
            let shown = unshaped.held["s2"];
            assert_eq!(shown.inbound.is_some(), direction != Direction::Out);
            assert_eq!(shown.outbound.is_some(), direction != Direction::In);
        }
        node.cut(peer.id());
        let unshaped = end(vec![Delayed::begin(5, &node, &peer, Direction::In, delay)]);
        assert_eq!(unshaped.round_trip["s2"], RoundTrip::default(), "nothing comes back");
    }
}
