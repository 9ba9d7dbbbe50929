use std::fmt::{Formatter, Result as FmtResult};

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

use crate::table::Encoder;

/// Packs any JSON value. The parser's own limit of 128 levels bounds the recursion.
pub(super) struct ValueSeed<'a, 'b>(pub(super) &'a mut Encoder<'b>);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.null();
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.0.bool(value);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.0.int(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.0.uint(value);
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.0.float(value);
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.string(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.begin_array();
        while items.next_element_seed(ValueSeed(self.0))?.is_some() {}
        self.0.end();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.0.begin_object();
        while entries.next_key_seed(KeySeed(self.0))?.is_some() {
            entries.next_value_seed(ValueSeed(self.0))?;
        }
        self.0.end_object();
        Ok(())
    }
}

struct KeySeed<'a, 'b>(&'a mut Encoder<'b>);

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<(), E> {
        self.0.key(key);
        Ok(())
    }
}
