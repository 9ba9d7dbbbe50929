//! States by number, and a table of what each class does to each.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::model::{Model, OpOf};

use super::plan::Class;

/// The class is not possible in the state.
pub(super) const ILLEGAL: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;

/// Up to here a state's successors lie side by side; beyond, the last-used ones are kept.
const DENSE_CLASSES_MAX: usize = 128;
const CACHE_ENTRIES_MAX: usize = 1 << 16;
const TABLES: usize = 16;
/// So many states are looked through one by one, without a table.
const FEW: usize = 8;
/// And for so many there is room from the first.
const ROOM: usize = 64;

pub(super) struct States<'a, M: Model> {
    model: &'a M,
    states: Vec<M::State>,
    /// Hash and number. Several tables, so that there is never an old and a new one of all states.
    numbers: [HashTable<(u32, u32)>; TABLES],
    classes: usize,
    /// `[state][class]` while there are few classes.
    dense: Vec<u32>,
    /// Otherwise (state, class, successor), where a newer one takes an older one's place.
    cache: Vec<(u32, u32, u32)>,
    bytes: usize,
    /// Of `bytes`, when somebody last looked.
    looked_bytes: usize,
}

impl<'a, M: Model> States<'a, M> {
    pub fn new(model: &'a M, classes: usize) -> States<'a, M> {
        let cache = match classes <= DENSE_CLASSES_MAX {
            true => 0,
            false => (classes * 4).next_power_of_two().min(CACHE_ENTRIES_MAX),
        };
        States {
            model,
            states: Vec::with_capacity(FEW),
            numbers: std::array::from_fn(|_| HashTable::new()),
            classes,
            dense: Vec::with_capacity(if cache == 0 { classes * ROOM } else { 0 }),
            cache: vec![(u32::MAX, 0, 0); cache],
            bytes: 0,
            looked_bytes: 0,
        }
    }

    pub fn get(&self, number: u32) -> &M::State {
        &self.states[number as usize]
    }

    pub fn number(&mut self, state: M::State) -> u32 {
        if self.states.len() < FEW {
            let known = self.states.iter().position(|known| *known == state);
            return known.map_or_else(|| self.add(state), |number| number as u32);
        }
        let hash = hash(&state);
        let states = &self.states;
        let is_same = |&(known, number): &(u32, u32)| known == hash && states[number as usize] == state;
        if let Some(&(_, number)) = self.numbers[hash as usize % TABLES].find(spread(hash), is_same) {
            return number;
        }
        self.enter(hash, self.states.len() as u32);
        self.add(state)
    }

    fn add(&mut self, state: M::State) -> u32 {
        assert!(self.states.len() < UNKNOWN as usize, "a state's number says nothing else");
        let number = self.states.len() as u32;
        self.bytes += self.model.state_bytes(&state);
        self.states.push(state);
        if self.cache.is_empty() {
            self.dense.resize(self.states.len() * self.classes, UNKNOWN);
        }
        if self.states.len() == FEW {
            for number in 0..FEW {
                self.enter(hash(&self.states[number]), number as u32);
            }
        }
        number
    }

    fn enter(&mut self, hash: u32, number: u32) {
        let table = &mut self.numbers[hash as usize % TABLES];
        table.insert_unique(spread(hash), (hash, number), |&(hash, _)| spread(hash));
    }

    /// The state after an operation of `class`, or [`ILLEGAL`].
    pub fn next(&mut self, state: u32, class: u32, classes: &[Class], ops: &[OpOf<M>]) -> u32 {
        debug_assert!((state as usize) < self.states.len(), "only a state that is known is gone on from");
        debug_assert!((class as usize) < self.classes, "only a class that is known is gone on with");
        if self.cache.is_empty() {
            let at = state as usize * self.classes + class as usize;
            if self.dense[at] == UNKNOWN {
                self.dense[at] = self.step(state, class, classes, ops);
            }
            return self.dense[at];
        }
        let mixed = (u64::from(state) << 32 | u64::from(class)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let at = (mixed >> 40) as usize & (self.cache.len() - 1);
        let (cached_state, cached_class, next) = self.cache[at];
        if (cached_state, cached_class) == (state, class) {
            return next;
        }
        let next = self.step(state, class, classes, ops);
        self.cache[at] = (state, class, next);
        next
    }

    fn step(&mut self, state: u32, class: u32, classes: &[Class], ops: &[OpOf<M>]) -> u32 {
        let op = &ops[classes[class as usize].op as usize];
        match self.model.step(&self.states[state as usize], &op.input, op.output()) {
            Some(next) => self.number(next),
            None => ILLEGAL,
        }
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Bytes of the states that are new since [`States::look`].
    pub fn grown_bytes(&self) -> usize {
        debug_assert!(self.bytes >= self.looked_bytes, "states only grow in number");
        self.bytes - self.looked_bytes
    }

    /// Somebody looks at [`States::bytes`] now.
    pub fn look(&mut self) {
        self.looked_bytes = self.bytes;
    }

    pub fn bytes(&self) -> usize {
        // Of eight places in a table seven are filled, each with a byte beside it.
        let tables: usize = self.numbers.iter().map(|table| table.capacity() * 72 / 7).sum();
        self.bytes + tables + self.dense.len() * 4 + self.cache.len() * 12
    }
}

fn hash(state: &impl Hash) -> u32 {
    (FxBuildHasher.hash_one(state).wrapping_mul(SPREAD) >> 32) as u32
}

const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hash of 64 bits again, as the tables want it.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(SPREAD)
}
