//! A part of a history, laid out for the search.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::model::{Model, OpOf, Placed, Timeline};

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
        (words[self.word] >> self.shift & ((1 << self.bits) - 1)) as usize
    }

    pub fn increment(self, words: &mut [u64]) {
        words[self.word] += 1 << self.shift;
    }
}

const RETURN: u32 = 1 << 31;

impl<'a, M: Model> Plan<'a, M> {
    pub fn new(model: &M, ops: &'a [OpOf<M>], part: &[u32]) -> Plan<'a, M> {
        let events = events::<M>(model, ops, part);
        let mut plan = Plan {
            ops,
            returns: Vec::with_capacity(part.len()),
            calls: Vec::with_capacity(part.len()),
            classes: Vec::new(),
            spares: Vec::new(),
            mask_words: 1,
            used_words: 0,
        };
        plan.lay_out(model, part, &events);
        plan.pack();
        plan
    }

    fn lay_out(&mut self, model: &M, part: &[u32], events: &[(u64, u32)]) {
        let mut classes = Classes::<M>::default();
        let mut free = Vec::new();
        let mut slots = 0;
        let mut called = vec![u32::MAX; part.len()];
        let mut spare_of = FxHashMap::default();
        for &(_, event) in events {
            let op = part[(event & !RETURN) as usize];
            if event & RETURN != 0 {
                let call = called[(event & !RETURN) as usize];
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
                let spare = *spare_of.entry(class).or_insert_with(|| {
                    let field = Field { word: 0, shift: 0, bits: 0 };
                    self.spares.push(Spare { class, ops: Vec::new(), field });
                    self.spares.len() as u32 - 1
                });
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
        let placed = |call: usize| Placed { op: &self.ops[self.calls[call].op as usize], since: since[call] };
        Timeline {
            returned: self.returns.iter().map(|returning| placed(returning.call as usize)).collect(),
            optional: (0..self.calls.len())
                .filter(|&call| matches!(self.calls[call].place, Place::Optional { .. }))
                .map(placed)
                .collect(),
        }
    }
}

/// Invocations and returns in order of time, as positions in the part, invocations first where times are equal. Optional operations that can
/// never matter (they only observe, or were invoked after the last return) are left out.
fn events<M: Model>(model: &M, ops: &[OpOf<M>], part: &[u32]) -> Vec<(u64, u32)> {
    let mut events = Vec::with_capacity(part.len() * 2);
    for (index, &op) in (0..).zip(part) {
        let op = &ops[op as usize];
        match &op.returned {
            Some(returned) => {
                events.push((op.call, index));
                events.push((returned.at.max(op.call), index | RETURN));
            }
            None if model.observes(&op.input, None) => {}
            None => events.push((op.call, index)),
        }
    }
    events.sort_unstable();
    let last = events.iter().rposition(|&(_, event)| event & RETURN != 0).map_or(0, |last| last + 1);
    events.truncate(last);
    events
}

/// Numbers for classes, and for inputs.
struct Classes<'a, M: Model> {
    by_operation: FxHashMap<(u32, Option<&'a M::Output>), u32>,
    by_input: FxHashMap<&'a M::Input, u32>,
}

impl<M: Model> Default for Classes<'_, M> {
    fn default() -> Self {
        Classes { by_operation: FxHashMap::default(), by_input: FxHashMap::default() }
    }
}

impl<'a, M: Model> Classes<'a, M>
where
    M::Input: Hash + Eq,
{
    fn class(&mut self, classes: &mut Vec<Class>, model: &M, ops: &'a [OpOf<M>], op: u32) -> u32 {
        let OpOf::<M> { input, .. } = &ops[op as usize];
        let output = ops[op as usize].output();
        let inputs = self.by_input.len() as u32;
        let input_number = *self.by_input.entry(input).or_insert(inputs);
        *self.by_operation.entry((input_number, output)).or_insert_with(|| {
            classes.push(Class { op, input: input_number, observes: model.observes(input, output) });
            classes.len() as u32 - 1
        })
    }
}
