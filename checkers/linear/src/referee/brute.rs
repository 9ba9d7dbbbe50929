//! Every order, one after the other.

use crate::model::{Model, OpOf};

/// Whether a history is linearizable, by trying every order that time permits. For a handful of operations, which are
/// judged as one: [`Model::partition`] is not asked.
pub fn brute_force<M: Model>(model: &M, ops: &[OpOf<M>]) -> bool {
    let ops: Vec<&OpOf<M>> = ops.iter().collect();
    extend(model, &ops, &mut vec![false; ops.len()], &model.initial())
}

fn extend<M: Model>(model: &M, ops: &[&OpOf<M>], taken: &mut [bool], state: &M::State) -> bool {
    let left = || (0..ops.len()).filter(|&op| !taken[op]);
    let Some(first_return) = left().filter(|&op| !ops[op].is_info()).map(|op| ops[op].deadline()).min()
    else {
        return true;
    };
    let candidates: Vec<usize> = left().filter(|&op| ops[op].call <= first_return).collect();
    candidates.into_iter().any(|op| {
        let Some(next) = model.step(state, &ops[op].input, ops[op].output()) else { return false };
        taken[op] = true;
        let found = extend(model, ops, taken, &next);
        taken[op] = false;
        found
    })
}
