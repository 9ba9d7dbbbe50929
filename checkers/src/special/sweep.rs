//! What sweeps over a history share.

use crate::{
    engine::{Answer, Refutation, Witness},
    op::Op,
};

/// A point in the sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edge {
    Call,
    Return,
}

/// Invocations and returns in order of time, with positions in the history.
pub(super) fn edges<I, O>(ops: &[Op<I, O>]) -> Vec<(u64, Edge, u32)> {
    let mut edges = Vec::with_capacity(ops.len() * 2);
    for (position, op) in (0..).zip(ops) {
        edges.push((op.call, Edge::Call, position));
        edges.extend(op.returned.as_ref().map(|returned| (returned.at.max(op.call), Edge::Return, position)));
    }
    edges.sort_unstable();
    edges
}

pub(super) fn valid() -> Answer {
    Answer::Valid(Witness::default())
}

pub(super) fn refuted(op: u32, with: impl IntoIterator<Item = u32>, reason: &str) -> Answer {
    let with = with.into_iter().collect();
    Answer::Invalid(Refutation { op, with, reason: Some(reason.to_string()), ..Refutation::default() })
}
