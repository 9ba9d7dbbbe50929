//! Jepsen's old text log: `INFO  jepsen.util - 4 :invoke :write 1`, the parts set apart by tabs or spaces.
//!
//! The process is the word before the event's kind, whatever stands before it; behind the operation comes its value,
//! in EDN, and sometimes an error. There are no times, and of an `:info` the value is the reason, not the argument.
//! Lines without one of the words `:invoke`, `:ok`, `:fail`, `:info` are other messages of the log and are passed over
//! with a note.

use std::io::Read;

use super::blocks::{Block, read_blocks};
use super::table::{Head, Segment};
use super::{EventKind, History, Malformed, Process, ReadError, ReadOptions, edn};

/// Reads a history in the order of its lines.
///
/// # Errors
/// The first malformed line, an input that fails, or a history larger than permitted.
pub fn read(input: impl Read + Send, options: &ReadOptions) -> Result<History, ReadError> {
    read_blocks(input, options, parse_block)
}

/// Whether this line of a log tells of an event.
pub(super) fn is_event(line: &[u8]) -> bool {
    words(line).any(|(_, word)| kind(word).is_some())
}

fn parse_block(block: &Block, segment: &mut Segment, notes: &mut Vec<String>) -> Result<(), Malformed> {
    let mut passed_over = 0;
    for (line, text) in (block.first_line..).zip(block.bytes.split(|&byte| byte == b'\n')) {
        let is_event = parse_line(text, line, segment)?;
        passed_over += u64::from(!is_event && !text.trim_ascii().is_empty());
    }
    if passed_over > 0 {
        let from = block.first_line;
        notes.push(format!(
            "{passed_over} lines from line {from} on tell of no operation and were passed over"
        ));
    }
    Ok(())
}

/// Whether the line told of an event, which is then in the segment.
fn parse_line(text: &[u8], line: u64, segment: &mut Segment) -> Result<bool, Malformed> {
    let mut words = words(text);
    let mut before = None;
    let (kind, kind_at) = loop {
        let Some((at, word)) = words.next() else { return Ok(false) };
        match kind(word) {
            Some(kind) => break (kind, at),
            None => before = Some((at, word)),
        }
    };
    let Some((at, word)) = before else {
        return Err(Malformed::new(line, kind_at + 1, "expected a process before the event's kind"));
    };
    let Some(process) = process(word) else {
        return Err(Malformed::new(line, at + 1, "a process is a number from 0 to 4294967295 or :nemesis"));
    };
    let Some((f_at, f)) = words.next() else {
        return Err(Malformed::new(line, text.len() + 1, "expected an operation such as :read"));
    };
    let f = match std::str::from_utf8(f) {
        Ok(f) => segment.name(f.strip_prefix(':').unwrap_or(f)),
        Err(error) => return Err(Malformed::new(line, f_at + error.valid_up_to() + 1, "this is not UTF-8")),
    };
    let mark = segment.mark();
    let error = match words.next() {
        Some((value_at, _)) => value_and_error(text, value_at, line, segment)?,
        None => None,
    };
    let head = Head { line, index: None, time: None, process, kind, f, node: None, error: error.as_deref() };
    segment.push(mark, &head);
    Ok(true)
}

/// Packs the value and returns what stands behind it.
fn value_and_error(
    text: &[u8],
    at: usize,
    line: u64,
    segment: &mut Segment,
) -> Result<Option<String>, Malformed> {
    let length = edn::pack(&text[at..], line, at as u64 + 1, &mut segment.encoder())?;
    let rest = &text[at + length..];
    match std::str::from_utf8(rest) {
        Ok(rest) => Ok(Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned)),
        Err(error) => Err(Malformed::new(line, at + length + error.valid_up_to() + 1, "this is not UTF-8")),
    }
}

fn kind(word: &[u8]) -> Option<EventKind> {
    match word {
        b":invoke" => Some(EventKind::Invoke),
        b":ok" => Some(EventKind::Ok),
        b":fail" => Some(EventKind::Fail),
        b":info" => Some(EventKind::Info),
        _ => None,
    }
}

fn process(word: &[u8]) -> Option<Process> {
    match word {
        b":nemesis" => Some(Process::Nemesis),
        _ => number(word).map(Process::Client),
    }
}

/// A process number.
pub(super) fn number(word: &[u8]) -> Option<u32> {
    word.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(word).ok()?.parse().ok())?
}

/// The words of a line with their positions.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let start = line.as_ptr() as usize;
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - start, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(text: &str) -> History {
        read(text.as_bytes(), &ReadOptions::default()).unwrap()
    }

    #[test]
    fn tabs_or_spaces_and_any_prefix() {
        let text = "INFO  jepsen.util - 4\t:invoke\t:cas\t[1 2]\n\
                    2015-03-01 12:00:00 INFO jepsen.core - Run complete\n\
                    0 :ok :read nil\r\n\n\
                    INFO jepsen.util - :nemesis\t:info\t:start\t\"cut off #{:n1}\"\n\
                    4\t:info\t:cas\t[1 2]\t:timed-out";
        let history = history(text);
        assert_eq!(history.notes, ["1 lines from line 1 on tell of no operation and were passed over"]);
        let [cas, read, start, info] = [0, 1, 2, 3].map(|index| history.row(index));
        assert_eq!((cas.process(), cas.kind(), cas.f()), (Process::Client(4), EventKind::Invoke, "cas"));
        assert_eq!(cas.value().items().map(|item| item.as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
        assert!(read.value().is_null() && read.line() == 3);
        assert_eq!((start.process(), start.value().as_str()), (Process::Nemesis, Some("cut off #{:n1}")));
        assert_eq!((info.error(), info.line()), (Some(":timed-out"), 6));
        assert!(!history.is_timed());
    }

    #[test]
    fn errors_point_at_the_place() {
        for (line, message) in [
            (":invoke :read nil", "column 1: expected a process before the event's kind"),
            (
                "util - x :invoke :read nil",
                "column 8: a process is a number from 0 to 4294967295 or :nemesis",
            ),
            ("0 :invoke", "column 10: expected an operation such as :read"),
            ("0 :ok :read [1", "column 15: the text ends within a collection"),
            ("0 :ok :read 1x", "column 13: 1x is no number that EDN knows"),
        ] {
            let error = read(format!("\n{line}\n").as_bytes(), &ReadOptions::default()).unwrap_err();
            assert_eq!(error.to_string(), format!("line 2, {message}"));
        }
    }
}
