//! What users of leases want to know first: did two clients ever believe at once that they had it?

use std::borrow::Cow;

/// A time in which a client was entitled to believe that it held something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Belief {
    /// Who.
    pub owner: u32,
    /// From here: its acquire's return.
    pub from: u64,
    /// Up to here, exclusive: its release's invocation, its deadline, or `u64::MAX`.
    pub until: u64,
    /// The operation that began it, for the evidence.
    pub op: u32,
}

/// Two beliefs that overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The one that began first.
    pub first: Belief,
    /// The other.
    pub second: Belief,
}

impl Overlap {
    /// When both believed: from, and until.
    pub fn span(&self) -> (u64, u64) {
        (self.second.from, self.first.until.min(self.second.until))
    }
}

/// Beliefs of one object that overlap, of different owners, in O(n log n): each with the one before it that lasts
/// longest, in order of time. Empty exactly if no two overlap. A belief that lasts no time overlaps one that began
/// before and ends after it.
pub fn overlaps(beliefs: &[Belief]) -> Vec<Overlap> {
    let order = |belief: &Belief| (belief.from, belief.until, belief.op);
    let mut sorted = Cow::Borrowed(beliefs);
    if !beliefs.is_sorted_by_key(order) {
        sorted.to_mut().sort_unstable_by_key(order);
    }
    let mut overlaps = Vec::new();
    // The two that last longest, of different owners.
    let mut longest: [Option<Belief>; 2] = [None, None];
    for &second in sorted.iter() {
        let first = longest.into_iter().flatten().find(|first| first.owner != second.owner);
        overlaps
            .extend(first.filter(|first| second.from < first.until).map(|first| Overlap { first, second }));
        longest = longer(longest, second);
    }
    overlaps
}

fn longer(longest: [Option<Belief>; 2], new: Belief) -> [Option<Belief>; 2] {
    let outlasts = |known: &Belief| new.until > known.until;
    match longest {
        [None, _] => [Some(new), None],
        [Some(first), second] if first.owner == new.owner => {
            [Some(if outlasts(&first) { new } else { first }), second]
        }
        [Some(first), _] if outlasts(&first) => [Some(new), Some(first)],
        [first, Some(second)] if !outlasts(&second) => [first, Some(second)],
        [first, _] => [first, Some(new)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn belief(owner: u32, from: u64, until: u64) -> Belief {
        Belief { owner, from, until, op: from as u32 }
    }

    #[test]
    fn beliefs_that_touch_do_not_overlap() {
        assert_eq!(overlaps(&[belief(1, 0, 5), belief(2, 5, 9)]), []);
    }

    #[test]
    fn an_overlap_is_found_across_a_shorter_one() {
        let beliefs = [belief(1, 0, 100), belief(1, 10, 20), belief(2, 30, 40)];
        let found = overlaps(&beliefs);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].span(), (30, 40));
        assert_eq!(found[0].first, beliefs[0]);
    }

    #[test]
    fn one_owner_may_believe_twice() {
        assert_eq!(overlaps(&[belief(1, 0, 10), belief(1, 5, 20)]), []);
    }

    #[test]
    fn overlaps_are_found_exactly_where_pairs_overlap() {
        let mut seed = 7u64;
        let mut next = |bound: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % bound
        };
        for _ in 0..20_000 {
            let beliefs: Vec<Belief> = (0..next(6))
                .map(|_| {
                    let from = next(12);
                    belief(next(3) as u32, from, from + next(6))
                })
                .collect();
            let pairs = |second: &Belief| {
                beliefs.iter().any(|first| {
                    first.owner != second.owner && first.from < second.until && second.from < first.until
                })
            };
            assert_eq!(overlaps(&beliefs).is_empty(), !beliefs.iter().any(pairs), "{beliefs:?}");
        }
    }
}
