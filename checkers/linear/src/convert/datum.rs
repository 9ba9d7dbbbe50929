use std::fmt::{Debug, Display, Formatter, Result};
use std::sync::Arc;

use history::{Key, Value, View, is_keyword};

/// A key, value or element of any kind, as models compare them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Datum {
    /// `null` or `nil`.
    Nil,
    /// A whole number.
    Int(i64),
    /// Anything else, as EDN writes it: `"x"` with its quotes, `:x`, `[1 2]`. As in Clojure, a list and a vector of the
    /// same items are one value, and the order within sets and maps means nothing.
    Text(Arc<str>),
}

impl From<Value<'_>> for Datum {
    fn from(value: Value<'_>) -> Datum {
        match value.view() {
            View::Null => Datum::Nil,
            View::Int(value) => Datum::Int(value),
            _ => Datum::Text(same(value).into()),
        }
    }
}

/// One text for all that is one value.
fn same(value: Value<'_>) -> String {
    let all = || value.items().map(same).collect::<Vec<_>>();
    match value.view() {
        View::Array(_) | View::List(_) => format!("[{}]", all().join(" ")),
        View::Set(_) => {
            let mut items = all();
            items.sort_unstable();
            format!("#{{{}}}", items.join(" "))
        }
        View::Object(_) => {
            let mut entries: Vec<String> =
                value.entries().map(|(key, value)| format!("{} {}", name(key), same(value))).collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(", "))
        }
        View::Tagged(name, inner) => format!("#{name} {}", same(inner)),
        _ => value.to_string(),
    }
}

fn name(key: Key<'_>) -> String {
    match key {
        Key::Name(name) if is_keyword(name) => format!(":{name}"),
        Key::Name(name) => format!("{name:?}"),
        Key::Value(value) => same(value),
    }
}

impl Display for Datum {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Datum::Nil => f.write_str("nil"),
            Datum::Int(value) => write!(f, "{value}"),
            Datum::Text(text) => f.write_str(text),
        }
    }
}

/// As [`Display`]: explanations show values in this way.
impl Debug for Datum {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        Display::fmt(self, f)
    }
}
