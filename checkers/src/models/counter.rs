//! A counter.

use crate::{
    engine::Answer,
    model::{Model, OpOf},
    special,
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
        special::counter::judge(ops)
    }
}
