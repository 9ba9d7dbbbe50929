//! Which lock an acquire or a release is on, in all the ways in which histories tell it.

use std::collections::BTreeSet;

use super::{
    Datum, Reading, Unfit,
    keys::{pair, split},
    names::{Names, invocations},
};
use history::{History, Row, Value, View};

/// What the value of an acquire or a release is, where it may be either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockValue {
    /// The lock's name.
    Name,
    /// Who acquires or releases.
    Owner,
}

/// How the locks of a history are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Naming {
    /// Not at all: there is one.
    One,
    /// By a field or a tuple, which can mean nothing else; by values that are all the same, or that were said to be names.
    Names,
    /// By UUIDs as values, which are usually names.
    Uuids,
    /// By lists of names: a grant may be of several locks.
    Lists,
    /// By nothing that is certain: values that may be names or owners. They are read as said.
    Unclear(LockValue),
}

/// Fields whose value is a lock's name.
const FIELDS: [&str; 8] =
    ["lock", "key", "name", "lock-name", "lock_name", "lockName", "lock-key", "lock_key"];

/// What the value of one invocation is.
enum Said<'h> {
    Nothing,
    /// A field names the lock.
    Field(Value<'h>),
    /// A vector of two.
    Pair(Value<'h>, Value<'h>),
    /// A collection of another size, or a set.
    List(Vec<Value<'h>>),
    Uuid(Value<'h>),
    Scalar(Value<'h>),
}

/// The names that one operation bears, and who it says it is.
pub(super) struct Told<'h> {
    pub(super) names: Vec<Value<'h>>,
    pub(super) owner: Option<Value<'h>>,
}

impl Naming {
    /// As these events tell it, or as it was said.
    pub(super) fn of(history: &History, names: &Names, reading: &Reading) -> Naming {
        let said = |f: &'static str| {
            let rows = invocations(history).filter(move |row| names.get(*row) == f);
            rows.map(|row| said(row.value()))
        };
        // What a release bears, while no acquire bears anything, is a token.
        if said("acquire").all(|said| matches!(said, Said::Nothing)) {
            return Naming::One;
        }
        let all = || said("acquire").chain(said("release"));
        let any = |fits: fn(&Said<'_>) -> bool| all().any(|said| fits(&said));
        if any(|said| matches!(said, Said::Field(_))) {
            return Naming::Names;
        }
        if any(|said| matches!(said, Said::List(_))) {
            return Naming::Lists;
        }
        if any(|said| matches!(said, Said::Pair(_, second) if second.is_null())) {
            return Naming::Names;
        }
        let bears = |row: &Row<'_>| !names.get(*row).is_empty() && !row.value().is_null();
        let distinct: BTreeSet<Datum> =
            invocations(history).filter(bears).map(|row| row.value().into()).collect();
        let is_one = distinct.len() == 1;
        match reading.lock_value {
            Some(LockValue::Name) if any(|said| matches!(said, Said::Pair(..))) => Naming::Lists,
            Some(LockValue::Name) => Naming::Names,
            Some(LockValue::Owner) => Naming::Unclear(LockValue::Owner),
            None if is_one && !any(|said| matches!(said, Said::Pair(..))) => Naming::Names,
            None if all().all(|said| matches!(said, Said::Uuid(_) | Said::Nothing))
                && !are_fresh(history, names) =>
            {
                Naming::Uuids
            }
            None => Naming::Unclear(LockValue::Name),
        }
    }

    /// What an invocation tells in this way.
    pub(super) fn told<'h>(self, row: Row<'h>) -> Result<Told<'h>, Unfit> {
        let none = || Told { names: Vec::new(), owner: None };
        let names = |names: Vec<Value<'h>>| Told { names, owner: None };
        Ok(match (self, said(row.value())) {
            (Naming::One, _) | (_, Said::Nothing) => none(),
            (_, Said::Field(name)) => names(vec![name]),
            (Naming::Unclear(LockValue::Owner), Said::Pair(name, owner)) => {
                Told { names: vec![name], owner: Some(owner) }
            }
            (Naming::Unclear(LockValue::Owner), Said::Uuid(owner) | Said::Scalar(owner)) => {
                Told { names: Vec::new(), owner: Some(owner) }
            }
            (Naming::Names, Said::Pair(name, _)) => names(vec![name]),
            (_, Said::Pair(first, second)) => names(vec![first, second]),
            (_, Said::List(items)) if items.iter().any(|item| item.is_null()) => {
                return Err(Unfit::new(row, "nil is no lock's name"));
            }
            (_, Said::List(items)) => names(items),
            (_, Said::Uuid(name) | Said::Scalar(name)) => names(vec![name]),
        })
    }
}

/// Fields whose value is a grant's token.
const TOKENS: [&str; 6] = ["token", "fence", "fencing-token", "fencing_token", "fencingToken", "term"];

/// The token of a grant in a field of what answers an acquire; null if there is none.
pub fn token(value: Value<'_>) -> Value<'_> {
    let token = TOKENS.iter().map(|field| value.get(field)).find(|token| !token.is_null());
    token.unwrap_or(value.get(TOKENS[0]))
}

/// What answers an acquire, without the lock's name: there stands the token, if there is one.
pub fn answer(value: Value<'_>) -> Value<'_> {
    if !token(value).is_null() {
        return value;
    }
    match (split(value), value.get("value")) {
        (Some((_, answer)), _) => answer,
        (None, answer) if !answer.is_null() => answer,
        (None, _) => value,
    }
}

fn said(value: Value<'_>) -> Said<'_> {
    match value.view() {
        View::Null => Said::Nothing,
        View::Object(_) => {
            let named = FIELDS.iter().map(|field| value.get(field)).find(|name| !name.is_null());
            named.map_or(Said::Nothing, Said::Field)
        }
        View::Tagged(name, inner) if name.eq_ignore_ascii_case("uuid") && inner.as_str().is_some() => {
            Said::Uuid(value)
        }
        View::Tagged(name, _) if name.ends_with("Tuple") || name.ends_with("MapEntry") => {
            split(value).map_or(Said::Scalar(value), |(name, _)| Said::Field(name))
        }
        View::Array(_) | View::List(_) => match pair(value) {
            Some((first, second)) => Said::Pair(first, second),
            None => Said::List(value.items().collect()),
        },
        View::Set(items) => Said::List(items.collect()),
        View::String(text) if is_uuid(text) => Said::Uuid(value),
        _ => Said::Scalar(value),
    }
}

fn is_uuid(text: &str) -> bool {
    let parts = [8, 4, 4, 4, 12];
    let hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split('-').map(str::len).eq(parts) && text.split('-').all(hex)
}

/// Whether some process takes another value for every grant, and none comes twice: then they tell grants apart, not locks.
fn are_fresh(history: &History, names: &Names) -> bool {
    let acquires = || invocations(history).filter(|row| names.get(*row) == "acquire");
    let values: BTreeSet<Datum> = acquires().map(|row| row.value().into()).collect();
    let processes: BTreeSet<_> = acquires().map(Row::process).collect();
    values.len() == acquires().count() && values.len() > processes.len()
}
