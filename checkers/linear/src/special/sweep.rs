//! What sweeps over a history share.

use crate::{
    answer::{Answer, Refutation, Witness},
    op::Op,
};

/// A point in the sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Edge {
    Call,
    Return,
}

/// Invocations and returns in order of time, with positions in the history.
pub(crate) fn edges<I, O>(ops: &[Op<I, O>]) -> Vec<(u64, Edge, u32)> {
    let mut edges = Vec::with_capacity(ops.len() * 2);
    // Invocations are mostly in order already, and returns nearly so.
    edges.extend((0..).zip(ops).map(|(position, op)| (op.call, Edge::Call, position)));
    for (position, op) in (0..).zip(ops) {
        edges.extend(op.returned.as_ref().map(|returned| (returned.at.max(op.call), Edge::Return, position)));
    }
    edges[ops.len()..].sort_unstable();
    edges.sort();
    edges
}

/// So many operations are compared with each other, without a table.
const FEW: usize = 16;

pub(crate) fn valid() -> Answer {
    Answer::Valid(Witness::default())
}

/// A refutation with some of the operations that it rests on.
pub(crate) fn refuted(op: u32, with: impl IntoIterator<Item = u32>, reason: &str) -> Answer {
    Answer::Invalid(Box::new(refutation(op, with, reason)))
}

/// A refutation that rests on nothing but `op` and `with`; see [`Refutation::suffices`].
pub(crate) fn proved(op: u32, with: impl IntoIterator<Item = u32>, reason: &str) -> Answer {
    Answer::Invalid(Box::new(Refutation { suffices: true, ..refutation(op, with, reason) }))
}

/// Refutes an operation that was over before the first that may have written its value, if any, was invoked.
pub(crate) fn late(
    op: u32,
    deadline: u64,
    first: Option<(u64, u32)>,
    reason: impl Fn() -> String,
) -> Option<Answer> {
    match first {
        None => Some(proved(op, [], &reason())),
        Some((call, write)) if call > deadline => {
            Some(proved(op, [write], &format!("{} before it was over", reason())))
        }
        Some(_) => None,
    }
}

fn refutation(op: u32, with: impl IntoIterator<Item = u32>, reason: &str) -> Refutation {
    let mut with: Vec<u32> = with.into_iter().collect();
    if with.len() <= FEW {
        let mut kept = 0;
        for at in 0..with.len() {
            if with[at] != op && !with[..kept].contains(&with[at]) {
                with[kept] = with[at];
                kept += 1;
            }
        }
        with.truncate(kept);
    } else {
        let mut seen = rustc_hash::FxHashSet::from_iter([op]);
        with.retain(|&op| seen.insert(op));
    }
    Refutation { op, with, reason: Some(reason.to_string()), ..Refutation::default() }
}
