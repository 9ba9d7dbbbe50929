use std::fmt::{Debug, Display, Formatter, Result};
use std::sync::Arc;

use crate::history::{Value, View};

/// A key, value or element of any kind, as models compare them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Datum {
    /// `null` or `nil`.
    Nil,
    /// A whole number.
    Int(i64),
    /// Anything else, as EDN writes it: `"x"` with its quotes, `:x`, `[1 2]`.
    Text(Arc<str>),
}

impl From<Value<'_>> for Datum {
    fn from(value: Value<'_>) -> Datum {
        match value.view() {
            View::Null => Datum::Nil,
            View::Int(value) => Datum::Int(value),
            _ => Datum::Text(value.to_string().into()),
        }
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
