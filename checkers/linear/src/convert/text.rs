use history::{History, Row, Value, names::KEY_VALUE};

use super::{
    Asked, Datum, Meaning, NilRead, Registers, Unfit, convert,
    keys::Keys,
    names::{Names, invocations},
    register,
};

use crate::{
    model::OpOf,
    models::{
        KeyValue,
        keyed::At,
        register::{RegisterInput, RegisterOutput},
        text::{TextInput, TextOutput},
    },
};

/// Whether something is appended, so that values are texts: then [`texts`] has the operations of a key-value store, and
/// else [`values`].
pub fn has_appends(history: &History) -> bool {
    invocations(history).any(|row| KEY_VALUE.operation(row.f()) == Some("append"))
}

/// A key-value store whose values may be anything: a register under each key, with `nil` where nothing was put, or what
/// was is deleted. Where no `nil` is ever got, the empty text stands for it.
///
/// # Errors
/// The first operation that is none of such a store's.
pub fn values(history: &History) -> Result<Vec<OpOf<Registers>>, Unfit> {
    let names = Names::of(history, &KEY_VALUE)?;
    let keys = Keys::of(history, &names, &["get", "delete"]);
    let mut ops = convert(history, &names, keys, |asked| match asked.f {
        "get" => register::read(asked, NilRead::Nil),
        "append" => Err(Unfit::new(asked.operation.invoke, "only to texts can be appended")),
        f => {
            let value = if f == "put" { asked.value.into() } else { Datum::Nil };
            Meaning::of(&asked.operation, RegisterInput::Write(value), None, |_| Ok(RegisterOutput::Done))
        }
    })?;
    if !ops.iter().any(|op| op.output() == Some(&RegisterOutput::Value(Datum::Nil))) {
        ops.iter_mut().for_each(empty_is_nil);
    }
    Ok(ops)
}

fn empty_is_nil(op: &mut OpOf<Registers>) {
    let is_empty = |value: &Datum| matches!(value, Datum::Text(text) if &**text == "\"\"");
    if let RegisterInput::Write(value) = &mut op.input.input
        && is_empty(value)
    {
        *value = Datum::Nil;
    }
    if let Some(returned) = &mut op.returned
        && let RegisterOutput::Value(value) = &mut returned.output
        && is_empty(value)
    {
        *value = Datum::Nil;
    }
}

/// A key-value store with append, for [`KeyValue`](crate::models::KeyValue). A get of `nil` is one of the empty text.
///
/// # Errors
/// The first operation that is none of such a store's, or a value that is no text. So is the empty text where `nil` is
/// got too: whether these are one nobody says.
pub fn texts(history: &History) -> Result<Vec<OpOf<KeyValue>>, Unfit> {
    let names = Names::of(history, &KEY_VALUE)?;
    let keys = Keys::of(history, &names, &["get", "delete"]);
    let (mut nil, mut empty) = (None, None);
    let ops = convert(history, &names, keys, |asked| {
        let input = match asked.f {
            "get" => TextInput::Get,
            "put" => TextInput::Put(put(asked, &mut empty)?),
            "append" => TextInput::Append(put(asked, &mut empty)?),
            _ => TextInput::Put(String::new()),
        };
        let is_get = input == TextInput::Get;
        Meaning::of(&asked.operation, input, None, |completion| {
            let value = if is_get { asked.answer(completion)? } else { return Ok(TextOutput::Done) };
            if value.is_null() {
                nil.get_or_insert(completion.index());
                return Ok(TextOutput::Text(String::new()));
            }
            text(completion, value).map(TextOutput::Text)
        })
    })?;
    if let (Some(_), Some(index)) = (nil, empty) {
        let message = "the empty text is put, and nil is got elsewhere: nobody says whether these are one";
        return Err(Unfit::new(history.row(index), message));
    }
    let with_text = |op: OpOf<crate::models::Keyed<Datum, crate::models::Text>>| crate::op::Op {
        process: op.process,
        call: op.call,
        input: At { key: key(&op.input.key), input: op.input.input },
        returned: op.returned,
    };
    Ok(ops.into_iter().map(with_text).collect())
}

fn put(asked: &Asked<'_>, empty: &mut Option<usize>) -> Result<String, Unfit> {
    let put = text(asked.operation.invoke, asked.value)?;
    if put.is_empty() {
        empty.get_or_insert(asked.operation.invoke.index());
    }
    Ok(put)
}

/// A text without its quotes; anything else as EDN writes it.
fn key(key: &Datum) -> String {
    let text = key.to_string();
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    bare.map_or_else(|| text.clone(), str::to_owned)
}

fn text(row: Row<'_>, value: Value<'_>) -> Result<String, Unfit> {
    let message = || format!("expected a text under the key value, found {value}");
    value.as_str().map(str::to_owned).ok_or_else(|| Unfit::new(row, message()))
}
