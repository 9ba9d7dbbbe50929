//! A first-in-first-out queue.

mod special;

use std::{collections::VecDeque, marker::PhantomData};

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::{Model, OpOf, topic},
};

use super::{Value, size, words};

/// A queue, empty at first.
///
/// `info`: an enqueue may have taken effect; a dequeue may have taken the head, whatever it was. `fail`: it did not
/// happen; a dequeue that failed because the queue was empty is [`QueueOutput::Empty`].
#[derive(Clone, Debug)]
pub struct FifoQueue<V>(PhantomData<fn() -> V>);

impl<V> FifoQueue<V> {
    /// An empty queue.
    pub fn empty() -> FifoQueue<V> {
        FifoQueue(PhantomData)
    }
}

/// What is asked of a queue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueInput<V> {
    /// To take an element at its end.
    Enqueue(V),
    /// Its head.
    Dequeue,
}

/// What a queue answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueOutput<V> {
    /// Enqueued.
    Done,
    /// The head, no longer in the queue.
    Value(V),
    /// It has no head.
    Empty,
}

impl<V: Value> Model for FifoQueue<V> {
    type State = VecDeque<V>;
    type Input = QueueInput<V>;
    type Output = QueueOutput<V>;

    fn initial(&self) -> VecDeque<V> {
        VecDeque::new()
    }

    fn step(
        &self,
        state: &VecDeque<V>,
        input: &QueueInput<V>,
        output: Option<&QueueOutput<V>>,
    ) -> Option<VecDeque<V>> {
        match (input, output) {
            (QueueInput::Enqueue(value), None | Some(QueueOutput::Done)) => {
                Some(state.iter().chain([value]).cloned().collect())
            }
            (QueueInput::Dequeue, Some(QueueOutput::Empty)) => state.is_empty().then(VecDeque::new),
            (QueueInput::Dequeue, Some(QueueOutput::Value(value))) => {
                (state.front() == Some(value)).then(|| state.iter().skip(1).cloned().collect())
            }
            (QueueInput::Dequeue, None) => Some(state.iter().skip(1).cloned().collect()),
            _ => None,
        }
    }

    fn observes(&self, _input: &QueueInput<V>, output: Option<&QueueOutput<V>>) -> bool {
        output == Some(&QueueOutput::Empty)
    }

    fn state_bytes(&self, state: &VecDeque<V>) -> usize {
        size_of::<VecDeque<V>>() + size::block(state.capacity() * size_of::<V>())
    }

    fn shortcut(&self, ops: &[OpOf<Self>]) -> Option<Answer> {
        special::judge(ops)
    }

    fn topics(&self, input: &QueueInput<V>, output: Option<&QueueOutput<V>>) -> Vec<u64> {
        match (input, output) {
            (QueueInput::Enqueue(value), _) | (_, Some(QueueOutput::Value(value))) => vec![topic(value)],
            _ => Vec::new(),
        }
    }

    /// Without some elements, the others still come out in the order in which they were put in.
    fn about(&self, op: &OpOf<Self>, kept: &dyn Fn(u64) -> bool) -> Option<OpOf<Self>> {
        let is_kept = match (&op.input, op.output()) {
            (QueueInput::Enqueue(value), _) | (_, Some(QueueOutput::Value(value))) => kept(topic(value)),
            _ => true,
        };
        is_kept.then(|| op.clone())
    }

    fn hardness(&self, ops: &[OpOf<Self>], _op: u32) -> Option<String> {
        let mut counts: FxHashMap<&V, usize> = FxHashMap::default();
        for op in ops {
            if let QueueInput::Enqueue(value) = &op.input {
                *counts.entry(value).or_default() += 1;
            }
        }
        let equal: usize = counts.values().filter(|count| **count > 1).sum();
        let lost = ops.iter().filter(|op| op.is_info()).count();
        let is_unclear = |op: &OpOf<Self>| op.is_info() && op.input == QueueInput::Dequeue;
        let unclear = ops.iter().filter(|op| is_unclear(op)).count();
        (equal + unclear > 0).then(|| {
            format!(
                "It is hard because of elements that are equal and operations that timed out: {equal} elements are not \
                 the only ones of their value, and {lost} operations timed out ({unclear} of them dequeues, which may \
                 have taken any element). With elements that are all different, and dequeues that end, it takes no search."
            )
        })
    }

    fn describe(&self, input: &QueueInput<V>, output: Option<&QueueOutput<V>>) -> String {
        let asked = match input {
            QueueInput::Enqueue(value) => format!("enqueue {}", words::value(value)),
            QueueInput::Dequeue => "dequeue".to_string(),
        };
        match output {
            Some(QueueOutput::Done) => asked,
            Some(QueueOutput::Value(value)) => format!("{asked} → {}", words::value(value)),
            Some(QueueOutput::Empty) => format!("{asked} → nothing"),
            None if *input == QueueInput::Dequeue => format!("{asked} → ?"),
            None => format!("{asked}: ?"),
        }
    }

    fn describe_state(&self, state: &VecDeque<V>) -> String {
        words::list("[", "]", " ", state.iter().map(words::value))
    }
}
