use std::cmp::Ordering;

use serde_json::{Map, Value as Json};

use super::encode::{key, tag};
use super::names::Names;

/// A cursor on one packed value of a history; copying it costs nothing.
///
/// What JSON knows and what EDN knows are both kept: `:x` and `"x"` are different values, though
/// [`as_str`](Value::as_str) gives `x` for either.
#[derive(Clone, Copy)]
pub struct Value<'h> {
    /// Begins with the value; what lies behind it is of no concern.
    bytes: &'h [u8],
    names: &'h Names,
}

/// A value taken apart by one level.
#[derive(Clone, Copy, Debug)]
pub enum View<'h> {
    /// `null`, `nil`, or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above `i64::MAX`.
    UInt(u64),
    /// Any other number that the machine has, NaN and the infinities included.
    Float(f64),
    /// A number that no machine number holds, as text: `1/3`, `123456789012345678901`.
    Number(&'h str),
    /// A string.
    String(&'h str),
    /// An EDN keyword without its colon.
    Keyword(&'h str),
    /// An EDN symbol.
    Symbol(&'h str),
    /// An EDN character.
    Char(&'h str),
    /// A JSON array or EDN vector.
    Array(Items<'h>),
    /// An EDN list.
    List(Items<'h>),
    /// An EDN set.
    Set(Items<'h>),
    /// A JSON object or EDN map.
    Object(Entries<'h>),
    /// An EDN tagged value.
    Tagged(&'h str, Value<'h>),
}

/// The key of an object's entry.
#[derive(Clone, Copy, Debug)]
pub enum Key<'h> {
    /// A JSON key or an EDN keyword.
    Name(&'h str),
    /// Any other EDN value.
    Value(Value<'h>),
}

/// Iterator over the items of an array, list or set.
#[derive(Clone, Copy, Debug)]
pub struct Items<'h> {
    rest: Value<'h>,
}

/// Iterator over the entries of an object.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'h> {
    rest: Value<'h>,
}

/// Iterator over the entries of an object that looks no name up.
#[derive(Clone, Copy)]
pub(super) struct CodedEntries<'h> {
    rest: Value<'h>,
}

impl<'h> Value<'h> {
    pub(super) fn new(bytes: &'h [u8], names: &'h Names) -> Self {
        Self { bytes, names }
    }

    /// Taken apart by one level.
    pub fn view(self) -> View<'h> {
        let (first, rest) = (self.bytes[0], &self.bytes[1..]);
        match first {
            tag::SMALL_INT.. => View::Int(i64::from(first & 127)),
            tag::SHORT_STRING.. => View::String(utf8(&rest[..usize::from(first & 63)])),
            tag::NULL => View::Null,
            tag::FALSE => View::Bool(false),
            tag::TRUE => View::Bool(true),
            tag::INT => View::Int(zigzag(varint(rest).0)),
            tag::UINT => View::UInt(varint(rest).0),
            tag::FLOAT => {
                let bytes = rest.first_chunk().expect("a float has eight bytes");
                View::Float(f64::from_le_bytes(*bytes))
            }
            tag::ARRAY => View::Array(Items { rest: self.from(rest) }),
            tag::LIST => View::List(Items { rest: self.from(rest) }),
            tag::SET => View::Set(Items { rest: self.from(rest) }),
            tag::OBJECT => View::Object(Entries { rest: self.from(rest) }),
            _ => {
                let (text, rest) = sized(rest);
                let text = utf8(text);
                match first {
                    tag::STRING => View::String(text),
                    tag::KEYWORD => View::Keyword(text),
                    tag::SYMBOL => View::Symbol(text),
                    tag::CHAR => View::Char(text),
                    tag::NUMBER => View::Number(text),
                    tag::TAGGED => View::Tagged(text, self.from(rest)),
                    _ => unreachable!("the encoder writes no other tag"),
                }
            }
        }
    }

    /// Whether it is `null`, `nil`, or nothing.
    pub fn is_null(self) -> bool {
        self.bytes[0] == tag::NULL
    }

    /// Whether it is a JSON object or an EDN map.
    pub fn is_object(self) -> bool {
        self.bytes[0] == tag::OBJECT
    }

    /// Whether it is a string, keyword, symbol or character.
    pub fn is_text(self) -> bool {
        let first = self.bytes[0];
        (tag::SHORT_STRING..tag::SMALL_INT).contains(&first)
            || matches!(first, tag::STRING | tag::KEYWORD | tag::SYMBOL | tag::CHAR)
    }

    /// A truth value.
    pub fn as_bool(self) -> Option<bool> {
        if let View::Bool(value) = self.view() { Some(value) } else { None }
    }

    /// A whole number from 0 to 2⁶⁴ − 1.
    pub fn as_u64(self) -> Option<u64> {
        match self.view() {
            View::Int(value) => u64::try_from(value).ok(),
            View::UInt(value) => Some(value),
            _ => None,
        }
    }

    /// A whole number from −2⁶³ to 2⁶³ − 1.
    #[inline]
    pub fn as_i64(self) -> Option<i64> {
        match self.bytes[0] {
            first @ tag::SMALL_INT.. => Some(i64::from(first & 127)),
            tag::INT => Some(zigzag(varint(&self.bytes[1..]).0)),
            _ => None,
        }
    }

    /// A whole number from 0 to 2⁶⁴ − 1, in whatever spelling [`as_whole`](Value::as_whole) reads.
    #[inline]
    pub fn as_count(self) -> Option<u64> {
        match self.as_i64() {
            Some(value) => u64::try_from(value).ok(),
            None => self.as_whole().and_then(|whole| u64::try_from(whole).ok()),
        }
    }

    /// Any number that the machine has, rounded if need be.
    pub fn as_f64(self) -> Option<f64> {
        match self.view() {
            View::Int(value) => Some(value as f64),
            View::UInt(value) => Some(value as f64),
            View::Float(value) => Some(value),
            _ => None,
        }
    }

    /// The text of a string, keyword, symbol or character.
    pub fn as_str(self) -> Option<&'h str> {
        if let first @ tag::SHORT_STRING..tag::SMALL_INT = self.bytes[0] {
            return Some(utf8(&self.bytes[1..][..usize::from(first & 63)]));
        }
        match self.view() {
            View::String(text) | View::Keyword(text) | View::Symbol(text) | View::Char(text) => Some(text),
            _ => None,
        }
    }

    /// The entry of an object with this key; null when there is none, or when this is no object.
    pub fn get(self, key: &str) -> Value<'h> {
        self.entries().find(|(found, _)| found.as_str() == Some(key)).map_or(self.null(), |(_, value)| value)
    }

    /// The item of an array, list or set at this position; null when there is none.
    pub fn at(self, index: usize) -> Value<'h> {
        self.items().nth(index).unwrap_or(self.null())
    }

    /// The items of an array, list or set; none for anything else.
    pub fn items(self) -> Items<'h> {
        match self.view() {
            View::Array(items) | View::List(items) | View::Set(items) => items,
            _ => Items { rest: self.nothing() },
        }
    }

    /// The entries of an object; none for anything else.
    pub fn entries(self) -> Entries<'h> {
        if let View::Object(entries) = self.view() { entries } else { Entries { rest: self.nothing() } }
    }

    /// The packed form, which is equal within one history exactly for equal values (of equal order, where they
    /// have entries). Serves as a key in maps.
    pub fn bytes(self) -> &'h [u8] {
        &self.bytes[..self.bytes.len() - self.skip().len()]
    }

    /// As JSON. What JSON lacks becomes its nearest: keywords, symbols and characters become strings, lists and
    /// sets arrays, numbers beyond the machine's and NaN strings as EDN writes them, keys the EDN text of the
    /// key, tagged values an object with the tag as its one key. Of equal keys the first counts, as for [`get`](Self::get).
    pub fn to_json(self) -> Json {
        match self.view() {
            View::Null => Json::Null,
            View::Bool(value) => value.into(),
            View::Int(value) => value.into(),
            View::UInt(value) => value.into(),
            View::Float(value) if value.is_finite() => value.into(),
            View::Float(value) => format!("{}", FloatName(value)).into(),
            View::Number(text)
            | View::String(text)
            | View::Keyword(text)
            | View::Symbol(text)
            | View::Char(text) => text.into(),
            View::Array(items) | View::List(items) | View::Set(items) => items.map(Value::to_json).collect(),
            View::Object(entries) => {
                let mut object = Map::new();
                for (key, value) in entries {
                    object.entry(key.to_string()).or_insert_with(|| value.to_json());
                }
                Json::Object(object)
            }
            View::Tagged(name, value) => Json::Object(Map::from_iter([(name.to_owned(), value.to_json())])),
        }
    }

    /// The value packed behind this one.
    pub(super) fn following(self) -> Value<'h> {
        self.from(self.skip())
    }

    fn null(self) -> Value<'h> {
        Value { bytes: &[tag::NULL], ..self }
    }

    fn nothing(self) -> Value<'h> {
        Value { bytes: &[tag::END], ..self }
    }

    fn from(self, bytes: &'h [u8]) -> Value<'h> {
        Value { bytes, ..self }
    }

    /// What follows this value, whose text nobody looks at. Nesting is as deep as the readers permit.
    #[inline]
    fn skip(self) -> &'h [u8] {
        let (first, rest) = (self.bytes[0], &self.bytes[1..]);
        match first {
            tag::SMALL_INT.. => rest,
            tag::SHORT_STRING.. => &rest[usize::from(first & 63)..],
            tag::INT => after_varint(rest),
            _ => self.skip_rare(),
        }
    }

    fn skip_rare(self) -> &'h [u8] {
        let (first, rest) = (self.bytes[0], &self.bytes[1..]);
        match first {
            tag::NULL | tag::FALSE | tag::TRUE => rest,
            tag::UINT => varint(rest).1,
            tag::FLOAT => &rest[size_of::<f64>()..],
            tag::ARRAY | tag::LIST | tag::SET => {
                let mut items = Items { rest: self.from(rest) };
                items.by_ref().for_each(drop);
                &items.rest.bytes[1..]
            }
            tag::OBJECT => {
                let mut entries = CodedEntries { rest: self.from(rest) };
                entries.by_ref().for_each(drop);
                &entries.rest.bytes[1..]
            }
            tag::TAGGED => self.from(sized(rest).1).skip(),
            tag::SMALL_INT.. | tag::SHORT_STRING.. | tag::INT => self.skip(),
            _ => sized(rest).1,
        }
    }

    /// This as a key that is no number of a name, and what follows it.
    #[cold]
    fn as_key(self, code: u64) -> (Key<'h>, &'h [u8]) {
        if code == key::VALUE {
            return (Key::Value(self), self.skip());
        }
        let (text, rest) = sized(self.bytes);
        (Key::Name(utf8(text)), rest)
    }

    /// The entries of an object, their keys as names' numbers where they have any; none for anything else.
    pub(super) fn coded_entries(self) -> CodedEntries<'h> {
        CodedEntries { rest: if self.is_object() { self.from(&self.bytes[1..]) } else { self.nothing() } }
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        if std::ptr::eq(self.names, other.names) {
            self.bytes() == other.bytes()
        } else {
            self.to_string() == other.to_string()
        }
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl<'h> Key<'h> {
    /// The name; of another value its text, if it is one.
    pub fn as_str(self) -> Option<&'h str> {
        match self {
            Key::Name(name) => Some(name),
            Key::Value(value) => value.as_str(),
        }
    }
}

impl std::fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.as_str(), self) {
            (Some(text), _) => f.write_str(text),
            (None, Key::Name(name)) => f.write_str(name),
            (None, Key::Value(value)) => write!(f, "{value}"),
        }
    }
}

impl<'h> Iterator for Items<'h> {
    type Item = Value<'h>;

    fn next(&mut self) -> Option<Value<'h>> {
        let item = self.rest;
        if item.bytes[0] == tag::END {
            return None;
        }
        self.rest = item.from(item.skip());
        Some(item)
    }
}

impl<'h> Iterator for Entries<'h> {
    type Item = (Key<'h>, Value<'h>);

    fn next(&mut self) -> Option<(Key<'h>, Value<'h>)> {
        let names = self.rest.names;
        let mut coded = CodedEntries { rest: self.rest };
        let (key, value) = coded.next()?;
        self.rest = coded.rest;
        Some((key.map_or_else(|key| key, |id| Key::Name(names.get(id))), value))
    }
}

impl<'h> Iterator for CodedEntries<'h> {
    type Item = (Result<u32, Key<'h>>, Value<'h>);

    // What it returns is large, and nearly all of it is not looked at where it is inlined.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (code, rest) = varint(self.rest.bytes);
        let (key, rest) = match code {
            key::END => return None,
            key::FIRST_NAME.. => (Ok((code - key::FIRST_NAME) as u32), rest),
            _ => {
                let (key, rest) = self.rest.from(rest).as_key(code);
                (Err(key), rest)
            }
        };
        let value = self.rest.from(rest);
        self.rest = value.from(value.skip());
        Some((key, value))
    }
}

/// `##NaN`, `##Inf`, `##-Inf`.
struct FloatName(f64);

impl std::fmt::Display for FloatName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0.partial_cmp(&0.0) {
            None => "##NaN",
            Some(Ordering::Less) => "##-Inf",
            Some(_) => "##Inf",
        })
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[inline]
fn varint(bytes: &[u8]) -> (u64, &[u8]) {
    if bytes[0] < 128 { (u64::from(bytes[0]), &bytes[1..]) } else { long_varint(bytes) }
}

#[inline]
fn long_varint(bytes: &[u8]) -> (u64, &[u8]) {
    if let Some(chunk) = bytes.first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let ends = !word & HIGHS;
        if ends != 0 {
            return (gathered(word & (ends ^ (ends - 1))), &bytes[ends.trailing_zeros() as usize / 8 + 1..]);
        }
    }
    longest_varint(bytes)
}

/// What follows a varint that nobody looks at.
#[inline]
fn after_varint(bytes: &[u8]) -> &[u8] {
    match bytes.first_chunk().map(|chunk| !u64::from_le_bytes(*chunk) & HIGHS) {
        Some(ends) if ends != 0 => &bytes[ends.trailing_zeros() as usize / 8 + 1..],
        _ => longest_varint(bytes).1,
    }
}

/// Of each byte of a varint, the bit that says whether more follow.
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The number of a varint of up to eight bytes, above which there is nothing: its seven bits a byte are brought together
/// by halves, as the encoder parts them.
#[inline]
fn gathered(word: u64) -> u64 {
    let ones = word & !HIGHS;
    let pairs = ones & 0x007f_007f_007f_007f | (ones & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4
}

#[cold]
fn longest_varint(bytes: &[u8]) -> (u64, &[u8]) {
    let mut value = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        value |= u64::from(byte & 127) << (7 * i);
        if byte < 128 {
            return (value, &bytes[i + 1..]);
        }
    }
    unreachable!("the encoder ends every varint")
}

fn sized(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = varint(bytes);
    rest.split_at(length as usize)
}

fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the encoder writes whole strings")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varint_is_the_same_whichever_way_it_is_read() {
        for bits in 7..64 {
            for value in [1_u64 << bits, (1 << bits) | 0x2a, u64::MAX >> (63 - bits)] {
                let (mut bytes, mut rest) = (Vec::new(), value);
                while rest >= 128 {
                    bytes.push(rest as u8 | 128);
                    rest >>= 7;
                }
                bytes.push(rest as u8);
                for behind in [&[][..], &[0], &[255; 9], &[1, 128, 255, 0, 7, 9, 128, 128]] {
                    let packed = [&bytes, behind].concat();
                    assert_eq!(long_varint(&packed), (value, behind));
                    assert_eq!(longest_varint(&packed), (value, behind));
                    assert_eq!(after_varint(&packed), behind);
                }
            }
        }
    }
}
