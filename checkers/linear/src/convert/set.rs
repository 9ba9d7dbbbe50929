use history::{History, Row, Value, View, names::SET};

use super::{Datum, Meaning, Unfit, convert, keys::Keys, names::Names};

use crate::{
    model::OpOf,
    models::{
        Keyed,
        set::{Set, SetInput, SetOutput},
    },
};

/// A set under each key.
pub type Sets = Keyed<Datum, Set<Datum>>;

/// Sets, for [`Set`](crate::models::Set).
///
/// # Errors
/// The first operation that is none of a set's, or a read that gives no elements.
pub fn set(history: &History) -> Result<Vec<OpOf<Sets>>, Unfit> {
    let names = Names::of(history, &SET)?;
    let keys = Keys::of(history, &names, &["read"]);
    convert(history, &names, keys, |asked| {
        let (operation, element) = (&asked.operation, || Datum::from(asked.value));
        match asked.f {
            "add" => Meaning::of(operation, SetInput::Add(element()), None, |_| Ok(SetOutput::Done)),
            "remove" => Meaning::of(operation, SetInput::Remove(element()), None, |_| Ok(SetOutput::Done)),
            "contains" => Meaning::of(operation, SetInput::Contains(element()), None, |completion| {
                let value = asked.answer(completion)?;
                let message = || format!("expected whether the set has it: true or false, found {value}");
                value.as_bool().map(SetOutput::Is).ok_or_else(|| Unfit::new(completion, message()))
            }),
            _ => Meaning::of(operation, SetInput::Read, None, |completion| {
                elements(completion, asked.answer(completion)?)
            }),
        }
    })
}

fn elements(completion: Row<'_>, value: Value<'_>) -> Result<SetOutput<Datum>, Unfit> {
    match value.view() {
        View::Array(items) | View::List(items) | View::Set(items) => {
            Ok(SetOutput::Elements(items.map(Datum::from).collect()))
        }
        _ => Err(Unfit::new(completion, format!("expected elements, found {value}"))),
    }
}
