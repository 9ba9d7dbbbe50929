//! The RESP2 encoding (redis.io, "Redis serialization protocol specification").

use std::io;

use crate::api::redis::Value;

/// A server's answer: a value, or the text of an error.
pub(super) type Reply = Result<Value, String>;

/// Lists nested deeper than this are malformed.
const DEPTH_MAX: usize = 8;
/// Longer replies are malformed: none that a recipe asks for comes near.
const LENGTH_MAX: usize = 1 << 20;
/// What an item of a list takes at least: `+\r\n` and one byte more.
const ITEM_MIN: usize = 4;

/// A command as an array of bulk strings.
pub(super) fn encode(command: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
    for part in command {
        bytes.extend(format!("${}\r\n{part}\r\n", part.len()).into_bytes());
    }
    bytes
}

/// The one reply that `bytes` hold; `None` while it is incomplete and may still become a reply that is not too long. Bytes after it are an error: one request, one reply.
pub(super) fn decode(bytes: &[u8]) -> io::Result<Option<Reply>> {
    if bytes.len() > LENGTH_MAX {
        return Err(malformed("it is too long"));
    }
    match value(bytes, 0)? {
        Some((reply, [])) => Ok(Some(reply)),
        Some(_) => Err(malformed("more than one reply")),
        None => Ok(None),
    }
}

fn value(bytes: &[u8], depth: usize) -> io::Result<Option<(Reply, &[u8])>> {
    let Some((line, rest)) = line(bytes) else { return Ok(None) };
    let text = std::str::from_utf8(line).map_err(|_| malformed("a line is not UTF-8"))?;
    let (kind, text) = text.split_at_checked(1).ok_or_else(|| malformed("an empty line"))?;
    match kind {
        "+" => Ok(Some((Ok(Value::Text(text.to_string())), rest))),
        "-" => Ok(Some((Err(text.to_string()), rest))),
        ":" => Ok(Some((Ok(Value::Integer(number(text)?)), rest))),
        "$" => bulk(length(text, LENGTH_MAX)?, rest),
        "*" if depth < DEPTH_MAX => array(length(text, LENGTH_MAX / ITEM_MIN)?, rest, depth),
        _ => Err(malformed("an unknown type")),
    }
}

fn bulk(length: Option<usize>, rest: &[u8]) -> io::Result<Option<(Reply, &[u8])>> {
    let Some(length) = length else { return Ok(Some((Ok(Value::Nil), rest))) };
    let Some((content, rest)) = rest.split_at_checked(length) else { return Ok(None) };
    if rest.len() < 2 {
        return Ok(None);
    }
    let rest = rest.strip_prefix(b"\r\n").ok_or_else(|| malformed("a bulk string without its end"))?;
    let text = String::from_utf8(content.to_vec()).map_err(|_| malformed("a bulk string is not UTF-8"))?;
    Ok(Some((Ok(Value::Text(text)), rest)))
}

fn array(length: Option<usize>, mut rest: &[u8], depth: usize) -> io::Result<Option<(Reply, &[u8])>> {
    let Some(length) = length else { return Ok(Some((Ok(Value::Nil), rest))) };
    let mut items = Vec::new();
    for _ in 0..length {
        let Some((item, after)) = value(rest, depth + 1)? else { return Ok(None) };
        match item {
            Ok(item) => items.push(item),
            Err(error) => return Ok(Some((Err(error), after))),
        }
        rest = after;
    }
    Ok(Some((Ok(Value::Array(items)), rest)))
}

fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    Some((&bytes[..end], &bytes[end + 2..]))
}

/// Of a bulk string or a list; `None`: there is none.
fn length(text: &str, most: usize) -> io::Result<Option<usize>> {
    match number(text)? {
        -1 => Ok(None),
        length => match usize::try_from(length) {
            Ok(length) if length <= most => Ok(Some(length)),
            _ => Err(malformed("a length out of range")),
        },
    }
}

fn number(text: &str) -> io::Result<i64> {
    text.parse().map_err(|_| malformed("not a number"))
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("malformed reply: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_a_command() {
        assert_eq!(encode(&["GET", "é"]), b"*2\r\n$3\r\nGET\r\n$2\r\n\xc3\xa9\r\n");
    }

    #[test]
    fn decodes_every_type() {
        let decoded = |bytes: &[u8]| decode(bytes).unwrap().unwrap();
        assert_eq!(decoded(b"+OK\r\n"), Ok(Value::Text("OK".into())));
        assert_eq!(decoded(b":-7\r\n"), Ok(Value::Integer(-7)));
        assert_eq!(decoded(b"$-1\r\n"), Ok(Value::Nil));
        assert_eq!(decoded(b"*-1\r\n"), Ok(Value::Nil));
        assert_eq!(decoded(b"$4\r\na\r\nb\r\n"), Ok(Value::Text("a\r\nb".into())));
        assert_eq!(decoded(b"-READONLY no\r\n"), Err("READONLY no".into()));
        assert_eq!(
            decoded(b"*2\r\n:1\r\n*0\r\n"),
            Ok(Value::Array(vec![Value::Integer(1), Value::Array(vec![])]))
        );
    }

    #[test]
    fn waits_for_the_rest_of_a_reply() {
        let whole = b"*2\r\n$3\r\nabc\r\n:12\r\n";
        for end in 0..whole.len() {
            assert_eq!(decode(&whole[..end]).unwrap(), None, "{end} bytes");
        }
        assert!(decode(whole).unwrap().is_some());
    }

    #[test]
    fn refuses_what_is_malformed() {
        for bytes in [&b"?\r\n"[..], b"\r\n", b":x\r\n", b"$1\r\nabc", b"+a\r\n+b\r\n", b"+\xff\r\n"] {
            assert!(decode(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn no_length_that_a_server_claims_is_waited_for_in_vain() {
        for claim in ["$1048577", "$9223372036854775807", "$-2", "*262145", "*9223372036854775807", "*-2"] {
            let error = decode(format!("{claim}\r\n").as_bytes()).expect_err(claim).to_string();
            assert!(error.starts_with("malformed reply: "), "{error}");
        }
        assert_eq!(decode(b"$1048576\r\nabc").unwrap(), None, "may still come");
        let nested = "*262144\r\n".repeat(9);
        assert!(decode(nested.as_bytes()).is_err(), "nested too deep");
    }

    #[test]
    fn an_endless_reply_is_given_up() {
        for start in ["+", "-", ":", "$", "*", "*2\r\n+", "*1000\r\n$9\r\n"] {
            let mut bytes = start.as_bytes().to_vec();
            bytes.resize(LENGTH_MAX, b'1');
            bytes.push(b'1');
            let error = decode(&bytes).expect_err(start).to_string();
            assert!(error.starts_with("malformed reply: "), "{error}");
        }
    }
}
