//! Models with several successors a step.

use std::{fmt::Debug, hash::Hash};

use crate::{
    model::{Model, OpOf},
    models::block,
};

/// A sequential specification with any number of successors a step, for services that may answer or act in more than
/// one way. Judge a history by it with [`PowerSet`].
pub trait Nondeterministic: Sync {
    /// What the service remembers.
    type State: Clone + Ord + Hash + Debug + Send + 'static;
    /// What is asked of it.
    type Input: Clone + Eq + Hash + Debug + Sync;
    /// What it answers.
    type Output: Clone + Eq + Hash + Debug + Sync;

    /// Possible states before the first operation.
    fn initial(&self) -> Vec<Self::State>;

    /// Possible states after `input` was answered with `output`; without an output, with any answer. Empty if `state`
    /// cannot answer so. The states without an output must contain those with one.
    fn step(
        &self,
        state: &Self::State,
        input: &Self::Input,
        output: Option<&Self::Output>,
    ) -> Vec<Self::State>;

    /// See [`Model::partition`].
    fn partition(&self, ops: &[crate::op::Op<Self::Input, Self::Output>]) -> Vec<Vec<u32>> {
        vec![(0..ops.len() as u32).collect()]
    }
}

/// The deterministic model whose state is the set of states that a nondeterministic one can be in.
///
/// ```
/// use linear::{engine::{self, Answer}, limits::Limits, op::Op, referee::{Nondeterministic, PowerSet}};
///
/// /// A cache: a read gives what was written last, or nothing.
/// struct Cache;
///
/// impl Nondeterministic for Cache {
///     type State = Option<u8>;
///     type Input = Option<u8>; // a value to write, or none to read
///     type Output = Option<u8>;
///
///     fn initial(&self) -> Vec<Option<u8>> {
///         vec![None]
///     }
///
///     fn step(&self, state: &Option<u8>, input: &Option<u8>, output: Option<&Option<u8>>) -> Vec<Option<u8>> {
///         match (input, output) {
///             (Some(value), _) => vec![Some(*value)],
///             (None, None) => vec![*state, None],
///             (None, Some(read)) => if *read == *state || read.is_none() { vec![*read] } else { vec![] },
///         }
///     }
/// }
///
/// let write = Op::ok(0, 0, 1, Some(7), None);
/// let (miss, hit) = (Op::ok(0, 2, 3, None, None), Op::ok(0, 4, 5, None, Some(7)));
/// let judge = |ops: &[_]| engine::check(&PowerSet(Cache), ops, &Limits::default());
/// assert!(matches!(judge(&[write.clone(), miss.clone()]), Answer::Valid(_)));
/// assert!(matches!(judge(&[write, miss, hit]), Answer::Invalid(_)), "what was lost does not come back");
/// ```
pub struct PowerSet<M>(pub M);

impl<M: Nondeterministic> Model for PowerSet<M> {
    type State = Vec<M::State>;
    type Input = M::Input;
    type Output = M::Output;

    fn initial(&self) -> Vec<M::State> {
        sorted(self.0.initial())
    }

    fn step(
        &self,
        states: &Vec<M::State>,
        input: &M::Input,
        output: Option<&M::Output>,
    ) -> Option<Vec<M::State>> {
        let next = sorted(states.iter().flat_map(|state| self.0.step(state, input, output)).collect());
        (!next.is_empty()).then_some(next)
    }

    fn partition(&self, ops: &[OpOf<Self>]) -> Vec<Vec<u32>> {
        self.0.partition(ops)
    }

    fn state_bytes(&self, states: &Vec<M::State>) -> usize {
        size_of::<Vec<M::State>>() + block(states.capacity() * size_of::<M::State>())
    }
}

fn sorted<S: Ord>(mut states: Vec<S>) -> Vec<S> {
    states.sort_unstable();
    states.dedup();
    states
}
