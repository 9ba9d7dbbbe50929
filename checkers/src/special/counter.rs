//! A counter that only goes up, one at a time.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use crate::{
    engine::Answer,
    model::OpOf,
    models::counter::{Counter, CounterInput, CounterOutput},
};

use super::sweep::{Edge, edges, refuted, valid};

/// Judges a history of reads and additions of 1 in O(n log n); leaves others to the search, and those whose additions
/// answer with a value.
///
/// The counter goes up as late as possible: when an addition returns that was not counted yet, or a read of a higher
/// value does. Of the pending additions the one with the earliest deadline is counted, an indeterminate one last.
pub fn judge(ops: &[OpOf<Counter>]) -> Option<Answer> {
    let is_simple = |op: &OpOf<Counter>| match op.input {
        CounterInput::Read => op.output() != Some(&CounterOutput::Done),
        CounterInput::Add(amount) => amount == 1 && !matches!(op.output(), Some(CounterOutput::Value(_))),
    };
    if !ops.iter().all(is_simple) {
        return None;
    }
    let mut counting = Counting { done: vec![false; ops.len()], ..Counting::default() };
    for (_, edge, position) in edges(ops) {
        let op = &ops[position as usize];
        match (edge, op.input, op.output()) {
            (Edge::Call, CounterInput::Read, Some(&CounterOutput::Value(value))) => {
                counting.read(position, value)
            }
            (Edge::Call, CounterInput::Read, _) => {}
            (Edge::Call, CounterInput::Add(_), None) => counting.optional += 1,
            (Edge::Call, CounterInput::Add(_), _) => {
                counting.pending.push(Reverse((op.deadline(), position)))
            }
            (Edge::Return, ..) if counting.done[position as usize] => {}
            (Edge::Return, CounterInput::Add(_), _) => {
                counting.add();
            }
            (Edge::Return, CounterInput::Read, _) => {
                let Some(&CounterOutput::Value(value)) = op.output() else { continue };
                if value < counting.value {
                    return Some(refuted(position, [], "more additions than that were over before it began"));
                }
                while counting.value < value {
                    if !counting.add() {
                        return Some(refuted(
                            position,
                            [],
                            "fewer additions than that had begun when it returned",
                        ));
                    }
                }
            }
        }
    }
    Some(valid())
}

#[derive(Default)]
struct Counting {
    value: i64,
    /// Additions, the earliest deadline first.
    pending: BinaryHeap<Reverse<(u64, u32)>>,
    optional: u64,
    /// Reads that wait for a value.
    waiting: HashMap<i64, Vec<u32>>,
    done: Vec<bool>,
}

impl Counting {
    fn read(&mut self, position: u32, value: i64) {
        match value == self.value {
            true => self.done[position as usize] = true,
            false => self.waiting.entry(value).or_default().push(position),
        }
    }

    fn add(&mut self) -> bool {
        match self.pending.pop() {
            Some(Reverse((_, position))) => self.done[position as usize] = true,
            None if self.optional > 0 => self.optional -= 1,
            None => return false,
        }
        self.value += 1;
        for read in self.waiting.remove(&self.value).into_iter().flatten() {
            self.done[read as usize] = true;
        }
        true
    }
}
