use std::fmt::{Formatter, Result as FmtResult};

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};

use super::lenient;
use super::value::ValueSeed;
use crate::Malformed;
use crate::table::{Head, Segment, Span};

/// Parses one line into the segment; an empty line is no event.
pub(super) fn parse(text: &[u8], line: u64, segment: &mut Segment) -> Result<(), Malformed> {
    if text.trim_ascii().is_empty() {
        return Ok(());
    }
    let mark = segment.mark();
    let mut json = serde_json::Deserializer::from_slice(text);
    let parsed =
        EventSeed { segment: &mut *segment, line, mark }.deserialize(&mut json).and_then(|()| json.end());
    parsed.map_err(|error| malformed(line, &error))
}

pub(super) fn malformed(line: u64, error: &serde_json::Error) -> Malformed {
    // Its own message ends with " at line 1 column 7", in which the line is always the first.
    let text = error.to_string();
    let message = text.rfind(" at line ").map_or(&*text, |end| &text[..end]);
    Malformed::new(line, error.column().max(1), message)
}

/// Writes the event straight into the segment, so that nothing is built on the way.
struct EventSeed<'a> {
    segment: &'a mut Segment,
    line: u64,
    mark: usize,
}

impl<'de> DeserializeSeed<'de> for EventSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EventSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str("an event: an object with time, process, type and f")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { segment, line, mark } = self;
        let (mut index, mut time, mut process, mut kind, mut f, mut node) =
            (None, None, None, None, None, None);
        let (mut error, mut value, mut key) = (None::<Option<String>>, None, None);
        while let Some(field) = map.next_key_seed(FieldSeed)? {
            match field {
                Field::Index => once(&mut index, field, map.next_value::<lenient::Index>()?.0)?,
                Field::Time => once(&mut time, field, map.next_value::<Option<u64>>()?)?,
                Field::Process => once(&mut process, field, map.next_value::<lenient::Client>()?.0)?,
                Field::Type => once(&mut kind, field, map.next_value::<lenient::Kind>()?.0)?,
                Field::F => once(&mut f, field, map.next_value_seed(NameSeed(segment))?)?,
                Field::Node => once(&mut node, field, text(&mut map, segment)?)?,
                Field::Error => once(&mut error, field, text(&mut map, segment)?)?,
                Field::Value => once(&mut value, field, packed(&mut map, segment)?)?,
                // Of several names for the object, the first counts.
                Field::Key(name) => {
                    let span = packed(&mut map, segment)?;
                    key.get_or_insert((name, span));
                }
                Field::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let process = process.ok_or_else(|| Error::missing_field("process"))?;
        let kind = kind.ok_or_else(|| Error::missing_field("type"))?;
        let f = f.ok_or_else(|| Error::missing_field("f"))?;
        segment.join(mark, f, key, value);
        let node = node.flatten().map(|node| segment.name(&node));
        let head = Head {
            line,
            index: index.flatten(),
            time: time.flatten(),
            process,
            kind,
            f,
            node,
            error: error.as_ref().and_then(|error| error.as_deref()),
        };
        segment.push(mark, &head);
        Ok(())
    }
}

/// The next value, where it is put.
fn packed<'de, A: MapAccess<'de>>(map: &mut A, segment: &mut Segment) -> Result<Span, A::Error> {
    let start = segment.mark();
    map.next_value_seed(ValueSeed(&mut segment.encoder()))?;
    Ok((start, segment.mark()))
}

/// The next value as a text, whatever it is; null is none.
fn text<'de, A: MapAccess<'de>>(map: &mut A, segment: &mut Segment) -> Result<Option<String>, A::Error> {
    let (start, _) = packed(map, segment)?;
    let text = segment.text(start);
    segment.rewind(start);
    Ok(text)
}

fn once<T, E: Error>(slot: &mut Option<T>, field: Field, value: T) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(field.name())),
    }
}

#[derive(Clone, Copy)]
enum Field {
    Index,
    Time,
    Process,
    Type,
    F,
    Node,
    Error,
    Value,
    /// Names the object, if the value does not.
    Key(&'static str),
    Other,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::Index => "index",
            Field::Time => "time",
            Field::Process => "process",
            Field::Type => "type",
            Field::F => "f",
            Field::Node => "node",
            Field::Error => "error",
            Field::Value => "value",
            Field::Key(name) => name,
            Field::Other => "",
        }
    }
}

struct FieldSeed;

impl<'de> DeserializeSeed<'de> for FieldSeed {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldSeed {
    type Value = Field;

    fn expecting(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Field, E> {
        Ok(match key {
            "index" => Field::Index,
            "time" => Field::Time,
            "process" => Field::Process,
            "type" => Field::Type,
            "f" => Field::F,
            "node" => Field::Node,
            "error" => Field::Error,
            "value" => Field::Value,
            "key" => Field::Key("key"),
            "lock" => Field::Key("lock"),
            "name" => Field::Key("name"),
            _ => Field::Other,
        })
    }
}

struct NameSeed<'a>(&'a mut Segment);

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<u32, E> {
        Ok(self.0.name(name))
    }
}
