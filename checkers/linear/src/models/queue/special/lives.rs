//! Elements that are all different, from when they came to when they left.

use crate::{
    answer::{Answer, Refutation},
    model::OpOf,
    models::{
        Value,
        queue::{FifoQueue, QueueInput},
        words,
    },
    special::sweep::proved,
};

use super::{life::Life, slots::Uses};

/// What cannot be.
pub(super) enum Wrong {
    /// One that came certainly earlier leaves certainly later or never.
    Order { earlier: Life, later: Life },
    /// The queue was called empty by this operation while one of these was certainly in it at every instant.
    Emptiness { op: u32, with: Vec<Life> },
}

/// Finds what is wrong with a queue of elements that are all different and that each leave after they came, in
/// O(n log n).
///
/// After T. Henzinger, A. Sezgin and V. Vafeiadis, *Aspect-oriented linearizability proofs* (2013), nothing else can be
/// than that one overtakes another, or that the queue is called empty while at every instant something is in it. What is
/// enqueued by an indeterminate operation and never leaves need not have come.
pub(super) fn wrong<V: Value>(ops: &[OpOf<FifoQueue<V>>], lives: &[Life], empties: &[u32]) -> Option<Wrong> {
    let mut by_return: Vec<&Life> = lives.iter().collect();
    by_return.sort_unstable_by_key(|life| life.from());
    overtaking(lives, &by_return).or_else(|| emptiness(ops, &by_return, empties))
}

fn overtaking(lives: &[Life], by_return: &[&Life]) -> Option<Wrong> {
    let mut by_call: Vec<&Life> = lives.iter().collect();
    by_call.sort_unstable_by_key(|life| life.enqueue.call);
    let (mut earlier, mut stays_longest) = (by_return.iter().peekable(), None::<&Life>);
    for later in by_call {
        while let Some(life) = earlier.next_if(|life| life.from() < later.enqueue.call) {
            if stays_longest.is_none_or(|longest| longest.to() < life.to()) {
                stays_longest = Some(life);
            }
        }
        let (Some(longest), Some(dequeue)) = (stays_longest, later.dequeue) else { continue };
        if dequeue.at < longest.to() {
            return Some(Wrong::Order { earlier: *longest, later: *later });
        }
    }
    None
}

fn emptiness<V: Value>(ops: &[OpOf<FifoQueue<V>>], by_return: &[&Life], empties: &[u32]) -> Option<Wrong> {
    let mut spans: Vec<(u64, u64)> =
        by_return.iter().map(|life| (life.from(), life.to())).filter(|(from, to)| from < to).collect();
    spans.dedup_by(|next, last| {
        let joins = next.0 < last.1;
        last.1 = if joins { last.1.max(next.1) } else { last.1 };
        joins
    });
    let op = empties.iter().copied().find(|&op| {
        let op = &ops[op as usize];
        let span = spans[..spans.partition_point(|span| span.0 < op.call)].last();
        span.is_some_and(|span| op.deadline() < span.1)
    })?;
    Some(Wrong::Emptiness { op, with: cover(&ops[op as usize], by_return) })
}

/// Few lives, each beginning before the last one's end, that leave no instant of the operation.
fn cover<V: Value>(op: &OpOf<FifoQueue<V>>, by_return: &[&Life]) -> Vec<Life> {
    let (mut cover, mut covered) = (Vec::new(), op.call);
    let mut next = by_return.iter().peekable();
    while covered <= op.deadline() {
        let mut longest: Option<&Life> = None;
        while let Some(life) = next.next_if(|life| life.from() < covered) {
            if longest.is_none_or(|longest| longest.to() < life.to()) {
                longest = Some(life);
            }
        }
        let Some(longest) = longest.filter(|longest| longest.to() >= covered) else { break };
        covered = longest.to();
        cover.push(*longest);
    }
    cover
}

impl Wrong {
    /// In terms of operations: `unclear` dequeues may have taken anything.
    pub fn refute<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>], uses: &[Uses], unclear: usize) -> Answer {
        let came = |life: &Life| uses[life.value].enqueued(ops, life.rank + unclear);
        match self {
            Wrong::Order { earlier, later } => {
                let left = uses[later.value].dequeued(later.rank);
                let came = came(earlier);
                let ends =
                    came.last().copied().into_iter().chain(earlier.dequeue.map(|dequeue| dequeue.called));
                let ends: Vec<u32> = ends.chain([later.enqueue.called]).collect();
                let op = left[left.len() - 1];
                let all = came.iter().chain(&left[..left.len() - 1]).copied();
                let reason = format!(
                    "an earlier element was still in the queue: {}, put in before {}",
                    earlier.name(ops, uses, unclear),
                    later.name(ops, uses, unclear)
                );
                counted(op, all, ends, &reason)
            }
            Wrong::Emptiness { op, with } => {
                let ends = |life: &Life| {
                    came(life).last().copied().into_iter().chain(life.dequeue.map(|dequeue| dequeue.called))
                };
                let ends: Vec<u32> = with.iter().flat_map(ends).collect();
                counted(*op, with.iter().flat_map(came), ends, "something was in the queue all the time")
            }
        }
    }
}

impl Life {
    /// In words; of equal ones, which of those that came one after the other.
    fn name<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>], uses: &[Uses], unclear: usize) -> String {
        let QueueInput::Enqueue(value) = &ops[self.enqueue.called as usize].input else {
            return "an element".to_string();
        };
        let value = words::value(value);
        match uses[self.value].enqueues.len() {
            1 => value,
            _ if unclear > 0 => format!("one of the elements {value}"),
            count => format!("number {} of the {count} elements {value}", self.rank + 1),
        }
    }
}

/// Proved by a count of `all`, which is to be seen at `ends`.
fn counted(op: u32, all: impl Iterator<Item = u32>, mut ends: Vec<u32>, reason: &str) -> Answer {
    ends.sort_unstable();
    ends.dedup();
    let mut with: Vec<u32> = all.filter(|op| !ends.contains(op)).collect();
    with.sort_unstable();
    with.dedup();
    let seen_at = u16::try_from(ends.len()).unwrap_or(u16::MAX);
    with.extend(ends);
    match proved(op, with, reason) {
        Answer::Invalid(refutation) => Answer::Invalid(Box::new(Refutation { seen_at, ..*refutation })),
        other => other,
    }
}
