//! Equal elements of a queue, in the order in which they came.

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Value,
        queue::{FifoQueue, QueueInput, QueueOutput},
    },
    special::sweep::proved,
};

use super::life::{Life, Span};

/// What was done with one value, as positions.
#[derive(Default)]
pub(super) struct Uses {
    /// By invocation, the indeterminate ones too.
    pub enqueues: Vec<u32>,
    /// By return.
    pub dequeues: Vec<u32>,
}

impl Uses {
    /// By value. `Err` if some value left more often than it can have come.
    pub fn of_all<V: Value>(ops: &[OpOf<FifoQueue<V>>]) -> Result<Vec<Uses>, Answer> {
        let mut all: Vec<Uses> = Vec::new();
        let mut number = FxHashMap::default();
        for (position, op) in (0..).zip(ops) {
            let ((QueueInput::Enqueue(value), _) | (_, Some(QueueOutput::Value(value)))) =
                (&op.input, op.output())
            else {
                continue;
            };
            let of = *number.entry(value).or_insert_with(|| {
                all.push(Uses::default());
                all.len() - 1
            });
            match op.input {
                QueueInput::Enqueue(_) => all[of].enqueues.push(position),
                QueueInput::Dequeue => all[of].dequeues.push(position),
            }
        }
        for uses in &mut all {
            uses.enqueues.sort_by_key(|&op| ops[op as usize].call);
            uses.dequeues.sort_by_key(|&op| ops[op as usize].deadline());
            uses.count(ops)?;
        }
        Ok(all)
    }

    fn count<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>]) -> Result<(), Answer> {
        for (rank, &dequeue) in self.dequeues.iter().enumerate() {
            let enqueue = self.enqueues.get(rank).copied();
            if enqueue.is_some_and(|enqueue| ops[enqueue as usize].call <= ops[dequeue as usize].deadline()) {
                continue;
            }
            let reason = match (rank, self.enqueues.len()) {
                (0, 0) => "what it took out was never put in",
                (0, _) => "it took out what was put in later",
                (1, 1) => "what it took out was taken out twice",
                _ => "what it took out was taken out more often than it had been put in",
            };
            let with = self.enqueues.iter().take(rank + 1).chain(&self.dequeues[..rank]).copied();
            return Err(proved(dequeue, with, reason));
        }
        Ok(())
    }

    /// Bounds on each element in the order in which they come: the first comes not before the first invocation, and
    /// before the first return; so does each that follows. `unclear` dequeues may have taken some of them, so that those
    /// which are known to have left came later in this order, and none certainly stays.
    pub fn bounds<V: Value>(
        &self,
        ops: &[OpOf<FifoQueue<V>>],
        value: usize,
        unclear: usize,
    ) -> impl Iterator<Item = Life> {
        let returns = self.returns(ops);
        let calls = sorted(&self.dequeues, |op| ops[op as usize].call);
        let count = match unclear {
            0 => self.dequeues.len().max(returns.len()),
            _ => self.dequeues.len(),
        };
        (0..count).map(move |rank| {
            let last = match self.enqueues.len() == returns.len() {
                true => (rank + unclear).min(returns.len() - 1),
                false => rank + unclear,
            };
            let at = returns.get(last).map_or(u64::MAX, |&op| ops[op as usize].deadline());
            let enqueue = Span { at, ..Span::of(ops, self.enqueues[rank]) };
            let dequeue = self.dequeues.get(rank).map(|&op| {
                let at = ops[op as usize].deadline();
                Span { at, ..Span::of(ops, calls[rank]) }
            });
            Life { value, rank, enqueue, dequeue }
        })
    }

    /// Whether those that were invoked earlier returned earlier, so that they may as well have acted in that order.
    pub fn has_one_order<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>]) -> bool {
        self.enqueues.is_sorted_by_key(|&op| ops[op as usize].deadline())
            && self.dequeues.is_sorted_by_key(|&op| ops[op as usize].call)
    }

    /// The operations that show that so many, and one, came.
    pub fn enqueued<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>], rank: usize) -> Vec<u32> {
        let mut returns = self.returns(ops);
        returns.truncate(rank + 1);
        returns
    }

    /// Those that show that so many, and one, left.
    pub fn dequeued(&self, rank: usize) -> &[u32] {
        &self.dequeues[..=rank]
    }

    /// Determinate enqueues by return.
    fn returns<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>]) -> Vec<u32> {
        let mut returns = sorted(&self.enqueues, |op| ops[op as usize].deadline());
        returns.retain(|&op| !ops[op as usize].is_info());
        returns
    }
}

fn sorted(ops: &[u32], key: impl Fn(u32) -> u64) -> Vec<u32> {
    let mut sorted = ops.to_vec();
    sorted.sort_by_key(|&op| key(op));
    sorted
}

/// A guess at the order of equal elements.
pub(super) struct Choice {
    enqueues: Enqueues,
    /// Whether they leave in order of invocation, not of return.
    by_call: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Enqueues {
    /// In order of return; an indeterminate one only where there are too few others.
    ByReturn,
    /// In order of invocation; of indeterminate ones as few.
    ByCall,
    /// In order of invocation, with all of them.
    WithAll,
}

impl Choice {
    pub const ALL: [Choice; 6] = [
        Choice { enqueues: Enqueues::ByReturn, by_call: false },
        Choice { enqueues: Enqueues::ByReturn, by_call: true },
        Choice { enqueues: Enqueues::ByCall, by_call: false },
        Choice { enqueues: Enqueues::ByCall, by_call: true },
        Choice { enqueues: Enqueues::WithAll, by_call: false },
        Choice { enqueues: Enqueues::WithAll, by_call: true },
    ];

    /// The elements, if they came and left like this.
    pub fn lives<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>], uses: &[Uses], unclear: &[u32]) -> Vec<Life> {
        let mut lives: Vec<Life> =
            uses.iter().enumerate().flat_map(|(value, uses)| self.of(ops, value, uses)).collect();
        take_away(ops, &mut lives, unclear);
        lives
    }

    fn of<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>], value: usize, uses: &Uses) -> Vec<Life> {
        let is_info = |op: &u32| ops[*op as usize].is_info();
        let mut enqueues = uses.enqueues.clone();
        if self.enqueues != Enqueues::WithAll {
            let certain = enqueues.iter().filter(|op| !is_info(op)).count();
            let mut spare = uses.dequeues.len().saturating_sub(certain);
            enqueues.retain(|op| {
                let is_spare = is_info(op) && spare > 0;
                spare -= usize::from(is_spare);
                is_spare || !is_info(op)
            });
        }
        if self.enqueues == Enqueues::ByReturn {
            enqueues.sort_by_key(|&op| ops[op as usize].deadline());
        }
        let mut dequeues = uses.dequeues.clone();
        if self.by_call {
            dequeues.sort_by_key(|&op| ops[op as usize].call);
        }
        let life = |(rank, &op): (usize, &u32)| {
            let dequeue = dequeues.get(rank).map(|&op| Span::of(ops, op));
            let stays_away = dequeue.is_none() && is_info(&op);
            (!stays_away).then(|| Life { value, rank, enqueue: Span::of(ops, op), dequeue })
        };
        enqueues.iter().enumerate().filter_map(life).collect()
    }
}

/// Lets each of the `unclear` dequeues, in order of invocation, take an element that would stay otherwise.
pub(super) fn take_away<V: Value>(ops: &[OpOf<FifoQueue<V>>], lives: &mut [Life], unclear: &[u32]) {
    let mut staying: Vec<&mut Life> = lives.iter_mut().filter(|life| life.dequeue.is_none()).collect();
    staying.sort_by_key(|life| life.enqueue.at);
    for (life, &op) in staying.into_iter().zip(unclear) {
        life.dequeue = Some(Span::of(ops, op));
    }
}
