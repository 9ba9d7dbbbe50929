//! Which sums the subsets of some numbers have.

/// One bit a sum; R. Bellman's table (1956), 64 columns at a time.
pub(super) struct Sums {
    least: i128,
    words: Vec<u64>,
}

/// The most different sums.
const SUMS_MAX: i128 = 1 << 16;

impl Sums {
    /// Those of no numbers; all sums to come lie between these. `None` if they may be too many.
    pub fn between(least: i128, most: i128) -> Option<Sums> {
        let count = most - least + 1;
        if count > SUMS_MAX {
            return None;
        }
        let mut sums = Sums { least, words: vec![0; (count as usize).div_ceil(64)] };
        let zero = (-least) as usize;
        sums.words[zero / 64] |= 1 << (zero % 64);
        Some(sums)
    }

    /// Steps that it takes to add a number.
    pub fn cost(&self) -> usize {
        self.words.len()
    }

    /// Adds a number to some subsets.
    pub fn add(&mut self, number: i64) {
        let (words, bits) = ((number.unsigned_abs() / 64) as usize, (number.unsigned_abs() % 64) as u32);
        let count = self.words.len();
        let word = |words: &[u64], at: Option<usize>| at.and_then(|at| words.get(at)).copied().unwrap_or(0);
        if number > 0 {
            for at in (0..count).rev() {
                let from = at.checked_sub(words);
                let carried = word(&self.words, from.and_then(|from| from.checked_sub(1)));
                self.words[at] |= joined(carried, word(&self.words, from), bits);
            }
        } else {
            for at in 0..count {
                let from = at + words;
                let carried = word(&self.words, Some(from + 1));
                let (low, high) = (word(&self.words, Some(from)) >> bits, carried.checked_shl(64 - bits));
                self.words[at] |= low | high.unwrap_or(0);
            }
        }
    }

    /// Whether some subset has this sum.
    pub fn has(&self, sum: i128) -> bool {
        let at = (sum - self.least) as usize;
        self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

/// The upper word of two after a shift to the left.
fn joined(low: u64, high: u64, bits: u32) -> u64 {
    high << bits | low.checked_shr(64 - bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subset_has_its_sum_and_no_other_sum_is_there() {
        for numbers in [vec![3, 5, -70], vec![64, 64, 1], vec![-1, -63, -128, 200], vec![7; 9]] {
            let of = |is_up: bool| -> i64 { numbers.iter().filter(|number| (**number > 0) == is_up).sum() };
            let mut sums = Sums::between(of(false).into(), of(true).into()).expect("they are few");
            numbers.iter().for_each(|&number| sums.add(number));
            let subset = |subset: u32| -> i64 {
                (0..).zip(&numbers).filter(|(at, _)| subset >> at & 1 == 1).map(|(_, number)| number).sum()
            };
            let expected: Vec<i64> = (0..1 << numbers.len()).map(subset).collect();
            for sum in of(false)..=of(true) {
                assert_eq!(sums.has(sum.into()), expected.contains(&sum), "{sum} of {numbers:?}");
            }
        }
        assert!(Sums::between(0, SUMS_MAX).is_none());
    }
}
