//! A fault as files have it: `kind` and `params` stand side by side, and the one says how the other is read.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error as _, MapAccess, Visitor},
};
use serde_json::Value;

use super::ScheduledFault;
use crate::{
    kind::{Fault, FaultKind, Params},
    target::Target,
};

#[derive(Serialize)]
struct Written<'a> {
    id: u32,
    kind: FaultKind,
    target: &'a Target,
    at_ms: u64,
    lasts_ms: u64,
    seed: u64,
    params: &'a Fault,
}

impl Serialize for ScheduledFault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ScheduledFault { id, ref target, at_ms, lasts_ms, seed, fault: ref params } = *self;
        Written { id, kind: self.kind(), target, at_ms, lasts_ms, seed, params }.serialize(serializer)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
    Id,
    Kind,
    Target,
    AtMs,
    LastsMs,
    Seed,
    Params,
}

const KEYS: &[&str] = &["id", "kind", "target", "at_ms", "lasts_ms", "seed", "params"];

impl<'de> Deserialize<'de> for ScheduledFault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ScheduledFault, D::Error> {
        deserializer.deserialize_struct("ScheduledFault", KEYS, Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = ScheduledFault;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct ScheduledFault")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ScheduledFault, A::Error> {
        let (mut kind, mut target, mut at_ms, mut lasts_ms) = (None, None, None, None);
        let (mut id, mut seed) = (0, 0);
        let (mut fault, mut unread) = (None, Value::Object(serde_json::Map::new()));
        while let Some(key) = map.next_key()? {
            match (key, kind) {
                (Key::Id, _) => id = map.next_value()?,
                (Key::Kind, _) => kind = Some(map.next_value()?),
                (Key::Target, _) => target = Some(map.next_value()?),
                (Key::AtMs, _) => at_ms = Some(map.next_value()?),
                (Key::LastsMs, _) => lasts_ms = Some(map.next_value()?),
                (Key::Seed, _) => seed = map.next_value()?,
                // Read at once, so that an error is where the wrong word is.
                (Key::Params, Some(kind)) => fault = Some(map.next_value_seed(Params(kind))?),
                (Key::Params, None) => unread = map.next_value()?,
            }
        }
        let kind = kind.ok_or_else(|| A::Error::missing_field("kind"))?;
        let fault = match fault {
            Some(fault) => fault,
            None => Params(kind).deserialize(unread).map_err(A::Error::custom)?,
        };
        Ok(ScheduledFault {
            id,
            target: target.ok_or_else(|| A::Error::missing_field("target"))?,
            at_ms: at_ms.ok_or_else(|| A::Error::missing_field("at_ms"))?,
            lasts_ms: lasts_ms.ok_or_else(|| A::Error::missing_field("lasts_ms"))?,
            seed,
            fault,
        })
    }
}
