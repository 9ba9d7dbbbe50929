//! Jepsen's and Knossos' form: EDN, an event a map.
//!
//! Read are maps (`{:type :invoke, :f :read, …}`) and records (`#jepsen.history.Op{…}`, and any other tag), one
//! after another or all in one vector or list. `:type`, `:process` and `:f` must be there. Kept are `:value`,
//! `:time`, `:node` and `:error` (as text); of an event that has a `:key` beside its `:value`, as in Porcupine's
//! key-value logs, the value is `{:key …, :value …}`, and so is that of an acquire or release with a `:lock` or a `:name`
//! beside it. Other keys are read and forgotten.
//! Indexes in a history that came from elsewhere need not be dense, but increase; positions take their place.

mod event;
mod number;
mod scanner;
mod value;
mod write;

use std::io::Read;

use self::scanner::{Scanner, Stop};
use super::error::EVENT_MAX;
use super::table::{Encoder, Segment, SharedNames};
use super::{History, Malformed, ReadError, ReadOptions};

pub use self::write::write;

/// Bytes read at a time, unless an event is longer.
const BLOCK: usize = 512 * 1024;

/// How far the text's outermost form has come.
#[derive(Clone, Copy, PartialEq)]
enum Outer {
    /// Nothing has come yet.
    Start,
    /// Events follow one another without brackets.
    Bare,
    /// Within a vector or list that ends with this byte.
    Within(u8),
    /// The bracket is closed.
    Closed,
}

/// Reads a history in the order of its events.
///
/// # Errors
/// The first malformed event, an input that fails, or a history larger than permitted.
pub fn read(mut input: impl Read, options: &ReadOptions) -> Result<History, ReadError> {
    let names = SharedNames::default();
    let mut segment = Segment::new(&names);
    let mut history = History::default();
    let mut reader = Reader { outer: Outer::Start, line: 1, column: 1 };
    let (mut buffer, mut ended) = (Vec::new(), false);
    while !ended {
        let wanted = BLOCK.max(buffer.len()) as u64;
        ended = input.by_ref().take(wanted).read_to_end(&mut buffer)? == 0;
        let used = reader.take_events(&buffer, ended, &mut segment)?;
        buffer.drain(..used);
        if buffer.len() > EVENT_MAX {
            return Err(Malformed::endless(reader.line, reader.column as usize).into());
        }
        let memory = history.memory() + segment.memory() + buffer.len();
        if options.memory_max.is_some_and(|memory_max| memory as u64 > memory_max) {
            let events = (history.len() + segment.len()) as u64;
            let memory_max = options.memory_max.unwrap_or_default();
            return Err(ReadError::TooLarge { memory_max, events, line: reader.line });
        }
        segment.append_to(&mut history);
    }
    history.seal(&names);
    Ok(history)
}

struct Reader {
    outer: Outer,
    /// Where the text begins that has not been used yet.
    line: u64,
    column: u64,
}

impl Reader {
    /// Takes all whole events of the text; returns how many bytes of it are done with.
    fn take_events(&mut self, text: &[u8], last: bool, segment: &mut Segment) -> Result<usize, Malformed> {
        let mut scanner = Scanner::new(text, self.line, self.column, last);
        let mut used = 0;
        loop {
            match self.step(&mut scanner, segment) {
                Ok(more) => {
                    used = scanner.at;
                    (self.line, self.column) = (scanner.line, scanner.column());
                    if !more {
                        return Ok(used);
                    }
                }
                Err(Stop::Short) => return Ok(used),
                Err(Stop::Bad(malformed)) => return Err(malformed),
            }
        }
    }

    /// Takes one event or bracket; `false` at the end.
    fn step(&mut self, scanner: &mut Scanner<'_>, segment: &mut Segment) -> Result<bool, Stop> {
        value::skip(scanner, &mut segment.encoder(), 0)?;
        let byte = match (scanner.peek()?, self.outer) {
            (Some(byte), _) => byte,
            (None, Outer::Within(close)) => {
                return scanner.bad(format!("the history ends without its closing {}", close as char));
            }
            (None, _) => return Ok(false),
        };
        match (byte, self.outer) {
            (_, Outer::Closed) => return scanner.bad("nothing may follow the history's closing bracket"),
            (b'{' | b'#', _) => self.event(scanner, segment)?,
            (b'[', Outer::Start) => self.open(scanner, b']'),
            (b'(', Outer::Start) => self.open(scanner, b')'),
            (byte, Outer::Within(close)) if byte == close => {
                scanner.at += 1;
                self.outer = Outer::Closed;
            }
            _ => {
                return scanner.bad("expected an event: a map such as {:process 0, :type :invoke, :f :read}");
            }
        }
        Ok(true)
    }

    fn event(&mut self, scanner: &mut Scanner<'_>, segment: &mut Segment) -> Result<(), Stop> {
        if scanner.need("an event")? == b'#' {
            value::tag(scanner)?;
            value::skip(scanner, &mut segment.encoder(), 0)?;
            if scanner.need("an event")? != b'{' {
                return scanner.bad("expected the map of an event after its tag");
            }
        }
        event::event(scanner, segment)?;
        if self.outer == Outer::Start {
            self.outer = Outer::Bare;
        }
        Ok(())
    }

    fn open(&mut self, scanner: &mut Scanner<'_>, close: u8) {
        scanner.at += 1;
        self.outer = Outer::Within(close);
    }
}

/// Packs the value at the text's beginning, which is at this place of its source; returns how long it is.
pub(super) fn pack(text: &[u8], line: u64, column: u64, out: &mut Encoder<'_>) -> Result<usize, Malformed> {
    let mut scanner = Scanner::new(text, line, column, true);
    match value::value(&mut scanner, out, 1) {
        Ok(()) => Ok(scanner.at),
        Err(Stop::Bad(malformed)) => Err(malformed),
        Err(Stop::Short) => unreachable!("the text is whole"),
    }
}

#[cfg(test)]
mod tests;
