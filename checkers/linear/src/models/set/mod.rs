//! A set.

mod special;

use std::{collections::BTreeSet, marker::PhantomData};

use rustc_hash::FxHashSet;

use crate::{
    answer::Answer,
    model::{Model, OpOf, topic},
    op::{Op, Return},
};

use super::{Value, keyed::by_key, size, words};

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

    fn splits(&self) -> bool {
        true
    }

    fn shortcut(&self, ops: &[OpOf<Self>]) -> Option<Answer> {
        special::judge(ops)
    }

    fn state_bytes(&self, state: &BTreeSet<V>) -> usize {
        size_of::<BTreeSet<V>>() + size::b_tree(state.len(), size_of::<V>())
    }

    fn topics(&self, input: &SetInput<V>, output: Option<&SetOutput<V>>) -> Vec<u64> {
        match (element(input), output) {
            (Some(value), _) => vec![topic(value)],
            (None, Some(SetOutput::Elements(elements))) => elements.iter().map(topic).collect(),
            _ => Vec::new(),
        }
    }

    fn about(&self, op: &OpOf<Self>, kept: &dyn Fn(u64) -> bool) -> Option<OpOf<Self>> {
        let kept = |value: &V| kept(topic(value));
        match (element(&op.input), &op.returned) {
            (Some(value), _) => kept(value).then(|| op.clone()),
            (None, Some(Return { at, output: SetOutput::Elements(elements) })) => {
                let elements = elements.iter().filter(|value| kept(value)).cloned().collect();
                let output = SetOutput::Elements(elements);
                Some(Op::ok(op.process, op.call, *at, SetInput::Read, output))
            }
            _ => Some(op.clone()),
        }
    }

    fn hardness(&self, ops: &[OpOf<Self>], _op: u32) -> Option<String> {
        let removed = |op: &&OpOf<Self>| matches!(op.input, SetInput::Remove(_));
        let removed: FxHashSet<&V> = ops.iter().filter(removed).filter_map(|op| element(&op.input)).collect();
        let lost = ops.iter().filter(|op| op.is_info() && element(&op.input).is_some()).count();
        (!removed.is_empty()).then(|| {
            format!(
                "It is hard because of elements that are removed while the whole set is read: {} of them may have come and \
                 gone in many orders, and {lost} operations timed out. With elements that are never removed, it takes no \
                 search.",
                removed.len()
            )
        })
    }

    fn describe(&self, input: &SetInput<V>, output: Option<&SetOutput<V>>) -> String {
        let (asked, [yes, no]) = match input {
            SetInput::Add(value) => (format!("add {}", words::value(value)), ["new", "already there"]),
            SetInput::Remove(value) => {
                (format!("remove {}", words::value(value)), ["was there", "not there"])
            }
            SetInput::Contains(value) => (format!("contains {}", words::value(value)), ["yes", "no"]),
            SetInput::Read => ("read".to_string(), ["yes", "no"]),
        };
        match output {
            Some(SetOutput::Done) => asked,
            Some(SetOutput::Is(is)) => format!("{asked} → {}", if *is { yes } else { no }),
            Some(SetOutput::Elements(elements)) => format!("{asked} → {}", braced(elements)),
            None if matches!(input, SetInput::Contains(_) | SetInput::Read) => format!("{asked} → ?"),
            None => format!("{asked}: ?"),
        }
    }

    fn describe_state(&self, state: &BTreeSet<V>) -> String {
        braced(state)
    }
}

fn braced<V: Value>(elements: &BTreeSet<V>) -> String {
    words::list("#{", "}", " ", elements.iter().map(words::value))
}

fn element<V>(input: &SetInput<V>) -> Option<&V> {
    match input {
        SetInput::Add(value) | SetInput::Remove(value) | SetInput::Contains(value) => Some(value),
        SetInput::Read => None,
    }
}
