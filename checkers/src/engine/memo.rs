//! Which configurations were seen: exact keys, and for each the least sets of used optional operations.

use crate::limits::Guard;

/// A configuration is laid out as `[event and state, mask words…, used words…, link]`; `link` leads to the next entry
/// with the same event, state and mask.
pub(super) struct Memo<'g> {
    guard: &'g Guard,
    mask_words: usize,
    used_words: usize,
    /// Bits above the fields of each used word.
    guards: Vec<u64>,
    /// Entries never move: a full chunk is followed by the next.
    chunks: Vec<Vec<u64>>,
    len: u32,
    /// Hash, and 1 + entry; 0 is vacant. A slot's place comes from the upper bits of the hash, so that the table grows in
    /// one pass over memory, without a look at the entries.
    table: Vec<u64>,
    keys: usize,
    reserved_bytes: usize,
}

const CHUNK_BITS: u32 = 10;
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
        let used_words = guards.len();
        Memo {
            guard,
            mask_words,
            used_words,
            guards,
            chunks: Vec::new(),
            len: 0,
            table: Vec::new(),
            keys: 0,
            reserved_bytes: 0,
        }
    }

    /// `config` is `[event and state, mask words…, used words…]`.
    pub fn insert(&mut self, config: &[u64]) -> Seen {
        if self.keys * 4 >= self.table.len() * 3 && !self.grow() && self.keys * 20 >= self.table.len() * 19 {
            return Seen::Full;
        }
        let hash = hash(&config[..1 + self.mask_words]);
        let mut at = place(hash, self.table.len());
        loop {
            let slot = self.table[at];
            if slot == 0 {
                let Some(entry) = self.push(config) else { return Seen::Full };
                self.table[at] = u64::from(hash) << 32 | u64::from(entry + 1);
                self.keys += 1;
                return Seen::New(0);
            }
            if (slot >> 32) as u32 == hash && self.same_key(slot as u32 - 1, config) {
                return self.insert_used(slot as u32 - 1, config);
            }
            at = (at + 1) & (self.table.len() - 1);
        }
    }

    /// Entries with this event, as `[event and state, mask…, used…]`.
    pub fn entries_at(&self, event: u32) -> impl Iterator<Item = &[u64]> {
        (0..self.len).map(|entry| self.entry(entry)).filter(move |config| (config[0] >> 32) as u32 == event)
    }

    pub fn bytes(&self) -> usize {
        self.reserved_bytes
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        self.chunks = Vec::new();
        self.table = Vec::new();
        (self.len, self.keys) = (0, 0);
        self.guard.release(self.reserved_bytes);
        self.reserved_bytes = 0;
    }

    /// Walks the entries with the same key. One that used no more of any class than `config` makes it superfluous;
    /// one that used at least as much of each gives its place to it.
    fn insert_used(&mut self, first: u32, config: &[u64]) -> Seen {
        let used = 1 + self.mask_words..1 + self.mask_words + self.used_words;
        let mut entry = first;
        for steps in 1.. {
            let known = &self.entry(entry)[used.clone()];
            if self.at_most(known, &config[used.clone()]) {
                return Seen::Before(steps);
            }
            if self.at_most(&config[used.clone()], known) {
                self.entry_mut(entry)[used.clone()].copy_from_slice(&config[used]);
                return Seen::New(steps);
            }
            match self.entry(entry)[used.end] {
                NO_LINK => {
                    let Some(new) = self.push(config) else { return Seen::Full };
                    self.entry_mut(entry)[used.end] = u64::from(new);
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

    fn stride(&self) -> usize {
        2 + self.mask_words + self.used_words
    }

    fn entry(&self, entry: u32) -> &[u64] {
        let stride = self.stride();
        let start = (entry as usize & ((1 << CHUNK_BITS) - 1)) * stride;
        &self.chunks[entry as usize >> CHUNK_BITS][start..start + stride]
    }

    fn entry_mut(&mut self, entry: u32) -> &mut [u64] {
        let stride = self.stride();
        let start = (entry as usize & ((1 << CHUNK_BITS) - 1)) * stride;
        &mut self.chunks[entry as usize >> CHUNK_BITS][start..start + stride]
    }

    fn same_key(&self, entry: u32, config: &[u64]) -> bool {
        self.entry(entry)[..1 + self.mask_words] == config[..1 + self.mask_words]
    }

    fn push(&mut self, config: &[u64]) -> Option<u32> {
        let entry = self.len;
        if entry as usize >> CHUNK_BITS == self.chunks.len() {
            let words = self.stride() << CHUNK_BITS;
            if entry == u32::MAX - 1 || !self.reserve(words * 8) {
                return None;
            }
            self.chunks.push(Vec::with_capacity(words));
        }
        let chunk = self.chunks.last_mut().expect("a chunk was just made sure of");
        chunk.extend_from_slice(config);
        chunk.push(NO_LINK);
        self.len += 1;
        Some(entry)
    }

    /// Doubles the table, if there is memory for both the old and the new one.
    fn grow(&mut self) -> bool {
        let slots = (self.table.len() * 2).max(64);
        if slots > 1 << 32 || !self.reserve(slots * 8) {
            return false;
        }
        let old = std::mem::replace(&mut self.table, vec![0; slots]);
        for slot in old.iter().copied().filter(|slot| *slot != 0) {
            let mut at = place((slot >> 32) as u32, slots);
            while self.table[at] != 0 {
                at = (at + 1) & (slots - 1);
            }
            self.table[at] = slot;
        }
        self.guard.release(old.len() * 8);
        self.reserved_bytes -= old.len() * 8;
        true
    }

    fn reserve(&mut self, bytes: usize) -> bool {
        let fits = self.guard.reserve(bytes);
        self.reserved_bytes += if fits { bytes } else { 0 };
        fits
    }
}

impl Drop for Memo<'_> {
    fn drop(&mut self) {
        self.guard.release(self.reserved_bytes);
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

/// Where to look first in a table of so many slots, a power of two.
fn place(hash: u32, slots: usize) -> usize {
    (u64::from(hash) >> (32 - slots.trailing_zeros())) as usize
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
        assert!(memo.bytes() <= limit && memo.bytes() > limit / 2, "{} bytes for {count}", memo.bytes());
        drop(memo);
        assert!(guard.reserve(limit));
    }
}
