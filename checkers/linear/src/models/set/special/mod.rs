//! A set that is read as a whole.

mod elements;
mod growing;
mod shrinking;

use rustc_hash::FxHashSet;

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Value,
        set::{Set, SetInput, SetOutput},
    },
};

use elements::Elements;

/// Judges a history of a set, or leaves it to the search.
///
/// What is never removed is decided without a search ([`elements`], [`growing`]), however many additions are
/// indeterminate. Where some elements are removed, each of these is judged by itself, which can only refute; then what
/// couples them is searched for within a bound ([`shrinking`]).
pub fn judge<V: Value>(ops: &[OpOf<Set<V>>]) -> Option<Answer> {
    if !ops.iter().all(is_answered) {
        return None;
    }
    let removed: FxHashSet<&V> = ops
        .iter()
        .filter_map(|op| match &op.input {
            SetInput::Remove(value) => Some(value),
            _ => None,
        })
        .collect();
    let elements = match Elements::new(ops, &removed) {
        Ok(elements) => elements,
        Err(answer) => return Some(answer),
    };
    match removed.is_empty() {
        true => Some(growing::judge(ops, &elements)),
        false if elements.reads.is_empty() => None,
        false => shrinking::judge(ops, &elements, &removed),
    }
}

/// Whether the answer is one that such a question can have.
fn is_answered<V: Value>(op: &OpOf<Set<V>>) -> bool {
    match (&op.input, op.output()) {
        (_, None) => true,
        (SetInput::Read, Some(output)) => matches!(output, SetOutput::Elements(_)),
        (SetInput::Contains(_), Some(output)) => matches!(output, SetOutput::Is(_)),
        (SetInput::Add(_) | SetInput::Remove(_), Some(output)) => !matches!(output, SetOutput::Elements(_)),
    }
}
