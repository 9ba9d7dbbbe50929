use super::{Meaning, Unfit, convert, integer};
use crate::{
    history::History,
    model::OpOf,
    models::counter::{Counter, CounterInput, CounterOutput},
};

/// A counter, for [`Counter`](crate::models::Counter).
///
/// # Errors
/// The first operation that is none of a counter's, or a value that is no whole number.
pub fn counter(history: &History) -> Result<Vec<OpOf<Counter>>, Unfit> {
    convert(history, |operation| {
        let invoke = operation.invoke;
        let amount = || integer(invoke, invoke.value(), "an amount");
        match invoke.f() {
            "read" => Meaning::of(operation, CounterInput::Read, None, |completion| {
                Ok(CounterOutput::Value(integer(completion, completion.value(), "the counter's value")?))
            }),
            "add" => Meaning::of(operation, CounterInput::Add(amount()?), None, |_| Ok(CounterOutput::Done)),
            "add-and-get" => Meaning::of(operation, CounterInput::Add(amount()?), None, |completion| {
                Ok(CounterOutput::Value(integer(completion, completion.value(), "the counter's value")?))
            }),
            _ => Err(Unfit::unknown(invoke, "counter", "read, add, add-and-get")),
        }
    })
}
