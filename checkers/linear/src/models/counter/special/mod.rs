//! A counter.

mod bounds;
mod sums;
mod units;

use crate::{
    answer::Answer,
    model::OpOf,
    models::counter::{Counter, CounterInput, CounterOutput},
};

/// Judges a history, or leaves it to the search.
///
/// If all additions are of one amount and tell no value, it is judged exactly ([`units`]). Of others it is seen that no
/// additions make up what was read ([`bounds`]); which of them do is a problem of sums of subsets, which is hard.
pub fn judge(ops: &[OpOf<Counter>]) -> Option<Answer> {
    let is_answered =
        |op: &OpOf<Counter>| (op.input, op.output()) != (CounterInput::Read, Some(&CounterOutput::Done));
    let amounts = || {
        ops.iter().filter_map(|op| match op.input {
            CounterInput::Add(amount) => Some(amount),
            CounterInput::Read => None,
        })
    };
    // Beyond that it may wrap around.
    let sum = amounts().try_fold(0u64, |sum, amount| sum.checked_add(amount.unsigned_abs()))?;
    if sum >= i64::MAX as u64 || !ops.iter().all(is_answered) {
        return None;
    }
    let first = amounts().next().unwrap_or(1);
    let tells = |op: &OpOf<Counter>| {
        op.input != CounterInput::Read && matches!(op.output(), Some(CounterOutput::Value(_)))
    };
    match first != 0 && amounts().all(|amount| amount == first) && !ops.iter().any(tells) {
        true => Some(units::judge(ops, first)),
        false => bounds::wrong(ops),
    }
}
