//! A counter.

mod special;

use rustc_hash::FxHashSet;

use crate::{
    answer::Answer,
    model::{Model, OpOf},
};

/// A counter that starts at 0 and wraps around.
///
/// `info`: an addition may have taken effect, a read says nothing. `fail`: it did not happen.
#[derive(Clone, Copy, Debug)]
pub struct Counter;

/// What is asked of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterInput {
    /// Its value.
    Read,
    /// To change by so much.
    Add(i64),
}

/// What a counter answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterOutput {
    /// Its value: of an addition, the one after it.
    Value(i64),
    /// Added.
    Done,
}

impl Model for Counter {
    type State = i64;
    type Input = CounterInput;
    type Output = CounterOutput;

    fn initial(&self) -> i64 {
        0
    }

    fn step(&self, state: &i64, input: &CounterInput, output: Option<&CounterOutput>) -> Option<i64> {
        let next = match input {
            CounterInput::Read => *state,
            CounterInput::Add(amount) => state.wrapping_add(*amount),
        };
        match (input, output) {
            (CounterInput::Read, Some(CounterOutput::Done)) => None,
            (_, Some(CounterOutput::Value(value))) => (*value == next).then_some(next),
            (_, None | Some(CounterOutput::Done)) => Some(next),
        }
    }

    fn observes(&self, input: &CounterInput, _output: Option<&CounterOutput>) -> bool {
        matches!(input, CounterInput::Read | CounterInput::Add(0))
    }

    fn shortcut(&self, ops: &[OpOf<Counter>]) -> Option<Answer> {
        special::judge(ops)
    }

    fn argue(&self, ops: &[OpOf<Counter>], op: u32) -> Option<(String, Vec<u32>)> {
        let read = &ops[op as usize];
        let Some(&CounterOutput::Value(value)) = read.output() else { return None };
        let (least, most) = bounds(ops, op);
        let is_certain = i64::try_from(least).is_ok() && i64::try_from(most).is_ok();
        let is_outside = i128::from(value) < least || i128::from(value) > most;
        (is_certain && is_outside).then(|| {
            let words = format!(
                "whatever the order, the additions that are over before it begins and those that begin before it \
                 returns make a value from {least} to {most}"
            );
            let around = around(ops, op);
            (words, if around.len() <= SHOWN_MAX { around } else { vec![op] })
        })
    }

    fn hardness(&self, ops: &[OpOf<Counter>], _op: u32) -> Option<String> {
        let amount = |op: &OpOf<Counter>| match op.input {
            CounterInput::Add(amount) => Some(amount),
            CounterInput::Read => None,
        };
        let amounts: FxHashSet<i64> = ops.iter().filter_map(amount).collect();
        let lost = ops.iter().filter(|op| op.is_info() && amount(op).is_some()).count();
        (amounts.len() > 1).then(|| {
            format!(
                "It is hard because of additions that differ: which of them make up what was read is a problem of sums \
                 of subsets. Here are {} different amounts, and {lost} additions timed out. With additions of one amount \
                 that answer no value, it takes no search.",
                amounts.len()
            )
        })
    }

    fn describe(&self, input: &CounterInput, output: Option<&CounterOutput>) -> String {
        let asked = match input {
            CounterInput::Read => "read".to_string(),
            CounterInput::Add(amount) => format!("add {amount}"),
        };
        match output {
            Some(CounterOutput::Value(value)) => format!("{asked} → {value}"),
            Some(CounterOutput::Done) => asked,
            None => format!("{asked}: ?"),
        }
    }

    fn describe_state(&self, state: &i64) -> String {
        state.to_string()
    }
}

/// More additions than this say less than their sum.
const SHOWN_MAX: usize = 20;

/// The additions that may have been made before an operation was over, and itself.
fn around(ops: &[OpOf<Counter>], op: u32) -> Vec<u32> {
    let until = ops[op as usize].deadline();
    let adds = |other: &OpOf<Counter>| matches!(other.input, CounterInput::Add(amount) if amount != 0);
    let is_around =
        |(position, other): &(u32, &OpOf<Counter>)| *position == op || (adds(other) && other.call <= until);
    (0..).zip(ops).filter(is_around).map(|(position, _)| position).collect()
}

/// The least and the most that the additions around an operation can make, its own among them.
fn bounds(ops: &[OpOf<Counter>], op: u32) -> (i128, i128) {
    let at = &ops[op as usize];
    let (mut least, mut most) = (0, 0);
    for (position, other) in (0..).zip(ops) {
        let CounterInput::Add(amount) = other.input else { continue };
        let is_certain = position == op || other.deadline() < at.call;
        let is_possible = other.call <= at.deadline();
        if is_certain || (is_possible && amount < 0) {
            least += i128::from(amount);
        }
        if is_certain || (is_possible && amount > 0) {
            most += i128::from(amount);
        }
    }
    (least, most)
}
