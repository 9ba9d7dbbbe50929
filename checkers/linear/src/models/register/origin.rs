//! Values that were read although nothing can have written them by then.
//!
//! It is asked what may have been written, by determinate and indeterminate operations alike, not in which order.

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Value,
        register::{Register, RegisterInput, RegisterOutput},
    },
    special::sweep::late,
};

/// Refutes a history or leaves it, in O(n log n) and before any search: a register never has a value before the first write of it was invoked, or the first compare-and-set to it
/// while it can have what that one replaces.
pub fn judge<V: Value>(initial: &V, ops: &[OpOf<Register<V>>]) -> Option<Answer> {
    let origins = Origins::new(initial, ops);
    (0..).zip(ops).find_map(|(position, op)| {
        let (value, reason) = match (&op.input, op.output()) {
            (RegisterInput::Read, Some(RegisterOutput::Value(value))) => (value, "nobody wrote what it read"),
            (RegisterInput::Cas { from, .. }, Some(RegisterOutput::Done)) => {
                (from, "nobody wrote the value that it replaced")
            }
            _ => return None,
        };
        late(position, op.deadline(), origins.first(value), || reason.to_string())
    })
}

/// How a register can have come to its values, which are numbered in order of appearance, the initial one first.
struct Origins<'a, V> {
    number: FxHashMap<&'a V, u32>,
    /// By value: when it can have been there first, and by which operation.
    first: Vec<Option<(u64, u32)>>,
    /// Compare-and-sets: what replaces what, when and by which operation.
    replaced: Vec<(u32, u32, u64, u32)>,
}

/// So often compare-and-sets are gone through in the order of the history, which is enough where each value's first
/// writer comes before those who replace it.
const PASSES_MAX: u32 = 4;

impl<'a, V: Value> Origins<'a, V> {
    fn new(initial: &'a V, ops: &'a [OpOf<Register<V>>]) -> Self {
        let number = FxHashMap::with_capacity_and_hasher(ops.len().min(28), Default::default());
        let mut origins = Origins { number, first: Vec::with_capacity(32), replaced: Vec::new() };
        origins.write(initial, (0, u32::MAX));
        for (position, op) in (0..).zip(ops) {
            match (&op.input, op.output()) {
                (RegisterInput::Write(value), _) => origins.write(value, (op.call, position)),
                (RegisterInput::Cas { from, to }, None | Some(RegisterOutput::Done)) => {
                    let (from, to) = (origins.number(from), origins.number(to));
                    origins.replaced.push((from, to, op.call, position));
                }
                _ => {}
            }
        }
        origins.replace();
        origins
    }

    /// When a value can have been there first, and by which operation.
    fn first(&self, value: &V) -> Option<(u64, u32)> {
        self.first[*self.number.get(value)? as usize]
    }

    fn number(&mut self, value: &'a V) -> u32 {
        let next = self.first.len() as u32;
        let number = *self.number.entry(value).or_insert(next);
        if number == next {
            self.first.push(None);
        }
        number
    }

    fn write(&mut self, value: &'a V, at: (u64, u32)) {
        let number = self.number(value);
        lower(&mut self.first[number as usize], at);
    }

    fn replace(&mut self) {
        for _ in 0..PASSES_MAX {
            let mut has_changed = false;
            for &(from, to, call, op) in &self.replaced {
                if let Some((since, _)) = self.first[from as usize] {
                    has_changed |= lower(&mut self.first[to as usize], (call.max(since), op));
                }
            }
            if !has_changed {
                return;
            }
        }
        self.replace_in_order_of_time();
    }

    fn replace_in_order_of_time(&mut self) {
        let mut by_replaced: Vec<Vec<(u32, u64, u32)>> = vec![Vec::new(); self.first.len()];
        for &(from, to, call, op) in &self.replaced {
            by_replaced[from as usize].push((to, call, op));
        }
        let times = self.first.iter().zip(0..).filter_map(|(first, value)| first.map(|(at, _)| (at, value)));
        let mut next: BinaryHeap<Reverse<(u64, u32)>> = times.map(Reverse).collect();
        while let Some(Reverse((time, value))) = next.pop() {
            for (to, call, op) in std::mem::take(&mut by_replaced[value as usize]) {
                if lower(&mut self.first[to as usize], (call.max(time), op)) {
                    next.push(Reverse((call.max(time), to)));
                }
            }
        }
    }
}

/// Whether `at` is earlier, by time and by position; then it takes the other's place.
fn lower(first: &mut Option<(u64, u32)>, at: (u64, u32)) -> bool {
    let is_lower = first.is_none_or(|first| at < first);
    if is_lower {
        *first = Some(at);
    }
    is_lower
}
