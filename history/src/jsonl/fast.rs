//! The lines that nearly all histories consist of, at a third of the general parser's cost.
//!
//! This parser takes only what needs no thought: no spaces, no escapes, no floats, no numbers beyond 18 digits, no
//! key of an event twice. Whatever else it meets, it gives up, and the general parser has the line from its
//! beginning: that one alone decides what is an error.

use crate::table::{Encoder, Head, Segment};
use crate::{EventKind, Process};

const DEPTH_MAX: u32 = 32;

/// Adds the event of this line and returns `true`, or leaves the segment as it was.
pub(super) fn parse(text: &str, line: u64, segment: &mut Segment) -> bool {
    let mark = segment.mark();
    let taken = event(&mut Text { text, at: 0 }, line, segment).is_some();
    if !taken {
        segment.rewind(mark);
    }
    taken
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
}

impl Field {
    /// In the order in which we write them, with their names up to the quote at the end: no more than eight bytes each, so
    /// that one number can be compared.
    const ALL: [(Field, &'static [u8]); 8] = [
        (Field::Index, b"index\""),
        (Field::Time, b"time\""),
        (Field::Process, b"process\""),
        (Field::Node, b"node\""),
        (Field::Type, b"type\""),
        (Field::F, b"f\""),
        (Field::Value, b"value\""),
        (Field::Error, b"error\""),
    ];

    /// The field whose name these bytes begin with, and the length of that with its quote.
    fn at(bytes: &[u8; 8]) -> Option<(Field, usize)> {
        let word = u64::from_le_bytes(*bytes);
        for (field, name) in Field::ALL {
            let mut padded = [0; 8];
            padded[..name.len()].copy_from_slice(name);
            let mask = u64::MAX >> (64 - 8 * name.len());
            if word & mask == u64::from_le_bytes(padded) {
                return Some((field, name.len()));
            }
        }
        None
    }
}

struct Text<'a> {
    text: &'a str,
    at: usize,
}

fn event(text: &mut Text<'_>, line: u64, segment: &mut Segment) -> Option<()> {
    let mark = segment.mark();
    let (mut index, mut time, mut process, mut kind, mut f, mut node) = (None, None, None, None, None, None);
    let (mut error, mut value) = (None, None);
    text.take(b'{')?;
    loop {
        let again = match text.field()? {
            Field::Index => index.replace(text.natural()?).is_some(),
            Field::Time => time.replace(text.natural()?).is_some(),
            Field::Process => process.replace(text.process()?).is_some(),
            Field::Type => kind.replace(text.kind()?).is_some(),
            Field::F => f.replace(segment.name(text.string()?)).is_some(),
            Field::Node => node.replace(segment.name(text.string()?)).is_some(),
            Field::Error => error.replace(text.string()?).is_some(),
            Field::Value => value.replace(text.value(&mut segment.encoder(), 0)?).is_some(),
        };
        if again {
            return None;
        }
        match text.next()? {
            b',' => (),
            b'}' => break,
            _ => return None,
        }
    }
    if text.at < text.text.len() {
        return None;
    }
    let head = Head { line, index, time: Some(time?), process: process?, kind: kind?, f: f?, node, error };
    segment.push(mark, &head);
    Some(())
}

impl<'a> Text<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The key of an event's entry, with its colon.
    fn field(&mut self) -> Option<Field> {
        self.take(b'"')?;
        let (field, length) = Field::at(self.text.as_bytes().get(self.at..)?.first_chunk()?)?;
        self.at += length;
        self.take(b':')?;
        Some(field)
    }

    fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..32))?;
        let start = self.at;
        self.at += length + 1;
        if rest[length] == b'"' { self.text.get(start..start + length) } else { None }
    }

    /// A whole number of up to 18 digits.
    fn natural(&mut self) -> Option<u64> {
        let rest = &self.text.as_bytes()[self.at..];
        let (mut value, mut length) = (0, 0);
        for digit in rest.iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|&digit| digit < 10) {
            value = value * 10 + u64::from(digit);
            length += 1;
            if length > 18 {
                return None;
            }
        }
        self.at += length;
        let leading_zero = length > 1 && rest[0] == b'0';
        let more = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        (length > 0 && !leading_zero && !more).then_some(value)
    }

    fn process(&mut self) -> Option<Process> {
        if self.peek()? == b'"' {
            return (self.string()? == "nemesis").then_some(Process::Nemesis);
        }
        u32::try_from(self.natural()?).ok().map(Process::Client)
    }

    fn kind(&mut self) -> Option<EventKind> {
        Some(match self.string()? {
            "invoke" => EventKind::Invoke,
            "ok" => EventKind::Ok,
            "fail" => EventKind::Fail,
            "info" => EventKind::Info,
            _ => return None,
        })
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }

    fn value(&mut self, out: &mut Encoder<'_>, depth: u32) -> Option<()> {
        match self.peek()? {
            _ if depth > DEPTH_MAX => return None,
            b'"' => out.string(self.string()?),
            b'{' => self.object(out, depth)?,
            b'[' => self.array(out, depth)?,
            b'n' => self.word("null").map(|()| out.null())?,
            b't' => self.word("true").map(|()| out.bool(true))?,
            b'f' => self.word("false").map(|()| out.bool(false))?,
            b'-' => {
                self.at += 1;
                // Zero is left to the general parser, for which -0 is a float.
                out.int(-(self.natural().filter(|&value| value != 0)? as i64));
            }
            _ => out.uint(self.natural()?),
        }
        Some(())
    }

    fn array(&mut self, out: &mut Encoder<'_>, depth: u32) -> Option<()> {
        self.at += 1;
        out.begin_array();
        if self.peek()? == b']' {
            self.at += 1;
        } else {
            loop {
                self.value(out, depth + 1)?;
                match self.next()? {
                    b',' => (),
                    b']' => break,
                    _ => return None,
                }
            }
        }
        out.end();
        Some(())
    }

    fn object(&mut self, out: &mut Encoder<'_>, depth: u32) -> Option<()> {
        self.at += 1;
        out.begin_object();
        if self.peek()? == b'}' {
            self.at += 1;
        } else {
            loop {
                out.key(self.string()?);
                self.take(b':')?;
                self.value(out, depth + 1)?;
                match self.next()? {
                    b',' => (),
                    b'}' => break,
                    _ => return None,
                }
            }
        }
        out.end_object();
        Some(())
    }
}
