//! Parameters, read as those of their kind.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error as _, Visitor},
    forward_to_deserialize_any,
};

use super::{Fault, FaultKind, each_kind};

/// Reads the parameters of a fault of this kind.
#[derive(Clone, Copy, Debug)]
pub struct Params(pub FaultKind);

macro_rules! params {
    ($($kind:ident in $module:ident;)*) => {
        impl Params {
            fn read<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<Fault, D::Error> {
                match self.0 {
                    $(FaultKind::$kind => super::$module::$kind::deserialize(deserializer).map(Fault::$kind),)*
                }
            }
        }
    };
}
each_kind!(params);

impl<'de> DeserializeSeed<'de> for Params {
    type Value = Fault;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fault, D::Error> {
        self.read(deserializer).map_err(|error| {
            let said = error.to_string();
            match self.elsewhere().find(|(name, _)| said.contains(&format!("unknown field `{name}`"))) {
                Some((name, owner)) => {
                    D::Error::custom(format!("{}: `{name}` belongs to {owner} faults", self.0))
                }
                None => error,
            }
        })
    }
}

impl Params {
    /// The parameters of other kinds, each with its kind.
    fn elsewhere(self) -> impl Iterator<Item = (&'static str, FaultKind)> {
        let others = FaultKind::ALL.into_iter().filter(move |other| *other != self.0);
        others.flat_map(|kind| Params(kind).names().iter().map(move |name| (*name, kind)))
    }

    /// What the parameters of this kind are called.
    fn names(self) -> &'static [&'static str] {
        self.read(AskNames).err().map_or(&[], |Names(names)| names)
    }
}

/// A reader of nothing: it fails with the names that it was asked for.
struct AskNames;

#[derive(Debug)]
struct Names(&'static [&'static str]);

impl<'de> Deserializer<'de> for AskNames {
    type Error = Names;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Names> {
        Err(Names(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Names> {
        Err(Names(fields))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for Names {}

impl serde::de::Error for Names {
    fn custom<T: fmt::Display>(_said: T) -> Names {
        Names(&[])
    }
}
