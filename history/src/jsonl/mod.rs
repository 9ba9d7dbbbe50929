//! Our own form: one JSON object a line.
//!
//! Those of other tools may leave away time and index, may have an error of any type, and other fields; a `key` beside the
//! value is kept with it as in EDN, and so are `lock` and `name` beside that of an acquire or release.

mod event;
mod fast;
mod lenient;
mod scan;
mod value;

use std::io::{self, BufRead, BufReader, Read, Write};

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::blocks::{Block, read_blocks};
use super::error::EVENT_MAX;
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
/// The first malformed line, a position in the serial order that two entries have, or an input that fails.
pub fn read_resource(input: impl Read) -> Result<Vec<ResourceEntry>, ReadError> {
    let entries = lines::<ResourceEntry>(BufReader::new(input))?;
    positions_are_unique(&entries)?;
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
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
        let start = block.bytes.len() - rest.len();
        if let Some(length) = whole.and_then(|whole| fast::parse(&whole[start..], line, segment)) {
            rest = &rest[length..];
            line += 1;
            continue;
        }
        let end = memchr::memchr(b'\n', rest);
        let text = &rest[..end.unwrap_or(rest.len())];
        if let Err(error) = event::parse(text, line, segment) {
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

/// A resource serves one request after another; a log with an entry twice is not what it did.
fn positions_are_unique(entries: &[(u64, ResourceEntry)]) -> Result<(), Malformed> {
    let mut line_of = FxHashMap::default();
    for (line, ResourceEntry { seq, .. }) in entries {
        if let Some(first) = line_of.insert(seq, line) {
            return Err(Malformed::new(*line, 1, format!("seq {seq} is that of line {first} too")));
        }
    }
    Ok(())
}

/// The entries with their line numbers.
fn lines<T: DeserializeOwned>(mut input: impl BufRead) -> Result<Vec<(u64, T)>, ReadError> {
    let (mut entries, mut text) = (Vec::new(), Vec::new());
    for number in 1.. {
        text.clear();
        let length = input.by_ref().take(EVENT_MAX as u64 + 1).read_until(b'\n', &mut text)?;
        if length == 0 {
            break;
        }
        if length > EVENT_MAX {
            return Err(Malformed::endless(number, 1).into());
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(&text) {
            Ok(entry) => entries.push((number, entry)),
            Err(error) if error.is_eof() && !text.ends_with(b"\n") => break,
            Err(error) => return Err(event::malformed(number, &error).into()),
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;
