//! Many objects of one kind, each under a key.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::{Lookahead, Model, OpOf, Placed, Timeline},
    op::Op,
};

use super::{Value, words};

/// One object of a model for each key; every key is judged apart, since linearizability is local (M. Herlihy and
/// J. Wing, 1990).
#[derive(Clone, Debug)]
pub struct Keyed<K, M> {
    /// The model of each key.
    pub model: M,
    key: std::marker::PhantomData<fn() -> K>,
}

impl<K, M> Keyed<K, M> {
    /// Objects of `model`.
    pub fn new(model: M) -> Keyed<K, M> {
        Keyed { model, key: std::marker::PhantomData }
    }
}

/// What is asked of the object under a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At<K, I> {
    /// Which object.
    pub key: K,
    /// What is asked of it.
    pub input: I,
}

impl<K: Value, M: Model> Model for Keyed<K, M> {
    type State = M::State;
    type Input = At<K, M::Input>;
    type Output = M::Output;

    fn initial(&self) -> M::State {
        self.model.initial()
    }

    fn step(&self, state: &M::State, at: &Self::Input, output: Option<&M::Output>) -> Option<M::State> {
        self.model.step(state, &at.input, output)
    }

    fn observes(&self, at: &Self::Input, output: Option<&M::Output>) -> bool {
        self.model.observes(&at.input, output)
    }

    fn permits(&self, state: &M::State, at: &Self::Input, output: Option<&M::Output>) -> bool {
        self.model.permits(state, &at.input, output)
    }

    fn partition(&self, ops: &[OpOf<Self>]) -> Vec<Vec<u32>> {
        let parts = by_key(ops.iter().map(|op| &op.input.key));
        if !self.model.splits() {
            return parts;
        }
        let split = |part: Vec<u32>| {
            let own: Vec<OpOf<M>> = part.iter().map(|&op| bare(&ops[op as usize])).collect();
            let within = self.model.partition(&own).into_iter();
            within.map(|within| within.iter().map(|&op| part[op as usize]).collect()).collect::<Vec<_>>()
        };
        parts.into_iter().flat_map(split).collect()
    }

    fn splits(&self) -> bool {
        true
    }

    fn lookahead(&self, timeline: &Timeline<'_, Self>) -> Option<Box<dyn Lookahead<M::State> + Send>> {
        let strip = |placed: &Placed<'_, Self>| (bare(placed.op), placed.since, placed.until);
        let returned: Vec<(OpOf<M>, u32, u32)> = timeline.returned.iter().map(strip).collect();
        let optional: Vec<(OpOf<M>, u32, u32)> = timeline.optional.iter().map(strip).collect();
        self.model.lookahead(&Timeline { returned: view(&returned), optional: view(&optional) })
    }

    fn shortcut(&self, ops: &[OpOf<Self>]) -> Option<Answer> {
        let all: Vec<u32> = (0..ops.len() as u32).collect();
        self.shortcut_of(ops, &all)
    }

    fn shortcut_of(&self, ops: &[OpOf<Self>], part: &[u32]) -> Option<Answer> {
        let key = |op: u32| &ops[op as usize].input.key;
        let is_one_key = part.windows(2).all(|pair| key(pair[0]) == key(pair[1]));
        let bare: Vec<OpOf<M>> =
            is_one_key.then(|| part.iter().map(|&op| bare(&ops[op as usize])).collect())?;
        self.model.shortcut(&bare)
    }

    fn sweeps(&self) -> bool {
        self.model.sweeps()
    }

    fn state_bytes(&self, state: &M::State) -> usize {
        self.model.state_bytes(state)
    }

    fn topics(&self, at: &Self::Input, output: Option<&M::Output>) -> Vec<u64> {
        self.model.topics(&at.input, output)
    }

    fn about(&self, op: &OpOf<Self>, kept: &dyn Fn(u64) -> bool) -> Option<OpOf<Self>> {
        let Op { process, call, input, returned } = self.model.about(&bare(op), kept)?;
        Some(Op { process, call, input: At { key: op.input.key.clone(), input }, returned })
    }

    fn argue(&self, ops: &[OpOf<Self>], op: u32) -> Option<(String, Vec<u32>)> {
        let (positions, bare) = Self::with_key_of(ops, op);
        let (words, shown) = self.model.argue(&bare, positions.binary_search(&op).ok()? as u32)?;
        Some((words, shown.into_iter().map(|at| positions[at as usize]).collect()))
    }

    fn hardness(&self, ops: &[OpOf<Self>], op: u32) -> Option<String> {
        let (positions, bare) = Self::with_key_of(ops, op);
        self.model.hardness(&bare, positions.binary_search(&op).ok()? as u32)
    }

    fn describe(&self, at: &Self::Input, output: Option<&M::Output>) -> String {
        format!("key {}: {}", words::value(&at.key), self.model.describe(&at.input, output))
    }

    fn describe_state(&self, state: &M::State) -> String {
        self.model.describe_state(state)
    }
}

impl<K: Value, M: Model> Keyed<K, M> {
    /// The operations under the key of the one at this position, and their positions.
    fn with_key_of(ops: &[OpOf<Self>], op: u32) -> (Vec<u32>, Vec<OpOf<M>>) {
        let key = ops.get(op as usize).map(|op| &op.input.key);
        let own = (0..).zip(ops).filter(|(_, other)| Some(&other.input.key) == key);
        own.map(|(at, other)| (at, bare(other))).unzip()
    }
}

/// Positions by key, keys in order of appearance.
pub(crate) fn by_key<'a, K: Eq + Hash + 'a>(keys: impl Iterator<Item = &'a K>) -> Vec<Vec<u32>> {
    let mut number = FxHashMap::with_capacity_and_hasher(28, Default::default());
    let mut counts: Vec<u32> = Vec::new();
    let number = |key| {
        let next = counts.len();
        let part = *number.entry(key).or_insert(next);
        if part == next {
            counts.push(0);
        }
        counts[part] += 1;
        part
    };
    let part_of: Vec<usize> = keys.map(number).collect();
    let mut parts: Vec<Vec<u32>> = counts.iter().map(|&count| Vec::with_capacity(count as usize)).collect();
    for (position, part) in (0..).zip(part_of) {
        parts[part].push(position);
    }
    parts
}

fn view<M: Model>(ops: &[(OpOf<M>, u32, u32)]) -> Vec<Placed<'_, M>> {
    ops.iter().map(|(op, since, until)| Placed { op, since: *since, until: *until }).collect()
}

fn bare<K, I: Clone, O: Clone>(op: &Op<At<K, I>, O>) -> Op<I, O> {
    Op { process: op.process, call: op.call, input: op.input.input.clone(), returned: op.returned.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::set::{Set, SetInput, SetOutput};

    #[test]
    fn keys_are_apart_and_what_is_apart_under_a_key() {
        let op = |at: u64, key, input, output| Op::ok(0, at, at + 1, At { key, input }, output);
        let has = |element, is| (SetInput::Contains(element), SetOutput::Is(is));
        let add = |element| (SetInput::Add(element), SetOutput::Done);
        let asked = [(1, add(5)), (2, add(5)), (1, add(6)), (1, has(5, true)), (2, has(6, false))];
        let ops: Vec<_> = asked.map(|(key, (input, output))| (key, input, output)).into();
        let ops: Vec<OpOf<Keyed<u8, Set<u8>>>> =
            (0..).step_by(2).zip(ops).map(|(at, (key, input, output))| op(at, key, input, output)).collect();
        assert_eq!(Keyed::new(Set::empty()).partition(&ops), [vec![0, 3], vec![2], vec![1], vec![4]]);
        let whole = op(10, 1, SetInput::Read, SetOutput::Elements([5, 6].into()));
        let ops: Vec<_> = ops.into_iter().chain([whole]).collect();
        assert_eq!(Keyed::new(Set::empty()).partition(&ops), [vec![0, 2, 3, 5], vec![1], vec![4]]);
    }
}
