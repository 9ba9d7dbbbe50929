//! A hash table of numbers that grows piece by piece, so that there is never an old and a new one of all of it.

use crate::limits::Guard;

/// Segments by the upper bits of the hash; one until it is large.
pub(super) struct Slots<'g> {
    guard: &'g Guard,
    segments: Vec<Segment>,
    reserved_bytes: usize,
}

/// Hash, and 1 + number; 0 is vacant. A slot's place comes from the upper bits of the hash, so that the table grows in
/// one pass over memory, without a look at what the numbers stand for.
#[derive(Default)]
struct Segment {
    slots: Vec<u64>,
    keys: usize,
}

const SLOTS_MIN: usize = 64;
/// A single segment of this size becomes many.
const SPLIT_SLOTS: usize = 1 << 15;
const SEGMENTS: usize = 64;

pub(super) enum Place<'s> {
    /// What was looked for has this number.
    Known(u32),
    /// It has none: the slot is for it, once it has.
    Vacant(Vacant<'s>),
    /// Nor is there room for one.
    Full,
}

pub(super) struct Vacant<'s> {
    slot: &'s mut u64,
    keys: &'s mut usize,
    hash: u32,
}

impl Vacant<'_> {
    pub fn fill(self, number: u32) {
        *self.slot = pack(self.hash, number);
        *self.keys += 1;
    }
}

impl<'g> Slots<'g> {
    pub fn new(guard: &'g Guard) -> Slots<'g> {
        Slots { guard, segments: Vec::new(), reserved_bytes: 0 }
    }

    /// Looks for a number with this hash that is the same.
    pub fn place(&mut self, hash: u32, is_same: impl Fn(u32) -> bool) -> Place<'_> {
        if !self.make_room(hash) {
            return Place::Full;
        }
        let (segment, hash_within) = self.within(hash);
        let Segment { slots, keys } = &mut self.segments[segment];
        let mask = slots.len() - 1;
        let mut at = first(hash_within, slots.len());
        loop {
            let slot = slots[at];
            if slot == 0 {
                return Place::Vacant(Vacant { slot: &mut slots[at], keys, hash });
            }
            if (slot >> 32) as u32 == hash && is_same(slot as u32 - 1) {
                return Place::Known(slot as u32 - 1);
            }
            at = (at + 1) & mask;
        }
    }

    pub fn bytes(&self) -> usize {
        self.reserved_bytes
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        self.segments = Vec::new();
        self.guard.release(self.reserved_bytes);
        self.reserved_bytes = 0;
    }

    /// The segment of a hash, and what of the hash tells places within it apart.
    fn within(&self, hash: u32) -> (usize, u32) {
        let count = self.segments.len();
        let segment = ((u64::from(hash) * count as u64) >> 32) as usize;
        (segment, hash << count.trailing_zeros())
    }

    /// Grows where three quarters are taken; where memory is short, only a twentieth must be left.
    fn make_room(&mut self, hash: u32) -> bool {
        if self.segments.is_empty() {
            self.segments.push(Segment::default());
        }
        let (segment, _) = self.within(hash);
        let Segment { slots, keys } = &self.segments[segment];
        if keys * 4 < slots.len() * 3 {
            return true;
        }
        let is_tight = keys * 20 >= slots.len() * 19;
        let grown = if self.segments.len() == 1 && slots.len() >= SPLIT_SLOTS {
            self.split()
        } else {
            self.grow(segment)
        };
        grown || !is_tight
    }

    /// Doubles one segment, if there is memory for both the old and the new one.
    fn grow(&mut self, segment: usize) -> bool {
        let old_slots = self.segments[segment].slots.len();
        let slots = (old_slots * 2).max(SLOTS_MIN);
        if slots * self.segments.len() > 1 << 32 || !self.reserve(slots * 8) {
            return false;
        }
        let grown = Segment { slots: vec![0; slots], keys: 0 };
        let old = std::mem::replace(&mut self.segments[segment], grown);
        self.take_over(old);
        true
    }

    /// Makes many segments of the one, twice as large in all.
    fn split(&mut self) -> bool {
        let slots = SPLIT_SLOTS * 2 / SEGMENTS;
        if !self.reserve(slots * SEGMENTS * 8) {
            return false;
        }
        let old = std::mem::take(&mut self.segments);
        self.segments.extend((0..SEGMENTS).map(|_| Segment { slots: vec![0; slots], keys: 0 }));
        old.into_iter().for_each(|old| self.take_over(old));
        true
    }

    fn take_over(&mut self, old: Segment) {
        for slot in old.slots.iter().copied().filter(|slot| *slot != 0) {
            let (segment, hash) = self.within((slot >> 32) as u32);
            let Segment { slots, keys } = &mut self.segments[segment];
            let mut at = first(hash, slots.len());
            while slots[at] != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = slot;
            *keys += 1;
        }
        self.guard.release(old.slots.len() * 8);
        self.reserved_bytes -= old.slots.len() * 8;
    }

    fn reserve(&mut self, bytes: usize) -> bool {
        let fits = self.guard.reserve(bytes);
        self.reserved_bytes += if fits { bytes } else { 0 };
        fits
    }
}

impl Drop for Slots<'_> {
    fn drop(&mut self) {
        self.guard.release(self.reserved_bytes);
    }
}

fn pack(hash: u32, number: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(number + 1)
}

/// Where to look first in so many slots, a power of two.
fn first(hash: u32, slots: usize) -> usize {
    ((u64::from(hash) * slots as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn spread(number: u32) -> u32 {
        number.wrapping_mul(0x9E37_79B9)
    }

    fn insert(slots: &mut Slots<'_>, number: u32) -> bool {
        match slots.place(spread(number), |known| known == number) {
            Place::Vacant(vacant) => vacant.fill(number),
            Place::Known(_) | Place::Full => return false,
        }
        true
    }

    #[test]
    fn every_number_is_found_again_whatever_the_size() {
        let guard = Guard::new(&Limits::default());
        let mut slots = Slots::new(&guard);
        let count = SPLIT_SLOTS as u32 * 8;
        assert!((0..count).all(|number| insert(&mut slots, number)));
        assert!((0..count).all(|number| !insert(&mut slots, number)));
        assert!(slots.segments.len() == SEGMENTS && slots.bytes() <= SPLIT_SLOTS * 8 * 8 * 2);
    }

    #[test]
    fn nearly_all_memory_permitted_is_used() {
        for limit in [3 << 20, 5 << 20, 6 << 20, 7 << 20] {
            let guard = Guard::new(&Limits { memory_bytes: Some(limit), ..Limits::default() });
            let mut slots = Slots::new(&guard);
            (0..).take_while(|number| insert(&mut slots, *number)).count();
            assert!(
                slots.bytes() <= limit && slots.bytes() * 20 > limit * 19,
                "{} of {limit}",
                slots.bytes()
            );
        }
    }
}
