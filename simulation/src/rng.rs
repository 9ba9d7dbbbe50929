//! Seeded numbers, see [`history::splitmix`]: one word of state, so that every node and
//! link has a stream of its own and a fault taken out of a run leaves the other streams as they were.

use std::cell::Cell;

pub use history::splitmix::mix;

use history::splitmix;

/// One stream of seeded numbers.
#[derive(Debug)]
pub struct Rng(Cell<u64>);

impl Rng {
    /// The stream `name` of a run: streams of different names are unrelated.
    pub fn new(seed: u64, name: u64) -> Rng {
        Rng(Cell::new(mix(seed ^ mix(name.wrapping_add(splitmix::GAMMA)))))
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        let mut state = self.0.get();
        let drawn = splitmix::next(&mut state);
        self.0.set(state);
        drawn
    }

    /// Evenly from `0..bound`; 0 when `bound` is 0.
    pub fn below(&self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Evenly from `from..=to`.
    pub fn between(&self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from).saturating_add(1))
    }

    /// True in `ppm` of a million draws. Draws nothing when `ppm` is 0.
    pub fn chance(&self, ppm: u32) -> bool {
        ppm > 0 && self.below(1_000_000) < u64::from(ppm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_name() {
        let draw = |seed, name| {
            let rng = Rng::new(seed, name);
            (0..4).map(|_| rng.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        let rng = Rng::new(7, 0);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[rng.between(3, 7) as usize - 3] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert!(!rng.chance(0) && rng.chance(1_000_000));
    }
}
