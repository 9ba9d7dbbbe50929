//! A first-in-first-out queue.

use std::{collections::VecDeque, marker::PhantomData};

use crate::{
    engine::Answer,
    model::{Model, OpOf},
    special,
};

use super::{Value, size};

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
        special::queue::judge(ops)
    }
}
