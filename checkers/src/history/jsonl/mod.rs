//! Our own form: one JSON object a line.

mod event;
mod fast;
mod value;

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::blocks::{Block, read_blocks};
use super::table::Segment;
use super::{Event, History, Malformed, ReadError, ReadOptions, ResourceEntry};

/// Reads a history in the order of its lines, several blocks of lines at a time.
///
/// A torn last line (one without line end that is no JSON object) is dropped with a note.
///
/// # Errors
/// The first malformed line, an input that fails, or a history larger than permitted.
pub fn read(input: impl Read + Send, options: &ReadOptions) -> Result<History, ReadError> {
    read_blocks(input, options, parse_block)
}

/// Reads `resource.jsonl`. A torn last line is dropped.
///
/// # Errors
/// The first malformed line, or an input that fails.
pub fn read_resource(mut input: impl Read) -> Result<Vec<ResourceEntry>, ReadError> {
    let mut text = Vec::new();
    input.read_to_end(&mut text)?;
    Ok(lines(&text)?)
}

/// Writes events, one a line.
///
/// # Errors
/// What the output says.
pub fn write(output: &mut impl Write, events: impl IntoIterator<Item = Event>) -> io::Result<()> {
    events.into_iter().try_for_each(|event| write_line(output, &event))
}

/// Writes the resource's log, one entry a line.
///
/// # Errors
/// What the output says.
pub fn write_resource(output: &mut impl Write, entries: &[ResourceEntry]) -> io::Result<()> {
    entries.iter().try_for_each(|entry| write_line(output, entry))
}

fn write_line(output: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *output, line)?;
    output.write_all(b"\n")
}

fn parse_block(block: &Block, segment: &mut Segment, notes: &mut Vec<String>) -> Result<(), Malformed> {
    let mut line = block.first_line;
    let mut rest = &block.bytes[..];
    let whole = std::str::from_utf8(rest).ok();
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest);
        let text = &rest[..end.unwrap_or(rest.len())];
        let start = block.bytes.len() - rest.len();
        let length = text.strip_suffix(b"\r").unwrap_or(text).len();
        let simple = whole.is_some_and(|whole| fast::parse(&whole[start..start + length], line, segment));
        if simple {
            // Nothing is left to do.
        } else if let Err(error) = event::parse(text, line, segment) {
            if end.is_none() && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_err() {
                notes.push(format!("line {line} is torn and was dropped"));
                return Ok(());
            }
            return Err(error);
        }
        rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
        line += 1;
    }
    Ok(())
}

fn lines<T: DeserializeOwned>(text: &[u8]) -> Result<Vec<T>, Malformed> {
    let mut entries = Vec::new();
    for (number, text) in (1..).zip(text.split_inclusive(|&byte| byte == b'\n')) {
        if text.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(text) {
            Ok(entry) => entries.push(entry),
            Err(error) if error.is_eof() && !text.ends_with(b"\n") => break,
            Err(error) => return Err(event::malformed(number, &error)),
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;
