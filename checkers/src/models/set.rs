//! A set.

use std::{collections::BTreeSet, marker::PhantomData};

use crate::model::{Model, OpOf};

use super::{Value, keyed::by_key, size};

/// A set, empty at first. Unless it is read as a whole, every element is judged apart: whether it is in the set is a
/// register with two values.
///
/// `info`: an addition or removal may have taken effect, a read says nothing. `fail`: it did not happen.
#[derive(Clone, Debug)]
pub struct Set<V>(PhantomData<fn() -> V>);

impl<V> Set<V> {
    /// An empty set.
    pub fn empty() -> Set<V> {
        Set(PhantomData)
    }
}

/// What is asked of a set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetInput<V> {
    /// To have an element.
    Add(V),
    /// Not to have it.
    Remove(V),
    /// Whether it has it.
    Contains(V),
    /// All that it has.
    Read,
}

/// What a set answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetOutput<V> {
    /// Added or removed, whether or not that changed anything.
    Done,
    /// Of an addition or removal: whether it changed anything; otherwise whether the element is there.
    Is(bool),
    /// All elements.
    Elements(BTreeSet<V>),
}

impl<V: Value> Model for Set<V> {
    type State = BTreeSet<V>;
    type Input = SetInput<V>;
    type Output = SetOutput<V>;

    fn initial(&self) -> BTreeSet<V> {
        BTreeSet::new()
    }

    fn step(
        &self,
        state: &BTreeSet<V>,
        input: &SetInput<V>,
        output: Option<&SetOutput<V>>,
    ) -> Option<BTreeSet<V>> {
        let mut next = state.clone();
        let is = match input {
            SetInput::Add(value) => next.insert(value.clone()),
            SetInput::Remove(value) => next.remove(value),
            SetInput::Contains(value) => state.contains(value),
            SetInput::Read => {
                let fits = match output {
                    None => true,
                    Some(SetOutput::Elements(elements)) => elements == state,
                    Some(_) => false,
                };
                return fits.then_some(next);
            }
        };
        let fits = match output {
            None => true,
            Some(SetOutput::Is(answer)) => *answer == is,
            Some(SetOutput::Done) => !matches!(input, SetInput::Contains(_)),
            Some(SetOutput::Elements(_)) => false,
        };
        fits.then_some(next)
    }

    fn observes(&self, input: &SetInput<V>, output: Option<&SetOutput<V>>) -> bool {
        matches!(input, SetInput::Contains(_) | SetInput::Read) || output == Some(&SetOutput::Is(false))
    }

    fn partition(&self, ops: &[OpOf<Self>]) -> Vec<Vec<u32>> {
        let whole = |op: &OpOf<Self>| matches!(op.input, SetInput::Read) && !op.is_info();
        if ops.iter().any(whole) {
            return vec![(0..ops.len() as u32).collect()];
        }
        by_key(ops.iter().map(|op| element(&op.input)).collect::<Vec<_>>().iter())
    }

    fn state_bytes(&self, state: &BTreeSet<V>) -> usize {
        size_of::<BTreeSet<V>>() + size::b_tree(state.len(), size_of::<V>())
    }
}

fn element<V>(input: &SetInput<V>) -> Option<&V> {
    match input {
        SetInput::Add(value) | SetInput::Remove(value) | SetInput::Contains(value) => Some(value),
        SetInput::Read => None,
    }
}
