//! Many objects of one kind, each under a key.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::{
    engine::Answer,
    model::{Lookahead, Model, OpOf, Placed, Timeline},
    op::Op,
};

use super::Value;

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

    fn partition(&self, ops: &[OpOf<Self>]) -> Vec<Vec<u32>> {
        by_key(ops.iter().map(|op| &op.input.key))
    }

    fn lookahead(&self, timeline: &Timeline<'_, Self>) -> Option<Box<dyn Lookahead<M::State> + Send>> {
        let strip = |placed: &Placed<'_, Self>| (bare(placed.op), placed.since);
        let returned: Vec<(OpOf<M>, u32)> = timeline.returned.iter().map(strip).collect();
        let optional: Vec<(OpOf<M>, u32)> = timeline.optional.iter().map(strip).collect();
        self.model.lookahead(&Timeline { returned: view(&returned), optional: view(&optional) })
    }

    fn shortcut(&self, ops: &[OpOf<Self>]) -> Option<Answer> {
        let is_one_key = ops.windows(2).all(|pair| pair[0].input.key == pair[1].input.key);
        let bare: Vec<OpOf<M>> = is_one_key.then(|| ops.iter().map(bare).collect())?;
        self.model.shortcut(&bare)
    }

    fn state_bytes(&self, state: &M::State) -> usize {
        self.model.state_bytes(state)
    }

    fn describe(&self, at: &Self::Input, output: Option<&M::Output>) -> String {
        format!("{:?}: {}", at.key, self.model.describe(&at.input, output))
    }

    fn describe_state(&self, state: &M::State) -> String {
        self.model.describe_state(state)
    }
}

/// Positions by key, keys in order of appearance.
pub(crate) fn by_key<'a, K: Eq + Hash + 'a>(keys: impl Iterator<Item = &'a K>) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut part_of = FxHashMap::default();
    for (position, key) in keys.enumerate() {
        let part = *part_of.entry(key).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[part].push(position as u32);
    }
    parts
}

fn view<M: Model>(ops: &[(OpOf<M>, u32)]) -> Vec<Placed<'_, M>> {
    ops.iter().map(|(op, since)| Placed { op, since: *since }).collect()
}

fn bare<K, I: Clone, O: Clone>(op: &Op<At<K, I>, O>) -> Op<I, O> {
    Op { process: op.process, call: op.call, input: op.input.input.clone(), returned: op.returned.clone() }
}
