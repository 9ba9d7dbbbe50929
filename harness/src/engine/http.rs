//! One question to an engine, in plain HTTP: for what must be told apart before the library is asked, and for answers
//! that it cannot read.

use std::{io, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, UnixStream},
    time::timeout,
};

use super::meant::Endpoint;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take; an engine that is busy is slow.
const ANSWER: Duration = Duration::from_secs(60);
/// Most bytes of an answer.
const MOST: u64 = 64 << 20;

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Why nothing came back.
#[derive(Debug)]
pub enum Silence {
    /// No connection, or it broke.
    Io(io::Error),
    /// The other side speaks TLS.
    Tls,
    /// What came is no HTTP; its beginning.
    NoHttp(String),
}

/// Asks once.
///
/// # Errors
/// When no HTTP came back.
pub async fn get(endpoint: &Endpoint, path: &str) -> Result<Answer, Silence> {
    let late = |_| Silence::Io(io::ErrorKind::TimedOut.into());
    let text = match endpoint {
        Endpoint::Unix(socket) => {
            let stream = timeout(CONNECT, UnixStream::connect(socket)).await.map_err(late)?;
            timeout(ANSWER, exchange(stream.map_err(Silence::Io)?, "localhost", path)).await
        }
        Endpoint::Tcp(address) => {
            let stream = timeout(CONNECT, TcpStream::connect(address.as_str())).await.map_err(late)?;
            timeout(ANSWER, exchange(stream.map_err(Silence::Io)?, address, path)).await
        }
    };
    parse(&text.map_err(late)?.map_err(Silence::Io)?)
}

/// The answer's body as JSON; null where it is none.
pub fn json(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_default()
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    host: &str,
    path: &str,
) -> io::Result<Vec<u8>> {
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut text = Vec::new();
    let mut limited = stream.take(MOST);
    loop {
        match limited.read_buf(&mut text).await {
            Ok(0) => return Ok(text),
            Ok(_) if is_whole(&text) => return Ok(text),
            Ok(_) => {}
            // Whoever is asked in the wrong language may answer and break the connection at once.
            Err(_) if !text.is_empty() => return Ok(text),
            Err(error) => return Err(error),
        }
    }
}

/// Whether the body is as long as was announced: not everyone closes.
fn is_whole(text: &[u8]) -> bool {
    let Some((head, body)) = split(text) else { return false };
    field(&head, "content-length")
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: usize| body.len() >= length)
}

fn parse(text: &[u8]) -> Result<Answer, Silence> {
    // Records of alerts and of handshakes.
    if matches!(text.first(), Some(0x15 | 0x16)) {
        return Err(Silence::Tls);
    }
    let beginning = || String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
    let (head, body) = split(text).ok_or_else(|| Silence::NoHttp(beginning()))?;
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or_else(|| Silence::NoHttp(beginning()))?;
    let body = match field(&head, "transfer-encoding") {
        Some(coding) if coding.eq_ignore_ascii_case("chunked") => unchunked(body),
        _ => body.to_vec(),
    };
    let said = String::from_utf8_lossy(&body).to_ascii_lowercase();
    // As Go's servers say it, and nginx.
    if status == 400
        && (said.contains("http request to an https server") || said.contains("sent to https port"))
    {
        return Err(Silence::Tls);
    }
    Ok(Answer { status, body })
}

fn split(text: &[u8]) -> Option<(String, &[u8])> {
    let end = text.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some((String::from_utf8_lossy(&text[..end]).into_owned(), &text[end + 4..]))
}

fn field<'t>(head: &'t str, name: &str) -> Option<&'t str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

/// What came of a body in chunks; a chunk that is broken off ends it.
fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some((chunk, after)) = chunk(rest) {
        body.extend_from_slice(chunk);
        rest = after;
    }
    body
}

/// The first chunk and what follows it; none at the end.
fn chunk(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.windows(2).position(|window| window == b"\r\n")?;
    let size = std::str::from_utf8(&text[..end]).ok()?.split(';').next()?;
    let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
    let (chunk, after) = text[end + 2..].split_at_checked(size)?;
    Some((chunk, after.strip_prefix(b"\r\n").unwrap_or(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_however_its_length_is_told() {
        for text in [
            "HTTP/1.0 200 OK\r\n\r\n{\"a\":1}",
            "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4;x\r\n\":1}\r\n0\r\n\r\n",
        ] {
            let answer = parse(text.as_bytes()).unwrap();
            assert_eq!((answer.status, json(&answer)), (200, serde_json::json!({ "a": 1 })), "{text}");
        }
        assert!(is_whole(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
        assert!(!is_whole(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}"));
    }

    #[test]
    fn tls_and_other_languages_are_told_apart() {
        for tls in [
            &b"\x15\x03\x01\x00\x02\x02\x46"[..],
            b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
            b"HTTP/1.1 400 Bad Request\r\n\r\n<center>The plain HTTP request was sent to HTTPS port</center>",
        ] {
            assert!(matches!(parse(tls), Err(Silence::Tls)), "{tls:?}");
        }
        for other in [&b"SSH-2.0-OpenSSH_9\r\n"[..], b"", b"-ERR unknown command\r\n\r\n"] {
            assert!(matches!(parse(other), Err(Silence::NoHttp(_))), "{other:?}");
        }
        assert_eq!(parse(b"HTTP/1.1 400 Bad Request\r\n\r\nno").unwrap().status, 400);
    }

    #[test]
    fn broken_chunks_end_the_body() {
        for (chunks, body) in [
            ("3\r\nab", ""),
            ("x\r\nab", ""),
            ("2\r\nab\r\n9\r\nc", "ab"),
            ("", ""),
            ("ffffffffffffffff\r\n", ""),
        ] {
            assert_eq!(unchunked(chunks.as_bytes()), body.as_bytes(), "{chunks:?}");
        }
    }
}
