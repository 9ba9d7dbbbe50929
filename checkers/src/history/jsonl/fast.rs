//! The lines that nearly all histories consist of, at a third of the general parser's cost.
//!
//! This parser takes only what needs no thought: no spaces, no escapes, no floats, no numbers beyond 18 digits, no
//! key of an event twice. Whatever else it meets, it gives up, and the general parser has the line from its
//! beginning: that one alone decides what is an error.

use crate::history::table::{Encoder, Head, Segment};
use crate::history::{EventKind, Process};

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
        let key = text.string()?;
        text.take(b':')?;
        let again = match key {
            "index" => index.replace(text.natural()?).is_some(),
            "time" => time.replace(text.natural()?).is_some(),
            "process" => process.replace(text.process()?).is_some(),
            "type" => kind.replace(text.kind()?).is_some(),
            "f" => f.replace(segment.name(text.string()?)).is_some(),
            "node" => node.replace(segment.name(text.string()?)).is_some(),
            "error" => error.replace(text.string()?).is_some(),
            "value" => value.replace(text.value(&mut segment.encoder(), 0)?).is_some(),
            _ => return None,
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

    fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        loop {
            match self.next()? {
                b'"' => return self.text.get(start..self.at - 1),
                b'\\' | 0..32 => return None,
                _ => (),
            }
        }
    }

    /// A whole number of up to 18 digits.
    fn natural(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            if self.at - start == 18 {
                return None;
            }
            value = value * 10 + u64::from(digit - b'0');
            self.at += 1;
        }
        let leading_zero = self.text.as_bytes().get(start) == Some(&b'0') && self.at - start > 1;
        let more = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        (self.at > start && !leading_zero && !more).then_some(value)
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
