//! The lines that nearly all histories consist of, at a third of the general parser's cost.
//!
//! This parser takes only what needs no thought: no spaces, no escapes, no floats, no numbers beyond 18 digits, no
//! key of an event twice. Whatever else it meets, it gives up, and the general parser has the line from its
//! beginning: that one alone decides what is an error.

use super::scan;
use crate::table::{Encoder, Head, Segment};
use crate::{EventKind, Process};

const DEPTH_MAX: u32 = 32;
const DIGITS_MAX: usize = 18;

/// Adds the event of the line that this text begins with and returns how long the line is with its end, or leaves the
/// segment as it was.
pub(super) fn parse(text: &str, line: u64, segment: &mut Segment) -> Option<usize> {
    let mark = segment.mark();
    let mut text = Text { text, at: 0 };
    let taken = event(&mut text, line, segment);
    if taken.is_none() {
        segment.rewind(mark);
    }
    taken.map(|()| text.at)
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
}

/// How a field's name is told from a word.
struct Known {
    field: Field,
    name: u64,
    /// The bytes that the name has.
    mask: u64,
    /// With the quote.
    length: usize,
}

impl Known {
    /// In the order of [`Field::ALL`].
    const ALL: [Known; Field::ALL.len()] = {
        let mut all =
            [const { Known { field: Field::Index, name: 0, mask: 0, length: 0 } }; Field::ALL.len()];
        let mut place = 0;
        while place < all.len() {
            let (field, name) = Field::ALL[place];
            let (mut word, mut at) = (0, name.len());
            while at > 0 {
                at -= 1;
                word = word << 8 | name[at] as u64;
            }
            let mask = u64::MAX >> (64 - 8 * name.len());
            all[place] = Known { field, name: word, mask, length: name.len() };
            place += 1;
        }
        all
    };

    /// The place of the field whose name the word begins with. That which is expected is looked at first: nearly all lines
    /// have their fields in one order.
    fn find(word: u64, expected: usize) -> Option<usize> {
        let is = |place: usize| word & Known::ALL[place].mask == Known::ALL[place].name;
        let expected = expected % Known::ALL.len();
        if is(expected) { Some(expected) } else { (0..Known::ALL.len()).find(|&place| is(place)) }
    }
}

/// From the beginning of a line to the end of its block. Nothing here goes beyond the line: its end is in no string.
struct Text<'a> {
    text: &'a str,
    at: usize,
}

fn event(text: &mut Text<'_>, line: u64, segment: &mut Segment) -> Option<()> {
    let mark = segment.mark();
    let (mut index, mut time, mut process, mut kind, mut f, mut node) = (None, None, None, None, None, None);
    let (mut error, mut value) = (None, None);
    let mut expected = 0;
    text.take(b'{')?;
    loop {
        let again = match text.field(&mut expected)? {
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
    text.line_end()?;
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

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn line_end(&mut self) -> Option<()> {
        self.at += match self.rest() {
            [] => 0,
            [b'\n', ..] | [b'\r'] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return None,
        };
        Some(())
    }

    /// The key of an event's entry, with its colon; `expected` is the place of the field that comes next as a rule.
    fn field(&mut self, expected: &mut usize) -> Option<Field> {
        let [b'"', name @ ..] = self.rest() else { return None };
        let place = Known::find(scan::word(name), *expected)?;
        *expected = place + 1;
        let Known { field, length, .. } = Known::ALL[place];
        let colon = *name.get(length)?;
        self.at += length + 2;
        (colon == b':').then_some(field)
    }

    fn string(&mut self) -> Option<&'a str> {
        let [b'"', rest @ ..] = self.rest() else { return None };
        let length = scan::plain_length(rest)?;
        let start = self.at + 1;
        self.at = start + length + 1;
        if rest[length] == b'"' { self.text.get(start..start + length) } else { None }
    }

    /// A whole number of up to 18 digits.
    fn natural(&mut self) -> Option<u64> {
        let rest = self.rest();
        let word = scan::word(rest);
        let (mut length, mut value) = scan::digits(word);
        if length == 8 {
            for digit in rest[8..].iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|&digit| digit < 10)
            {
                // Of more digits than are taken it does not matter what number they make.
                value = value.wrapping_mul(10).wrapping_add(digit.into());
                length += 1;
            }
        }
        self.at += length;
        let leading_zero = length > 1 && word as u8 == b'0';
        let more = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        (length > 0 && length <= DIGITS_MAX && !leading_zero && !more).then_some(value)
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
            b'"' => self.text(out)?,
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

    fn text(&mut self, out: &mut Encoder<'_>) -> Option<()> {
        let start = self.at + 1;
        let text = self.string()?;
        match self.text.as_bytes()[start..].first_chunk() {
            Some(bytes) if text.len() <= bytes.len() => out.brief(bytes, text.len()),
            _ => out.string(text),
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
