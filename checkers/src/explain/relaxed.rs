//! A model under which some operations may or may not have happened, within their own intervals.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use crate::model::{Model, OpOf};

/// The state is the set of states that are possible: after an operation that is not certain, those with it and those
/// without.
pub(super) struct Relaxed<'a, M>(pub &'a M);

/// An operation's input, and whether it certainly happened.
pub(super) type Certain<I> = (I, bool);

impl<M: Model> Model for Relaxed<'_, M> {
    type State = Vec<M::State>;
    type Input = Certain<M::Input>;
    type Output = M::Output;

    fn initial(&self) -> Vec<M::State> {
        vec![self.0.initial()]
    }

    fn step(
        &self,
        states: &Vec<M::State>,
        input: &Self::Input,
        output: Option<&M::Output>,
    ) -> Option<Vec<M::State>> {
        let (input, is_certain) = input;
        let mut next: Vec<M::State> =
            states.iter().filter_map(|state| self.0.step(state, input, output)).collect();
        if !is_certain {
            next.extend_from_slice(states);
        }
        // The order is nothing but a way to recognize equal sets.
        next.sort_by_cached_key(|state| FxBuildHasher.hash_one(state));
        next.dedup();
        (!next.is_empty()).then_some(next)
    }

    fn observes(&self, (input, is_certain): &Self::Input, output: Option<&M::Output>) -> bool {
        *is_certain && self.0.observes(input, output)
    }
}

/// A state that is possible after some operations of an order.
struct Reached<S> {
    state: S,
    /// How many operations that are not certain it takes.
    cost: u32,
    /// Which of the states before led here,
    from: usize,
    /// and whether by an operation that is not certain.
    is_needed: bool,
}

impl<M: Model> Relaxed<'_, M> {
    /// Of operations in an order that is possible, the fewest that are not certain but make it so.
    pub fn needed(&self, ops: &[OpOf<Self>], order: &[u32]) -> Vec<u32> {
        let initial = Reached { state: self.0.initial(), cost: 0, from: 0, is_needed: false };
        let mut layers = vec![vec![initial]];
        for &op in order {
            let last = layers.last().expect("there is a first layer");
            layers.push(self.layer(&ops[op as usize], last));
        }
        let last = layers.last().expect("there is a first layer");
        let Some(mut at) = (0..last.len()).min_by_key(|&at| last[at].cost) else { return Vec::new() };
        let mut needed = Vec::new();
        for (&op, layer) in order.iter().zip(&layers[1..]).rev() {
            needed.extend(layer[at].is_needed.then_some(op));
            at = layer[at].from;
        }
        needed
    }

    /// The states after an operation, each at its least cost.
    fn layer(&self, op: &OpOf<Self>, before: &[Reached<M::State>]) -> Vec<Reached<M::State>> {
        let (input, is_certain) = &op.input;
        let is_needed = !is_certain || op.is_info();
        let mut layer: Vec<Reached<M::State>> = Vec::new();
        for (from, Reached { state, cost, .. }) in before.iter().enumerate() {
            let without =
                (!is_certain).then(|| Reached { state: state.clone(), cost: *cost, from, is_needed: false });
            let with = self.0.step(state, input, op.output()).map(|state| {
                let cost = cost + u32::from(is_needed);
                Reached { state, cost, from, is_needed }
            });
            for new in without.into_iter().chain(with) {
                match layer.iter_mut().find(|known| known.state == new.state) {
                    Some(known) if known.cost > new.cost => *known = new,
                    Some(_) => {}
                    None => layer.push(new),
                }
            }
        }
        layer
    }
}
