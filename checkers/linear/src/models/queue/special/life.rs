//! When an element came and when it left.

use crate::{
    model::OpOf,
    models::{Value, queue::FifoQueue},
};

/// Bounds on an instant, and the operations that they come from.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub call: u64,
    pub at: u64,
    pub called: u32,
}

impl Span {
    pub fn of<V: Value>(ops: &[OpOf<FifoQueue<V>>], op: u32) -> Span {
        Span { call: ops[op as usize].call, at: ops[op as usize].deadline(), called: op }
    }
}

/// An element in the queue.
#[derive(Clone, Copy)]
pub(super) struct Life {
    /// Which value it has, and how many of that value come before it.
    pub value: usize,
    pub rank: usize,
    pub enqueue: Span,
    /// `None` if it stays.
    pub dequeue: Option<Span>,
}

impl Life {
    /// Whether it can have left after it came.
    pub fn is_possible(&self) -> bool {
        self.dequeue.is_none_or(|dequeue| self.enqueue.call <= dequeue.at)
    }

    /// It is certainly in the queue from here,
    pub fn from(&self) -> u64 {
        self.enqueue.at
    }

    /// to here.
    pub fn to(&self) -> u64 {
        self.dequeue.map_or(u64::MAX, |dequeue| dequeue.call)
    }
}
