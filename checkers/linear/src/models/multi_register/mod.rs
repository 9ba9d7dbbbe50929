//! Several registers, read and written together.

mod origin;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    answer::Answer,
    model::{Model, OpOf, topic},
    op::{Op, Return},
};

use super::{Value, size, words};

/// Registers that transactions of reads and writes go to. Registers that no transaction has in common are judged apart.
///
/// `info`: all the writes of a transaction may have taken effect, or none; its reads say nothing. `fail`: none did.
#[derive(Clone, Debug)]
pub struct MultiRegister<K, V> {
    /// Values before the first write; a register that is neither here nor in `open` cannot be read before it is written.
    pub initial: BTreeMap<K, V>,
    /// What each of the others may have held at first. The first read of one that was not written tells, and from then
    /// on it is that: all that it may have been is so tried in one search.
    pub open: BTreeMap<K, BTreeSet<V>>,
}

impl<K: Ord, V: Ord> MultiRegister<K, V> {
    /// Registers that start with these values.
    pub fn new(initial: BTreeMap<K, V>) -> MultiRegister<K, V> {
        MultiRegister { initial, open: BTreeMap::new() }
    }
}

/// A step of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Micro<K, V> {
    /// A register's value.
    Read(K),
    /// A register takes a value.
    Write(K, V),
}

impl<K: Value, V: Value> Model for MultiRegister<K, V> {
    type State = BTreeMap<K, V>;
    type Input = Vec<Micro<K, V>>;
    /// For each step: what was read, `None` where it was a write or where what was read is unknown.
    type Output = Vec<Option<V>>;

    fn initial(&self) -> BTreeMap<K, V> {
        self.initial.clone()
    }

    fn step(
        &self,
        state: &BTreeMap<K, V>,
        input: &Vec<Micro<K, V>>,
        output: Option<&Vec<Option<V>>>,
    ) -> Option<BTreeMap<K, V>> {
        self.after(state, input, output).map(Cow::into_owned)
    }

    fn permits(
        &self,
        state: &BTreeMap<K, V>,
        input: &Vec<Micro<K, V>>,
        output: Option<&Vec<Option<V>>>,
    ) -> bool {
        self.after(state, input, output).is_some()
    }

    fn observes(&self, input: &Vec<Micro<K, V>>, _output: Option<&Vec<Option<V>>>) -> bool {
        input.iter().all(|micro| matches!(micro, Micro::Read(key) if !self.open.contains_key(key)))
    }

    fn partition(&self, ops: &[OpOf<Self>]) -> Vec<Vec<u32>> {
        let mut groups: BTreeMap<&K, usize> = BTreeMap::new();
        let mut leader: Vec<usize> = (0..ops.len()).collect();
        for (position, op) in ops.iter().enumerate() {
            for Micro::Read(key) | Micro::Write(key, _) in &op.input {
                let other = *groups.entry(key).or_insert(position);
                let (a, b) = (find(&mut leader, position), find(&mut leader, other));
                leader[a.max(b)] = a.min(b);
            }
        }
        let mut parts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for position in 0..ops.len() {
            parts.entry(find(&mut leader, position)).or_default().push(position as u32);
        }
        parts.into_values().collect()
    }

    fn shortcut(&self, ops: &[OpOf<Self>]) -> Option<Answer> {
        origin::judge(self, ops)
    }

    fn state_bytes(&self, state: &BTreeMap<K, V>) -> usize {
        size_of::<BTreeMap<K, V>>() + size::b_tree(state.len(), size_of::<(K, V)>())
    }

    fn topics(&self, input: &Vec<Micro<K, V>>, _output: Option<&Vec<Option<V>>>) -> Vec<u64> {
        input.iter().map(|(Micro::Read(key) | Micro::Write(key, _))| topic(key)).collect()
    }

    fn about(&self, op: &OpOf<Self>, kept: &dyn Fn(u64) -> bool) -> Option<OpOf<Self>> {
        let is_kept = |micro: &Micro<K, V>| match micro {
            Micro::Read(key) | Micro::Write(key, _) => kept(topic(key)),
        };
        let input: Vec<_> = op.input.iter().filter(|micro| is_kept(micro)).cloned().collect();
        let returned = op.returned.as_ref().map(|Return { at, output }| {
            let steps = op.input.iter().zip(output);
            let output = steps.filter(|(micro, _)| is_kept(micro)).map(|(_, read)| read.clone()).collect();
            Return { at: *at, output }
        });
        (!input.is_empty()).then_some(Op { process: op.process, call: op.call, input, returned })
    }

    fn describe(&self, input: &Vec<Micro<K, V>>, output: Option<&Vec<Option<V>>>) -> String {
        let step = |(at, micro): (usize, &Micro<K, V>)| match micro {
            Micro::Write(key, value) => format!("w {} {}", words::value(key), words::value(value)),
            Micro::Read(key) => {
                let read = output.and_then(|output| output.get(at)).and_then(Option::as_ref);
                let read = read.map_or("?".to_string(), words::value);
                format!("r {} → {read}", words::value(key))
            }
        };
        let indeterminate = if output.is_none() { ": ?" } else { "" };
        words::list("txn [", "]", ", ", input.iter().enumerate().map(step)) + indeterminate
    }

    fn describe_state(&self, state: &BTreeMap<K, V>) -> String {
        let register = |(key, value)| format!("{} {}", words::value(key), words::value(value));
        words::list("{", "}", ", ", state.iter().map(register))
    }
}

impl<K: Value, V: Value> MultiRegister<K, V> {
    /// See [`Model::step`].
    fn after<'a>(
        &self,
        state: &'a BTreeMap<K, V>,
        input: &[Micro<K, V>],
        output: Option<&Vec<Option<V>>>,
    ) -> Option<Cow<'a, BTreeMap<K, V>>> {
        let mut next = Cow::Borrowed(state);
        for (at, micro) in input.iter().enumerate() {
            match micro {
                Micro::Write(key, value) => {
                    next.to_mut().insert(key.clone(), value.clone());
                }
                Micro::Read(key) => {
                    let read = output.and_then(|output| output.get(at)).and_then(Option::as_ref);
                    let Some(read) = read else { continue };
                    let may_have_been = || self.open.get(key).is_some_and(|values| values.contains(read));
                    match next.get(key) {
                        Some(value) if value == read => {}
                        None if may_have_been() => _ = next.to_mut().insert(key.clone(), read.clone()),
                        _ => return None,
                    }
                }
            }
        }
        Some(next)
    }
}

/// The first operation of the group, with shortened ways to it.
fn find(leader: &mut [usize], mut position: usize) -> usize {
    while leader[position] != position {
        leader[position] = leader[leader[position]];
        position = leader[position];
    }
    position
}
