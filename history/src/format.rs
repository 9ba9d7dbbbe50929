use std::io::Read;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{History, ReadError, ReadOptions, edn, jepsen_log, jsonl, lock_lines};

/// How much of an input is looked at to tell its format.
const PREFIX: u64 = 64 * 1024;

/// What some editors put before UTF-8; it means nothing.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How compressed files begin.
const COMPRESSED: [&[u8]; 4] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh"];

/// The forms in which histories come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Our own, see [`jsonl`].
    JsonLines,
    /// Jepsen's and Knossos', also Porcupine's key-value logs, see [`edn`].
    Edn,
    /// Jepsen's old text log, see [`jepsen_log`].
    JepsenLog,
    /// Process, kind, operation, token, see [`lock_lines`].
    LockLines,
}

/// A text in none of the known formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unrecognized {
    /// Nothing but spaces.
    #[error("the input is empty, so it is no history")]
    Empty,
    /// Packed by gzip, Zstandard, xz or bzip2.
    #[error("this is compressed; unpack it first, such as with gunzip, unzstd, unxz or bunzip2")]
    Compressed,
    /// Written in 16 bits a character.
    #[error("this is UTF-16; a history is UTF-8")]
    Utf16,
    /// One JSON array instead of JSON Lines.
    #[error("this is a JSON array; a history in JSON has one object a line and no brackets around them")]
    JsonArray,
    /// Anything else.
    #[error(
        "this is no history in a known format, which are: JSON Lines ({{\"time\":0,\"process\":0,\"type\":\"invoke\",\
         \"f\":\"read\"}}), EDN ({{:process 0, :type :invoke, :f :read}}), Jepsen's text log (0 :invoke :read nil) \
         and lock lines (0 invoke acquire)"
    )]
    Unknown,
}

/// Tells the format from the beginning of a text.
///
/// # Errors
/// When the text fits none; the message names them all.
pub fn detect(text: &[u8]) -> Result<Format, Unrecognized> {
    if COMPRESSED.iter().any(|magic| text.starts_with(magic)) {
        return Err(Unrecognized::Compressed);
    }
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        return Err(Unrecognized::Utf16);
    }
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii_start();
    let second = text.get(1..).map(|rest| rest.trim_ascii_start().first().copied());
    match (text.first(), second.flatten()) {
        (None, _) => Err(Unrecognized::Empty),
        (Some(b'{'), Some(b'"' | b'}')) => Ok(Format::JsonLines),
        (Some(b'{' | b'(' | b'#' | b';'), _) => Ok(Format::Edn),
        (Some(b'['), Some(b'{')) if is_json_array(text) => Err(Unrecognized::JsonArray),
        (Some(b'['), Some(b'{' | b'#' | b';' | b']')) => Ok(Format::Edn),
        _ => by_lines(text).ok_or(Unrecognized::Unknown),
    }
}

/// Reads a history in whatever format and judges its form.
///
/// Events are in the order of their lines, which is the order in which their recorder saw them; their times, if any, may
/// say otherwise. Only JSON Lines that have times and no indexes, as our own recorder writes them while a run goes on,
/// are put into time order, with a note where that changes anything.
///
/// # Errors
/// A format that is not known, malformed text, a history that no recorder can have written, an input that fails, or a
/// history larger than permitted.
pub fn read(mut input: impl Read + Send, options: &ReadOptions) -> Result<(Format, History), ReadError> {
    let mut prefix = Vec::new();
    input.by_ref().take(PREFIX).read_to_end(&mut prefix)?;
    let format = detect(&prefix)?;
    let text = prefix.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&prefix);
    let input = text.chain(input);
    let mut history = match format {
        Format::JsonLines => jsonl::read(input, options)?,
        Format::Edn => edn::read(input, options)?,
        Format::JepsenLog => jepsen_log::read(input, options)?,
        Format::LockLines => lock_lines::read(input, options)?,
    };
    history.check_form()?;
    if format == Format::JsonLines && history.is_timed() && !history.is_numbered() && !history.is_sorted() {
        history.sort();
        history
            .notes
            .push("its events have no indexes and were put into the order of their times".to_owned());
    }
    history.number();
    Ok((format, history))
}

fn is_json_array(text: &[u8]) -> bool {
    text[1..].trim_ascii_start()[1..].trim_ascii_start().starts_with(b"\"")
}

fn by_lines(text: &[u8]) -> Option<Format> {
    text.split(|&byte| byte == b'\n').find_map(|line| {
        if lock_lines::is_event(line) {
            Some(Format::LockLines)
        } else {
            jepsen_log::is_event(line).then_some(Format::JepsenLog)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        for (text, format) in [
            (" \n{\"time\":1}", Format::JsonLines),
            ("{ }", Format::JsonLines),
            ("{:process 0}", Format::Edn),
            ("; x=0\n[{:type :ok}]", Format::Edn),
            ("#jepsen.history.Op{:index 0}", Format::Edn),
            ("[ #jepsen.history.Op{:index 0}]", Format::Edn),
            ("[]", Format::Edn),
            ("({:type :ok})", Format::Edn),
            ("INFO  jepsen.util - 4\t:invoke\t:read\tnil", Format::JepsenLog),
            ("[12:00] starting\n[12:01] 4 :invoke :read nil", Format::JepsenLog),
            ("12 invoke acquire \n", Format::LockLines),
            ("\u{feff}{\"time\":1}", Format::JsonLines),
            ("\u{feff}12 invoke acquire \n", Format::LockLines),
        ] {
            assert_eq!(detect(text.as_bytes()), Ok(format), "{text}");
        }
    }

    #[test]
    fn what_fits_nothing_is_told_the_formats() {
        assert_eq!(detect(b" \n"), Err(Unrecognized::Empty));
        assert_eq!(detect(b"[ {\"time\":1}]"), Err(Unrecognized::JsonArray));
        assert_eq!(detect(b"\x1f\x8b\x08\0"), Err(Unrecognized::Compressed));
        assert_eq!(detect(b"\xff\xfe{\0"), Err(Unrecognized::Utf16));
        for text in ["hello", "\0\0", "[", "12 acquire", "<html>"] {
            let error = detect(text.as_bytes()).unwrap_err();
            for name in ["JSON Lines", "EDN", "Jepsen's text log", "lock lines"] {
                assert!(error.to_string().contains(name), "{error}");
            }
        }
    }

    #[test]
    fn our_own_is_put_into_time_order_and_others_are_not() {
        let ours = "{\"time\":2,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n{\"time\":1,\"process\":1,\"type\":\"invoke\",\"f\":\"x\"}\n";
        let theirs = "{:time 2 :process 0 :type :invoke :f :x} {:time 1 :process 1 :type :invoke :f :x}";
        for (text, times) in [(ours, [1, 2]), (theirs, [2, 1])] {
            let (_, history) = read(text.as_bytes(), &ReadOptions::default()).unwrap();
            assert_eq!(history.rows().map(|row| row.time()).collect::<Vec<_>>(), times);
        }
    }

    #[test]
    fn a_byte_order_mark_and_line_ends_of_windows_change_nothing() {
        for text in [
            "\u{feff}0 invoke acquire\r\n0 ok acquire 7\r\n",
            "\u{feff}{:process 0 :type :invoke :f :x}\r\n\r\n{:process 0 :type :ok :f :x}",
        ] {
            let (_, history) = read(text.as_bytes(), &ReadOptions::default()).unwrap();
            assert_eq!(history.len(), 2);
        }
    }

    #[test]
    fn a_form_that_cannot_be_is_an_error() {
        let error = read(&b"0 ok acquire 1\n"[..], &ReadOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "line 1: process 0 completes acquire, which it did not invoke");
    }

    /// A pipe may go on for ever: a line or a form that does not end is refused where it begins.
    #[test]
    fn what_has_no_end_is_refused_soon() {
        for (begin, place) in [
            ("{\"time\":0,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n", "line 2, column 1: "),
            ("{:process 0 :type :invoke :f :x}\n {:process 1 :value \"", "line 1, column 33: "),
            ("0 :invoke :read nil\n", "line 2, column 1: "),
            ("0 invoke acquire\n", "line 2, column 1: "),
        ] {
            let mut endless = std::io::repeat(0).take(1 << 30);
            let error = read(begin.as_bytes().chain(endless.by_ref()), &ReadOptions::default()).unwrap_err();
            let read_bytes = (1 << 30) - endless.limit();
            let said = error.to_string();
            assert!(said.starts_with(place) && said.contains("longer than 16 MiB"), "{said}");
            assert!(read_bytes < 64 << 20, "{read_bytes} bytes were read");
        }
    }
}
