//! Several registers, read and written together.

use std::collections::BTreeMap;

use crate::model::{Model, OpOf};

use super::{Value, size};

/// Registers that transactions of reads and writes go to. Registers that no transaction has in common are judged apart.
///
/// `info`: all the writes of a transaction may have taken effect, or none; its reads say nothing. `fail`: none did.
#[derive(Clone, Debug)]
pub struct MultiRegister<K, V> {
    /// Values before the first write; a register that is not here cannot be read before it is written.
    pub initial: BTreeMap<K, V>,
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
        let mut next = state.clone();
        for (at, micro) in input.iter().enumerate() {
            match micro {
                Micro::Write(key, value) => {
                    next.insert(key.clone(), value.clone());
                }
                Micro::Read(key) => {
                    let read = output.and_then(|output| output.get(at)).and_then(Option::as_ref);
                    if read.is_some_and(|read| next.get(key) != Some(read)) {
                        return None;
                    }
                }
            }
        }
        Some(next)
    }

    fn observes(&self, input: &Vec<Micro<K, V>>, _output: Option<&Vec<Option<V>>>) -> bool {
        input.iter().all(|micro| matches!(micro, Micro::Read(_)))
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

    fn state_bytes(&self, state: &BTreeMap<K, V>) -> usize {
        size_of::<BTreeMap<K, V>>() + size::b_tree(state.len(), size_of::<(K, V)>())
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
