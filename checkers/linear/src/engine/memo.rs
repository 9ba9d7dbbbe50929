//! Which configurations were seen: exact keys, and for each the least sets of used optional operations.

use crate::limits::Guard;

use super::{
    entries::Entries,
    slots::{Place, Slots},
};

/// A configuration is laid out as `[event and state, mask words…, used words…, link]`; `link` leads to the next entry
/// with the same event, state and mask.
pub(super) struct Memo<'g> {
    mask_words: usize,
    /// Bits above the fields of each used word.
    guards: Vec<u64>,
    entries: Entries<'g>,
    slots: Slots<'g>,
}

const NO_LINK: u64 = u64::MAX;

pub(super) enum Seen {
    /// Not before, nor one with fewer optional operations used. The number is the steps that the look-up took.
    New(u32),
    /// Before, or one that could do all that this one can.
    Before(u32),
    /// No memory is left to remember it.
    Full,
}

impl<'g> Memo<'g> {
    pub fn new(guard: &'g Guard, mask_words: usize, guards: Vec<u64>) -> Memo<'g> {
        let entries = Entries::new(guard, 2 + mask_words + guards.len());
        Memo { mask_words, guards, entries, slots: Slots::new(guard) }
    }

    /// `config` is `[event and state, mask words…, used words…]`.
    pub fn insert(&mut self, config: &[u64]) -> Seen {
        debug_assert!(
            config.len() == 1 + self.mask_words + self.guards.len(),
            "a configuration has all its words"
        );
        debug_assert!(
            config[1 + self.mask_words..].iter().zip(&self.guards).all(|(used, guards)| used & guards == 0),
            "the bits above the counts are zero"
        );
        let key = &config[..1 + self.mask_words];
        let is_same = |entry| self.entries.get(entry)[..key.len()] == *key;
        match self.slots.place(hash(key), is_same) {
            Place::Known(first) => self.insert_used(first, config),
            Place::Full => Seen::Full,
            Place::Vacant(vacant) => {
                let Some(entry) = self.entries.push(config, NO_LINK) else { return Seen::Full };
                vacant.fill(entry);
                Seen::New(0)
            }
        }
    }

    /// Entries with this event, as `[event and state, mask…, used…, link]`.
    pub fn entries_at(&self, event: u32) -> impl Iterator<Item = &[u64]> {
        self.entries.iter().filter(move |config| (config[0] >> 32) as u32 == event)
    }

    pub fn bytes(&self) -> usize {
        self.entries.bytes() + self.slots.bytes()
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.slots.clear();
    }

    /// Walks the entries with the same key. One that used no more of any class than `config` makes it superfluous;
    /// one that used at least as much of each gives its place to it.
    fn insert_used(&mut self, first: u32, config: &[u64]) -> Seen {
        let used = 1 + self.mask_words..config.len();
        let mut entry = first;
        for steps in 1.. {
            let known = &self.entries.get(entry)[used.clone()];
            if self.at_most(known, &config[used.clone()]) {
                return Seen::Before(steps);
            }
            if self.at_most(&config[used.clone()], known) {
                self.entries.get_mut(entry)[used.clone()].copy_from_slice(&config[used]);
                return Seen::New(steps);
            }
            match self.entries.get(entry)[used.end] {
                NO_LINK => {
                    let Some(new) = self.entries.push(config, NO_LINK) else { return Seen::Full };
                    self.entries.get_mut(entry)[used.end] = u64::from(new);
                    return Seen::New(steps);
                }
                next => entry = next as u32,
            }
        }
        unreachable!("a chain of entries ends")
    }

    /// Whether every count of `a` is at most that of `b`.
    fn at_most(&self, a: &[u64], b: &[u64]) -> bool {
        self.guards.iter().zip(a).zip(b).all(|((guards, a), b)| ((b | guards) - a) & guards == *guards)
    }
}

fn hash(words: &[u64]) -> u32 {
    let mut hash = 0u64;
    for word in words {
        let product = u128::from(hash ^ word) * 0x9E37_79B9_7F4A_7C15;
        hash = (product >> 64) as u64 ^ product as u64;
    }
    (hash.wrapping_mul(0xF39C_C060_5CED_C835) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn new(seen: Seen) -> bool {
        matches!(seen, Seen::New(_))
    }

    #[test]
    fn fewer_used_options_are_new_and_more_are_not() {
        let guard = Guard::new(&Limits::default());
        // Two fields of one bit, guards above them.
        let mut memo = Memo::new(&guard, 1, vec![0b1010]);
        assert!(new(memo.insert(&[1, 0, 0b0100])));
        assert!(!new(memo.insert(&[1, 0, 0b0101])));
        assert!(new(memo.insert(&[1, 0, 0b0001])));
        assert!(new(memo.insert(&[1, 1, 0b0101])));
        assert!(new(memo.insert(&[1, 0, 0])));
        assert!(!new(memo.insert(&[1, 0, 0b0100])));
    }

    #[test]
    fn it_keeps_what_it_saw_while_it_grows() {
        let guard = Guard::new(&Limits::default());
        let mut memo = Memo::new(&guard, 1, vec![]);
        assert!((0..10_000u64).all(|n| new(memo.insert(&[n << 32, n % 7]))));
        assert!((0..10_000u64).all(|n| !new(memo.insert(&[n << 32, n % 7]))));
        assert_eq!(memo.entries_at(77).count(), 1);
        memo.clear();
        assert!(new(memo.insert(&[77 << 32, 0])));
    }

    #[test]
    fn it_stays_within_the_memory_limit_and_uses_most_of_it() {
        let limit = 8 << 20;
        let guard = Guard::new(&Limits { memory_bytes: Some(limit), ..Limits::default() });
        let mut memo = Memo::new(&guard, 1, vec![]);
        let count = (0..).take_while(|n| new(memo.insert(&[n << 32, 0]))).count();
        assert!(
            memo.bytes() <= limit && memo.bytes() > limit / 20 * 19,
            "{} bytes for {count}",
            memo.bytes()
        );
        drop(memo);
        assert!(guard.reserve(limit));
    }
}
