//! The plainest form: `12 ok acquire 7`, which is process, kind, operation, and a token where there is one.
//!
//! The value of an event is `{"token": 7}` or null. There are no times.

use std::io::Read;

use super::blocks::{Block, read_blocks};
use super::jepsen_log::{number, words};
use super::table::{Head, Segment};
use super::{EventKind, History, Malformed, Process, ReadError, ReadOptions};

/// Reads a history in the order of its lines.
///
/// # Errors
/// The first malformed line, an input that fails, or a history larger than permitted.
pub fn read(input: impl Read + Send, options: &ReadOptions) -> Result<History, ReadError> {
    read_blocks(input, options, parse_block)
}

/// Whether a line can be one of this form.
pub(super) fn is_event(line: &[u8]) -> bool {
    let mut words = words(line).map(|(_, word)| word);
    words.next().and_then(number).is_some() && words.next().and_then(kind).is_some() && words.next().is_some()
}

fn parse_block(block: &Block, segment: &mut Segment, _notes: &mut Vec<String>) -> Result<(), Malformed> {
    for (line, text) in (block.first_line..).zip(block.bytes.split(|&byte| byte == b'\n')) {
        if !text.trim_ascii().is_empty() {
            parse_line(text, line, segment)?;
        }
    }
    Ok(())
}

fn parse_line(text: &[u8], line: u64, segment: &mut Segment) -> Result<(), Malformed> {
    let mut words = words(text);
    let mut next = |expected: &str| {
        words.next().ok_or_else(|| Malformed::new(line, text.len() + 1, format!("expected {expected}")))
    };
    let bad = |at: usize, expected: &str| Malformed::new(line, at + 1, format!("expected {expected}"));
    let (at, word) = next("a process number")?;
    let process = number(word).ok_or_else(|| bad(at, "a process number"))?;
    let (at, word) = next("invoke, ok, fail or info")?;
    let kind = kind(word).ok_or_else(|| bad(at, "invoke, ok, fail or info"))?;
    let (at, word) = next("an operation such as acquire")?;
    let f = std::str::from_utf8(word).map_err(|_| bad(at, "an operation such as acquire"))?;
    let f = segment.name(f);
    let mark = segment.mark();
    if let Some((at, word)) = words.next() {
        let digits = word.iter().all(u8::is_ascii_digit);
        let token = std::str::from_utf8(word).ok().filter(|_| digits).and_then(|word| word.parse().ok());
        let token = token.ok_or_else(|| bad(at, "a token: a number from 0 to 18446744073709551615"))?;
        let mut out = segment.encoder();
        out.begin_object();
        out.key("token");
        out.uint(token);
        out.end_object();
    }
    if let Some((at, _)) = words.next() {
        return Err(bad(at, "the end of the line"));
    }
    let process = Process::Client(process);
    segment.push(mark, &Head { line, index: None, time: None, process, kind, f, node: None, error: None });
    Ok(())
}

fn kind(word: &[u8]) -> Option<EventKind> {
    match word {
        b"invoke" => Some(EventKind::Invoke),
        b"ok" => Some(EventKind::Ok),
        b"fail" => Some(EventKind::Fail),
        b"info" => Some(EventKind::Info),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_optional() {
        let history = read(&b"12 invoke acquire \n12 ok acquire 7\n"[..], &ReadOptions::default()).unwrap();
        let [invoke, ok] = [0, 1].map(|index| history.row(index));
        assert_eq!(
            (invoke.process(), invoke.f(), invoke.kind()),
            (Process::Client(12), "acquire", EventKind::Invoke)
        );
        assert!(invoke.value().is_null());
        assert_eq!(ok.value().get("token").as_u64(), Some(7));
    }

    #[test]
    fn errors_point_at_the_place() {
        for (line, message) in [
            ("x ok acquire", "column 1: expected a process number"),
            ("1 started acquire", "column 3: expected invoke, ok, fail or info"),
            ("1 ok", "column 5: expected an operation such as acquire"),
            ("1 ok acquire -1", "column 14: expected a token: a number from 0 to 18446744073709551615"),
            ("1 ok acquire 1 2", "column 16: expected the end of the line"),
        ] {
            let error = read(format!("\n{line}\n").as_bytes(), &ReadOptions::default()).unwrap_err();
            assert_eq!(error.to_string(), format!("line 2, {message}"));
        }
    }
}
