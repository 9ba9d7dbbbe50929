//! One direction between two nodes: how long a packet takes, and whether it arrives.

use super::delay::Delays;
use crate::rng::Rng;

/// How a link treats packets. Times in nanoseconds, shares in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// The least delay.
    pub delay_ns: u64,
    /// What chance adds at most; small values are far more frequent than large ones (a cubed even draw).
    pub jitter_ns: u64,
    /// Packets lost.
    pub loss_ppm: u32,
    /// Datagrams delivered twice.
    pub duplicate_ppm: u32,
    /// Datagrams held back by up to ten times the delay, so that later ones overtake them.
    pub reorder_ppm: u32,
}

impl Default for Quality {
    /// A quiet bridge network on one machine.
    fn default() -> Self {
        Quality { delay_ns: 40_000, jitter_ns: 300_000, loss_ppm: 0, duplicate_ppm: 0, reorder_ppm: 0 }
    }
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It arrives after so many nanoseconds.
    Arrives(u64),
    /// Chance or a cut took it.
    Lost,
}

pub(super) struct Link {
    rng: Rng,
    pub(super) quality: Quality,
    /// Partitions may overlap: the link is whole when every cut is mended.
    pub(super) cuts: u32,
    /// Packets taken by cuts: a partition's evidence.
    pub(super) cut_packets: u64,
    /// Packets taken by chance.
    pub(super) lost_packets: u64,
    /// Packets carried while the quality was not the default.
    pub(super) shaped_packets: u64,
    /// What holds packets for a while.
    pub(super) delays: Delays,
}

impl Link {
    pub(super) fn new(seed: u64, from: u16, to: u16) -> Link {
        let name = 1 << 32 | u64::from(from) << 16 | u64::from(to);
        Link {
            rng: Rng::new(seed, name),
            quality: Quality::default(),
            cuts: 0,
            cut_packets: 0,
            lost_packets: 0,
            shaped_packets: 0,
            delays: Delays::default(),
        }
    }

    /// Sends one packet.
    pub(super) fn send(&mut self, now: u64) -> Fate {
        if self.cuts > 0 {
            self.cut_packets += 1;
            return Fate::Lost;
        }
        if self.quality != Quality::default() {
            self.shaped_packets += 1;
        }
        if self.rng.chance(self.quality.loss_ppm) {
            self.lost_packets += 1;
            return Fate::Lost;
        }
        Fate::Arrives(self.delays.pass(now) - now + self.delay(&self.rng))
    }

    /// When a packet would arrive that sets out at `now`; none if a cut would take it.
    pub(super) fn would_arrive(&self, now: u64, rng: &Rng) -> Option<u64> {
        (self.cuts == 0).then(|| self.delays.would_pass(now, rng) + self.delay(rng))
    }

    /// Whether a datagram is delivered twice.
    pub(super) fn duplicates(&self) -> bool {
        self.rng.chance(self.quality.duplicate_ppm)
    }

    /// How much later than its fellows a datagram arrives.
    pub(super) fn held_back(&self) -> u64 {
        match self.rng.chance(self.quality.reorder_ppm) {
            true => self.rng.below(10 * (self.quality.delay_ns + self.quality.jitter_ns)),
            false => 0,
        }
    }

    fn delay(&self, rng: &Rng) -> u64 {
        let draw = rng.next() >> 48;
        let cubed = (draw * draw * draw) >> 16;
        self.quality.delay_ns + ((u128::from(self.quality.jitter_ns) * u128::from(cubed)) >> 32) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_stays_within_bounds_and_is_mostly_short() {
        let mut link = Link::new(1, 0, 1);
        let delays: Vec<u64> = (0..1000)
            .map(|_| match link.send(0) {
                Fate::Arrives(delay) => delay,
                Fate::Lost => panic!("a sound link loses nothing"),
            })
            .collect();
        assert!(delays.iter().all(|d| (40_000..=340_000).contains(d)));
        assert!(delays.iter().filter(|d| **d < 80_000).count() > 400);
        assert!(delays.iter().any(|d| *d > 300_000));
    }

    #[test]
    fn a_packet_that_is_only_thought_of_changes_nothing() {
        let (mut asked, mut link) = (Link::new(1, 0, 1), Link::new(1, 0, 1));
        assert!(asked.would_arrive(5, &Rng::new(9, 9)).is_some_and(|at| (40_005..=340_005).contains(&at)));
        assert_eq!(asked.send(0), link.send(0));
        asked.cuts = 1;
        assert_eq!(asked.would_arrive(5, &Rng::new(9, 9)), None);
    }

    #[test]
    fn cuts_nest_and_count() {
        let mut link = Link::new(1, 0, 1);
        link.cuts = 2;
        assert_eq!(link.send(0), Fate::Lost);
        link.cuts = 1;
        assert_eq!(link.send(0), Fate::Lost);
        link.cuts = 0;
        assert_ne!(link.send(0), Fate::Lost);
        assert_eq!(link.cut_packets, 2);
    }
}
