//! A part of a history, laid out for the search.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::model::{Model, OpOf, Placed, Timeline};

use super::timeline::{EventsOf, RETURN};

/// Operations with equal function, arguments and result are one class. Required operations (they returned) occupy a
/// *slot* from invocation to return, and slots are recycled; optional ones (indeterminate) are counted by class.
pub(super) struct Plan<'a, M: Model> {
    pub ops: &'a [OpOf<M>],
    /// Returns of required operations in order of time: the *events*.
    pub returns: Vec<Returning>,
    /// Invocations in order of time, up to the last event.
    pub calls: Vec<Calling>,
    pub classes: Vec<Class>,
    /// Classes of optional operations.
    pub spares: Vec<Spare>,
    /// Words of a mask over the slots.
    pub mask_words: usize,
    /// Words of the counts of used optional operations.
    pub used_words: usize,
}

pub(super) struct Returning {
    /// Which of `calls` returns.
    pub call: u32,
    pub slot: u32,
    /// How many of `calls` precede this return.
    pub calls_before: u32,
}

pub(super) struct Calling {
    /// Position in the history.
    pub op: u32,
    pub class: u32,
    pub place: Place,
}

pub(super) enum Place {
    /// In a slot, until `deadline`, an event.
    Required { slot: u32, deadline: u32 },
    /// One of the spares.
    Optional { spare: u32 },
}

pub(super) struct Class {
    /// An operation of this class.
    pub op: u32,
    /// Classes with the same input have the same number here.
    pub input: u32,
    /// See [`Model::observes`].
    pub observes: bool,
}

/// A class of optional operations: they are used in order of invocation, so a count says which.
pub(super) struct Spare {
    pub class: u32,
    /// Positions in the history, in order of invocation.
    pub ops: Vec<u32>,
    pub field: Field,
}

/// Where a count lies in the words of used operations. The bit above it stays zero, so that words compare field by
/// field in one subtraction.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub word: usize,
    pub shift: u32,
    pub bits: u32,
}

impl Field {
    pub fn get(self, words: &[u64]) -> usize {
        debug_assert!(self.shift + self.bits < u64::BITS, "a field and the bit above it lie in one word");
        (words[self.word] >> self.shift & ((1 << self.bits) - 1)) as usize
    }

    pub fn increment(self, words: &mut [u64]) {
        words[self.word] += 1 << self.shift;
        debug_assert!(
            words[self.word] >> (self.shift + self.bits) & 1 == 0,
            "the bit above a field stays zero"
        );
    }
}

impl<'a, M: Model> Plan<'a, M> {
    /// Of a part, with its `events`.
    pub fn new(model: &M, ops: &'a [OpOf<M>], part: &[u32], events: &EventsOf) -> Plan<'a, M> {
        let mut plan = Plan {
            ops,
            returns: Vec::with_capacity(events.len() / 2),
            calls: Vec::with_capacity(events.len() / 2 + 16),
            classes: Vec::with_capacity(32),
            spares: Vec::new(),
            mask_words: 1,
            used_words: 0,
        };
        plan.lay_out(model, part, events);
        plan.pack();
        assert!(plan.returns.len() <= plan.calls.len(), "what returns was invoked");
        debug_assert!(plan.is_sound(), "every call has its slot, and its class");
        plan
    }

    fn is_sound(&self) -> bool {
        let is_placed = |call: &Calling| match call.place {
            Place::Required { slot, deadline } => {
                (slot as usize) < self.mask_words * 64 && (deadline as usize) < self.returns.len()
            }
            Place::Optional { spare } => self.spares[spare as usize].ops.contains(&call.op),
        };
        self.calls.iter().all(|call| is_placed(call) && (call.class as usize) < self.classes.len())
            && self.returns.is_sorted_by_key(|returning| returning.calls_before)
    }

    fn lay_out(&mut self, model: &M, part: &[u32], events: &EventsOf) {
        let mut classes = Classes::new();
        let mut free = Vec::new();
        let mut slots = 0;
        let mut called = vec![u32::MAX; part.len()];
        let mut spare_of: Vec<u32> = Vec::new();
        for &(_, event) in events {
            let op = part[(event & !RETURN) as usize];
            if event & RETURN != 0 {
                let call = called[(event & !RETURN) as usize];
                assert!(call != u32::MAX, "what returns was invoked");
                let deadline = self.returns.len() as u32;
                if let Place::Required { slot, deadline: unset } = &mut self.calls[call as usize].place {
                    *unset = deadline;
                    free.push(*slot);
                    self.returns.push(Returning { call, slot: *slot, calls_before: self.calls.len() as u32 });
                }
                continue;
            }
            let class = classes.class(&mut self.classes, model, self.ops, op);
            let place = if self.ops[op as usize].is_info() {
                spare_of.resize(self.classes.len().max(spare_of.len()), u32::MAX);
                if spare_of[class as usize] == u32::MAX {
                    spare_of[class as usize] = self.spares.len() as u32;
                    let field = Field { word: 0, shift: 0, bits: 0 };
                    self.spares.push(Spare { class, ops: Vec::new(), field });
                }
                let spare = spare_of[class as usize];
                self.spares[spare as usize].ops.push(op);
                Place::Optional { spare }
            } else {
                called[event as usize] = self.calls.len() as u32;
                let slot = free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                });
                Place::Required { slot, deadline: u32::MAX }
            };
            self.calls.push(Calling { op, class, place });
        }
        self.mask_words = (slots as usize).div_ceil(64).max(1);
    }

    /// Gives every spare a field just wide enough.
    fn pack(&mut self) {
        let (mut word, mut shift) = (0, 0);
        for spare in &mut self.spares {
            let bits = usize::BITS - spare.ops.len().leading_zeros();
            if shift + bits + 1 > 64 {
                (word, shift) = (word + 1, 0);
            }
            assert!(spare.ops.len() >> bits == 0, "a field has room for its count");
            spare.field = Field { word, shift, bits };
            shift += bits + 1;
        }
        self.used_words = if self.spares.is_empty() { 0 } else { word + 1 };
    }

    /// For each word of used counts, the guard bits above the fields.
    pub fn guards(&self) -> Vec<u64> {
        let mut guards = vec![0; self.used_words];
        for Spare { field, .. } in &self.spares {
            guards[field.word] |= 1 << (field.shift + field.bits);
        }
        guards
    }

    /// How many of `calls` precede the event; for the end, all of them.
    pub fn calls_before(&self, event: u32) -> usize {
        self.returns.get(event as usize).map_or(self.calls.len(), |returning| returning.calls_before as usize)
    }

    /// The operation that returns at `event`, as a position in the history.
    pub fn op_at(&self, event: u32) -> u32 {
        self.calls[self.returns[event as usize].call as usize].op
    }

    pub fn timeline(&self) -> Timeline<'a, M> {
        let mut since = Vec::with_capacity(self.calls.len());
        for (event, returning) in self.returns.iter().enumerate() {
            since.resize(returning.calls_before as usize, event as u32);
        }
        let placed = |call: usize| {
            let Calling { op, ref place, .. } = self.calls[call];
            let until = if let Place::Required { deadline, .. } = place { *deadline } else { u32::MAX };
            Placed { op: &self.ops[op as usize], since: since[call], until }
        };
        Timeline {
            returned: self.returns.iter().map(|returning| placed(returning.call as usize)).collect(),
            optional: (0..self.calls.len())
                .filter(|&call| matches!(self.calls[call].place, Place::Optional { .. }))
                .map(placed)
                .collect(),
        }
    }
}

/// Numbers for classes, and for inputs, each by hash.
struct Classes {
    by_operation: HashTable<(u64, u32)>,
    /// A class of the input.
    by_input: HashTable<(u64, u32)>,
}

impl Classes {
    fn new() -> Classes {
        Classes { by_operation: HashTable::with_capacity(56), by_input: HashTable::with_capacity(28) }
    }

    fn class<M: Model>(&mut self, classes: &mut Vec<Class>, model: &M, ops: &[OpOf<M>], op: u32) -> u32 {
        let OpOf::<M> { input, .. } = &ops[op as usize];
        let output = ops[op as usize].output();
        let hash = spread(FxBuildHasher.hash_one((input, output)));
        let is_same = |&(known, class): &(u64, u32)| {
            let known_op = &ops[classes[class as usize].op as usize];
            known == hash && known_op.input == *input && known_op.output() == output
        };
        if let Some(&(_, class)) = self.by_operation.find(hash, is_same) {
            return class;
        }
        let class = classes.len() as u32;
        self.by_operation.insert_unique(hash, (hash, class), |&(hash, _)| hash);
        let input_hash = spread(FxBuildHasher.hash_one(input));
        let has_input = |&(known, class): &(u64, u32)| {
            known == input_hash && ops[classes[class as usize].op as usize].input == *input
        };
        let number = match self.by_input.find(input_hash, has_input) {
            Some(&(_, first)) => first,
            None => {
                self.by_input.insert_unique(input_hash, (input_hash, class), |&(hash, _)| hash);
                class
            }
        };
        classes.push(Class { op, input: number, observes: model.observes(input, output) });
        class
    }
}

/// The tables want bits that differ at both ends.
fn spread(hash: u64) -> u64 {
    hash ^ hash.rotate_left(32)
}
