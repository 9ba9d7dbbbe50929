use std::io::Read;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{History, ReadError, ReadOptions, edn, jepsen_log, jsonl, lock_lines};

/// How much of an input is looked at to tell its format.
const PREFIX: u64 = 64 * 1024;

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
    let text = text.trim_ascii_start();
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

/// Reads a history in whatever format, judges its form, and puts our own into time order.
///
/// Histories from elsewhere stay in the order of their lines, which is the order in which their recorder saw the
/// events; their times, if any, may say otherwise.
///
/// # Errors
/// A format that is not known, malformed text, a history that no recorder can have written, an input that fails, or a
/// history larger than permitted.
pub fn read(mut input: impl Read + Send, options: &ReadOptions) -> Result<(Format, History), ReadError> {
    let mut prefix = Vec::new();
    input.by_ref().take(PREFIX).read_to_end(&mut prefix)?;
    let format = detect(&prefix)?;
    let input = prefix.chain(input);
    let mut history = match format {
        Format::JsonLines => jsonl::read(input, options)?,
        Format::Edn => edn::read(input, options)?,
        Format::JepsenLog => jepsen_log::read(input, options)?,
        Format::LockLines => lock_lines::read(input, options)?,
    };
    history.check_form()?;
    if format == Format::JsonLines {
        history.sort();
    }
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
        ] {
            assert_eq!(detect(text.as_bytes()), Ok(format), "{text}");
        }
    }

    #[test]
    fn what_fits_nothing_is_told_the_formats() {
        assert_eq!(detect(b" \n"), Err(Unrecognized::Empty));
        assert_eq!(detect(b"[ {\"time\":1}]"), Err(Unrecognized::JsonArray));
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
    fn a_form_that_cannot_be_is_an_error() {
        let error = read(&b"0 ok acquire 1\n"[..], &ReadOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "line 1: process 0 completes acquire, which it did not invoke");
    }
}
