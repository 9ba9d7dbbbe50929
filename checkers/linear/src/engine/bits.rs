//! Sets of few small numbers, as bits of words.

#[derive(Clone, Copy, PartialEq)]
pub(super) struct Bits<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Bits<WORDS> {
    /// Numbers are below this.
    pub const MAX: usize = WORDS * 64;
    pub const EMPTY: Self = Bits([0; WORDS]);

    #[inline]
    pub fn with(mut self, number: u32) -> Self {
        debug_assert!((number as usize) < Self::MAX, "a set has room for its numbers");
        self.0[number as usize / 64] |= 1 << (number % 64);
        self
    }

    #[inline]
    pub fn without(mut self, number: u32) -> Self {
        self.0[number as usize / 64] &= !(1 << (number % 64));
        self
    }

    #[inline]
    pub fn has(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 != 0
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The numbers that are in either.
    #[inline]
    pub fn or(mut self, other: Self) -> Self {
        for at in 0..WORDS {
            self.0[at] |= other.0[at];
        }
        self
    }

    /// The numbers that are in both.
    #[inline]
    pub fn and(mut self, other: Self) -> Self {
        for at in 0..WORDS {
            self.0[at] &= other.0[at];
        }
        self
    }

    /// The numbers that are not in the other.
    #[inline]
    pub fn minus(mut self, other: Self) -> Self {
        for at in 0..WORDS {
            self.0[at] &= !other.0[at];
        }
        self
    }

    /// The least number.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        for at in 0..WORDS {
            if self.0[at] != 0 {
                return Some(at as u32 * 64 + self.0[at].trailing_zeros());
            }
        }
        None
    }

    /// The least number that is not in it.
    #[inline]
    pub fn first_missing(&self) -> u32 {
        for at in 0..WORDS {
            if self.0[at] != u64::MAX {
                return at as u32 * 64 + self.0[at].trailing_ones();
            }
        }
        Self::MAX as u32
    }

    /// Numbers in order.
    #[inline]
    pub fn iter(mut self) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let first = self.first()?;
            self = self.without(first);
            Some(first)
        })
    }

    /// All words as one that differs where they do, mostly.
    #[inline]
    pub fn mixed(&self) -> u64 {
        let mut mixed = 0;
        for word in self.0 {
            mixed = (u64::rotate_left(mixed, 23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_every_word() {
        let some = [0, 1, 63, 64, 127];
        let set = some.into_iter().fold(Bits::<2>::EMPTY, Bits::with);
        assert_eq!(set.iter().collect::<Vec<_>>(), some);
        assert_eq!((set.first(), set.first_missing()), (Some(0), 2));
        let all = (0..128).fold(Bits::<2>::EMPTY, Bits::with);
        assert_eq!((all.first_missing(), all.without(100).first_missing()), (128, 100));
        assert_eq!((Bits::<2>::EMPTY.first(), all.minus(set).iter().count()), (None, 123));
        assert!(set.and(all) == set && set.or(all) == all && set.has(64) && !set.has(65));
    }
}
