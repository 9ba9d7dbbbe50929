//! On which of several objects an operation is.
//!
//! A history tells it in one of two ways: with a key beside the value (`{:key k, :value v}`, as Porcupine's logs, and any
//! event with a `:key` of its own), or with a tuple of the two, as Jepsen's `independent` writes it: `[k v]`, a map
//! entry, or a record.

use history::{EventKind, History, Row, Value, View, names::Vocabulary};

use super::{
    Unfit,
    names::{Names, invocations},
};

/// Whether a history names the objects of its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    are_there: bool,
}

impl Keys {
    /// An operation that takes no argument (a read, a dequeue) can be invoked with a key only, so these decide. Where
    /// there are none, a history has keys if every invocation has one and every `ok` has the same again: values that are
    /// themselves pairs look alike then, and no model that only adds can tell the difference.
    pub(super) fn of(history: &History, names: &Names, without_argument: &[&str]) -> Keys {
        let is_keyed = |row: Row<'_>| split(row.value()).is_some();
        let mut bare =
            invocations(history).filter(|row| without_argument.contains(&names.get(*row))).peekable();
        if bare.peek().is_some() {
            return Keys { are_there: bare.any(is_keyed) };
        }
        let mut rows = invocations(history).peekable();
        let are_there = rows.peek().is_some() && rows.all(is_keyed) && keys_return(history);
        Keys { are_there }
    }

    /// Transactions have keys if one of them has: it stands first in a tuple, before a list of steps.
    pub(super) fn of_transactions(history: &History) -> Keys {
        let is_list = |value: Value<'_>| matches!(value.view(), View::Array(_) | View::List(_));
        let is_step = |value: Value<'_>| is_list(value) && value.at(0).as_str().is_some();
        let is_keyed = |row: Row<'_>| match (pair(row.value()), split(row.value())) {
            (Some((key, steps)), _) => !is_step(key) && is_list(steps) && steps.items().all(is_list),
            (None, split) => split.is_some(),
        };
        Keys { are_there: invocations(history).any(is_keyed) }
    }

    pub(super) const NONE: Keys = Keys { are_there: false };

    /// The key, if the history has keys, and the value proper.
    pub(super) fn of_invocation(self, row: Row<'_>) -> Result<(Option<Value<'_>>, Value<'_>), Unfit> {
        if !self.are_there {
            return Ok((None, row.value()));
        }
        let (key, value) = split(row.value()).ok_or_else(|| {
            Unfit::new(row, format!("expected a tuple of key and value, as in others, found {}", row.value()))
        })?;
        Ok((Some(key), value))
    }

    /// The value proper of any event, as far as it has that form.
    pub(super) fn strip(self, value: Value<'_>) -> Value<'_> {
        if self.are_there { proper(value) } else { value }
    }

    /// The value proper of what answers an operation on this key.
    pub(super) fn of_completion<'h>(self, row: Row<'h>, key: Option<Value<'h>>) -> Result<Value<'h>, Unfit> {
        let (Some(asked), value) = (key, row.value()) else { return Ok(row.value()) };
        match (split(value), value.view()) {
            (Some((key, value)), _) if key == asked => Ok(value),
            (Some((key, _)), _) => {
                Err(Unfit::new(row, format!("this answers for {key}, but what was asked is of {asked}")))
            }
            (None, View::Null) => Ok(value),
            (None, View::Object(_)) => Ok(value.get("value")),
            _ => Err(Unfit::new(
                row,
                format!("expected a tuple of key and value, as in others, found {value}"),
            )),
        }
    }
}

/// Whether the operations of this vocabulary name the objects that they are on.
pub fn has_keys(history: &History, vocabulary: &Vocabulary, without_argument: &[&str]) -> bool {
    Names::of(history, vocabulary).is_ok_and(|names| Keys::of(history, &names, without_argument).are_there)
}

/// Key and value proper, if the value has the form of both.
pub fn split(value: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    match value.view() {
        View::Object(_) => {
            Some(value.get("key")).filter(|key| !key.is_null()).map(|key| (key, value.get("value")))
        }
        View::Tagged(name, inner) if name.ends_with("Tuple") || name.ends_with("MapEntry") => split(inner),
        _ => pair(value),
    }
}

/// The value proper: what stands beside its key, if it has the form of both, or all of it.
pub fn proper(value: Value<'_>) -> Value<'_> {
    split(value).map_or(value, |(_, proper)| proper)
}

/// The two items of a vector or list of two.
pub(super) fn pair(value: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let mut items = match value.view() {
        View::Array(items) | View::List(items) => items,
        _ => return None,
    };
    let pair = (items.next()?, items.next()?);
    items.next().is_none().then_some(pair)
}

fn keys_return(history: &History) -> bool {
    history.operations().iter().all(|operation| {
        let answer = operation.completion.filter(|completion| completion.kind() == EventKind::Ok);
        let key = |row: Row<'_>| split(row.value()).map(|(key, _)| key.to_string());
        answer.is_none_or(|answer| answer.value().is_null() || key(answer) == key(operation.invoke))
    })
}
