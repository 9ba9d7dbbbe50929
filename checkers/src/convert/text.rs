use super::{Meaning, Unfit, convert};
use crate::{
    history::{History, Row},
    model::OpOf,
    models::{
        KeyValue,
        keyed::At,
        text::{TextInput, TextOutput},
    },
};

/// A key-value store with append, for [`KeyValue`](crate::models::KeyValue).
///
/// # Errors
/// The first operation that is none of such a store's, or a value that is no text.
pub fn texts(history: &History) -> Result<Vec<OpOf<KeyValue>>, Unfit> {
    convert(history, |operation| {
        let invoke = operation.invoke;
        let input = match invoke.f() {
            "get" => TextInput::Get,
            "put" => TextInput::Put(text(invoke)?),
            "append" => TextInput::Append(text(invoke)?),
            _ => return Err(Unfit::unknown(invoke, "key-value store", "get, put, append")),
        };
        let key = invoke.value().get("key");
        let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
        let is_get = input == TextInput::Get;
        Meaning::of(operation, At { key, input }, None, |completion| {
            if is_get { text(completion).map(TextOutput::Text) } else { Ok(TextOutput::Done) }
        })
    })
}

fn text(row: Row<'_>) -> Result<String, Unfit> {
    let value = row.value().get("value");
    let message = || format!("expected a text under the key value, found {value}");
    value.as_str().map(str::to_owned).ok_or_else(|| Unfit::new(row, message()))
}
