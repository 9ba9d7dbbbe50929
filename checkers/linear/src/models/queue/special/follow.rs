//! A guess at which of equal elements left, from who was in whose way.

use std::collections::BTreeSet;

use crate::{
    model::OpOf,
    models::{
        Value,
        queue::{FifoQueue, QueueInput, QueueOutput},
    },
    special::sweep::{Edge, edges},
};

use super::{
    life::{Life, Span},
    slots::{Uses, take_away},
};

/// Lets each dequeue act at its return, or when its element is in another's way, and take the element with the earliest
/// return that nothing is in the way of. `None` where that leads nowhere.
pub(super) fn lives<V: Value>(ops: &[OpOf<FifoQueue<V>>], uses: &[Uses]) -> Option<Vec<Life>> {
    let mut value_of = vec![usize::MAX; ops.len()];
    for (value, uses) in uses.iter().enumerate() {
        uses.enqueues.iter().chain(&uses.dequeues).for_each(|&op| value_of[op as usize] = value);
    }
    let open = uses.iter().map(|_| Open::default()).collect();
    let mut pool =
        Pool { ops, value_of, all: BTreeSet::new(), open, unclear: BTreeSet::new(), lives: Vec::new() };
    for (_, edge, position) in edges(ops) {
        pool.step(edge, position)?;
    }
    let staying: Vec<u32> = pool.all.iter().map(|&(_, op)| op).collect();
    staying.into_iter().for_each(|op| pool.leave(op, None));
    let unclear: Vec<u32> = pool.unclear.iter().map(|&(_, op)| op).collect();
    take_away(ops, &mut pool.lives, &unclear);
    Some(pool.lives)
}

/// What is under way with one value, each with what it is taken by.
#[derive(Default)]
struct Open {
    /// Determinate enqueues, by return.
    enqueues: BTreeSet<(u64, u32)>,
    /// Indeterminate ones, by invocation.
    spare: BTreeSet<(u64, u32)>,
    /// Dequeues that have not acted, by return.
    dequeues: BTreeSet<(u64, u32)>,
}

struct Pool<'a, V: Value> {
    ops: &'a [OpOf<FifoQueue<V>>],
    value_of: Vec<usize>,
    /// Determinate enqueues of all values that nothing took yet, by return.
    all: BTreeSet<(u64, u32)>,
    open: Vec<Open>,
    /// Indeterminate dequeues, by invocation.
    unclear: BTreeSet<(u64, u32)>,
    lives: Vec<Life>,
}

impl<V: Value> Pool<'_, V> {
    fn step(&mut self, edge: Edge, position: u32) -> Option<()> {
        let op = &self.ops[position as usize];
        let by_return = (op.deadline(), position);
        let value = self.value_of[position as usize];
        match (edge, &op.input, op.output()) {
            (Edge::Call, QueueInput::Enqueue(_), None) => {
                self.open[value].spare.insert((op.call, position));
            }
            (Edge::Call, QueueInput::Enqueue(_), _) => {
                self.all.insert(by_return);
                self.open[value].enqueues.insert(by_return);
            }
            (Edge::Call, QueueInput::Dequeue, None) => {
                self.unclear.insert((op.call, position));
            }
            (Edge::Call, _, Some(QueueOutput::Value(_))) => {
                self.open[value].dequeues.insert(by_return);
            }
            (Edge::Return, _, Some(QueueOutput::Value(_))) => {
                let has_acted = !self.open[value].dequeues.remove(&by_return);
                return if has_acted { Some(()) } else { self.take(position, value) };
            }
            (Edge::Return, _, Some(QueueOutput::Empty)) => {
                while self.all.first().is_some_and(|&(at, _)| at < op.call) {
                    self.clear_way()?;
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Lets a dequeue take an element of its value.
    fn take(&mut self, dequeue: u32, value: usize) -> Option<()> {
        loop {
            let first_return = self.all.first().map_or(u64::MAX, |&(at, _)| at);
            let is_free = |&&(_, op): &&(u64, u32)| self.ops[op as usize].call <= first_return;
            let open = &self.open[value];
            if let Some(&(_, enqueue)) = open.enqueues.iter().find(is_free) {
                self.leave(enqueue, Some(dequeue));
                return Some(());
            }
            let is_blocked = !open.enqueues.is_empty();
            if is_blocked && self.let_go() {
                continue;
            }
            if let Some((_, enqueue)) = self.open[value].spare.pop_first() {
                self.leave(enqueue, Some(dequeue));
                return Some(());
            }
            if !is_blocked {
                return None;
            }
            self.clear_way()?;
        }
    }

    /// Lets the element with the earliest return leave by a dequeue of its value that is under way, if there is one.
    fn let_go(&mut self) -> bool {
        let Some(&(_, first)) = self.all.first() else { return false };
        let value = self.value_of[first as usize];
        let dequeue = self.open[value].dequeues.pop_first();
        if let Some((_, dequeue)) = dequeue {
            self.leave(first, Some(dequeue));
        }
        dequeue.is_some()
    }

    /// The same, or by an indeterminate one.
    fn clear_way(&mut self) -> Option<()> {
        if !self.let_go() {
            let (_, dequeue) = self.unclear.pop_first()?;
            let &(_, first) = self.all.first()?;
            self.leave(first, Some(dequeue));
        }
        Some(())
    }

    fn leave(&mut self, enqueue: u32, dequeue: Option<u32>) {
        let value = self.value_of[enqueue as usize];
        let by_return = (self.ops[enqueue as usize].deadline(), enqueue);
        self.all.remove(&by_return);
        self.open[value].enqueues.remove(&by_return);
        let dequeue = dequeue.map(|dequeue| Span::of(self.ops, dequeue));
        self.lives.push(Life { value, rank: 0, enqueue: Span::of(self.ops, enqueue), dequeue });
    }
}
