use super::{Datum, Meaning, Unfit, convert};
use crate::{
    history::{History, View},
    model::OpOf,
    models::set::{Set, SetInput, SetOutput},
};

/// A set, for [`Set`](crate::models::Set).
///
/// # Errors
/// The first operation that is none of a set's, or a read that gives no elements.
pub fn set(history: &History) -> Result<Vec<OpOf<Set<Datum>>>, Unfit> {
    convert(history, |operation| {
        let element = || Datum::from(operation.invoke.value());
        match operation.invoke.f() {
            "add" => Meaning::of(operation, SetInput::Add(element()), None, |_| Ok(SetOutput::Done)),
            "remove" => Meaning::of(operation, SetInput::Remove(element()), None, |_| Ok(SetOutput::Done)),
            "contains" => Meaning::of(operation, SetInput::Contains(element()), None, |completion| {
                let value = completion.value();
                let message = || format!("expected whether the set has it: true or false, found {value}");
                value.as_bool().map(SetOutput::Is).ok_or_else(|| Unfit::new(completion, message()))
            }),
            "read" => {
                Meaning::of(operation, SetInput::Read, None, |completion| match completion.value().view() {
                    View::Array(items) | View::List(items) | View::Set(items) => {
                        Ok(SetOutput::Elements(items.map(Datum::from).collect()))
                    }
                    _ => Err(Unfit::new(
                        completion,
                        format!("expected elements, found {}", completion.value()),
                    )),
                })
            }
            _ => Err(Unfit::unknown(operation.invoke, "set", "add, remove, contains, read")),
        }
    })
}
