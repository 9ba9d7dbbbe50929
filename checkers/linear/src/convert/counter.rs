use history::{History, names::COUNTER};

use super::{Asked, Datum, Meaning, Unfit, convert, integer, keys::Keys, names::Names};

use crate::{
    model::OpOf,
    models::{
        Counter, Keyed,
        counter::{CounterInput, CounterOutput},
    },
};

/// A counter under each key.
pub type Counters = Keyed<Datum, Counter>;

/// Counters, for [`Counter`](crate::models::Counter).
///
/// # Errors
/// The first operation that is none of a counter's, or a value that is no whole number.
pub fn counter(history: &History) -> Result<Vec<OpOf<Counters>>, Unfit> {
    let names = Names::of(history, &COUNTER)?;
    let keys = Keys::of(history, &names, &["read"]);
    convert(history, &names, keys, |asked| {
        let value = |completion| {
            let value = asked.answer(completion)?;
            Ok(CounterOutput::Value(integer(completion, value, "the counter's value")?))
        };
        let operation = &asked.operation;
        match asked.f {
            "read" => Meaning::of(operation, CounterInput::Read, None, value),
            "add-and-get" => Meaning::of(operation, CounterInput::Add(amount(asked)?), None, value),
            "subtract" => {
                let less = amount(asked)?.checked_neg();
                let less = less.ok_or_else(|| Unfit::new(operation.invoke, "this amount is too large"))?;
                Meaning::of(operation, CounterInput::Add(less), None, |_| Ok(CounterOutput::Done))
            }
            _ => Meaning::of(operation, CounterInput::Add(amount(asked)?), None, |_| Ok(CounterOutput::Done)),
        }
    })
}

fn amount(asked: &Asked<'_>) -> Result<i64, Unfit> {
    if asked.value.is_null() { Ok(1) } else { integer(asked.operation.invoke, asked.value, "an amount") }
}
