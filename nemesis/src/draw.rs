//! The seeded generator behind schedules and choices.

use history::splitmix;

/// One stream of seeded numbers, see [`splitmix`].
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// A generator for `seed`.
    pub fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    /// A generator for one named part of what `seed` decides: parts do not disturb each other.
    pub fn part(seed: u64, part: &str) -> Draw {
        let mut draw = Draw(seed);
        for byte in part.bytes() {
            draw.0 = draw.next() ^ u64::from(byte);
        }
        Draw(draw.next())
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        splitmix::next(&mut self.0)
    }

    /// A number in `0..n`, `n` above 0. The bias of the multiplication is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number in `from..=to`; `from` when the range is empty.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        if to <= from { from } else { from + self.below((to - from).saturating_add(1)) }
    }

    /// A number in `from..=to`; `from` when the range is empty.
    pub fn between_signed(&mut self, from: i64, to: i64) -> i64 {
        if to <= from { from } else { from.wrapping_add_unsigned(self.between(0, from.abs_diff(to))) }
    }

    /// `count` of `items` in the order drawn; all of them when there are fewer.
    pub fn choose<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut left = items.to_vec();
        (0..count.min(items.len())).map(|_| left.remove(self.below(left.len() as u64) as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64() {
        // First outputs of the reference implementation for seed 1234567.
        let mut draw = Draw::new(1_234_567);
        assert_eq!([draw.next(), draw.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn ranges_are_inclusive_and_reached() {
        let mut draw = Draw::new(1);
        let seen: std::collections::BTreeSet<_> = (0..200).map(|_| draw.between_signed(-2, 2)).collect();
        assert_eq!(seen, (-2..=2).collect());
        assert_eq!(draw.between(5, 4), 5);
        assert_eq!(draw.choose(&[1, 2, 3], 9).len(), 3);
    }

    #[test]
    fn parts_differ() {
        assert_ne!(Draw::part(1, "pause").next(), Draw::part(1, "clock").next());
        assert_ne!(Draw::part(1, "pause").next(), Draw::part(2, "pause").next());
    }
}
