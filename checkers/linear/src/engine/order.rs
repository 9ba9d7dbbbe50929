//! What an order of operations keeps to, as the engine's own assertions ask it.

use rustc_hash::FxHashSet;

use crate::model::{Model, OpOf};

/// Whether the order respects real time, takes nothing twice, and is permitted by the model from step to step.
pub(super) fn is_permitted<M: Model>(model: &M, ops: &[OpOf<M>], order: &[u32]) -> bool {
    let mut seen = FxHashSet::default();
    let step = |state: M::State, &op: &u32| {
        let op = &ops[op as usize];
        model.step(&state, &op.input, op.output())
    };
    respects_time(ops, order)
        && order.iter().all(|op| seen.insert(*op))
        && order.iter().try_fold(model.initial(), step).is_some()
}

/// Whether it holds every determinate operation of the part, and none of another's.
pub(super) fn is_whole<M: Model>(ops: &[OpOf<M>], part: &[u32], order: &[u32]) -> bool {
    let own: FxHashSet<u32> = part.iter().copied().collect();
    let is_determinate = |op: &&u32| !ops[**op as usize].is_info();
    order.iter().all(|op| own.contains(op))
        && order.iter().filter(is_determinate).count() == part.iter().filter(is_determinate).count()
}

/// Nothing stands before what had returned when it was invoked.
fn respects_time<I, O>(ops: &[crate::op::Op<I, O>], order: &[u32]) -> bool {
    let mut soonest = u64::MAX;
    order.iter().rev().all(|&op| {
        let op = &ops[op as usize];
        soonest = soonest.min(op.deadline().max(op.call));
        op.call <= soonest
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        models::register::{Register, RegisterInput, RegisterOutput},
        op::Op,
    };

    #[test]
    fn an_order_against_time_or_model_is_none() {
        let write = |process, call, value| {
            Op::ok(process, call, call + 1, RegisterInput::Write(value), RegisterOutput::Done)
        };
        let read = Op::ok(2, 2, 9, RegisterInput::Read, RegisterOutput::Value(1));
        let ops = [write(0, 0, 1), write(1, 4, 2), read];
        let model = Register { initial: 0 };
        assert!(
            is_permitted(&model, &ops, &[0, 2, 1]) && is_whole::<Register<i32>>(&ops, &[0, 1, 2], &[0, 2, 1])
        );
        assert!(!is_permitted(&model, &ops, &[0, 1, 2]), "the read saw the first");
        assert!(
            !is_permitted(&model, &ops, &[1, 0, 2]),
            "the first had returned before the second was invoked"
        );
        assert!(!is_permitted(&model, &ops, &[0, 0, 2]), "one operation, twice");
        assert!(!is_whole::<Register<i32>>(&ops, &[0, 1, 2], &[0, 2]), "one is missing");
    }
}
