//! Parts in which one operation follows another: there is one order only, so nothing is searched.

use crate::{
    limits::Guard,
    model::{Model, OpOf},
};

/// Looks at the guard once in so many operations.
const OPS_A_LOOK: u32 = 1024;

pub(super) enum Serial<S> {
    /// Some operations overlap, or are indeterminate: it takes a search.
    Overlaps,
    /// The model permits the order.
    Valid,
    /// After so many operations the model, in this state, does not permit the next.
    Invalid(u32, S),
    /// The guard said stop.
    Stopped,
}

/// Judges a part of a history, given by positions, in O(n).
pub(super) fn judge<M: Model>(model: &M, ops: &[OpOf<M>], part: &[u32], guard: &Guard) -> Serial<M::State> {
    if !is_serial(ops, part) {
        return Serial::Overlaps;
    }
    let mut state = model.initial();
    for (placed, &op) in (0..).zip(part) {
        if placed % OPS_A_LOOK == OPS_A_LOOK - 1 && !guard.go_on() {
            return Serial::Stopped;
        }
        let op = &ops[op as usize];
        match model.step(&state, &op.input, op.output()) {
            Some(next) => state = next,
            None => return Serial::Invalid(placed, state),
        }
    }
    Serial::Valid
}

/// Where two events have the same time, the operations overlap.
fn is_serial<I, O>(ops: &[crate::op::Op<I, O>], part: &[u32]) -> bool {
    let mut over = None;
    part.iter().all(|&op| {
        let op = &ops[op as usize];
        let follows = over.is_none_or(|over| over < op.call);
        over = Some(op.deadline().max(op.call));
        follows && !op.is_info()
    })
}
