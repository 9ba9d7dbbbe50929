//! The parts of an event in every spelling that other tools give them.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

use crate::{EventKind, Process};

/// A position in its recorder's order; null and -1, with which Jepsen marks a missing one, are none.
pub(super) struct Index(pub(super) Option<u64>);

/// A number, also as a text, or the nemesis.
pub(super) struct Client(pub(super) Process);

/// One of four words, also as EDN's keyword.
pub(super) struct Kind(pub(super) EventKind);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Index(None)),
            Value::Number(number) if number.as_i64() == Some(-1) => Ok(Index(None)),
            value => {
                let index = value.as_u64().ok_or_else(|| D::Error::custom("an index is a number from 0"))?;
                Ok(Index(Some(index)))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Client {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let process = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.as_u64().and_then(client),
            Value::String(name) if matches!(&*name, "nemesis" | ":nemesis") => Some(Process::Nemesis),
            Value::String(name) if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                name.parse().ok().and_then(client)
            }
            _ => None,
        };
        let words = "a process is a number from 0 to 4294967295 or \"nemesis\"";
        process.map(Client).ok_or_else(|| D::Error::custom(words))
    }
}

fn client(number: u64) -> Option<Process> {
    u32::try_from(number).ok().map(Process::Client)
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<str>::deserialize(deserializer)?;
        match word.strip_prefix(':').unwrap_or(&word) {
            "invoke" => Ok(Kind(EventKind::Invoke)),
            "ok" => Ok(Kind(EventKind::Ok)),
            "fail" => Ok(Kind(EventKind::Fail)),
            "info" => Ok(Kind(EventKind::Info)),
            other => Err(D::Error::unknown_variant(other, &["invoke", "ok", "fail", "info"])),
        }
    }
}
