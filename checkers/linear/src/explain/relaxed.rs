//! A model under which some operations may or may not have happened, within their own intervals.

use std::{
    hash::{BuildHasher, Hash},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use rustc_hash::FxBuildHasher;

use crate::{
    limits::Guard,
    model::{Lookahead, Model, OpOf, Outlook, Placed, Timeline},
    op::{Op, Return},
};

use super::budget::BLOCK_BYTES;

/// More states at once than this, or larger ones, are given up.
const STATES_MAX: usize = 1024;
const STATES_BYTES_MAX: usize = 256 << 10;
/// Bytes of states that one search may copy.
const COPIED_BYTES_MAX: u64 = 64 << 20;
/// More states at once than this are too many to find the fewest operations that matter.
const NEEDED_STATES_MAX: usize = 64;

/// The state is the set of states that are possible: after an operation that is not certain, those with it and those
/// without.
pub(super) struct Relaxed<'a, M> {
    pub model: &'a M,
    guard: &'a Guard,
    copied_bytes: AtomicU64,
    is_incomplete: AtomicBool,
}

/// An operation's input, and whether it certainly happened.
pub(super) type Certain<'a, I> = (&'a I, bool);

impl<'a, M: Model> Relaxed<'a, M> {
    /// The guard ends the search where it copies too much.
    pub fn new(model: &'a M, guard: &'a Guard) -> Relaxed<'a, M> {
        Relaxed { model, guard, copied_bytes: AtomicU64::new(0), is_incomplete: AtomicBool::new(false) }
    }

    /// The operation, certain or not.
    pub fn op<'o: 'a>(op: &'o OpOf<M>, is_certain: bool) -> OpOf<Self> {
        let returned = op.returned.as_ref().map(|Return { at, output }| Return { at: *at, output });
        Op { process: op.process, call: op.call, input: (&op.input, is_certain), returned }
    }

    /// Whether some states were given up because there were too many: then "no order" says nothing.
    pub fn is_incomplete(&self) -> bool {
        self.is_incomplete.load(Ordering::Relaxed)
    }

    /// What was copied so far, as work.
    pub fn work(&self) -> u64 {
        self.copied_bytes.load(Ordering::Relaxed) / BLOCK_BYTES
    }

    /// Whether the states may be copied: the same answer for the same states, as the search wants it.
    fn may_copy(&self, states: &Vec<M::State>) -> bool {
        let bytes = self.state_bytes(states);
        let is_much = states.len() > STATES_MAX || bytes > STATES_BYTES_MAX;
        self.is_incomplete.fetch_or(is_much, Ordering::Relaxed);
        if self.copied_bytes.fetch_add(2 * bytes as u64, Ordering::Relaxed) > COPIED_BYTES_MAX {
            self.guard.settle();
        }
        !is_much
    }
}

impl<'a, M: Model> Model for Relaxed<'a, M> {
    type State = Vec<M::State>;
    type Input = Certain<'a, M::Input>;
    type Output = &'a M::Output;

    fn initial(&self) -> Vec<M::State> {
        vec![self.model.initial()]
    }

    fn step(
        &self,
        states: &Vec<M::State>,
        input: &Self::Input,
        output: Option<&Self::Output>,
    ) -> Option<Vec<M::State>> {
        let (input, is_certain) = input;
        if !self.may_copy(states) {
            return None;
        }
        let mut next: Vec<M::State> =
            states.iter().filter_map(|state| self.model.step(state, input, output.copied())).collect();
        if !is_certain {
            next.extend_from_slice(states);
        }
        // The order is nothing but a way to recognize equal sets.
        next.sort_by_cached_key(|state| FxBuildHasher.hash_one(state));
        next.dedup();
        (!next.is_empty()).then_some(next)
    }

    fn observes(&self, (input, is_certain): &Self::Input, output: Option<&Self::Output>) -> bool {
        *is_certain && self.model.observes(input, output.copied())
    }

    fn lookahead(&self, timeline: &Timeline<'_, Self>) -> Option<Box<dyn Lookahead<Vec<M::State>> + Send>> {
        let events = Events::of(timeline.returned.iter().map(|placed| placed.op.input.1));
        let inner = |placed: &Placed<'_, Self>| {
            let until = events.before.get(placed.until as usize).copied().unwrap_or(u32::MAX);
            (plain(placed.op), events.before[placed.since as usize], until)
        };
        let (certain, uncertain): (Vec<_>, Vec<_>) =
            timeline.returned.iter().partition(|placed| placed.op.input.1);
        let returned: Vec<(OpOf<M>, u32, u32)> = certain.into_iter().map(inner).collect();
        let mut optional: Vec<(OpOf<M>, u32, u32)> =
            uncertain.into_iter().chain(&timeline.optional).map(inner).collect();
        optional.sort_by_key(|(op, ..)| op.call);
        let each =
            self.model.lookahead(&Timeline { returned: view(&returned), optional: view(&optional) })?;
        Some(Box::new(EachOf { each, events }))
    }

    fn state_bytes(&self, states: &Vec<M::State>) -> usize {
        size_of::<Vec<M::State>>() + states.iter().map(|state| self.model.state_bytes(state)).sum::<usize>()
    }
}

fn view<M: Model>(ops: &[(OpOf<M>, u32, u32)]) -> Vec<Placed<'_, M>> {
    ops.iter().map(|(op, since, until)| Placed { op, since: *since, until: *until }).collect()
}

fn plain<I: Clone, O: Clone>(op: &Op<Certain<'_, I>, &O>) -> Op<I, O> {
    let returned =
        op.returned.as_ref().map(|Return { at, output }| Return { at: *at, output: (*output).clone() });
    Op { process: op.process, call: op.call, input: op.input.0.clone(), returned }
}

/// Returns of operations that are certain, among all: for the model itself only they are events.
struct Events {
    /// By event: how many certain ones there are before it.
    before: Vec<u32>,
    /// By certain event: the first one after it, of all.
    after: Vec<u32>,
}

impl Events {
    fn of(are_certain: impl Iterator<Item = bool>) -> Events {
        let (mut before, mut after) = (vec![0], Vec::new());
        for (event, is_certain) in (1..).zip(are_certain) {
            after.extend(is_certain.then_some(event));
            before.push(after.len() as u32);
        }
        Events { before, after }
    }
}

/// Looks ahead from each state of a set, and drops those that are hopeless.
struct EachOf<S> {
    each: Box<dyn Lookahead<S> + Send>,
    events: Events,
}

impl<S: Clone + Eq + Hash> Lookahead<Vec<S>> for EachOf<S> {
    fn look(&self, states: &Vec<S>, event: u32) -> Outlook<Vec<S>> {
        let event = self.events.before[event as usize];
        let mut until_all = u32::MAX;
        let mut kept: Vec<S> = Vec::with_capacity(states.len());
        let mut is_same = true;
        for state in states {
            match self.each.look(state, event) {
                Outlook::Keep { until } => {
                    until_all = until_all.min(until);
                    kept.push(state.clone());
                }
                Outlook::Same(other) => {
                    is_same = false;
                    kept.push(other);
                }
                Outlook::Hopeless => is_same = false,
            }
        }
        match (kept.is_empty(), is_same) {
            (true, _) => Outlook::Hopeless,
            (_, true) => {
                let last = until_all.checked_sub(1).map(|event| self.events.after.get(event as usize));
                Outlook::Keep { until: last.map_or(0, |after| after.copied().unwrap_or(u32::MAX)) }
            }
            (_, false) => {
                kept.sort_by_cached_key(|state| FxBuildHasher.hash_one(state));
                kept.dedup();
                Outlook::Same(kept)
            }
        }
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
    /// Of operations in an order that is possible, the fewest that are not certain but make it so; none where that takes
    /// more than `bytes_max` bytes to find.
    pub fn needed(&self, ops: &[OpOf<Self>], order: &[u32], bytes_max: usize) -> Vec<u32> {
        let initial = Reached { state: self.model.initial(), cost: 0, from: 0, is_needed: false };
        let mut layers = vec![vec![initial]];
        let mut bytes = 0;
        for &op in order {
            let layer = self.layer(&ops[op as usize], layers.last().expect("there is a first layer"));
            bytes += layer.iter().map(|reached| 16 + self.model.state_bytes(&reached.state)).sum::<usize>();
            if layer.len() > NEEDED_STATES_MAX || bytes > bytes_max {
                return Vec::new();
            }
            layers.push(layer);
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
            let with = self.model.step(state, input, op.output().copied()).map(|state| {
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
