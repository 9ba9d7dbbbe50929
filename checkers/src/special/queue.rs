//! A queue whose elements are all different.

use rustc_hash::FxHashMap;

use crate::{
    engine::Answer,
    model::OpOf,
    models::{
        Value,
        queue::{FifoQueue, QueueInput, QueueOutput},
    },
};

use super::sweep::{refuted, valid};

/// Judges a history in which no element is enqueued twice, in O(n log n); leaves others to the search, and those with
/// indeterminate dequeues.
///
/// After T. Henzinger, A. Sezgin and V. Vafeiadis, *Aspect-oriented linearizability proofs* (2013), a history is wrong
/// exactly if an element leaves that never came, leaves twice or before it came; or one that came certainly earlier
/// leaves certainly later or never; or the queue is called empty while at every instant some element is certainly in it.
/// An indeterminate enqueue whose element never leaves need not have happened.
pub fn judge<V: Value>(ops: &[OpOf<FifoQueue<V>>]) -> Option<Answer> {
    let mut lives: Vec<Life> = Vec::new();
    let mut life_of = FxHashMap::default();
    for (position, op) in (0..).zip(ops) {
        if let QueueInput::Enqueue(value) = &op.input {
            if op.output().is_some_and(|output| *output != QueueOutput::Done)
                || life_of.insert(value, lives.len()).is_some()
            {
                return None;
            }
            lives.push(Life { enqueue: position, dequeue: None });
        }
    }
    for (position, op) in (0..).zip(ops).filter(|(_, op)| op.input == QueueInput::Dequeue) {
        match op.output() {
            Some(QueueOutput::Empty) => {}
            Some(QueueOutput::Value(value)) => {
                let Some(&life) = life_of.get(value) else {
                    return Some(refuted(position, [], "what it took out was never put in"));
                };
                let life = &mut lives[life];
                if let Some(earlier) = life.dequeue.replace(position) {
                    return Some(refuted(
                        position,
                        [life.enqueue, earlier],
                        "what it took out was taken out twice",
                    ));
                }
                if op.deadline() < ops[life.enqueue as usize].call {
                    return Some(refuted(position, [life.enqueue], "it took out what was put in later"));
                }
            }
            Some(QueueOutput::Done) | None => return None,
        }
    }
    lives.retain(|life| life.dequeue.is_some() || !ops[life.enqueue as usize].is_info());
    Some(order(ops, &lives).or_else(|| emptiness(ops, &lives)).unwrap_or_else(valid))
}

struct Life {
    enqueue: u32,
    dequeue: Option<u32>,
}

impl Life {
    /// It is certainly in the queue from here,
    fn from<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>]) -> u64 {
        ops[self.enqueue as usize].deadline()
    }

    /// to here.
    fn to<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>]) -> u64 {
        self.dequeue.map_or(u64::MAX, |dequeue| ops[dequeue as usize].call)
    }
}

/// Is there an element that came certainly earlier than another and left certainly later, or never?
fn order<V: Value>(ops: &[OpOf<FifoQueue<V>>], lives: &[Life]) -> Option<Answer> {
    let mut by_return: Vec<&Life> = lives.iter().collect();
    by_return.sort_by_key(|life| life.from(ops));
    let mut by_call: Vec<&Life> = lives.iter().collect();
    by_call.sort_by_key(|life| ops[life.enqueue as usize].call);
    let (mut earlier, mut stays_longest) = (by_return.into_iter().peekable(), None::<&Life>);
    for later in by_call {
        while let Some(life) = earlier.next_if(|life| life.from(ops) < ops[later.enqueue as usize].call) {
            if stays_longest.is_none_or(|longest| longest.to(ops) < life.to(ops)) {
                stays_longest = Some(life);
            }
        }
        let (Some(longest), Some(dequeue)) = (stays_longest, later.dequeue) else { continue };
        if ops[dequeue as usize].deadline() < longest.to(ops) {
            let with = [Some(longest.enqueue), longest.dequeue, Some(later.enqueue)];
            return Some(refuted(
                dequeue,
                with.into_iter().flatten(),
                "an earlier element was still in the queue",
            ));
        }
    }
    None
}

/// Was the queue called empty while something was certainly in it all the time?
fn emptiness<V: Value>(ops: &[OpOf<FifoQueue<V>>], lives: &[Life]) -> Option<Answer> {
    let mut spans: Vec<(u64, u64)> =
        lives.iter().map(|life| (life.from(ops), life.to(ops))).filter(|(from, to)| from < to).collect();
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let joins = next.0 < last.1;
        last.1 = if joins { last.1.max(next.1) } else { last.1 };
        joins
    });
    let empty = |op: &OpOf<FifoQueue<V>>| op.output() == Some(&QueueOutput::Empty);
    (0..).zip(ops).filter(|(_, op)| empty(op)).find_map(|(position, op)| {
        let span = spans[..spans.partition_point(|span| span.0 < op.call)].last()?;
        (op.deadline() < span.1).then(|| refuted(position, [], "something was in the queue all the time"))
    })
}
