//! A kind is written as its name.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::FaultKind;
use crate::suggest;

/// A text names no kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown fault `{written}`: use one of {names}{hint}")]
pub struct UnknownKind {
    written: String,
    names: String,
    hint: String,
}

impl FromStr for FaultKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<FaultKind, UnknownKind> {
        let text = text.trim();
        let names = FaultKind::ALL.map(FaultKind::name);
        FaultKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| UnknownKind {
            written: text.into(),
            names: names.join(", "),
            hint: suggest::hint(text, names),
        })
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl<'de> Deserialize<'de> for FaultKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FaultKind, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for FaultKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
