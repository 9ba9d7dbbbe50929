//! A counter that always goes the same way, by the same amount.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use crate::{
    answer::Answer,
    model::OpOf,
    models::counter::{Counter, CounterInput, CounterOutput},
    special::sweep::{Edge, edges, proved, refuted, valid},
};

/// Judges a history of reads and additions of `amount` in O(n log n).
///
/// The counter goes on as late as possible: when an addition returns that was not counted yet, or a read of a later
/// value does. Of the pending additions the one with the earliest deadline is counted, an indeterminate one last.
pub(super) fn judge(ops: &[OpOf<Counter>], amount: i64) -> Answer {
    let mut counting = Counting { done: vec![false; ops.len()], ..Counting::default() };
    for (_, edge, position) in edges(ops) {
        let op = &ops[position as usize];
        match (edge, op.input, op.output()) {
            (edge, CounterInput::Read, Some(&CounterOutput::Value(value))) => {
                if value % amount != 0 {
                    return proved(position, [], "no number of additions makes that");
                }
                match edge {
                    Edge::Call => counting.read(position, value / amount),
                    Edge::Return => {
                        if let Err(missing) = counting.reach(position, value / amount) {
                            return refute(ops, position, value / amount, amount, missing);
                        }
                    }
                }
            }
            (_, CounterInput::Read, _) => {}
            (Edge::Call, CounterInput::Add(_), None) => counting.optional += 1,
            (Edge::Call, CounterInput::Add(_), _) => {
                counting.pending.push(Reverse((op.deadline(), position)))
            }
            (Edge::Return, CounterInput::Add(_), _) => {
                if !counting.done[position as usize] {
                    counting.add();
                }
            }
        }
    }
    valid()
}

/// What a read lacks.
enum Missing {
    /// More additions are counted than it says.
    Room,
    /// Fewer can be counted.
    Additions,
}

fn refute(ops: &[OpOf<Counter>], read: u32, count: i64, amount: i64, missing: Missing) -> Answer {
    match missing {
        Missing::Additions => proved(read, [], "fewer additions than that had begun when it returned"),
        Missing::Room => match over(ops, read, count, amount) {
            Some(with) => proved(read, with, "more additions than that were over before it began"),
            None => refuted(read, [], "more additions than that were over before it began"),
        },
    }
}

/// Additions that were over before the read, or another read before it and additions in between, that make more.
fn over(ops: &[OpOf<Counter>], read: u32, count: i64, amount: i64) -> Option<Vec<u32>> {
    let end = ops[read as usize].call;
    let additions = |since: Option<u64>| {
        let lies_between = move |op: &OpOf<Counter>| {
            matches!(op.input, CounterInput::Add(_))
                && op.deadline() < end
                && since.is_none_or(|since| op.call > since)
        };
        (0..).zip(ops).filter(move |(_, op)| lies_between(op)).map(|(position, _)| position)
    };
    let before = (0..).zip(ops).filter_map(|(position, op)| match op.output() {
        Some(CounterOutput::Value(value)) if op.deadline() < end => {
            Some((Some(position), value / amount, Some(op.deadline())))
        }
        _ => None,
    });
    before.chain([(None, 0, None)]).find_map(|(other, from, since)| {
        let wanted = usize::try_from((count + 1 - from).max(0)).ok()?;
        let mut with: Vec<u32> = additions(since).take(wanted).collect();
        let is_enough = with.len() == wanted;
        with.extend(other);
        is_enough.then_some(with)
    })
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

    /// Lets a returning read have read so many additions.
    fn reach(&mut self, position: u32, value: i64) -> Result<(), Missing> {
        if self.done[position as usize] {
            return Ok(());
        }
        if value < self.value {
            return Err(Missing::Room);
        }
        while self.value < value {
            if !self.add() {
                return Err(Missing::Additions);
            }
        }
        Ok(())
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
