//! Values that were read although nothing can have written them by then.

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Value,
        multi_register::{Micro, MultiRegister},
        words,
    },
    special::sweep::late,
};

/// Refutes a history or leaves it, in O(n log n) and before any search: it asks what may have been written, by determinate
/// and indeterminate operations alike, not in which order.
pub fn judge<K: Value, V: Value>(
    registers: &MultiRegister<K, V>,
    ops: &[OpOf<MultiRegister<K, V>>],
) -> Option<Answer> {
    let mut first: FxHashMap<(&K, &V), (u64, u32)> = FxHashMap::default();
    for (position, op) in (0..).zip(ops) {
        for micro in &op.input {
            if let Micro::Write(key, value) = micro {
                let first = first.entry((key, value)).or_insert((op.call, position));
                *first = (*first).min((op.call, position));
            }
        }
    }
    let was_there = |key, value| {
        let may_have_been = || registers.open.get(key).is_some_and(|values| values.contains(value));
        registers.initial.get(key) == Some(value) || may_have_been()
    };
    (0..).zip(ops).find_map(|(position, op)| {
        let mut reads = op.input.iter().zip(op.output()?).filter_map(|(micro, read)| match (micro, read) {
            (Micro::Read(key), Some(value)) if !was_there(key, value) => Some((key, value)),
            _ => None,
        });
        reads.find_map(|(key, value)| {
            let reason = || format!("nobody wrote {} to {}", words::value(value), words::value(key));
            late(position, op.deadline(), first.get(&(key, value)).copied(), reason)
        })
    })
}
